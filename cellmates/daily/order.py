"""How runs rank. One function makes the order; memory, SQL and the verifier are held to it.

A board's order is a tuple in which less is better. Runs whose tuples are equal share a rank, and
stand in the order in which they were recorded. An equal run never replaces an earlier one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cellmates.engine import PACK

FIRST = "first"
MOVES = "moves"
BOARDS = (FIRST, MOVES)


@dataclass(frozen=True, slots=True)
class Figures:
    """What ranks a run: cards home, time in ms, moves, undos; which attempt, and when it ended.

    ``ended`` is in ms since the epoch.
    """

    home: int
    elapsed_ms: int
    moves: int
    undos: int
    attempt: int
    ended: int

    @property
    def is_won(self) -> bool:
        """Whether all cards are home."""
        return self.home == len(PACK)


def order_of(board: str, run: Figures) -> tuple[int, ...]:
    """Place of a run on a board, as a tuple in which less is better.

    ``first``: won first, then more cards home, less time, fewer moves, fewer undos. ``moves``:
    fewer moves, then less time.
    """
    if board == FIRST:
        return len(PACK) - run.home, run.elapsed_ms, run.moves, run.undos
    return run.moves, run.elapsed_ms


def counts(board: str, run: Figures, closes: int) -> bool:
    """Whether a run is one of a board's, for a challenge that closes at ``closes``.

    ``first`` has the first attempts. ``moves`` has the runs that were won, the first attempt
    whenever it ended, the others when they ended before the close.
    """
    if board == FIRST:
        return run.attempt == 1
    return run.is_won and (run.attempt == 1 or run.ended < closes)


def competition_ranks(orders: Sequence[tuple[int, ...]]) -> list[int]:
    """Ranks 1, 2, 2, 4 … of tuples that are in order."""
    ranks: list[int] = []
    for place, order in enumerate(orders, 1):
        ranks.append(ranks[-1] if ranks and order == orders[place - 2] else place)
    return ranks
