"""One game as its player sees it: what may be done with it, and how it stands."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Protocol, TypeVar

from .board import COLUMNS, PACK, OutOfStep, carried
from .connection import Body
from .errors import Conflict, ServerError
from .link import Link
from .results import Entry, GameEvent, GameExpired, Happening, Hinted, Moved, Resynced, Tapped, View
from .shape import read

T = TypeVar("T")

PLAYING, WON, RESIGNED, EXPIRED = "playing", "won", "resigned", "expired"
UNDO, RESIGN = "undo", "resign"

# The most actions that any ruleset with a limit lets a player undo (docs/rules.md).
_UNDO_LIMIT = 100


class Asks(Protocol):
    """What a game needs of its client."""

    async def ask_about(
        self, game: "Game", type_: str, body: Body, settle: Callable[[Body], T]
    ) -> T:
        """Ask, through reconnects, on a connection on which the game is open."""

    def patience(self) -> AbstractAsyncContextManager[None]:
        """Context in which there is only so much time. Raises NoAnswer."""

    def happened(self, happening: Happening) -> None:
        """Tell whoever listens."""


class Game:
    """A game on the server.

    ``view`` is how it stands, as far as it was told; actions wait for their turn, so that several
    tasks may play one game.
    """

    def __init__(self, client: Asks, view: View) -> None:
        self._client = client
        self._view = view
        self._is_behind = False
        self._told = view.seq  # as far as whoever listens knows, what we did ourselves included
        self._pending: tuple[int, str] | None = None
        self._turn = asyncio.Lock()
        self._resuming = asyncio.Lock()

    def __repr__(self) -> str:
        view = self._view
        return f"<Game {view.game}: {view.ruleset} {view.deal}, {view.status}, seq {view.seq}>"

    @property
    def id(self) -> str:
        """The server's name for the game."""
        return self._view.game

    @property
    def view(self) -> View:
        """How the game stands, without asking; ``elapsed_ms`` is as of the last answer."""
        return self._view

    async def move(self, move: str) -> Moved:
        """Make a move, such as ``3a``. It is made once, however often the connection breaks.

        Raises:
            ServerError: refused, and nothing has changed: ``illegal-move``, ``bad-move``,
                ``game-over``, …
            Conflict: another connection acted first; the view is up to date.
            NoAnswer: no answer in time; whether it was made, ``refresh`` will tell.
            Closed, WrongFrame: as every request.
        """
        return await self._act("game.move", move, {"move": move})

    async def undo(self) -> Moved:
        """Take the last action back. Raises as ``move`` does."""
        return await self._act("game.undo", UNDO, {})

    async def resign(self) -> Moved:
        """Give the game up. Raises as ``move`` does."""
        return await self._act("game.resign", RESIGN, {})

    async def hint(self) -> str | None:
        """A move worth making, or None. Raises as ``move`` does, but never Conflict."""
        hinted = await self._ask("game.hint", {}, lambda body: read(Hinted, body))
        return hinted.move

    async def tap(self, place: str, depth: int = 0, taps: int = 1) -> str | None:
        """Move that a tap would make, or None; nothing is moved. Raises as ``hint`` does.

        ``place`` is such as ``3`` or ``a``, ``depth`` the number of cards that lie on the card
        tapped, ``taps`` 1 or 2.
        """
        body = {"from": place, "depth": depth, "taps": taps}
        tapped = await self._ask("game.tap", body, lambda body: read(Tapped, body))
        return tapped.move

    async def refresh(self) -> View:
        """How the game stands now, as the server says. Raises as ``hint`` does."""
        return await self._ask("game.open", {"since": self._told}, self.seen)

    async def resume(self, link: Link) -> None:
        """Have the game open on a connection, and catch up with what happened meanwhile.

        Raises:
            LinkLost, ServerError, WrongFrame: as by ``Link.ask``.
        """
        async with self._resuming:
            if self.id not in link.opened and (self._view.status == PLAYING or self._pending):
                body = {"game": self.id, "since": self._told}
                await link.ask("game.open", body, self.seen)

    def seen(self, body: Body) -> View:
        """Take a view from the server, and tell of the entries in it that are news."""
        view, before = read(View, body), self._view
        news = [entry for entry in view.entries or () if entry.seq > self._told]
        missed = view.seq - self._told - len(news)
        self._see(view)
        for entry in news:
            if not self._is_pending(entry, before):
                then = self._view if entry.seq == view.seq else None
                self._client.happened(GameEvent(self.id, entry, view=then))
        if missed > 0:
            self._client.happened(Resynced(self.id, self._view))
        if before.status == PLAYING and view.status == EXPIRED:
            self._client.happened(GameExpired(self.id, view.elapsed_ms))
        return view

    def heard(self, event: GameEvent) -> bool:
        """Take another connection's action; whether it is news."""
        if event.entry.seq <= self._told:
            return False
        self._told = event.entry.seq
        if event.view is not None:
            self._see(event.view)
        else:
            self._follow(event)
            self._is_behind = True
        return True

    def expired(self, event: GameExpired) -> bool:
        """Take the end of the game by the clock; whether it is news."""
        if self._view.status != PLAYING:
            return False
        self._view = replace(self._view, status=EXPIRED, elapsed_ms=event.elapsed_ms)
        return True

    async def _ask(self, type_: str, body: Body, settle: Callable[[Body], T]) -> T:
        return await self._client.ask_about(self, type_, {"game": self.id, **body}, settle)

    async def _act(self, type_: str, action: str, body: Body) -> Moved:
        async with self._client.patience(), self._turn:
            if self._is_behind:
                await self.refresh()
            before = self._view
            seq = before.seq + 1
            self._pending = seq, action
            try:
                return await self._ask(type_, {"seq": seq, **body}, self._made)
            except ServerError as error:
                if error.code == "game-over" and self._view.status == PLAYING:
                    await self.refresh()  # the clock may have ended it, or another connection
                if error.code != "conflict":
                    raise
                return await self._settled(seq, action, before)
            finally:
                self._pending = None

    async def _settled(self, seq: int, action: str, before: View) -> Moved:
        """What came of an action that the server says is in conflict.

        Raises:
            Conflict: it was not recorded.
        """
        told = await self._ask("game.open", {"since": seq - 1}, self.seen)
        recorded = next((entry.action for entry in told.entries or () if entry.seq == seq), None)
        if recorded is None or not _is_same(action, recorded, before):
            instead = f"{recorded} was recorded as {seq}" if recorded else f"{seq} was not next"
            raise Conflict(
                f"{action} was not made: {instead}; the game is at {self._view.seq} now",
                self._view.seq,
                recorded,
            )
        return Moved(
            seq=seq,
            move=recorded,
            auto=(),
            score=told.score,
            moves=told.moves,
            undos=told.undos,
            status=told.status,
            stuck=told.stuck,
            elapsed_ms=told.elapsed_ms,
            hash=told.hash,
            repeated=True,
            view=told,
        )

    def _is_pending(self, entry: Entry, before: View) -> bool:
        if self._pending is None:
            return False
        seq, action = self._pending
        return entry.seq == seq and _is_same(action, entry.action, before)

    def _see(self, view: View) -> None:
        if view.seq >= self._view.seq:
            self._view = replace(view, entries=None)
            self._told = max(self._told, view.seq)
            self._is_behind = False

    def _made(self, body: Body) -> Moved:
        """Take the reply to an action of ours."""
        moved = read(Moved, body)
        if moved.view is not None:
            self._see(moved.view)
        elif moved.seq == self._view.seq + 1:
            self._apply(moved)
        elif moved.seq > self._view.seq:
            self._is_behind = True
        self._told = max(self._told, moved.seq)
        return moved

    def _apply(self, moved: Moved) -> None:
        view = self._view
        is_move = moved.move not in (UNDO, RESIGN)
        try:
            if moved.move == UNDO:
                raise OutOfStep("an undo without a view")
            columns, cells, home = carried(view, (moved.move, *moved.auto) if is_move else ())
        except OutOfStep:
            self._is_behind = True
            return
        undo_left = view.undo_left
        if undo_left is not None:
            undo_left = min(undo_left + is_move, _UNDO_LIMIT)
        self._view = replace(
            view,
            seq=moved.seq,
            columns=columns,
            cells=cells,
            home=home,
            score=moved.score,
            moves=moved.moves,
            undos=moved.undos,
            undo_left=undo_left,
            status=moved.status,
            stuck=moved.stuck,
            elapsed_ms=moved.elapsed_ms,
            hash=moved.hash,
        )

    def _follow(self, event: GameEvent) -> None:
        """Carry the cards of an action told without a view; the rest the next answer will tell."""
        view, entry = self._view, event.entry
        if entry.seq != view.seq + 1 or entry.action == UNDO:
            return
        moves = () if entry.action == RESIGN else (entry.action, *event.auto)
        try:
            columns, cells, home = carried(view, moves)
        except OutOfStep:
            return
        is_won = sum(home.values()) == PACK
        self._view = replace(
            view,
            seq=entry.seq,
            columns=columns,
            cells=cells,
            home=home,
            moves=view.moves + len(moves),
            status=RESIGNED if entry.action == RESIGN else WON if is_won else view.status,
            elapsed_ms=entry.at_ms,
            hash=entry.hash,
        )


def _is_same(ours: str, recorded: str, before: View) -> bool:
    """Whether a recorded action is ours, which may not have been in its canonical form."""
    short, _, count = ours.partition("v")
    if ours == recorded or short != recorded:
        return ours == recorded
    # Onto a card the number of cards follows from the ranks, and the canonical form leaves it out.
    column = COLUMNS.find(short[1:2])
    is_onto_card = 0 <= column < len(before.columns) and bool(before.columns[column])
    return count == "1" or is_onto_card
