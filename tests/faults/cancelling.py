"""Requests that are broken off, at each wait in turn: nothing is held, and sending again tells.

The rooms and the database are real. Each try has a player and games of its own, and a server that
has nothing in memory yet; a wait is wherever the request gives the event loop back.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import cast

from cellmates.daily import DAY_MS, day_of, opens_at
from server.game import LiveGame
from server.journal import StorageError
from server.records import Entry, PlayerRecord
from server.store import Store
from server.store.engine import READERS
from tests.server.memory import MemoryJournal
from tests.server.world import Body, Caller, FakePeer, World
from tests.store.test_leaving import Cancelled

from .figures import Figures

NOON = opens_at("2027-03-14") + DAY_MS // 2
CHALLENGE = f"{day_of(NOON)}-freecell"
NUMBER = 10_000
PATIENCE_S = 30.0
ENOUGH = 3  # tries that went wrong, and no more are needed to know


class Broken(AssertionError):
    """A promise was not kept."""


@dataclass
class Try:
    """A request that somebody is about to make: ``game`` has two entries, ``attempt`` none."""

    caller: Caller
    handle: str
    game: str
    attempt: str | None


@dataclass(frozen=True)
class Kind:
    """A request; ``again`` says what may be answered when it is sent again.

    ``entries`` is how many entries it makes, of ``attempt`` where the player has begun one. It is
    said by a guest, or before any greeting, where ``who`` says so; and ``late_ms`` later than what
    came before.
    """

    message: str
    body: Callable[[Try], Body]
    again: frozenset[str] = frozenset({"ok"})
    entries: int = 0
    who: str = "player"
    attempt: str = ""  # or "begun", or "ended"
    late_ms: int = 0


def _of_game(**more: object) -> Callable[[Try], Body]:
    return lambda one: {"game": one.game, **more}


def _of_board(**more: object) -> Callable[[Try], Body]:
    return lambda one: {"challenge": CHALLENGE, "board": "first", "kind": "human", **more}


def _of_attempt(**more: object) -> Callable[[Try], Body]:
    return lambda one: {"game": one.attempt, **more}


def _made(one: Try) -> Body:
    return {"handle": f"{one.handle}x", "kind": "human"}


def _greeting(one: Try) -> Body:
    return {"proto": 1, "client": {"name": "test", "version": "1"}, "token": one.caller.token}


OR_TAKEN = frozenset({"ok", "handle-taken"})
OR_GONE = frozenset({"ok", "not-found"})

KINDS = {
    "hello": Kind("hello", _greeting, who="nobody"),
    "player.create": Kind("player.create", _made, OR_TAKEN, who="guest"),
    "player.rename": Kind("player.rename", lambda one: {"handle": f"{one.handle}y"}),
    "player.token": Kind("player.token", lambda one: {}),
    "player.delete": Kind("player.delete", lambda one: {"confirm": one.handle}, OR_GONE),
    "player.get": Kind("player.get", lambda one: {"handle": one.handle}),
    "game.start": Kind("game.start", lambda one: {"ruleset": "freecell", "deal": "1"}),
    "practice": Kind(
        "game.start", lambda one: {"ruleset": "freecell", "deal": CHALLENGE}, attempt="ended"
    ),
    "game.open": Kind("game.open", _of_game(since=0)),
    "game.move": Kind("game.move", _of_game(seq=3, move="6c"), entries=1),
    "game.undo": Kind("game.undo", _of_game(seq=3), entries=1),
    "game.resign": Kind("game.resign", _of_game(seq=3), entries=1),
    "end of an attempt": Kind("game.resign", _of_attempt(seq=1), entries=1, attempt="begun"),
    "expiry": Kind("game.open", _of_attempt(since=0), attempt="begun", late_ms=3 * DAY_MS),
    "game.hint": Kind("game.hint", _of_game()),
    "game.tap": Kind("game.tap", _of_game(**{"from": "1"})),
    "games.mine": Kind("games.mine", lambda one: {"limit": 1}),
    "daily.list": Kind("daily.list", lambda one: {}),
    "daily.start": Kind("daily.start", lambda one: {"challenge": CHALLENGE}),
    "daily.start again": Kind("daily.start", lambda one: {"challenge": CHALLENGE}, attempt="begun"),
    "board.get": Kind("board.get", _of_board(limit=10), attempt="ended"),
    "board.watch": Kind("board.watch", _of_board(), attempt="ended"),
    "replay.get": Kind("replay.get", _of_game()),
}


async def cancelling(database_url: str, *, each: int | None = None, seed: int = 0) -> Figures:
    """Break off every kind of request at ``each`` of its waits, or at all of them.

    ``lost`` are the tries after which something was held, or was not as the journal has it;
    ``doubled`` those whose action was made twice.
    """
    trial = await Trial.open(database_url)
    chance = Random(seed)
    for name, kind in KINDS.items():
        waits = await trial.attempt(name, kind, None)
        places = range(1, waits + 1)
        chosen = places if each is None else chance.sample(places, min(each, waits))
        for nth in chosen:
            await trial.attempt(name, kind, nth)
        if len(trial.broken) >= ENOUGH:
            break
    async with _within(PATIENCE_S, "the store cannot be closed"):
        await trial.store.close()
    more = {"kinds": len(KINDS), "made all the same": trial.made, "broken off": trial.cancelled}
    return Figures(
        "cancelling",
        trial.tried,
        len(trial.broken),
        trial.doubled,
        more=more | {"broken": "; ".join(trial.broken[:ENOUGH]) or "none"},
    )


@dataclass
class Trial:
    """All tries over one database."""

    store: Store
    beside: set["asyncio.Task[object]"]
    markers: Iterator[int] = field(default_factory=count)
    tried: int = 0
    cancelled: int = 0
    made: int = 0
    doubled: int = 0
    broken: list[str] = field(default_factory=list)

    @classmethod
    async def open(cls, database_url: str) -> "Trial":
        store = await Store.open(database_url)
        trial = cls(store, asyncio.all_tasks())
        await trial.world(0).house.planner.plan(1)
        return trial

    def world(self, first_id: int) -> World:
        """A server that has just started."""
        world = World(cast("MemoryJournal", self.store), first_id=first_id)
        world.clock.now = NOON
        return world

    async def attempt(self, name: str, kind: Kind, nth: int | None) -> int:
        """Make a request, broken off at its ``nth`` wait; return how often it waited."""
        self.tried += 1
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._attempt(kind, nth)
        except (AssertionError, StorageError, TimeoutError) as why:
            self.broken.append(f"{name} at wait {nth}: {str(why) or 'it hangs'}")
            return 0

    async def _attempt(self, kind: Kind, nth: int | None) -> int:
        one = await self._prepared(kind)
        before = await self._rows(one)
        number = len(one.caller.peer.sent)
        cancelled = Cancelled(one.caller.conversation.receive(_frame(kind, one)), nth or 0)
        [outcome] = await asyncio.gather(asyncio.ensure_future(cancelled), return_exceptions=True)
        is_off = isinstance(outcome, asyncio.CancelledError)
        if isinstance(outcome, BaseException) and not is_off:
            raise Broken(f"it raised {outcome!r}")
        if nth is not None and cancelled.waits >= nth and not is_off:
            raise Broken("it went on although it was cancelled")
        if is_off and len(one.caller.peer.sent) > number:
            raise Broken("it was answered although it was cancelled")
        self.cancelled += is_off
        await self._nothing_is_held()
        await self._memory_agrees(one.caller.world)
        made = await self._rows(one)
        self.made += is_off and made != before
        if is_off and (code := await self._again(kind, one)) not in kind.again:
            raise Broken(f"sent again, it is answered {code}")
        await self._nothing_is_held()
        await self._memory_agrees(one.caller.world)
        after = await self._rows(one)
        if len(after) != len(before) + kind.entries:
            self.doubled += len(after) > len(before) + kind.entries
            raise Broken(f"of {kind.entries} entries there are {len(after) - len(before)}")
        await self._attempts_are_single(one)
        one.caller.conversation.closed()
        return cancelled.waits

    async def _prepared(self, kind: Kind) -> Try:
        """A player with what the request is about, on a server that remembers nothing of it."""
        first_id, handle = self.tried * 1000, f"try-{self.tried}"
        earlier = self.world(first_id)
        player = await earlier.player(handle)
        view = await player.ok("game.start", ruleset="freecell", deal="1")
        for seq, move in enumerate(("6a", "6b"), 1):
            await player.ok("game.move", game=view["game"], seq=seq, move=move)
        attempt = None
        if kind.attempt:
            attempt = (await player.ok("daily.start", challenge=CHALLENGE))["game"]
        if kind.attempt == "ended":
            await player.ok("game.resign", game=attempt, seq=1)
        world = self.world(first_id + 500)
        world.clock.pass_ms(kind.late_ms)
        caller = world.connect(FakePeer())
        caller.token = player.token
        if kind.who != "nobody":
            await caller.hello(player.token if kind.who == "player" else None)
        return Try(caller, handle, view["game"], attempt)

    async def _rows(self, one: Try) -> list[Entry]:
        return await self.store.entries(one.attempt or one.game)

    async def _again(self, kind: Kind, one: Try) -> str:
        """Send the same request again, and say what is answered."""
        await one.caller.conversation.receive(_frame(kind, one))
        answers = [told for told in one.caller.peer.sent if told.get("re") == NUMBER]
        if not answers:
            raise Broken("sent again, it is not answered")
        last = answers[-1]
        return "ok" if last["t"] == "ok" else str(last["d"]["code"])

    async def _nothing_is_held(self) -> None:
        """Wait until what was begun has ended; then no connection and no turn may be left over."""
        while left := asyncio.all_tasks() - self.beside - _waiting():
            await asyncio.wait(left)
        # The writer writes in order, so what was left to it is behind us when this is written.
        marker = PlayerRecord(f"marker-{next(self.markers)}", "marker", "bot", 0)
        await self.store.create_player(marker, marker.id, marker.id)
        async with _within(5.0, "a reader never comes back"):
            await asyncio.gather(*(self.store.last_run() for _ in range(2 * READERS)))
        for engine in (self.store.engines.read, self.store.engines.write):
            if not engine.pool.status().endswith("Current Checked out connections: 0"):
                raise Broken(f"a connection is held: {engine.pool.status()}")

    async def _memory_agrees(self, world: World) -> None:
        """Every game in memory is the one that its entries make, and nobody has its turn."""
        for game, seat in world.games._seats.items():
            if seat.waiting or seat.turn.locked():
                raise Broken("a turn is never given back")
            record = await self.store.game(game)
            if seat.live is None or record is None:
                raise Broken("a seat is kept without its game")
            kept = LiveGame(record, await self.store.entries(game))
            if (kept.seq, kept.summary) != (seat.live.seq, seat.live.summary):
                raise Broken("memory and journal differ")
            if kept.state.position != seat.live.state.position:
                raise Broken("memory has another board")

    async def _attempts_are_single(self, one: Try) -> None:
        """Nobody has two ranked attempts at a challenge, nor a result without its end."""
        player = one.caller.conversation.player
        if player is not None:
            found = await self.store.attempts_of(player.id, [CHALLENGE])
            if len(found) > 1:
                raise Broken("there are two ranked attempts")


def _frame(kind: Kind, one: Try) -> str:
    return json.dumps({"t": kind.message, "id": NUMBER, "d": kind.body(one)})


def _waiting() -> set["asyncio.Task[object]"]:
    task = asyncio.current_task()
    return set() if task is None else {task}


@asynccontextmanager
async def _within(limit_s: float, otherwise: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(limit_s):
            yield
    except TimeoutError:
        raise Broken(otherwise) from None
