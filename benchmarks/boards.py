"""What a board of a million runs costs: ``python -m benchmarks.boards [--rounds N] [--short]``.

In memory beside rivals of the same run, which all give the same ranks and games, checked first:
SQLite, in memory too, with an index in the board's order, ``count(*)`` of the rows before mine for
the rank and two seeks for the page; and a plain list that is kept sorted and halved. Ours gives
every row as a Run with its rank, and keeps the board of fewest moves besides; theirs do not. It is
processor time, in interleaved rounds. What `benchmarks.live_boards` measures comes behind it.
"""

import argparse
import asyncio
import gc
import os
import sqlite3
import tempfile
from bisect import bisect_left, insort
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import process_time
from typing import Protocol

from cellmates.daily import FIRST
from cellmates.engine import PACK
from server.boards import Boards
from server.records import Run

from .board_runs import CHALLENGE, CLOSES, in_parts, runs
from .live_boards import measure_live
from .report import machine, progress
from .results import Figure, Target, ratio, shown

ROUNDS = 5
ROWS = 50
RANK = f"rank and {ROWS} rows around me"
TARGET = Target("≤", 1_000.0)  # µs
RIVALS_SHARE = 10  # rivals read and add one for ten of ours: theirs may take milliseconds


@dataclass(frozen=True, slots=True)
class Size:
    """How many runs there are, and what a round does: reads, inserts, commits elsewhere."""

    runs: int
    reads: int
    inserts: int
    commits: int


FULL = Size(runs=1_000_000, reads=200, inserts=20_000, commits=8)
SHORT = Size(runs=50_000, reads=200, inserts=5_000, commits=4)


# -- The three that are compared -------------------------------------------------------------------


class Contestant(Protocol):
    """A board that can be filled, added to, and read."""

    def fill(self, part: list[Run]) -> None:
        """Add runs, many at once."""

    def ready(self) -> None:
        """Nothing more comes by `fill`."""

    def add(self, run: Run) -> None:
        """Add one run."""

    def around(self, player: str) -> tuple[int, list[str]]:
        """Rank of a player, and the games of the page around."""

    def first(self) -> list[str]:
        """Games of the first page."""


class Ours:
    """The server's boards."""

    def __init__(self) -> None:
        self._boards = Boards(CHALLENGE, CLOSES)

    def fill(self, part: list[Run]) -> None:
        for run in part:
            self._boards.add(run)

    def ready(self) -> None:
        """Nothing to do."""

    def add(self, run: Run) -> None:
        self._boards.add(run)

    def around(self, player: str) -> tuple[int, list[str]]:
        page = self._boards.page(FIRST, "human", limit=ROWS, around=player, me=player)
        if page.me is None:
            raise AssertionError("a player of the board is not on it")
        return page.me.rank, [row.run.game for row in page.rows]

    def first(self) -> list[str]:
        return [row.run.game for row in self._boards.top(FIRST, "human", ROWS).rows]


_TABLE = """
CREATE TABLE result (
    number INTEGER PRIMARY KEY, game TEXT, player TEXT UNIQUE, handle TEXT,
    missing INTEGER, elapsed_ms INTEGER, moves INTEGER, undos INTEGER, ended INTEGER
)
"""
_INDEX = "CREATE INDEX board ON result (missing, elapsed_ms, moves, undos, number)"
_PLACE = "(missing, elapsed_ms, moves, undos, number)"
_MINE = f"SELECT {_PLACE[1:-1]} FROM result WHERE player = ?"
_RANK = """
SELECT count(*) FROM result WHERE (missing, elapsed_ms, moves, undos) < (?, ?, ?, ?)
"""
_FIRST = "SELECT * FROM result ORDER BY missing, elapsed_ms, moves, undos, number LIMIT ?"
_AROUND = (
    f"SELECT * FROM result WHERE {_PLACE} < (?, ?, ?, ?, ?) "
    "ORDER BY missing DESC, elapsed_ms DESC, moves DESC, undos DESC, number DESC LIMIT ?",
    f"SELECT * FROM result WHERE {_PLACE} >= (?, ?, ?, ?, ?) "
    "ORDER BY missing, elapsed_ms, moves, undos, number LIMIT ?",
)


class InSqlite:
    """Rival: the same board in SQLite, in memory."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute(_TABLE)
        self._base.execute(_INDEX)

    def fill(self, part: list[Run]) -> None:
        for run in part:
            self.add(run)

    def ready(self) -> None:
        """Nothing to do."""

    def add(self, run: Run) -> None:
        self._base.execute(
            "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (run.number, run.game, run.player, run.handle, *_order(run), run.figures.ended),
        )

    def around(self, player: str) -> tuple[int, list[str]]:
        mine = self._base.execute(_MINE, (player,)).fetchone()
        (better,) = self._base.execute(_RANK, mine[:4]).fetchone()
        before = self._base.execute(_AROUND[0], (*mine, ROWS // 2)).fetchall()
        after = self._base.execute(_AROUND[1], (*mine, ROWS - len(before))).fetchall()
        return 1 + better, [row[1] for row in before[::-1] + after]

    def first(self) -> list[str]:
        return [row[1] for row in self._base.execute(_FIRST, (ROWS,))]


class PlainList:
    """Rival: tuples in a list, sorted once and then kept so."""

    def __init__(self) -> None:
        self._rows: list[tuple[tuple[int, ...], int, str]] = []
        self._of: dict[str, tuple[tuple[int, ...], int, str]] = {}

    def fill(self, part: list[Run]) -> None:
        for run in part:
            row = self._of[run.player] = (_order(run), run.number, run.game)
            self._rows.append(row)

    def ready(self) -> None:
        self._rows.sort()

    def add(self, run: Run) -> None:
        row = self._of[run.player] = (_order(run), run.number, run.game)
        insort(self._rows, row)

    def around(self, player: str) -> tuple[int, list[str]]:
        mine = self._of[player]
        low = max(0, bisect_left(self._rows, mine) - ROWS // 2)
        page = [game for _, _, game in self._rows[low : low + ROWS]]
        return 1 + bisect_left(self._rows, (mine[0], 0, "")), page

    def first(self) -> list[str]:
        return [game for _, _, game in self._rows[:ROWS]]


def _order(run: Run) -> tuple[int, int, int, int]:
    told = run.figures
    return len(PACK) - told.home, told.elapsed_ms, told.moves, told.undos


# -- Measuring -------------------------------------------------------------------------------------


def measure(rounds: int, tell: Callable[[str], None], size: Size = FULL) -> list[Figure]:
    """Build the boards, read and add to them in turn, and then follow one in a database.

    ``tell`` is told how far it is.
    """
    figures = _in_memory(rounds, tell, size)
    gc.collect()
    with tempfile.TemporaryDirectory() as folder:
        return figures + asyncio.run(
            measure_live(Path(folder), size.runs, rounds, size.commits, tell)
        )


def _in_memory(rounds: int, tell: Callable[[str], None], size: Size) -> list[Figure]:
    boards: dict[str, Contestant] = {"": Ours(), "SQLite": InSqlite(), "plain list": PlainList()}
    figures = []
    for name, board in boards.items():
        tell(f"boards: {size.runs} runs{_by(name)}")
        figures += _built(name, board, size.runs)
    players = Random(7).sample([run.player for run in runs(size.runs)], rounds * size.reads)
    for player in players[:5]:
        _check([board.around(player) for board in boards.values()])
    _check([board.first() for board in boards.values()])
    taken: dict[str, list[list[float]]] = {}
    for nth in range(rounds):
        tell(f"boards: round {nth + 1} of {rounds}")
        mine = players[nth * size.reads : (nth + 1) * size.reads]
        more = list(runs(size.inserts, size.runs + 1 + nth * size.inserts))
        for name, board in boards.items():
            every = RIVALS_SHARE if name else 1
            for what, each in _round_us(board, mine[::every], more[::every]).items():
                taken.setdefault(f"board: {what}{_by(name)}", []).append(each)
    return figures + _figures(taken)


def _by(name: str) -> str:
    return f", {name}" if name else ""


def _check(found: list[object]) -> None:
    if any(each != found[0] for each in found[1:]):
        raise AssertionError("the boards differ")


def _built(name: str, board: Contestant, count: int) -> list[Figure]:
    """Fill a board; processor time, and bytes by which the process has grown."""
    gc.collect()
    before, spent = _resident_bytes(), 0.0
    for part in in_parts(runs(count)):
        spent += _us(partial(board.fill, part))
    spent += _us(board.ready)
    grown = _resident_bytes() - before
    return [
        Figure(f"board built in memory{_by(name)}: CPU", "s", (spent / 1e6,)),
        Figure(f"board in memory{_by(name)}", "MB", (grown / 1e6,)),
    ]


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _us(act: Callable[[], object]) -> float:
    start = process_time()
    act()
    return (process_time() - start) * 1e6


def _round_us(board: Contestant, players: list[str], more: list[Run]) -> dict[str, list[float]]:
    """Microseconds of each read and each insert."""
    return {
        RANK: [_us(partial(board.around, player)) for player in players],
        f"first {ROWS} rows": [_us(board.first) for _ in players],
        "insert": [_us(partial(board.add, run)) for run in more],
    }


def _figures(taken: dict[str, list[list[float]]]) -> list[Figure]:
    """Median of every round, of ours the p99 too, and how many times ours the rivals' are."""
    medians: dict[str, Figure] = {}
    others = []
    for name, rounds in taken.items():
        what, _, rival = name.partition(", ")
        target = TARGET if name == f"board: {RANK}" else None
        medians[name] = Figure(name, "µs", tuple(map(median, rounds)), target)
        if rival:
            others.append(ratio(f"{what}, {rival} / ours", medians[name], medians[what]))
        else:
            others.append(Figure(f"{name}, p99", "µs", tuple(map(_p99, rounds))))
    return [*medians.values(), *others]


def _p99(values: list[float]) -> float:
    return quantiles(values, n=100)[-1]


def main() -> None:
    """Measure, and print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    asked.add_argument("--short", action="store_true", help=f"{SHORT.runs} runs only")
    chosen = asked.parse_args()
    figures = measure(chosen.rounds, progress, SHORT if chosen.short else FULL)
    print(f"{machine('sortedcontainers')} · SQLite {sqlite3.sqlite_version}")
    print(shown(figures))


if __name__ == "__main__":
    main()
