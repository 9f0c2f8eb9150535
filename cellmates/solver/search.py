"""One best-first search over the positions of a game, with exact bookkeeping.

A search state is a ``bytes``: the columns, sorted, and behind them the cards in cells, sorted, with
``SEPARATOR`` between; so positions that differ only in which column or cell is which are one state.
What is neither in a column nor in a cell is home. After each step the cards that can never be
missed are sent home at once, which costs no step:

- built by suit, every card that may go: nothing but its own next lower card could ever lie on it;
- else as automatic moves do: the cards that could lie on it are home.

Taking back from home is never tried: built by suit it cannot help, and sending home what may still
be wanted is a step of its own, so that every position that can be won without taking back is
reached. Moving several cards between columns is a step where the group limit allows it, so the
search is complete: when no state is left, the position is lost. All arithmetic is on whole numbers
and no order depends on hashes: the same states in the same order on every machine.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from cellmates.engine import Build, Position, Ruleset
from cellmates.engine.cards import KING
from cellmates.engine.position import Home
from cellmates.engine.rules import safe_cards

SEPARATOR = b"\xff"
TO_EMPTY, TO_CELL, TO_HOME = 52, 53, 54
CHECK_EVERY = 256

_Waiting = tuple[int, int, bytes, Home, int]
_SEPARATOR = SEPARATOR[0]
_ALL_HOME: Home = (13, 13, 13, 13)


class Cancelled(Exception):
    """The search was told to stop before it had a verdict."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What makes a state look far from won, in points.

    ``step`` is paid for each step that led here: with a heavy one the search prefers short lines.
    ``home`` and ``empty_column`` are taken off.
    """

    step: int
    home: int
    in_cell: int
    out_of_sequence: int
    buried: int
    over_next: int
    empty_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """A card with all that lies on it goes onto another card, or to one of the ``TO_…`` places."""

    card: int
    onto: int


@dataclass(frozen=True, slots=True)
class Found:
    """How a search ended.

    ``steps`` is the line to a won position, or None; ``exhausted`` says that no state was left;
    ``nodes`` is the number of states reached.
    """

    steps: tuple[Step, ...] | None
    exhausted: bool
    nodes: int


class Search:
    """A best-first search under one set of weights; each is run once."""

    def __init__(self, ruleset: Ruleset, weights: Weights) -> None:
        self._ruleset = ruleset
        self._weights = weights
        self._values = _Values(ruleset, weights)
        self._bounds = _Bounds(ruleset)
        self._runs = _Runs(ruleset)
        self._wanted = _Wanted(ruleset)
        self._reached: dict[bytes, int] = {}
        self._waiting: list[_Waiting] = []
        self._parents = array("q")
        self._steps = array("H")

    def run(
        self,
        position: Position,
        budget: int,
        *,
        below: int | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Found:
        """Search until won, exhausted, or ``budget`` states are reached.

        With ``below`` only lines of fewer steps are looked for. ``watch`` is called now and then
        with the number of states reached; what it raises ends the search.
        """
        columns = list(position.columns)
        cells, home = self._settle(columns, b"".join(position.cells), position.home)
        self._reach(columns, cells, home, (0, 0, 0))
        reached, waiting = self._reached, self._waiting
        expanded = 0
        while waiting:
            _, node, state, home, steps = heappop(waiting)
            if home == _ALL_HOME:
                return Found(self._line(-node), False, len(reached))
            if steps > reached[state]:
                continue
            if len(reached) >= budget:
                return Found(None, False, len(reached))
            expanded += 1
            if watch is not None and expanded % CHECK_EVERY == 0:
                watch(len(reached))
            self._expand(state, home, steps, -node, below)
        return Found(None, True, len(reached))

    def _expand(self, state: bytes, home: Home, steps: int, node: int, below: int | None) -> None:
        columns = state.split(SEPARATOR)
        cells = columns.pop()
        wanted = self._wanted[home]
        for card, onto, source, count, destination in self._options(columns, cells, home):
            after, cells_after, home_after = columns.copy(), cells, home
            if source is None:
                lifted = bytes((card,))
                cells_after = cells.replace(lifted, b"")
                settled = True
            else:
                column = columns[source]
                lifted = column[-count:]
                after[source] = rest = column[:-count]
                settled = not rest or rest[-1] not in wanted
            if onto == TO_HOME:
                home_after = _one_more(home, card)
                settled = False
            elif onto == TO_CELL:
                cells_after = bytes(sorted(cells + lifted))
            else:
                after[destination] += lifted
            if not settled:
                cells_after, home_after = self._settle(after, cells_after, home_after)
            steps_after = steps + (onto != TO_HOME)
            if below is None or steps_after + self._still(after) < below:
                self._reach(after, cells_after, home_after, (steps_after, node, card << 6 | onto))

    def _reach(
        self, columns: list[bytes], cells: bytes, home: Home, by: tuple[int, int, int]
    ) -> None:
        """Note a state, unless it was reached by as few steps; ``by`` is steps, parent, step."""
        columns.sort()
        columns.append(cells)
        state = SEPARATOR.join(columns)
        steps, parent, step = by
        if self._reached.get(state, steps + 1) <= steps:
            return
        self._reached[state] = steps
        node = len(self._parents)
        self._parents.append(parent)
        self._steps.append(step)
        columns.pop()
        points = self._points(state, columns, len(cells), home) + self._weights.step * steps
        heappush(self._waiting, (points, -node, state, home, steps))

    def _points(self, state: bytes, columns: list[bytes], cells: int, home: Home) -> int:
        weights = self._weights
        over_next = 0
        for suit, count in enumerate(home):
            if count <= KING:
                at = state.find(count << 2 | suit)
                over_next += max(state.find(_SEPARATOR, at) - at - 1, 0)
        return (
            sum(map(self._values.__getitem__, columns))
            + weights.over_next * over_next
            + weights.in_cell * cells
            - weights.home * sum(home)
        )

    def _still(self, columns: list[bytes]) -> int:
        return sum(map(self._bounds.__getitem__, columns))

    def _options(
        self, columns: list[bytes], cells: bytes, home: Home
    ) -> Iterator[tuple[int, int, int | None, int, int]]:
        """Steps from a state: card, onto, source column (None: a cell), count, destination."""
        ruleset = self._ruleset
        lies_on, runs, by_suit = ruleset.lies_on, self._runs, ruleset.build is Build.SAME_SUIT
        free, empty_columns = ruleset.cells - len(cells), columns.count(b"")
        limit = ruleset.group_limit(free, empty_columns)
        limit_into_empty = ruleset.group_limit(free, max(empty_columns - 1, 0))
        tops = {column[-1]: at for at, column in enumerate(columns) if column}
        for source, column in enumerate(columns):
            if not column:
                continue
            run, top = runs[column], column[-1]
            if not by_suit and home[top & 3] == top >> 2:
                yield top, TO_HOME, source, 1, 0
            if free:
                yield top, TO_CELL, source, 1, 0
            for count in range(1, min(run, limit) + 1):
                card = column[-count]
                for onto in lies_on[card]:
                    if onto in tops:
                        yield card, onto, source, count, tops[onto]
            if empty_columns:
                for count in (1,) if run == 1 else (min(run, limit_into_empty), 1):
                    card = column[-count]
                    if count < len(column) and ruleset.takes_on_empty(card):
                        yield card, TO_EMPTY, source, count, 0
        for card in cells:
            if not by_suit and home[card & 3] == card >> 2:
                yield card, TO_HOME, None, 1, 0
            for onto in lies_on[card]:
                if onto in tops:
                    yield card, onto, None, 1, tops[onto]
            if empty_columns and ruleset.takes_on_empty(card):
                yield card, TO_EMPTY, None, 1, 0

    def _settle(self, columns: list[bytes], cells: bytes, home: Home) -> tuple[bytes, Home]:
        """Send home what can never be missed; ``columns`` is changed in place."""
        while True:
            card = _take(columns, self._wanted[home])
            if card is None:
                card = next((card for card in cells if card in self._wanted[home]), None)
                if card is None:
                    return bytes(sorted(cells)), home
                cells = cells.replace(bytes((card,)), b"")
            home = _one_more(home, card)

    def _line(self, node: int) -> tuple[Step, ...]:
        line = []
        while node:
            step = self._steps[node]
            line.append(Step(step >> 6, step & 63))
            node = self._parents[node]
        return tuple(reversed(line))


def _take(columns: list[bytes], wanted: bytes) -> int | None:
    """Take the first open card that is wanted off its column."""
    for at, column in enumerate(columns):
        if column and column[-1] in wanted:
            columns[at] = column[:-1]
            return column[-1]
    return None


def _one_more(home: Home, card: int) -> Home:
    counts = list(home)
    counts[card & 3] += 1
    return counts[0], counts[1], counts[2], counts[3]


def wanted(ruleset: Ruleset, home: Home) -> bytes:
    """Next cards of their suits that a search sends home at once where they are open."""
    if ruleset.build is not Build.SAME_SUIT:
        return safe_cards(home)
    return bytes(count << 2 | suit for suit, count in enumerate(home) if count <= KING)


class _Wanted(dict[Home, bytes]):
    """``wanted`` of each state of the foundations that was met."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__()
        self._ruleset = ruleset

    def __missing__(self, home: Home) -> bytes:
        self[home] = cards = wanted(self._ruleset, home)
        return cards


class _Runs(dict[bytes, int]):
    """For a column, the number of open cards in sequence."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__()
        self._run_length = ruleset.run_length

    def __missing__(self, column: bytes) -> int:
        self[column] = run = self._run_length(column)
        return run


class _Values(dict[bytes, int]):
    """For a column, the points of its disorder."""

    def __init__(self, ruleset: Ruleset, weights: Weights) -> None:
        super().__init__({b"": -weights.empty_column})
        self._lies_on = ruleset.lies_on
        self._weights = weights

    def __missing__(self, column: bytes) -> int:
        points, lowest = 0, column[0] >> 2
        for under, card in pairwise(column):
            if under not in self._lies_on[card]:
                points += self._weights.out_of_sequence
            if card >> 2 > lowest:
                points += self._weights.buried
            else:
                lowest = card >> 2
        self[column] = points
        return points


class _Bounds(dict[bytes, int]):
    """For a column, a number of steps that are still needed whatever is played.

    A card that lies over a lower one of its suit has to leave the column before it can go home, and
    only cards of one run can leave together.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__()
        self._lies_on = ruleset.lies_on

    def __missing__(self, column: bytes) -> int:
        bound, lowest, counted = 0, [KING + 1] * 4, False
        for at, card in enumerate(column):
            if at and column[at - 1] not in self._lies_on[card]:
                counted = False
            if card >> 2 > lowest[card & 3] and not counted:
                bound += 1
                counted = True
            lowest[card & 3] = min(lowest[card & 3], card >> 2)
        self[column] = bound
        return bound
