"""Marks runs whose timing no hand has. What follows from a mark, an operator decides. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median, pstdev

FAST_MS = 150
# Steady: the times between actions differ from their mean by less than this part of it.
STEADY = 0.05
# Fewer actions show nothing.
FEWEST = 20


@dataclass(frozen=True, slots=True)
class Timing:
    """How a run was timed: the median time between actions in ms, their spread, and the marks.

    ``spread`` is the standard deviation as a part of the mean. ``marks`` are ``fast`` and
    ``steady``.
    """

    median_ms: float
    spread: float
    marks: tuple[str, ...]


def timing_of(times: Sequence[int]) -> Timing | None:
    """Timing of a run whose actions came at these times, in ms from its start.

    None where there are too few to say anything.
    """
    waits = [later - earlier for earlier, later in pairwise([0, *times])]
    if len(waits) < FEWEST:
        return None
    mean = sum(waits) / len(waits)
    spread = pstdev(waits) / mean if mean else 0.0
    middle = median(waits)
    marks = {"fast": middle < FAST_MS, "steady": spread < STEADY}
    return Timing(middle, spread, tuple(mark for mark, is_so in marks.items() if is_so))
