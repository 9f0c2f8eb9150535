"""Where the cards lie. What may be done with them is asked of ``rules``."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from .cards import SUITS, parse_pile, pile_text, suit_of
from .moves import FIRST_CELL, FIRST_FOUNDATION, HOME

NO_CARDS = b""

Home = tuple[int, int, int, int]

_ALL_HOME: Home = (13, 13, 13, 13)


@dataclass(frozen=True, slots=True, repr=False)
class Position:
    """All piles of a board.

    ``columns`` and ``cells`` are piles with the open card last; a cell holds one card at most.
    ``home`` is the number of cards on each foundation, in the order C D H S.
    """

    columns: tuple[bytes, ...]
    cells: tuple[bytes, ...]
    home: Home

    @classmethod
    def of(cls, columns: Iterable[str], cells: str, home: str = "0 0 0 0") -> Self:
        """Position from texts: ``Position.of(["JD KD", ""], "6S - - -", "0 0 1 0")``.

        Raises:
            BadCard: a word names no card.
            ValueError: ``home`` is not four numbers.
        """
        clubs, diamonds, hearts, spades = (int(count) for count in home.split())
        return cls(
            tuple(parse_pile(column) for column in columns),
            tuple(parse_pile(cell.replace("-", "")) for cell in cells.split()),
            (clubs, diamonds, hearts, spades),
        )

    def __repr__(self) -> str:
        columns = [pile_text(column) for column in self.columns]
        cells = " ".join([pile_text(cell) or "-" for cell in self.cells])
        return f"Position.of({columns!r}, {cells!r}, {' '.join(map(str, self.home))!r})"

    @property
    def cards_home(self) -> int:
        """Number of cards on the foundations, 0 to 52."""
        return sum(self.home)

    @property
    def is_won(self) -> bool:
        """Whether all 52 cards are home."""
        return self.home == _ALL_HOME

    @property
    def free_cells(self) -> int:
        """Number of cells that hold no card."""
        return self.cells.count(NO_CARDS)

    @property
    def empty_columns(self) -> int:
        """Number of columns that hold no card."""
        return self.columns.count(NO_CARDS)

    def pile(self, place: int) -> bytes:
        """Cards at a place, the open card last; of a foundation only the top card.

        Raises:
            IndexError: the board has no such place.
        """
        if place < FIRST_CELL:
            return self.columns[place]
        if place < FIRST_FOUNDATION:
            return self.cells[place - FIRST_CELL]
        suit = place - FIRST_FOUNDATION
        count = self.home[suit]
        return bytes([(count - 1) * len(SUITS) + suit]) if count else NO_CARDS

    def after(self, source: int, destination: int, count: int = 1) -> Self:
        """Position with the last ``count`` cards of a place put elsewhere; no rule is asked."""
        columns, cells, home = self.columns, self.cells, self.home
        if source < FIRST_CELL:
            lifted = columns[source][-count:]
            columns = _replaced(columns, source, columns[source][:-count])
        elif source < FIRST_FOUNDATION:
            lifted = cells[source - FIRST_CELL]
            cells = _replaced(cells, source - FIRST_CELL, NO_CARDS)
        else:
            lifted = self.pile(source)
            home = _counted(home, lifted[0], -1)
        if destination == HOME:
            home = _counted(home, lifted[0], 1)
        elif destination < FIRST_CELL:
            columns = _replaced(columns, destination, columns[destination] + lifted)
        else:
            cells = _replaced(cells, destination - FIRST_CELL, lifted)
        return type(self)(columns, cells, home)


def _replaced(piles: tuple[bytes, ...], at: int, pile: bytes) -> tuple[bytes, ...]:
    changed = list(piles)
    changed[at] = pile
    return tuple(changed)


def _counted(home: Home, card: int, more: int) -> Home:
    clubs, diamonds, hearts, spades = home
    match suit_of(card):
        case 0:
            return clubs + more, diamonds, hearts, spades
        case 1:
            return clubs, diamonds + more, hearts, spades
        case 2:
            return clubs, diamonds, hearts + more, spades
        case _:
            return clubs, diamonds, hearts, spades + more
