"""Measure the service, its boards, what is stored and the page: ``python -m benchmarks [PART…]``.

All figures go into benchmarks/results.json, with the day, the machine and the versions; those of
parts that were not asked for stay as they were. The picture for the README is made of them.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from . import boards, page, service, stored
from .chart import chart
from .report import progress
from .results import Figure, read, shown, write

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PICTURE = HERE.parent / "docs" / "images" / "performance.svg"
ROUNDS = 5

PARTS: dict[str, Callable[[int, Callable[[str], None]], Sequence[Figure]]] = {
    "service": service.measure,
    "boards": boards.measure,
    "stored": stored.measure,
    "page": page.measure,
}


def main() -> None:
    """Measure, keep, draw and print."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all")
    asked.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each; {ROUNDS}")
    chosen = asked.parse_args()
    if unknown := set(chosen.parts) - PARTS.keys():
        asked.error(f"no such part: {', '.join(sorted(unknown))}")
    parts = chosen.parts or list(PARTS)
    kept = read(RESULTS) if set(parts) != set(PARTS) and RESULTS.exists() else {}
    found = {one.name: one for part in parts for one in PARTS[part](chosen.rounds, progress)}
    figures = kept | found
    about = service.measured_with()
    write(RESULTS, figures.values(), about)
    PICTURE.write_text(chart(figures), encoding="utf-8")
    print("\n".join(f"{name}: {text}" for name, text in about.items()))
    print(shown(found.values()))


if __name__ == "__main__":
    main()
