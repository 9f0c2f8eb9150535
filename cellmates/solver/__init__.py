"""Search over the engine: won with a line, proved lost, or unknown. No I/O, no clock, no chance."""

from .search import Cancelled
from .solving import BUDGET, SHORT_BUDGET, VERSION, Solution, Verdict, solve, solve_short

__all__ = [
    "BUDGET",
    "SHORT_BUDGET",
    "VERSION",
    "Cancelled",
    "Solution",
    "Verdict",
    "solve",
    "solve_short",
]
