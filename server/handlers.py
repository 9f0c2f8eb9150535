"""Message, act, answer. What is refused is raised, and ``refusals`` tells what to answer then."""

import re
from collections.abc import Mapping
from typing import Protocol, assert_never

from msgspec import UNSET

from cellmates import __version__
from cellmates.daily import is_challenge_id
from cellmates.engine import (
    RULESETS,
    Act,
    Action,
    Autoplay,
    BadAutoplay,
    BadDeal,
    Deal,
    Move,
    Status,
    hint,
    parse_place,
    tap,
)
from cellmates.protocol import (
    PROTO,
    BoardGet,
    BoardUnwatch,
    BoardWatch,
    DailyList,
    DailyStart,
    Done,
    ErrorCode,
    GameEvent,
    GameHint,
    GameList,
    GameMove,
    GameOpen,
    GameResign,
    GamesMine,
    GameStart,
    GameTap,
    GameUndo,
    GameView,
    Hello,
    Hinted,
    Limits,
    Moved,
    Ping,
    PlayerCreate,
    PlayerCreated,
    PlayerDelete,
    PlayerGet,
    PlayerRename,
    PlayerReply,
    PlayerShown,
    PlayerToken,
    Pong,
    Replay,
    ReplayGet,
    ReplyBody,
    RequestBody,
    ServerInfo,
    Tapped,
    TokenReply,
    Welcome,
)

from . import views
from .clock import Clock
from .dailies import Dailies, NotYet
from .daily_handlers import DailyHandlers, Watcher
from .entrance import Entrance
from .games import UNFINISHED, Games, NoSuchGame
from .journal import Journal
from .players import Players, token_hash
from .records import GameRecord, PlayerRecord
from .refusals import Refused

PlayersOwn = (
    PlayerRename
    | PlayerToken
    | PlayerDelete
    | DailyStart
    | GameStart
    | GameOpen
    | GamesMine
    | GameHint
    | GameTap
    | GameUndo
    | GameResign
)

PAGE = 50
_CURSOR = re.compile(r"([0-9]{1,15})\.([A-Za-z0-9_-]{1,64})")
_SEQ_CURSOR = re.compile(r"[0-9]{1,9}")


class Talker(Watcher, Protocol):
    """The connection that asks, as handlers see it."""

    def become(self, player: PlayerRecord | None, token: str | None) -> None:
        """From now on this connection is that player's, who has this token, or a guest's."""

    def hold(self, token: str) -> None:
        """From now on the player of this connection has this token."""


class Audience(Protocol):
    """All other connections, as handlers see them."""

    def is_followed(self, game: str, *, but: Talker) -> bool:
        """Whether somebody else than ``but`` follows a game."""

    def tell(self, game: str, event: GameEvent, *, but: Talker | None = None) -> None:
        """Send an event to the connections that follow a game."""

    def renamed(self, player: PlayerRecord) -> None:
        """Tell a player's connections what the player is called now."""

    def deleted(self, player: PlayerRecord) -> None:
        """Tell the boards that a player is gone."""

    def check_tokens(self, hashes: Mapping[str, str | None]) -> None:
        """Close the connections of players who have other tokens now than those they came with."""


class Handlers:
    """Answers each message, on behalf of whoever sent it."""

    def __init__(
        self,
        *,
        daily: DailyHandlers,
        dailies: Dailies,
        games: Games,
        players: Players,
        journal: Journal,
        clock: Clock,
        audience: Audience,
        limits: Limits,
    ) -> None:
        self._daily = daily
        self._dailies = dailies
        self._games = games
        self._players = players
        self._journal = journal
        self._clock = clock
        self._audience = audience
        self._limits = limits
        self._entrance = Entrance(clock)

    async def answer(self, talker: Talker, message: RequestBody) -> ReplyBody:
        """Do what a message asks and say what came of it.

        Raises:
            Exception: one that ``error_of`` knows, and then nothing has changed; any other is a
                mistake of the server's.
        """
        match message:
            case GameMove():  # before all that is rarer
                player = _player(talker)
                return await self._act(talker, player, message, Move.parse(message.move))
            case Hello():
                return await self._hello(talker, message)
            case Ping():
                return Pong(self._clock.now_ms())
            case PlayerGet():
                return await self._show_player(message)
            case ReplayGet():
                return await self._replay(talker, message)
            case DailyList():
                return await self._daily.list_dailies(talker, message)
            case BoardGet():
                return await self._daily.board(talker, message)
            case BoardWatch():
                return await self._daily.watch(talker, message)
            case BoardUnwatch():
                return self._daily.unwatch(talker, message)
            case PlayerCreate():
                return await self._create_player(talker, message)
            case _:
                return await self._of_player(talker, _player(talker), message)

    async def _of_player(
        self, talker: Talker, player: PlayerRecord, message: PlayersOwn
    ) -> ReplyBody:
        match message:
            case PlayerRename():
                return await self._rename_player(player, message)
            case PlayerToken():
                token = await self._players.rotate(player)
                talker.hold(token)
                self._audience.check_tokens({player.id: token_hash(token)})
                return TokenReply(token)
            case PlayerDelete():
                await self._players.delete(player, message.confirm)
                talker.become(None, None)
                self._audience.deleted(player)
                self._audience.check_tokens({player.id: None})
                return Done()
            case DailyStart():
                return await self._daily.start(talker, player, message)
            case GameStart():
                return await self._start(talker, player, message)
            case GameOpen():
                return await self._open(talker, player, message)
            case GamesMine():
                return await self._list_games(player, message)
            case GameHint():
                return await self._hint(player, message)
            case GameTap():
                return await self._tap(player, message)
            case GameUndo():
                return await self._act(talker, player, message, Act.UNDO)
            case GameResign():
                return await self._act(talker, player, message, Act.RESIGN)
            case _ as never:
                assert_never(never)

    # -- Players -----------------------------------------------------------------------------------

    async def _hello(self, talker: Talker, message: Hello) -> Welcome:
        if message.proto != PROTO:
            raise Refused(
                ErrorCode.UNSUPPORTED_PROTO,
                f"this server speaks protocol {PROTO}",
                {"supported": [PROTO]},
            )
        player: PlayerRecord | None = None
        games: list[GameRecord] = []
        if message.token is not None:
            async with self._entrance.turn():
                player = await self._players.by_token(message.token)
                games = await self._journal.games_of(
                    player.id, status=UNFINISHED, before=None, limit=PAGE
                )
        talker.become(player, message.token)
        return Welcome(
            server=ServerInfo("cellmates", __version__),
            proto=PROTO,
            time=self._clock.now_ms(),
            player=None if player is None else views.wire_player(player),
            limits=self._limits,
            rulesets=list(RULESETS),
            games=[views.game_ref(record) for record in games],
        )

    async def _create_player(self, talker: Talker, message: PlayerCreate) -> PlayerCreated:
        player, token = await self._players.create(message.handle, message.kind)
        talker.become(player, token)
        return PlayerCreated(views.wire_player(player), token)

    async def _rename_player(self, player: PlayerRecord, message: PlayerRename) -> PlayerReply:
        renamed = await self._players.rename(player, message.handle)
        self._audience.renamed(renamed)
        return PlayerReply(views.wire_player(renamed))

    async def _show_player(self, message: PlayerGet) -> PlayerShown:
        player = await self._players.by_handle(message.handle)
        results = await self._players.results(player)
        days_won = await self._players.days_won(player)
        stats = views.stats(results, days_won, self._dailies.today)
        return PlayerShown(views.wire_player(player), stats)

    # -- Games -------------------------------------------------------------------------------------

    async def _start(self, talker: Talker, player: PlayerRecord, message: GameStart) -> GameView:
        ruleset = RULESETS.get(message.ruleset)
        if ruleset is None:
            raise Refused.bad_request("d.ruleset", f"the rulesets are {', '.join(RULESETS)}")
        autoplay = ruleset.autoplay if message.autoplay is None else Autoplay(message.autoplay)
        try:
            if message.deal is not None and is_challenge_id(message.deal):
                return await self._daily.practise(talker, player, message, message.deal)
            deal = None if message.deal is None else Deal.parse(ruleset, message.deal)
            live = await self._games.start(player, ruleset, deal, autoplay)
        except BadDeal as error:
            raise Refused.bad_request("d.deal", str(error)) from None
        except BadAutoplay as error:
            raise Refused.bad_request("d.autoplay", str(error)) from None
        talker.follow(live.record.id)
        return views.game_view(live, 0)

    async def _open(self, talker: Talker, player: PlayerRecord, message: GameOpen) -> GameView:
        live = await self._games.open(player, message.game)
        talker.follow(message.game)
        return views.game_view(live, self._games.elapsed_ms(live), since=message.since)

    async def _list_games(self, player: PlayerRecord, message: GamesMine) -> GameList:
        limit = message.limit or PAGE
        records = await self._journal.games_of(
            player.id,
            status=message.status,
            before=_place_in_list(message.cursor),
            limit=limit + 1,
        )
        page = records[:limit]
        more = len(records) > limit
        return GameList(
            [views.game_summary(record, record.summary.elapsed_ms) for record in page],
            f"{page[-1].started}.{page[-1].id}" if more else None,
        )

    async def _hint(self, player: PlayerRecord, message: GameHint) -> Hinted:
        live = await self._games.glance(player, message.game)
        if views.is_ranked(live.record):
            raise Refused(ErrorCode.FORBIDDEN, "there are no hints in a ranked attempt")
        move = hint(live.state)
        return Hinted(None if move is None else str(move), live.seq)

    async def _tap(self, player: PlayerRecord, message: GameTap) -> Tapped:
        live = await self._games.glance(player, message.game)
        state, place = live.state, parse_place(message.from_)
        move = None
        if state.status is Status.PLAYING:
            move = tap(state.ruleset, state.position, place, message.depth, message.taps)
        return Tapped(None if move is None else str(move))

    async def _act(
        self,
        talker: Talker,
        player: PlayerRecord,
        message: GameMove | GameUndo | GameResign,
        action: Action,
    ) -> Moved:
        live, made = await self._games.act(player, message.game, action, message.seq)
        if not made.repeated and self._audience.is_followed(message.game, but=talker):
            view = views.view_after(live, made) if action is Act.UNDO else UNSET
            auto = [str(move) for move in made.state.auto]
            event = GameEvent(message.game, views.wire_entry(made.entry), auto, view)
            self._audience.tell(message.game, event, but=talker)
        return views.moved(live, made, with_view=action is Act.UNDO)

    async def _replay(self, talker: Talker, message: ReplayGet) -> Replay:
        record = await self._journal.game(message.game)
        if record is None:
            raise NoSuchGame(f"there is no game {message.game[:32]!r}")
        mine = talker.player is not None and talker.player.id == record.player
        if not mine:
            await self._check_may_see(record, talker.player)
        after = _place_in_entries(message.cursor)
        # Only as far as the record tells: the game may have gone on between the two reads.
        left = max(0, record.summary.seq - after)
        entries = await self._journal.entries(message.game, after, min(left, views.MOST_ENTRIES))
        last = entries[-1].seq if entries else after
        return Replay(
            views.replay_header(record, await self._journal.player(record.player)),
            [views.wire_entry(entry) for entry in entries],
            str(last) if last < record.summary.seq else None,
            views.replay_result(record),
        )

    async def _check_may_see(self, record: GameRecord, player: PlayerRecord | None) -> None:
        """Whether somebody may see another's game.

        Raises:
            NotYet: not while it is played, nor while its challenge is secret to them.
        """
        if record.summary.status == UNFINISHED:
            raise NotYet("the game is still being played")
        challenge = record.challenge
        if challenge is not None and not await self._dailies.may_see(challenge, player):
            raise NotYet("this challenge is still being played, and you have not ended your own")


def _player(talker: Talker) -> PlayerRecord:
    """Player of a connection that the session has let say what only players may."""
    assert talker.player is not None, "the session lets nobody else say this"
    return talker.player


def _place_in_list(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Refused(ErrorCode.BAD_CURSOR, "this cursor is none of games.mine's")
    return int(match[1]), match[2]


def _place_in_entries(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not _SEQ_CURSOR.fullmatch(cursor):
        raise Refused(ErrorCode.BAD_CURSOR, "this cursor is none of replay.get's")
    return int(cursor)
