"""What the solver finds, how fast and in how much memory: ``python -m benchmarks.solver``.

Times are processor time, so that others who wait for the same processor count little. Where the
program ``fc-solve`` is installed it solves the same deals in turn with ours, each in a process of
its own, whose start counts: it is written in C and there is no faster way to ask it from here.
``--quick`` takes a tenth of the deals.
"""

import os
import resource
import shutil
import subprocess
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from multiprocessing import get_context
from statistics import median
from time import process_time

from benchmarks.report import figure, judged, machine, progress, table
from cellmates.engine import (
    RULESETS,
    Autoplay,
    Deal,
    Game,
    Position,
    Refusal,
    Ruleset,
    Status,
    board_text,
    parse_action,
)
from cellmates.solver import BUDGET, SHORT_BUDGET, Solution, Verdict, solve, solve_short

MEMORY_MB = 500
SHORT_DEALS = 200
SHORT_SECONDS = 10

FC_SOLVE = "fc-solve"
# Presets for speed and for length. Not every one will do: the lines of `-l lg` put other cards than
# Kings into empty columns.
FC_FAST, FC_SHORT = "eo", "ve"
# The rulesets whose rules fc-solve has: its Eight Off moves free cells + 1 cards, always.
FC_GAMES = {"freecell": "freecell", "eight-off-classic": "eight_off"}
# Median lengths of its `-l ve` over deals 1-200, for where it is not installed.
FC_SHORT_KNOWN = {"freecell": 92, "eight-off-classic": 79}
FC_PATIENCE = 120  # seconds
FC_WON = "This game is solveable."
FC_ABOVE = "-=-=-=-=-=-=-=-=-=-=-=-"


@dataclass(frozen=True, slots=True)
class Series:
    """Deals 1 to ``last`` of a ruleset, with targets in milliseconds for one deal."""

    ruleset: str
    last: int
    median_ms: float
    worst_ms: float | None = None


SERIES = (
    Series("freecell", 1000, median_ms=30, worst_ms=5000),
    Series("eight-off", 1000, median_ms=30, worst_ms=5000),
    Series("eight-off-classic", 1000, median_ms=30, worst_ms=5000),
    Series("eight-off-4", 1000, median_ms=100),
    Series("eight-off-2", 5000, median_ms=10),
)


@dataclass(frozen=True, slots=True)
class Solved:
    """What came of one deal; ``length`` counts every card home, and a group as one."""

    verdict: Verdict
    ms: float
    length: int
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of all deals of a ruleset: ours, fc-solve's if it was asked, our peak memory."""

    ours: list[Solved]
    rivals: list[Solved]
    peak_mb: float


Solver = Callable[[Ruleset, Position], Solution]

# -- Measuring, in a process of its own ------------------------------------------------------------


def _measured(solver: Solver, name: str, last: int, preset: str | None) -> Outcome:
    """Solve deals 1 to ``last``, in turn with fc-solve under a preset unless that is None."""
    ruleset = RULESETS[name]
    ours, rivals = [], []
    for number in range(1, last + 1):
        position = Deal.numbered(number).layout(ruleset)
        ours.append(_solved(solver, ruleset, position))
        if preset is not None:
            rivals.append(_solved_by_fc(ruleset, position, preset))
        if number % max(last // 10, 1) == 0:
            progress(f"{solver.__name__} {name}: {number} of {last}")
    # The peak of this process since it began, in KB; it started with nothing but the imports.
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Outcome(ours, rivals, peak_kb / 1024)


def _solved(solver: Solver, ruleset: Ruleset, position: Position) -> Solved:
    start = process_time()
    solution = solver(ruleset, position)
    ms = 1000 * (process_time() - start)
    return Solved(solution.verdict, ms, solution.length, solution.nodes)


def _solved_by_fc(ruleset: Ruleset, position: Position, preset: str) -> Solved:
    """Ask fc-solve, which may check as many positions as our ``solve`` may reach."""
    command = [FC_SOLVE, "-g", FC_GAMES[ruleset.name], "-l", preset]
    command += ["-mi", str(BUDGET), "-p", "-t", "-sam", "-snx", "-m"]
    before = _children_seconds()
    answer = subprocess.run(
        command,
        input=board_text(position),
        env={**os.environ, "FREECELL_SOLVER_QUIET": "1"},
        capture_output=True,
        text=True,
        timeout=FC_PATIENCE,
        check=False,
    ).stdout
    ms = 1000 * (_children_seconds() - before)
    length = _length(ruleset, position, answer)
    return Solved(Verdict.UNKNOWN if length is None else Verdict.WON, ms, length or 0)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _length(ruleset: Ruleset, position: Position, answer: str) -> int | None:
    """Moves of fc-solve's line, counted as ours are; None without a line that wins by our rules."""
    if FC_WON not in answer:
        return None
    words = answer.partition(FC_ABOVE)[2].partition(FC_WON)[0].split()
    try:
        game = Game.replay(ruleset, position, Autoplay.OFF, map(parse_action, words))
    except Refusal:
        return None
    return game.moves if game.status is Status.WON else None


def _apart(solver: Solver, name: str, last: int, preset: str | None) -> Outcome:
    """Measure in a fresh process, so that the peak of memory is that of this ruleset."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, solver, name, last, preset).result()


# -- Printing --------------------------------------------------------------------------------------


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[max(ceil(share * len(values)) - 1, 0)]


def _times(solved: list[Solved]) -> list[float]:
    return [one.ms for one in solved]


def _lengths(solved: list[Solved]) -> list[int]:
    return [one.length for one in solved if one.verdict is Verdict.WON]


def _spread(times: list[float]) -> list[str]:
    """Median, 99th percentile and worst."""
    return [figure(value) for value in (median(times), _percentile(times, 0.99), max(times))]


def _print_solve(series: list[Series], preset: str | None) -> None:
    asked = {one: preset if one.ruleset in FC_GAMES else None for one in series}
    outcomes = {one: _apart(solve, one.ruleset, one.last, asked[one]) for one in series}
    print(f"solve, with a budget of {BUDGET} nodes:\n")
    headings = "ruleset|deals|won|lost|unknown|median ms|p99 ms|worst ms|median length|most nodes"
    rows = [_row(one.ruleset, outcome.ours) for one, outcome in outcomes.items()]
    print(table([headings.split("|"), *rows]), end="\n\n")
    headings = "ruleset|median|worst|peak of memory|"
    rows = [_targets(one, outcome) for one, outcome in outcomes.items()]
    print(table([headings.split("|"), *rows], left=(0, 1, 2, 4)), end="\n\n")
    if preset is None:
        print(f"{FC_SOLVE} is not installed: no rival's times.\n")
        return
    print(
        f"Rival: {FC_SOLVE} -l {preset}, a process a deal, C against Python. It knows the rules of"
    )
    print("these rulesets only. Ratio: its median time over ours; above 1 we are faster.\n")
    headings = "ruleset|deals|won|median ms|p99 ms|worst ms|ratio"
    rows = [_rival_row(one.ruleset, outcomes[one]) for one in series if asked[one]]
    print(table([headings.split("|"), *rows]), end="\n\n")


def _row(name: str, solved: list[Solved]) -> list[str]:
    counts, lengths = Counter(one.verdict for one in solved), _lengths(solved)
    return [
        name,
        str(len(solved)),
        *(str(counts[verdict]) for verdict in (Verdict.WON, Verdict.LOST, Verdict.UNKNOWN)),
        *_spread(_times(solved)),
        f"{median(lengths):g}" if lengths else "-",
        str(max(one.nodes for one in solved)),
    ]


def _targets(series: Series, outcome: Outcome) -> list[str]:
    times = _times(outcome.ours)
    return [
        series.ruleset,
        judged(median(times), series.median_ms, "ms"),
        "" if series.worst_ms is None else judged(max(times), series.worst_ms, "ms"),
        f"{outcome.peak_mb:.0f} MB",
        judged(outcome.peak_mb, MEMORY_MB, "MB"),
    ]


def _rival_row(name: str, outcome: Outcome) -> list[str]:
    times = _times(outcome.rivals)
    return [
        name,
        str(len(times)),
        str(len(_lengths(outcome.rivals))),
        *_spread(times),
        f"{median(times) / median(_times(outcome.ours)):.2f}",
    ]


def _print_short(last: int, preset: str | None) -> None:
    outcomes = {name: _apart(solve_short, name, last, preset) for name in FC_GAMES}
    print(
        f"solve_short, with a budget of {SHORT_BUDGET} nodes; lengths count every card home, and a"
    )
    print("group as one:\n")
    headings = "ruleset||deals|won|median length|ratio|median s|worst s||peak MB"
    rows = [row for name, outcome in outcomes.items() for row in _short_rows(name, outcome)]
    print(table([headings.split("|"), *rows], left=(0, 1, 8)), end="\n\n")
    if preset is None:
        print(
            f"{FC_SOLVE} is not installed: its lengths are the known ones of deals 1-{SHORT_DEALS},"
        )
        print("not measured here. Ratio: our length over its; below 1 ours are shorter.")
    else:
        print(f"Rival: {FC_SOLVE} -l {preset}, a process a deal, C against Python; its lines are")
        print("replayed and counted by our engine. Ratio: our length over its; below 1 is shorter.")


def _short_rows(name: str, outcome: Outcome) -> list[list[str]]:
    """Our row and the rival's, which has only a length where it was not asked."""
    length, known = median(_lengths(outcome.ours) or [0]), FC_SHORT_KNOWN[name]
    rival_length = median(_lengths(outcome.rivals) or [0]) if outcome.rivals else known
    worst = max(_times(outcome.ours)) / 1000
    ours = _short_columns(outcome.ours, length, f"{length / rival_length:.2f}")
    rival = (
        _short_columns(outcome.rivals, rival_length, "")
        if outcome.rivals
        else ["", "", f"{known} (known)", "", "", ""]
    )
    return [
        [name, "ours", *ours, judged(worst, SHORT_SECONDS, "s"), f"{outcome.peak_mb:.0f}"],
        ["", FC_SOLVE, *rival, "", ""],
    ]


def _short_columns(solved: list[Solved], length: float, ratio: str) -> list[str]:
    seconds = [ms / 1000 for ms in _times(solved)]
    return [
        str(len(solved)),
        str(len(_lengths(solved))),
        f"{length:g}",
        ratio,
        figure(median(seconds)),
        figure(max(seconds)),
    ]


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(prog="python -m benchmarks.solver", description="Measure the solver.")
    parser.add_argument("--quick", action="store_true", help="take a tenth of the deals")
    share = 10 if parser.parse_args().quick else 1
    installed = shutil.which(FC_SOLVE) is not None
    print(machine())
    print("Processor time; that of a process of fc-solve includes its start.\n")
    series = [replace(one, last=one.last // share) for one in SERIES]
    _print_solve(series, FC_FAST if installed else None)
    _print_short(SHORT_DEALS // share, FC_SHORT if installed else None)


if __name__ == "__main__":
    main()
