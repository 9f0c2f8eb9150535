"""Which candidate of a seed a day's deal is: the first that the solver proves winnable."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from cellmates.engine import Deal, Ruleset
from cellmates.solver import BUDGET, Verdict, solve, solve_short
from cellmates.solver import VERSION as SOLVER_VERSION

from .draw import candidate

# The solver's choices and its budget, both counted in positions and not in seconds, so that anyone
# finds the same candidate on any machine.
PLANNER = f"solver-{SOLVER_VERSION}/{BUDGET}"


@dataclass(frozen=True, slots=True)
class Planned:
    """A day's deal: which candidate it is, a line that wins it, and the line's length as par.

    ``solution`` leaves out the moves that are made automatically; ``par`` counts them, and a group
    as one.
    """

    candidate: int
    deal: Deal
    solution: tuple[str, ...]
    par: int


def plan(
    ruleset: Ruleset, seed: bytes, *, progress: Callable[[int], None] | None = None
) -> Planned:
    """First candidate of a seed that is proved winnable, under the ruleset's own autoplay.

    ``progress`` is called with the number of each candidate before it is looked at.
    """
    for number in count():
        if progress is not None:
            progress(number)
        deal = candidate(seed, number)
        layout = deal.layout(ruleset)
        quick = solve(ruleset, layout)
        if quick.verdict is Verdict.WON:
            short = solve_short(ruleset, layout)
            line = short if short.verdict is Verdict.WON else quick  # its budget is smaller
            return Planned(number, deal, tuple(str(move) for move in line.moves), line.length)
    raise AssertionError("the candidates of a seed have no end")
