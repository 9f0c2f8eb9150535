"""What benchmarks measure, as figures that can be compared, printed, and kept in one JSON file."""

import json
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .report import figure, table


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: at least (``≥``) or at most (``≤``) this."""

    bound: Literal["≥", "≤"]
    value: float

    def is_met_by(self, value: float) -> bool:
        """Whether a value is as it should be."""
        return value >= self.value if self.bound == "≥" else value <= self.value


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured, a value a round; its median is what counts.

    ``name`` is unique in a file of results, such as ``moves, SQLite, 1000 players``.
    """

    name: str
    unit: str
    rounds: tuple[float, ...]
    target: Target | None = None

    @property
    def median(self) -> float:
        """Value of the round in the middle."""
        return statistics.median(self.rounds)

    @property
    def is_met(self) -> bool | None:
        """Whether the median is as it should be; None where nothing was asked for."""
        return None if self.target is None else self.target.is_met_by(self.median)


def ratio(name: str, over: Figure, under: Figure, target: Target | None = None) -> Figure:
    """How many times one figure is another, round by round, as they were measured side by side."""
    pairs = zip(over.rounds, under.rounds, strict=True)
    return Figure(name, "×", tuple(one / other for one, other in pairs), target)


def shown(figures: Iterable[Figure]) -> str:
    """Table of figures: name, median, unit, lowest and highest round, target."""
    rows = [
        [
            one.name,
            figure(one.median),
            one.unit,
            f"{figure(min(one.rounds))} to {figure(max(one.rounds))}" if one.rounds[1:] else "",
            _judged(one),
        ]
        for one in figures
    ]
    return table(rows, left=(0, 2, 3, 4))


def _judged(one: Figure) -> str:
    if one.target is None:
        return ""
    return f"{one.target.bound} {one.target.value:g} {'met' if one.is_met else 'MISSED'}"


def write(path: Path, figures: Iterable[Figure], measured_with: Mapping[str, str]) -> None:
    """Keep figures in a file; ``measured_with`` says day, machine and versions."""
    told = [
        {
            "name": one.name,
            "unit": one.unit,
            "median": one.median,
            "rounds": one.rounds,
            "target": one.target and f"{one.target.bound} {one.target.value:g}",
            "met": one.is_met,
        }
        for one in figures
    ]
    text = json.dumps({"measured_with": measured_with, "figures": told}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> dict[str, Figure]:
    """Figures that were kept, by their names."""
    found = {}
    for told in json.loads(path.read_text("utf-8"))["figures"]:
        bound, _, value = (told["target"] or "").partition(" ")
        target = Target("≥" if bound == "≥" else "≤", float(value)) if value else None
        found[told["name"]] = Figure(told["name"], told["unit"], tuple(told["rounds"]), target)
    return found
