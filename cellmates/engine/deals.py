"""Deals: which cards lie where at the start, as a pure function of ruleset and deal.

The shuffle is the classic one of Microsoft FreeCell for every ruleset, with the extension of
FreeCell Pro above 2^31, so that a number means in each game what it means to players and solvers
elsewhere.
"""

import re
from dataclasses import dataclass
from typing import Self

from .cards import PACK, BadCard, card_text, parse_card, pile_text
from .moves import CELLS, COLUMNS
from .position import NO_CARDS, Position
from .rulesets import Ruleset

LAST_NUMBER = 2**33 - 1
LAST_RANDOM = 32_000
_CODE = re.compile(r"EO1-C([0-9])-([A-Z]{7})")
_CARDS_PREFIX = "cards:"


class BadDeal(ValueError):
    """The text names no deal of this ruleset."""


@dataclass(frozen=True, slots=True, repr=False)
class Deal:
    """A pack in dealing order, and its number where it was named by one.

    ``str`` gives the canonical text: the number, else ``cards:`` and the 52 cards.
    """

    order: bytes
    number: int | None = None

    @classmethod
    def numbered(cls, number: int) -> Self:
        """Deal of a classic number, 1 to 2^33 - 1.

        Raises:
            BadDeal: the number is outside that range.
        """
        if not 1 <= number <= LAST_NUMBER:
            raise BadDeal(f"deal numbers are 1 to {LAST_NUMBER}")
        return cls(_shuffled(number), number)

    @classmethod
    def of_order(cls, order: bytes) -> Self:
        """Deal of any pack of 52 different cards.

        Raises:
            BadDeal: the cards are not the 52 of a pack.
        """
        if sorted(order) != list(PACK):
            missing = " ".join(card_text(card) for card in PACK if card not in order)
            raise BadDeal(
                f"a deal names each of the 52 cards once; missing here: {missing or 'none'}"
            )
        return cls(order)

    @classmethod
    def parse(cls, ruleset: Ruleset, text: str) -> Self:
        """Deal from its number, its ``EO1-…`` code or ``cards:`` and 52 cards.

        Raises:
            BadDeal: the text is none of these, or its code is not one of this ruleset.
        """
        if text.startswith(_CARDS_PREFIX):
            return cls.of_order(_parse_order(text[len(_CARDS_PREFIX) :]))
        if text.startswith("EO"):
            return cls.numbered(_number_of_code(ruleset, text))
        if text.isascii() and text.isdigit() and len(text) <= len(str(LAST_NUMBER)):
            return cls.numbered(int(text))
        codes = f", a code such as {_code(ruleset, 130)}" if ruleset.codes else ""
        raise BadDeal(
            f"{text[:20]!r} names no deal: write a number from 1 to {LAST_NUMBER}{codes}, "
            f"or {_CARDS_PREFIX} and the 52 cards in dealing order"
        )

    def __str__(self) -> str:
        if self.number is not None:
            return str(self.number)
        return _CARDS_PREFIX + "".join(card_text(card) for card in self.order)

    def __repr__(self) -> str:
        if self.number is not None:
            return f"Deal.numbered({self.number})"
        return f"Deal.of_order(parse_pile({pile_text(self.order)!r}))"

    def code(self, ruleset: Ruleset) -> str | None:
        """Code of the deal; None where the ruleset has no codes or the number has none."""
        if not ruleset.codes or self.number is None or self.number >= 26**7:
            return None
        return _code(ruleset, self.number)

    def layout(self, ruleset: Ruleset) -> Position:
        """Position at the start: full rows left to right, then the rest as the ruleset says."""
        full = len(PACK) - len(ruleset.rest)
        columns = [self.order[start : full : ruleset.columns] for start in range(ruleset.columns)]
        cells = [NO_CARDS] * ruleset.cells
        for place, card in zip(ruleset.rest, self.order[full:], strict=True):
            if place in COLUMNS:
                columns[COLUMNS.index(place)] += bytes([card])
            else:
                cells[CELLS.index(place)] = bytes([card])
        return Position(tuple(columns), tuple(cells), (0, 0, 0, 0))

    @classmethod
    def of_layout(cls, ruleset: Ruleset, position: Position) -> Self:
        """Deal whose layout a position is: the inverse of ``layout``.

        Raises:
            BadDeal: no deal of the ruleset starts with this position.
        """
        full = len(PACK) - len(ruleset.rest)
        depth, columns = full // ruleset.columns, position.columns
        rows = [bytes(row) for row in zip(*(column[:depth] for column in columns), strict=False)]
        rest = [
            columns[COLUMNS.index(place)][depth:]
            if place in COLUMNS
            else position.cells[CELLS.index(place)]
            for place in ruleset.rest
        ]
        order = b"".join(rows + rest)
        if sorted(order) != list(PACK) or cls(order).layout(ruleset) != position:
            raise BadDeal(f"this position is not the start of a game of {ruleset.name}")
        return cls(order)


def _shuffled(number: int) -> bytes:
    left = list(PACK)
    order = bytearray()
    state = number - 2**32 if number >= 2**32 else number
    while left:
        state = (214013 * state + 2531011) & 0x1_FFFF_FFFF
        if number >= 2**32:
            draw = (state >> 16 & 0xFFFF) + 1
        elif number >= 2**31:
            draw = (state >> 16 & 0x7FFF) | 0x8000
        else:
            draw = state >> 16 & 0x7FFF
        pick = draw % len(left)
        left[pick], left[-1] = left[-1], left[pick]
        order.append(left.pop())
    return bytes(order)


def _parse_order(text: str) -> bytes:
    if len(text) != 2 * len(PACK):
        raise BadDeal(f"a deal names 52 cards in 104 characters, not {len(text)}")
    try:
        return bytes(parse_card(text[at : at + 2]) for at in range(0, len(text), 2))
    except BadCard as error:
        raise BadDeal(str(error)) from None


def _number_of_code(ruleset: Ruleset, text: str) -> int:
    match = _CODE.fullmatch(text)
    if match is None:
        raise BadDeal(f"{text[:20]!r} is not a code: codes look like EO1-C8-AAAAAFA")
    if not ruleset.codes:
        raise BadDeal(f"{ruleset.name} names its deals by number, not by code")
    if int(match[1]) != ruleset.cells:
        raise BadDeal(f"{text} is for {match[1]} cells; {ruleset.name} has {ruleset.cells}")
    number = 0
    for letter in match[2]:
        number = number * 26 + ord(letter) - ord("A")
    return number


def _code(ruleset: Ruleset, number: int) -> str:
    letters = ""
    for _ in range(7):
        number, digit = divmod(number, 26)
        letters = chr(ord("A") + digit) + letters
    return f"EO1-C{ruleset.cells}-{letters}"
