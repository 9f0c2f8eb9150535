"""What is stored, and what it costs: ``python -m benchmarks.stored [--rounds N] [--short]``.

A cold game is one that is in no process's memory: from the call until it stands there again, and
until a move of it is committed; beside the two SELECTs that no store can do without, by the driver
alone. Then moves of many games at once, committed together as the server does, in databases with
more and more games that have ended: a move is to cost the same. No sockets but the database's.
Processor time is this process's own, so that what Postgres spends is in the wall time only.
"""

import argparse
import asyncio
import gc
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import asyncpg  # type: ignore[import-untyped]

from cellmates.engine import parse_action
from server.clock import SystemClock
from server.games import Games
from server.store import Store, upgrade
from tests.postgres import Postgres

from .report import machine, progress
from .results import Figure, Target, ratio, shown
from .stored_games import (
    DEAL,
    PLAYER,
    RULESET,
    LongGame,
    long_game,
    new_id,
    plant_long_games,
    plant_stored_games,
)

ROUNDS = 5
COLD = Target("≤", 3.0)  # ms
GROWTH = Target("≤", 1.1)
OPENED, MOVED, BARE = "opened", "first move", "bare SELECTs"
COLD_ACTS = (OPENED, MOVED, BARE)
# To and fro between two cells, for ever.
MOVES = (parse_action("ae"), parse_action("ea"))

Tell = Callable[[str], None]
# Gives the URL of a new database without tables.
NewDatabase = Callable[[], str]
# Gives the rows of a game and of its entries.
Select = Callable[[str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Spent:
    """Microseconds of processor time, and of wall time."""

    cpu_us: float
    wall_us: float


async def _spent(act: Awaitable[object]) -> Spent:
    began, began_wall = process_time(), perf_counter()
    await act
    return Spent(1e6 * (process_time() - began), 1e6 * (perf_counter() - began_wall))


@dataclass(frozen=True, slots=True)
class Size:
    """How much is stored and done.

    ``cold`` games a round of ``entries`` each. ``stored`` games of ``stored_entries`` each in one
    database after another, the least first; a round is ``waves`` moves of each of ``playing``
    games more.
    """

    cold: int
    entries: int
    stored: tuple[int, ...]
    stored_entries: int
    playing: int
    waves: int


FULL = Size(100, 200, (10, 1_000, 100_000), stored_entries=20, playing=100, waves=40)
SHORT = Size(50, 200, (10, 1_000, 5_000), stored_entries=20, playing=100, waves=20)


def measure(
    rounds: int, tell: Tell, size: Size = FULL, *, with_postgres: bool = True
) -> list[Figure]:
    """Measure both, on SQLite and on a Postgres that is started for it.

    ``tell`` is told how far it is.
    """
    figures = []
    with ExitStack() as stack:
        for name, new in _databases(stack, with_postgres=with_postgres):
            tell(f"stored: cold games, {name}")
            figures += asyncio.run(_cold(name, new(), rounds, size))
            urls = {stored: new() for stored in size.stored}
            figures += asyncio.run(_growth(name, urls, rounds, size, tell))
    return figures


def _databases(stack: ExitStack, *, with_postgres: bool) -> Iterator[tuple[str, NewDatabase]]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    numbers = count(1)
    yield "SQLite", lambda: f"sqlite:///{folder}/{next(numbers)}.sqlite"
    if with_postgres:
        postgres = stack.enter_context(Postgres())
        yield "Postgres", lambda: stack.enter_context(postgres.database())


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Store]:
    """The store of a new database."""
    await upgrade(url)
    store = await Store.open(url)
    try:
        yield store
    finally:
        await store.close()


def _nobodys_games(store: Store) -> Games:
    """Games of a process that has none in memory."""
    return Games(
        store,
        SystemClock(),
        new_id,
        lambda below: 0,
        evicted=lambda number: None,
        attempt_ended=lambda live: None,
    )


# -- Cold games ------------------------------------------------------------------------------------

_GAME = "SELECT * FROM game WHERE id = {}"
_ENTRIES = "SELECT seq, action, at_ms, hash FROM entry WHERE game = {} ORDER BY seq"


@asynccontextmanager
async def _bare(url: str) -> AsyncIterator[Select]:
    """Rival: the two SELECTs by the driver of a database."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            yield partial(_by_sqlite3, connection)
    else:
        asyncpg_connection = await asyncpg.connect(url)
        yield partial(_by_asyncpg, asyncpg_connection)
        await asyncpg_connection.close()


async def _by_sqlite3(connection: sqlite3.Connection, game: str) -> object:
    return [connection.execute(sql.format("?"), (game,)).fetchall() for sql in (_GAME, _ENTRIES)]


async def _by_asyncpg(connection: asyncpg.Connection, game: str) -> object:
    return [await connection.fetch(sql.format("$1"), game) for sql in (_GAME, _ENTRIES)]


async def _cold(name: str, url: str, rounds: int, size: Size) -> list[Figure]:
    """Open, move in, and select one cold game after another, each another one."""
    game = long_game(size.entries)
    async with _opened(url) as store, _bare(url) as select:
        ids = iter(await plant_long_games(store, game, rounds * size.cold * len(COLD_ACTS)))
        taken = [await _cold_round(store, select, game, ids, size) for _ in range(rounds)]
    start = f"cold game of {size.entries} entries, {name}"
    wall = {
        what: Figure(
            f"{start}: {what}",
            "ms",
            tuple(each[what].wall_us / 1e3 for each in taken),
            None if what == BARE else COLD,
        )
        for what in COLD_ACTS
    }
    cpu = tuple(each[OPENED].cpu_us / 1e3 for each in taken)
    return [
        *wall.values(),
        Figure(f"{start}: {OPENED}, CPU", "ms", cpu),
        ratio(f"{start}: {OPENED} / {BARE}", wall[OPENED], wall[BARE]),
    ]


async def _cold_round(
    store: Store, select: Select, game: LongGame, ids: Iterator[str], size: Size
) -> dict[str, Spent]:
    """Median of each act; they take turns."""
    acts: dict[str, Callable[[str], Awaitable[object]]] = {
        OPENED: lambda one: _nobodys_games(store).open(PLAYER, one),
        MOVED: lambda one: _nobodys_games(store).act(PLAYER, one, game.next, size.entries + 1),
        BARE: select,
    }
    taken: dict[str, list[Spent]] = {what: [] for what in acts}
    for _ in range(size.cold):
        for what, act in acts.items():
            taken[what].append(await _spent(act(next(ids))))
    return {
        what: Spent(median(one.cpu_us for one in each), median(one.wall_us for one in each))
        for what, each in taken.items()
    }


# -- Growth ----------------------------------------------------------------------------------------


class Hall:
    """Games that are being played in one database, all at once."""

    def __init__(self, store: Store) -> None:
        self._games = _nobodys_games(store)
        self._ids: list[str] = []
        self._seq = 0

    async def begin(self, playing: int) -> None:
        """Start so many games."""
        started = (
            self._games.start(PLAYER, RULESET, DEAL, RULESET.autoplay) for _ in range(playing)
        )
        self._ids = [live.record.id for live in await asyncio.gather(*started)]

    async def wave(self) -> None:
        """Make a move of every game; returns when all are committed."""
        move = MOVES[self._seq % 2]
        self._seq += 1
        await asyncio.gather(*(self._games.act(PLAYER, one, move, self._seq) for one in self._ids))


async def _round(halls: dict[int, Hall], size: Size) -> dict[int, Spent]:
    """What a move takes in each hall; they take turns, wave by wave.

    Garbage is collected before. Python does it after every so many objects, which falls into step
    with the turns: one hall would pay for all.
    """
    taken: dict[int, list[Spent]] = {stored: [] for stored in halls}
    gc.collect()
    gc.disable()
    try:
        for _ in range(size.waves):
            for stored, hall in halls.items():
                taken[stored].append(await _spent(hall.wave()))
    finally:
        gc.enable()
    moves = size.waves * size.playing
    return {
        stored: Spent(
            sum(one.cpu_us for one in each) / moves, sum(one.wall_us for one in each) / moves
        )
        for stored, each in taken.items()
    }


async def _growth(
    name: str, urls: dict[int, str], rounds: int, size: Size, tell: Tell
) -> list[Figure]:
    """Rounds of moves in databases that hold more and more."""
    async with AsyncExitStack() as stack:
        halls = {}
        for stored, url in urls.items():
            tell(f"stored: {stored} games go into {name}")
            store = await stack.enter_async_context(_opened(url))
            await plant_stored_games(store, stored, size.stored_entries)
            await store.create_player(PLAYER, PLAYER.handle, "token")
            halls[stored] = Hall(store)
            await halls[stored].begin(size.playing)
        await _round(halls, size)  # what only the first cost
        taken = []
        for nth in range(rounds):
            tell(f"stored: moves in {name}, round {nth + 1} of {rounds}")
            taken.append(await _round(halls, size))
    return _growth_figures(name, taken)


def _growth_figures(name: str, taken: list[dict[int, Spent]]) -> list[Figure]:
    figures = []
    for kind, field in (("CPU", "cpu_us"), ("wall", "wall_us")):
        of = {
            stored: Figure(
                f"durable move, {name}, {stored} stored games: {kind}",
                "µs",
                tuple(getattr(each[stored], field) for each in taken),
            )
            for stored in taken[0]
        }
        least, most = min(of), max(of)
        grown = f"durable move, {name}, {most} / {least} stored games: {kind}"
        figures += [*of.values(), ratio(grown, of[most], of[least], GROWTH)]
    return figures


def main() -> None:
    """Measure, and print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    asked.add_argument("--short", action="store_true", help="fewer games and moves")
    chosen = asked.parse_args()
    figures = measure(chosen.rounds, progress, SHORT if chosen.short else FULL)
    print(f"{machine('sqlalchemy', 'aiosqlite', 'asyncpg')} · SQLite {sqlite3.sqlite_version}")
    print(shown(figures))


if __name__ == "__main__":
    main()
