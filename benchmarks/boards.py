"""What a board of a million runs costs in memory: ``python -m benchmarks.boards``.

The rival in the same run is SQLite with an index in the board's order: ``count(*)`` of the rows
before mine for the rank, and the page's rows by the index. Rounds are interleaved, processor time;
the board is built once.
"""

import gc
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from resource import RUSAGE_SELF, getrusage
from statistics import median, quantiles
from textwrap import fill
from time import process_time

from benchmarks.report import figure, judged, machine, progress, table
from cellmates.daily import FIRST, Figures
from cellmates.engine import PACK
from server.boards import Boards
from server.records import Run

RUNS = 1_000_000
ROUNDS = 5
READS = 200  # of each side, a round
RIVAL_READS = 20
INSERTS = 20_000
ROWS = 50
CHALLENGE = "2027-01-15-freecell"
CLOSES = 1_800_057_600_000
TARGET_MS = 1.0

# Base64 of sixteen random bytes, as the server's ids are.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of each read, ours and the rival's."""

    name: str
    ours: list[float]
    rivals: list[float]
    target: float | None = None

    def row(self) -> list[str]:
        """The table's row; the target is for the median."""
        ours, rivals = median(self.ours), median(self.rivals)
        return [
            self.name,
            f"{figure_ms(ours)} ms",
            f"{figure_ms(_p99(self.ours))} ms",
            "" if self.target is None else judged(ours, self.target, "ms"),
            f"{figure_ms(rivals)} ms",
            f"{figure_ms(_p99(self.rivals))} ms",
            figure(rivals / ours),
        ]


def figure_ms(value: float) -> str:
    """Milliseconds with three digits below one too."""
    return figure(value) if value >= 1 else f"{value:.3f}"


def _p99(values: list[float]) -> float:
    return quantiles(values, n=100)[-1]


# -- Runs ------------------------------------------------------------------------------------------


def runs(count: int, start: int = 1) -> Iterator[Run]:
    """First attempts of as many people, seven in ten of them won."""
    chance = Random(start)
    for number in range(start, start + count):
        won = chance.random() < 0.7
        yield Run(
            number=number,
            game="".join(chance.choices(_LETTERS, k=22)),
            challenge=CHALLENGE,
            player="".join(chance.choices(_LETTERS, k=22)),
            kind="human",
            handle=f"player-{number}",
            figures=Figures(
                home=len(PACK) if won else chance.randrange(len(PACK)),
                elapsed_ms=chance.randrange(60_000, 6_000_000),
                moves=chance.randrange(60, 300),
                undos=chance.randrange(20),
                attempt=1,
                ended=CLOSES - chance.randrange(86_400_000),
            ),
        )


# -- The rival -------------------------------------------------------------------------------------

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


class Rival:
    """The same board in SQLite, in memory."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute(_TABLE)
        self._base.execute(_INDEX)

    def add(self, run: Run) -> None:
        """Insert a run."""
        told = run.figures
        missing = len(PACK) - told.home
        figures = (missing, told.elapsed_ms, told.moves, told.undos, told.ended)
        self._base.execute(
            "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (run.number, run.game, run.player, run.handle, *figures),
        )

    def first(self) -> list[tuple[object, ...]]:
        """First rows of the board."""
        return self._base.execute(_FIRST, (ROWS,)).fetchall()

    def around(self, player: str) -> tuple[int, list[str]]:
        """Rank of a player, and the games of the page around."""
        mine = self._base.execute(_MINE, (player,)).fetchone()
        (better,) = self._base.execute(_RANK, mine[:4]).fetchone()
        before = self._base.execute(_AROUND[0], (*mine, ROWS // 2)).fetchall()
        after = self._base.execute(_AROUND[1], (*mine, ROWS - len(before))).fetchall()
        return 1 + better, [row[1] for row in before[::-1] + after]


# -- Measuring -------------------------------------------------------------------------------------


def _ms(act: Callable[[], object]) -> float:
    start = process_time()
    act()
    return (process_time() - start) * 1e3


def _built(name: str, add: Callable[[Run], object]) -> tuple[float, int]:
    """Add all runs; seconds of processor time, bytes by which the process has grown."""
    gc.collect()
    before, spent = _peak_bytes(), 0.0
    for run in runs(RUNS):
        start = process_time()
        add(run)
        spent += process_time() - start
        if run.number % (RUNS // 5) == 0:
            progress(f"{name}: {run.number} runs")
    return spent, _peak_bytes() - before


def _peak_bytes() -> int:
    return getrusage(RUSAGE_SELF).ru_maxrss * 1024


def _around(boards: Boards, player: str) -> tuple[int, list[str]]:
    page = boards.page(FIRST, "human", limit=ROWS, around=player, me=player)
    if page.me is None:
        raise AssertionError("a player of the board is not on it")
    return page.me.rank, [row.run.game for row in page.rows]


def _check(boards: Boards, rival: Rival, players: list[str]) -> None:
    for player in players:
        if _around(boards, player) != rival.around(player):
            raise AssertionError("the two boards differ")


def _reads(boards: Boards, rival: Rival, players: list[str]) -> Cost:
    """Rank and page around one player after another."""
    ours, rivals = [], []
    for _ in range(ROUNDS):
        ours += [_ms(partial(_around, boards, player)) for player in players[:READS]]
        rivals += [_ms(partial(rival.around, player)) for player in players[:RIVAL_READS]]
        players = players[READS:]
    return Cost(f"rank and {ROWS} rows around me", ours, rivals, TARGET_MS)


def _first_pages(boards: Boards, rival: Rival) -> Cost:
    ours, rivals = [], []
    for _ in range(ROUNDS):
        ours += [_ms(lambda: boards.top(FIRST, "human", ROWS)) for _ in range(READS)]
        rivals += [_ms(rival.first) for _ in range(READS)]
    return Cost(f"first {ROWS} rows", ours, rivals)


def _inserts(boards: Boards, rival: Rival) -> Cost:
    """One more run each time; each of those is won, and so stands on both of our boards."""
    ours, rivals = [], []
    for number in range(ROUNDS):
        more = [run for run in runs(INSERTS, RUNS + 1 + number * INSERTS) if run.figures.is_won]
        ours += [_ms(partial(boards.add, run)) for run in more]
        rivals += [_ms(partial(rival.add, run)) for run in more]
    return Cost("insert", ours, rivals)


def main() -> None:
    """Build both boards, read and add in turn, and print the tables."""
    boards, rival = Boards(CHALLENGE, CLOSES), Rival()
    built = [_built("ours", boards.add), _built("SQLite", rival.add)]
    held = boards.rows
    players = Random(7).sample([run.player for run in runs(RUNS)], ROUNDS * READS)
    _check(boards, rival, players[:5])
    costs = [_reads(boards, rival, players), _first_pages(boards, rival), _inserts(boards, rival)]
    rows = [["", "ours", "p99", "target", "SQLite", "p99", "ratio"]]
    print(machine("sortedcontainers"), f"· SQLite {sqlite3.sqlite_version}")
    print(f"Processor time, {ROUNDS} interleaved rounds. Ratio: SQLite's median over ours.\n")
    print(table([*rows, *(cost.row() for cost in costs)], left=(0, 3)), end="\n\n")
    for name, (seconds, grown) in zip(("ours", "SQLite"), built, strict=True):
        print(f"{RUNS} runs, {name}: {seconds:.1f} s to build, {grown / 1e6:.0f} MB")
    print(f"rows on our boards: {held}", end="\n\n")
    print(fill(_COMPARED.strip(), width=100))


_COMPARED = """
Ours: Boards.page around a player, with that player's own row, every row a Run; the runs stand on
the board of first attempts and, where they were won, on that of fewest moves too. SQLite: in
memory, board of first attempts only, by an index in its order; count(*) of the rows before mine,
and the page by two seeks. Both give the same ranks and games, which is checked first.
"""


if __name__ == "__main__":
    main()
