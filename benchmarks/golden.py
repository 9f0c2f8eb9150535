"""The solver against complete lists of winnable deals: ``python -m benchmarks.golden LISTS.json``.

The lists name every number from 1 to 5000 that can be won, for two and four cells and both group
rules; all other numbers are lost. So each verdict is right or wrong, and ``unknown`` is wrong too.
Exits with 1 if there is any of these.
"""

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from benchmarks.report import machine, progress, table
from cellmates.engine import RULESETS, Deal, Group, Ruleset
from cellmates.solver import Verdict, solve

LAST = 5000
CHUNK = 250
PROCESSES = 2

DOUBLING, FREE_PLUS_ONE = Group.DOUBLING, Group.FREE_PLUS_ONE
LISTS = {
    "cells=2 group=free_plus_one": replace(RULESETS["eight-off-2"], group=FREE_PLUS_ONE),
    "cells=2 group=doubling": replace(RULESETS["eight-off-2"], group=DOUBLING),
    "cells=4 group=free_plus_one": replace(RULESETS["eight-off-4"], group=FREE_PLUS_ONE),
    "cells=4 group=doubling": replace(RULESETS["eight-off-4"], group=DOUBLING),
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some numbers of one list."""

    name: str
    numbers: range


def main() -> int:
    """Solve all that the lists name; give the exit status."""
    parser = ArgumentParser(
        prog="python -m benchmarks.golden", description="Check the solver against complete lists."
    )
    parser.add_argument("lists", type=Path, help="JSON file with the winnable numbers")
    path = parser.parse_args().lists
    try:
        winnable = _read(path)
    except (OSError, ValueError) as error:
        parser.error(f"cannot read {path}: {error}")
    verdicts = _verdicts()
    rows = [["list", "deals", "won", "lost", "unknown", "wrong"]]
    wrong = 0
    for name, numbers in winnable.items():
        disagreements = list(_disagreements(name, numbers, verdicts[name]))
        print(*disagreements, sep="\n", end="\n" if disagreements else "")
        counts = Counter(verdicts[name].values())
        kinds = (str(counts[verdict]) for verdict in (Verdict.WON, Verdict.LOST, Verdict.UNKNOWN))
        rows.append([name, str(len(verdicts[name])), *kinds, str(len(disagreements))])
        wrong += len(disagreements)
    print(machine(), end="\n\n")
    print(table(rows), end="\n\n")
    print("Every verdict agrees with the lists." if not wrong else f"{wrong} verdicts are wrong.")
    return 1 if wrong else 0


def _read(path: Path) -> dict[str, frozenset[int]]:
    """Winnable numbers of each list.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not JSON, or not these four lists.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    lists = content.get("winnable") if isinstance(content, dict) else None
    if not isinstance(lists, dict) or lists.keys() != LISTS.keys():
        raise ValueError(f'its "winnable" is not an object of {", ".join(LISTS)}')
    winnable = {name: frozenset(lists[name]) for name in LISTS}
    if not all(numbers and numbers <= set(range(1, LAST + 1)) for numbers in winnable.values()):
        raise ValueError(f"a list is empty or names something else than numbers from 1 to {LAST}")
    return winnable


def _verdicts() -> dict[str, dict[int, Verdict]]:
    """Verdict on each number of each list."""
    starts = range(1, LAST + 1, CHUNK)
    chunks = [Chunk(name, range(at, at + CHUNK)) for name in LISTS for at in starts]
    verdicts: dict[str, dict[int, Verdict]] = {name: {} for name in LISTS}
    with get_context("spawn").Pool(PROCESSES) as pool:
        for done, (chunk, solved) in enumerate(pool.imap_unordered(_solved, chunks), 1):
            verdicts[chunk.name].update(solved)
            progress(f"{done * CHUNK} of {len(chunks) * CHUNK} ({chunk.name})")
    return verdicts


def _solved(chunk: Chunk) -> tuple[Chunk, dict[int, Verdict]]:
    ruleset = LISTS[chunk.name]
    return chunk, {number: _verdict(ruleset, number) for number in chunk.numbers}


def _verdict(ruleset: Ruleset, number: int) -> Verdict:
    return solve(ruleset, Deal.numbered(number).layout(ruleset)).verdict


def _disagreements(
    name: str, winnable: frozenset[int], verdicts: dict[int, Verdict]
) -> Iterator[str]:
    for number, verdict in sorted(verdicts.items()):
        listed = Verdict.WON if number in winnable else Verdict.LOST
        if verdict is not listed:
            yield f"{name}, deal {number}: listed as {listed}, the solver says {verdict}"


if __name__ == "__main__":
    sys.exit(main())
