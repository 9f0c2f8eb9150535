"""Cards carried over a board as the server says. No rules are asked: the server has asked them."""

from collections.abc import Iterable
from typing import NamedTuple

from .results import View

RANKS = "A23456789TJQK"
SUITS = "CDHS"
COLUMNS = "12345678"
CELLS = "abcdefgk"
HOME = "h"
PACK = len(RANKS) * len(SUITS)


class OutOfStep(Exception):
    """The board that is known here cannot be the one that a move was made on."""


class Board(NamedTuple):
    """The piles of a view."""

    columns: tuple[tuple[str, ...], ...]
    cells: tuple[str | None, ...]
    home: dict[str, int]


def carried(view: View, moves: Iterable[str]) -> Board:
    """Piles after moves in canonical form that the server has made.

    Raises:
        OutOfStep: a move does not fit the board that the view shows.
    """
    columns = [list(column) for column in view.columns]
    cells = list(view.cells)
    home = dict(view.home)
    try:
        for move in moves:
            _put(_lifted(move, columns, cells, home), move[1], columns, cells, home)
    except (IndexError, KeyError, ValueError):
        raise OutOfStep(f"a move does not fit the board of game {view.game}") from None
    return Board(tuple(tuple(column) for column in columns), tuple(cells), home)


def _lifted(
    move: str, columns: list[list[str]], cells: list[str | None], home: dict[str, int]
) -> list[str]:
    """Cards that a move takes away."""
    source = move[0]
    if source in SUITS:
        if not home[source]:
            raise OutOfStep("no card of the suit is home")
        home[source] -= 1
        return [RANKS[home[source]] + source]
    if source in CELLS:
        card = cells[CELLS.index(source)]
        cells[CELLS.index(source)] = None
        if card is None:
            raise OutOfStep("the cell is empty")
        return [card]
    pile = columns[COLUMNS.index(source)]
    count = _count(move, pile, columns)
    cards = pile[len(pile) - count :]
    del pile[len(pile) - count :]
    return cards


def _count(move: str, pile: list[str], columns: list[list[str]]) -> int:
    """Number of cards that leave a column: as many as the ranks ask for, or ``v`` says."""
    if move[1] not in COLUMNS:
        count = 1
    elif target := columns[COLUMNS.index(move[1])]:
        count = RANKS.index(target[-1][0]) - RANKS.index(pile[-1][0])
    else:
        count = int(move[3:], 16) if move[2:] else 1
    if not 0 < count <= len(pile):
        raise OutOfStep("the column has not that many cards")
    return count


def _put(
    cards: list[str],
    place: str,
    columns: list[list[str]],
    cells: list[str | None],
    home: dict[str, int],
) -> None:
    if place == HOME:
        home[cards[0][1]] += 1
    elif place in CELLS:
        cells[CELLS.index(place)] = cards[0]
    else:
        columns[COLUMNS.index(place)] += cards
