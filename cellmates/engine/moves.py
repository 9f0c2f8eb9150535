"""Moves as the player says them, in the notation of FreeCell players and solvers.

A move is *source destination*: columns ``1``–``8``, cells ``a b c d e f g k`` (``h`` is home, so
the eighth cell is ``k``), the foundations ``C D H S`` as sources, ``h`` as destination, and behind
a move between columns ``v`` and the number of cards in hex: fc-solve's extended notation, ``-snx``.
Whether a move may be made here and now is not asked in this module.
"""

from dataclasses import dataclass

from .words import Word

COLUMNS = "12345678"
CELLS = "abcdefgk"
FOUNDATIONS = "CDHS"
PLACES = COLUMNS + CELLS + FOUNDATIONS + "h"
FIRST_CELL = len(COLUMNS)
FIRST_FOUNDATION = FIRST_CELL + len(CELLS)
HOME = len(PLACES) - 1

_COUNTS = "123456789abcd"


class Refusal(ValueError):
    """An action was refused; nothing has changed. ``reason`` is stable, for programs."""

    reason: str


class BadMove(Refusal):
    """The text has not the form of a move, or names a place that this game does not have."""

    reason = "bad-move"


class Reason(Word):
    """Why a move of the right form may not be made here."""

    NO_CARD = "no-card"
    CELL_FULL = "cell-full"
    NOT_IN_SEQUENCE = "not-in-sequence"
    DOES_NOT_FIT = "does-not-fit"
    KINGS_ONLY = "kings-only"
    GROUP_TOO_LONG = "group-too-long"
    FOUNDATION_ORDER = "foundation-order"
    NO_TAKE_BACK = "no-take-back"
    SAME_PLACE = "same-place"
    GAME_OVER = "game-over"


class IllegalMove(Refusal):
    """A move of the right form that the rules refuse here.

    For ``group-too-long`` ``limit`` and ``length`` are numbers of cards, else None.
    """

    def __init__(
        self, reason: Reason, message: str, limit: int | None = None, length: int | None = None
    ) -> None:
        super().__init__(reason, message, limit, length)
        self.reason: Reason = reason
        self.limit = limit
        self.length = length
        self._message = message

    def __str__(self) -> str:
        return self._message


class NothingToUndo(Refusal):
    """No action is left that may be undone."""

    reason = "nothing-to-undo"


@dataclass(frozen=True, slots=True, repr=False)
class Move:
    """A move from place to place.

    ``source`` and ``destination`` are indexes into ``PLACES``; ``count`` is the number behind
    ``v``, or None where none was said: then one card into an empty column, and onto a card as many
    as the ranks ask for.
    """

    source: int
    destination: int
    count: int | None = None

    @staticmethod
    def parse(text: str) -> "Move":
        """Read a move; ``str`` gives the same text back.

        Raises:
            BadMove: the text has not the form of a move.
        """
        move = _MOVES.get(text)
        if move is None:
            raise BadMove(
                f"{text[:12]!r} is not a move: write source and destination, such as 3a, 26, ah, "
                "6h or S5, and how many cards go into an empty column, such as 26v3"
            )
        return move

    def __str__(self) -> str:
        text = PLACES[self.source] + PLACES[self.destination]
        return text if self.count is None else f"{text}v{self.count:x}"

    def __repr__(self) -> str:
        return f"Move.parse({str(self)!r})"


class Act(Word):
    """What a player may do besides moving."""

    UNDO = "undo"
    RESIGN = "resign"


Action = Move | Act


def parse_action(text: str) -> Action:
    """Read an action: a move, ``undo`` or ``resign``.

    Raises:
        BadMove: it is none of these.
    """
    return _ACTS.get(text) or Move.parse(text)


def parse_place(text: str) -> int:
    """Index into ``PLACES`` of a place's letter.

    Raises:
        BadMove: there is no such place in any game.
    """
    place = PLACES.find(text) if len(text) == 1 else -1
    if place < 0:
        raise BadMove(
            f"{text[:8]!r} is not a place: places are 1-8, a-g and k, C D H S, and h for home"
        )
    return place


def _every_move() -> dict[str, Move]:
    sources = range(HOME)
    destinations = (*range(FIRST_FOUNDATION), HOME)
    columns = range(FIRST_CELL)
    moves = [Move(source, destination) for source in sources for destination in destinations]
    moves += [
        Move(source, destination, count)
        for source in columns
        for destination in columns
        for count in range(1, len(_COUNTS) + 1)
    ]
    return {str(move): move for move in moves}


_ACTS = {act.value: act for act in Act}
_MOVES = _every_move()
