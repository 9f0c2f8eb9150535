"""What it costs to have a board in a process, and how soon it shows what another has committed.

Both on a database of SQLite, through the server's own store; no sockets. `benchmarks.boards` says
how it is run.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from time import perf_counter, process_time

from cellmates.daily import FIRST
from server.clock import SystemClock
from server.live_boards import LOOK_S, LiveBoards
from server.records import Attempt, Entry, PlayerRecord, Run
from server.store import Store

from .board_runs import RECORD, game_of, plant_runs, runs, summary_of
from .results import Figure, Target, ratio

POLL_S = 0.002
MOST_S = 1.0

_HASH = "0" * 64
# What a board has of its runs, in its order: no cost of a load can be less.
_SELECT = """
SELECT number, result.game, result.player, kind, handle, result.home, result.elapsed_ms,
    result.moves, result.undos, result.attempt, result.ended
FROM result JOIN game ON game.id = result.game JOIN player ON player.id = result.player
WHERE result.challenge = ? AND validity = 'ok'
ORDER BY result.home DESC, result.elapsed_ms, result.moves, result.undos, number
"""


async def measure_live(
    folder: Path, size: int, rounds: int, commits: int, tell: Callable[[str], None]
) -> list[Figure]:
    """Load a board of so many runs, and then follow it through so many commits a round."""
    file = folder / "runs.sqlite"
    tell(f"boards: {size} runs go into a database")
    await plant_runs(file, runs(size))
    tell("boards: loading")
    bare = Figure("board loaded, a bare SELECT: CPU", "s", (_bare_s(file),))
    async with _two_processes(f"sqlite:///{file}") as (live, other):
        began, began_wall = process_time(), perf_counter()
        await live.load(RECORD)
        loaded = Figure("board loaded: CPU", "s", (process_time() - began,))
        waited = Figure("board loaded: wall", "s", (perf_counter() - began_wall,))
        following = asyncio.create_task(live.follow(asyncio.sleep))
        more = runs(rounds * commits, size + 1)
        shown = [
            await _round_s(live, other, more, commits, lambda: tell("boards: commits elsewhere"))
            for _ in range(rounds)
        ]
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    slowest = Figure(
        "board of another process, commit to shown, slowest",
        "s",
        tuple(max(each) for each in shown),
        Target("≤", MOST_S),
    )
    usual = Figure(
        "board of another process, commit to shown, mean",
        "s",
        tuple(sum(each) / len(each) for each in shown),
    )
    loads = [loaded, waited, bare, ratio("board loaded / a bare SELECT: CPU", loaded, bare)]
    return [*loads, usual, slowest]


def _bare_s(file: Path) -> float:
    """Seconds of processor time that the rows cost without a store."""
    with closing(sqlite3.connect(file)) as base:
        began = process_time()
        for _ in base.execute(_SELECT, (RECORD.id,)):
            pass
        return process_time() - began


@asynccontextmanager
async def _two_processes(url: str) -> AsyncIterator[tuple[LiveBoards, Store]]:
    """Boards with a store of their own, and the store of somebody who knows nothing of them."""
    mine, other = await Store.open(url), await Store.open(url)
    try:
        yield LiveBoards(mine, SystemClock(), lambda *_: None), other
    finally:
        await mine.close()
        await other.close()


async def _round_s(
    live: LiveBoards,
    other: Store,
    more: Iterator[Run],
    commits: int,
    tell: Callable[[], None],
) -> list[float]:
    """Seconds that each of some commits takes to be shown.

    They come at moments spread evenly over the time between two looks, the first just after one,
    as the commit before it was shown by that.
    """
    tell()
    taken = []
    for nth, run in zip(range(commits), more, strict=False):
        await asyncio.sleep(LOOK_S * nth / commits)
        taken.append(await _shown_after_s(live, other, run))
    return taken


async def _shown_after_s(live: LiveBoards, other: Store, run: Run) -> float:
    """Seconds from before a commit until a page of the board has its row."""
    handle = run.handle or ""
    await other.create_player(PlayerRecord(run.player, handle, run.kind, 0), handle, run.player)
    await other.create_game(game_of(run))
    entry = Entry(1, "resign", run.figures.elapsed_ms, _HASH)
    began = perf_counter()
    await other.append(
        run.game, entry, summary_of(run, _HASH), Attempt(RECORD.id, run.player, number=1)
    )
    while True:
        page = await live.page(RECORD, FIRST, run.kind, limit=1, around=run.player, me=run.player)
        if page.me is not None:
            return perf_counter() - began
        await asyncio.sleep(POLL_S)
