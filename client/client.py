"""``Client``: the API that bots are written with. It reconnects, resends and resumes by itself."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from types import TracebackType
from typing import Self, TypeVar
from weakref import WeakSet, WeakValueDictionary

from cellmates import __version__

from .address import websocket_url
from .connection import Body, Encoding, Event
from .dialling import dial
from .errors import ClientError
from .game import Game
from .line import Line, Terms
from .link import Link
from .listening import Events
from .pace import BackOff
from .results import (
    BoardChanged,
    BoardPage,
    Challenge,
    DailyChallenges,
    Draining,
    GameEvent,
    GameExpired,
    GamePage,
    GameSummary,
    Greeting,
    Happening,
    OtherEvent,
    Player,
    PlayerCreated,
    PlayerReply,
    PlayerShown,
    Pong,
    Replay,
    TokenReply,
    View,
)
from .shape import read

T = TypeVar("T")

# As many rows as an event brings.
_TOP = 10


class Client:
    """A player's connection to a server, or a guest's: use it with ``async with``.

    While it is open it keeps itself connected: with exponential back-off and full jitter, at the
    pace that the server asks for, until a close code says that there is no use. Calls wait through
    that, and what was not answered is sent again. An action on a game is made once all the same;
    only ``start_game`` may leave behind a game that nobody has begun to play.

    ``url`` is such as ``ws://127.0.0.1:8410/ws``; ``name`` and ``version`` say what program this
    is; ``encoding`` is ``msgpack`` or ``json``; ``deadline_s`` is what one call may take, and
    ``chance`` draws a number from 0 to 1. ``token`` and ``me`` (None for a guest) say who it is,
    ``greeting`` what the server said at the last connect.

    Every call may raise ServerError, NoAnswer, Closed and WrongFrame; so may entering, which raises
    CannotConnect where there is no server.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        name: str = "cellmates-client",
        version: str = __version__,
        encoding: str = Encoding.MSGPACK,
        deadline_s: float = 30.0,
        back_off: BackOff = BackOff(),  # noqa: B008 - frozen
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = websocket_url(url)
        self.me: Player | None = None
        self.greeting: Greeting | None = None
        self._games: WeakValueDictionary[str, Game] = WeakValueDictionary()
        self._listeners: WeakSet[Events] = WeakSet()
        self._watches: dict[tuple[str, str, str], None] = {}
        self._running: asyncio.Task[None] | None = None
        terms = Terms(name, version, Encoding(encoding), deadline_s, back_off, chance)
        self._line = Line(partial(dial, self.url, terms.encoding), terms, token, self)

    def __repr__(self) -> str:
        return f"<Client {self.me.handle if self.me else 'guest'} at {self.url}>"

    @property
    def token(self) -> str | None:
        """What proves who this is; None for a guest."""
        return self._line.token

    # -- Coming and going --------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._line.run())
        try:
            async with self.patience():
                await self._line.linked()
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._leave()

    async def _leave(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    # -- Players -----------------------------------------------------------------------------------

    async def create_player(self, handle: str, kind: str = "bot") -> Player:
        """Become a new player, whose token is in ``token`` from then on.

        Raises:
            ServerError: ``handle-taken``, ``handle-invalid``, …
        """
        created = await self.ask("player.create", {"handle": handle, "kind": kind}, self._created)
        return created.player

    async def player(self, handle: str) -> PlayerShown:
        """Who somebody is, and their figures by ruleset."""
        return await self.ask("player.get", {"handle": handle}, _reader(PlayerShown))

    async def rename(self, handle: str) -> Player:
        """Take another handle."""
        return await self.ask("player.rename", {"handle": handle}, self._renamed)

    async def rotate_token(self) -> str:
        """Get a new token and use it from now on; the old one stops working everywhere."""
        return await self.ask("player.token", {}, self._rotated)

    async def delete(self, handle: str) -> None:
        """Delete this player; ``handle`` has to be the player's own."""
        await self.ask("player.delete", {"confirm": handle}, self._deleted)

    # -- Games -------------------------------------------------------------------------------------

    async def start_game(
        self, ruleset: str, deal: str | None = None, autoplay: str | None = None
    ) -> Game:
        """Start a game of a deal, or of a random one.

        Raises:
            ServerError: ``bad-request`` with the reason in ``context``, ``too-many-games``, …
        """
        asked = {"ruleset": ruleset, "deal": deal, "autoplay": autoplay}
        said = {name: value for name, value in asked.items() if value is not None}
        return await self.ask("game.start", said, self._opened)

    async def open_game(self, game: str) -> Game:
        """Go on with a game; for one that is open here already it is the same object."""
        return await self.ask("game.open", {"game": game}, self._opened)

    async def my_games(self, status: str | None = None) -> tuple[GameSummary, ...]:
        """Games of this player, the newest first: all, or those with a status."""
        games: tuple[GameSummary, ...] = ()
        body = {} if status is None else {"status": status}
        while True:
            page = await self.ask("games.mine", body, _reader(GamePage))
            games += page.games
            if page.next is None:
                return games
            body = body | {"cursor": page.next}

    async def replay(self, game: str) -> Replay:
        """A game from its deal to where it stands, all pages of it."""
        page = await self.ask("replay.get", {"game": game}, _reader(Replay))
        entries = page.entries
        while page.next is not None:
            body = {"game": game, "cursor": page.next}
            page = await self.ask("replay.get", body, _reader(Replay))
            entries += page.entries
        return Replay(page.header, entries, page.result)

    # -- Dailies -----------------------------------------------------------------------------------

    async def dailies(self, date: str | None = None) -> tuple[Challenge, ...]:
        """Challenges of a day, written ``YYYY-MM-DD``, or of today by the server's clock, in UTC.

        Raises:
            ServerError: ``bad-request`` for a date that is none.
        """
        body = {} if date is None else {"date": date}
        listed = await self.ask("daily.list", body, _reader(DailyChallenges))
        return listed.challenges

    async def start_daily(self, challenge: str) -> Game:
        """Begin the ranked attempt at a challenge, or go on with it; its clock runs from then on.

        Raises:
            ServerError: ``challenge-not-open``, ``challenge-closed``, ``not-found``, …
        """
        return await self.ask("daily.start", {"challenge": challenge}, self._opened)

    async def board(
        self,
        challenge: str,
        board: str = "first",
        kind: str = "human",
        *,
        limit: int | None = None,
        cursor: str | None = None,
        around_me: bool = False,
    ) -> BoardPage:
        """A page of a board: the first one, the one at a cursor, or the one that I am on.

        ``board`` is ``first`` or ``moves``, ``kind`` is ``human`` or ``bot``; ``limit`` is the
        number of rows, 1 to 100.

        Raises:
            ServerError: ``challenge-not-open``, ``not-found``, ``bad-cursor``, …
        """
        asked = {"limit": limit, "cursor": cursor, "around": "me" if around_me else None}
        body: Body = {
            **_watched(challenge, board, kind),
            **{name: value for name, value in asked.items() if value is not None},
        }
        return await self.ask("board.get", body, _reader(BoardPage))

    async def watch_board(self, challenge: str, board: str = "first", kind: str = "human") -> None:
        """Hear ``BoardChanged`` from now on when the top of a board changes.

        After a reconnect it is heard once in any case, since nobody told of changes meanwhile.

        Raises:
            ServerError: ``challenge-not-open``, ``not-found``, …
        """
        watch = challenge, board, kind
        await self.ask(
            "board.watch", _watched(*watch), lambda _: self._watches.update({watch: None})
        )

    async def unwatch_board(
        self, challenge: str, board: str = "first", kind: str = "human"
    ) -> None:
        """Hear of a board no more."""
        self._watches.pop((challenge, board, kind), None)
        await self.ask("board.unwatch", _watched(challenge, board, kind), _nothing)

    # -- The rest ----------------------------------------------------------------------------------

    async def ping(self) -> int:
        """The time by the server's clock, in milliseconds since the epoch."""
        pong = await self.ask("ping", {}, _reader(Pong))
        return pong.time

    def events(self) -> Events:
        """Events from now on: ``async for event in client.events()``."""
        listener = Events()
        self._listeners.add(listener)
        if self._line.end is not None:
            listener.end(self._line.end)
        return listener

    async def ask(self, type_: str, body: Body, settle: Callable[[Body], T]) -> T:
        """Send any request of docs/protocol.md; the result is what ``settle`` makes of the reply.

        ``client.ask("board.get", {…}, dict)`` gives the reply as it is.
        """
        return await self.ask_about(None, type_, body, settle)

    async def ask_about(
        self, game: Game | None, type_: str, body: Body, settle: Callable[[Body], T]
    ) -> T:
        """As ``ask``, on a connection on which a game is open."""

        async def act(link: Link) -> T:
            if game is not None:
                await game.resume(link)
            return await link.ask(type_, body, settle)

        if self._running is None:
            raise RuntimeError("a client is used with: async with Client(…) as client")
        return await self._line.insist(type_, act)

    def patience(self) -> AbstractAsyncContextManager[None]:
        """Context in which there is only so much time. Raises NoAnswer."""
        return self._line.patience()

    # -- What greetings, replies and events change, in the order in which they are read ------------

    def happened(self, happening: Happening) -> None:
        """Tell whoever listens."""
        for listener in self._listeners:
            listener.put(happening)

    def _created(self, body: Body) -> PlayerCreated:
        created = read(PlayerCreated, body)
        self.me, self._line.token = created.player, created.token
        return created

    def _renamed(self, body: Body) -> Player:
        self.me = read(PlayerReply, body).player
        return self.me

    def _rotated(self, body: Body) -> str:
        self._line.token = read(TokenReply, body).token
        return self._line.token

    def _deleted(self, _: Body) -> None:
        self.me = self._line.token = None

    def _opened(self, body: Body) -> Game:
        view = read(View, body)
        game = self._games.get(view.game)
        if game is None:
            game = self._games[view.game] = Game(self, view)
        else:
            game.seen(body)
        return game

    def hear(self, event: Event) -> None:
        """Take an event."""
        match event.type:
            case "game.event":
                acted = read(GameEvent, event.body)
                game = self._games.get(acted.game)
                if game is None or game.heard(acted):
                    self.happened(acted)
            case "game.expired":
                expired = read(GameExpired, event.body)
                game = self._games.get(expired.game)
                if game is None or game.expired(expired):
                    self.happened(expired)
            case "board.changed":
                self.happened(read(BoardChanged, event.body))
            case "server.draining":
                draining = read(Draining, event.body)
                self._line.drain(draining.retry_after_ms)
                self.happened(draining)
            case _:
                self.happened(OtherEvent(event.type, event.body))

    def greeted(self, greeting: Greeting) -> None:
        """Take a greeting."""
        self.greeting, self.me = greeting, greeting.player

    async def resume(self) -> None:
        """Open the games and watch the boards again, so that what happens there is heard."""
        for game in list(self._games.values()):
            with suppress(ClientError):  # whoever plays it will be told
                await self._line.insist("game.open", game.resume)
        for watch in list(self._watches):
            with suppress(ClientError):
                await self._line.insist("board.watch", partial(self._watch_again, watch))

    async def _watch_again(self, watch: tuple[str, str, str], link: Link) -> None:
        """Watch a board on another connection, and tell how its top is now."""
        if watch not in self._watches:
            return
        body = _watched(*watch)
        await link.ask("board.watch", body, _nothing)
        page = await link.ask("board.get", body | {"limit": _TOP}, _reader(BoardPage))
        self.happened(BoardChanged(*watch, page.rows, page.total))

    def ended(self, error: ClientError) -> None:
        """Tell whoever listens that there will be no more."""
        for listener in self._listeners:
            listener.end(error)


def _watched(challenge: str, board: str, kind: str) -> dict[str, object]:
    return {"challenge": challenge, "board": board, "kind": kind}


def _nothing(_: Body) -> None:
    """Make nothing of a reply."""


def _reader(shape: type[T]) -> Callable[[Body], T]:
    return lambda body: read(shape, body)
