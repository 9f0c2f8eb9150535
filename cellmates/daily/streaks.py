"""Streaks: days in a row."""

from collections.abc import Iterable
from dataclasses import dataclass

from .days import DAY_MS, opens_at


@dataclass(frozen=True, slots=True)
class Streaks:
    """Lengths in days of the streak that lasts today, and of the longest ever."""

    current: int
    best: int


def streaks(days: Iterable[str], today: str) -> Streaks:
    """Streaks of days, each ``YYYY-MM-DD``; one that reached yesterday is not over today."""
    current = best = 0
    last = None
    for number in sorted({opens_at(day) // DAY_MS for day in days}):
        current = current + 1 if last == number - 1 else 1
        best = max(best, current)
        last = number
    if last is None or last < opens_at(today) // DAY_MS - 1:
        current = 0
    return Streaks(current, best)
