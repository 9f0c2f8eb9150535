"""Boards as fc-solve writes and reads them, so that positions travel to solvers and back.

A ``Foundations:`` line, a ``Freecells:`` line, then a line a column, its open card last. Columns
may begin with a colon; an empty one must. Empty cells are dashes, or blanks as fc-solve prints
them. ``10`` is read as ``T``; a foundation or cell that is not named is empty.
"""

import re
from collections.abc import Iterator

from .cards import PACK, RANKS, SUITS, BadCard, card_text, parse_card, pile_text
from .position import NO_CARDS, Position
from .rulesets import Ruleset

_FOUNDATION_SUITS = "HCDS"
_FOUNDATION_RANKS = "0" + RANKS
_FREECELLS = ("freecells", "fc")
_FOUNDATIONS = ("foundations", "founds")
_CELL_BY_PLACE = re.compile(r"  [^ ]{2}|    ")


class BadBoard(ValueError):
    """The text is no board of this ruleset; ``line`` counts lines from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self._message = message

    def __str__(self) -> str:
        return f"line {self.line}: {self._message}"


def board_text(position: Position) -> str:
    """Board in fc-solve's form, with a line feed behind each line."""
    home = dict(zip(SUITS, position.home, strict=True))
    foundations = " ".join(f"{suit}-{_FOUNDATION_RANKS[home[suit]]}" for suit in _FOUNDATION_SUITS)
    cells = " ".join(pile_text(cell) or "-" for cell in position.cells)
    lines = [f"Foundations: {foundations}", f"Freecells: {cells}"]
    lines += [f": {pile_text(column)}".rstrip() for column in position.columns]
    return "\n".join(lines) + "\n"


def parse_board(ruleset: Ruleset, text: str) -> Position:
    """Position that a board shows; ``board_text`` gives it back.

    Raises:
        BadBoard: the text is no board of the ruleset; the message names the line and what is wrong.
    """
    return _Reader(ruleset).read(text)


class _Reader:
    """Reads one board line by line and remembers where each card was seen."""

    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self._seen: dict[int, int] = {}
        self._line = 0
        self._home: tuple[int, int, int, int] | None = None
        self._cells: tuple[bytes, ...] | None = None
        self._columns: list[bytes] = []

    def read(self, text: str) -> Position:
        for self._line, line in _lines(text):
            self._read_line(line)
        missing = [card_text(card) for card in PACK if card not in self._seen]
        if len(self._columns) < self._ruleset.columns:
            raise self._bad(
                f"the board ends after {len(self._columns)} columns; {self._ruleset.name} has "
                f"{self._ruleset.columns} (an empty one is a line with a colon)"
            )
        if missing:
            raise self._bad(f"the board ends and these cards are missing: {' '.join(missing)}")
        cells = self._cells or (NO_CARDS,) * self._ruleset.cells
        return Position(tuple(self._columns), cells, self._home or (0, 0, 0, 0))

    def _read_line(self, line: str) -> None:
        word, colon, rest = line.partition(":")
        if colon and word.lower() in _FOUNDATIONS:
            if self._home is not None:
                raise self._bad("the foundations stand twice")
            self._home = self._foundations(rest)
        elif colon and word.lower() in _FREECELLS:
            if self._cells is not None:
                raise self._bad("the cells stand twice")
            self._cells = self._read_cells(rest)
        else:
            if len(self._columns) == self._ruleset.columns:
                raise self._bad(
                    f"too many columns: {self._ruleset.name} has {self._ruleset.columns}"
                )
            words = line.removeprefix(":").split()
            self._columns.append(bytes(self._card(word) for word in words))

    def _foundations(self, text: str) -> tuple[int, int, int, int]:
        home = dict.fromkeys(SUITS, 0)
        for word in text.split():
            suit, dash, rank = word.replace("10", "T").partition("-")
            if suit not in [*SUITS] or dash != "-" or rank not in [*_FOUNDATION_RANKS]:
                raise self._bad(
                    f"{word[:8]!r} is not a foundation: write suit and top rank, such as H-0 or C-T"
                )
            home[suit] = _FOUNDATION_RANKS.index(rank)
        for suit, count in home.items():
            for rank in RANKS[:count]:
                self._card(rank + suit)
        return home["C"], home["D"], home["H"], home["S"]

    def _read_cells(self, text: str) -> tuple[bytes, ...]:
        words = _cells_by_place(text) or text.split()
        if len(words) > self._ruleset.cells:
            raise self._bad(
                f"too many cells: {len(words)} are named, "
                f"{self._ruleset.name} has {self._ruleset.cells}"
            )
        cells = [NO_CARDS if word == "-" else bytes([self._card(word)]) for word in words]
        cells += [NO_CARDS] * (self._ruleset.cells - len(cells))
        return tuple(cells)

    def _card(self, word: str) -> int:
        try:
            card = parse_card(word.replace("10", "T"))
        except BadCard as error:
            raise self._bad(str(error)) from None
        if card in self._seen:
            raise self._bad(f"{word} stands twice, first in line {self._seen[card]}")
        self._seen[card] = self._line
        return card

    def _bad(self, message: str) -> BadBoard:
        return BadBoard(max(self._line, 1), message)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield number, line.strip()


def _cells_by_place(text: str) -> list[str] | None:
    """Cells printed in four characters each, blank when empty, as fc-solve does; else None."""
    padded = text.rstrip()
    padded += " " * (-len(padded) % 4)
    cells = [padded[at : at + 4] for at in range(0, len(padded), 4)]
    if not all(_CELL_BY_PLACE.fullmatch(cell) for cell in cells):
        return None
    return [cell.strip() or "-" for cell in cells]
