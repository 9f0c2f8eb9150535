"""What may be moved where, and what then moves by itself: the one set of rule functions.

The move check, the list of legal moves, taps, hints and the solver all ask here, so whatever one of
them offers is accepted by the others. Sections named below are those of docs/rules.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .cards import KING, TWO, card_text, rank_of, suit_of
from .moves import (
    CELLS,
    COLUMNS,
    FIRST_CELL,
    FIRST_FOUNDATION,
    FOUNDATIONS,
    HOME,
    PLACES,
    BadMove,
    IllegalMove,
    Move,
    Reason,
)
from .position import NO_CARDS, Home, Position
from .rulesets import Autoplay, Ruleset, Taps


@dataclass(frozen=True, slots=True)
class Played:
    """A move that was made: in its canonical form, with the automatic moves that it set off."""

    move: Move
    auto: tuple[Move, ...]
    position: Position


def play(ruleset: Ruleset, position: Position, move: Move, autoplay: Autoplay) -> Played:
    """Make a move and the automatic moves that follow from it.

    Raises:
        BadMove: a place is not on this board. Nothing has changed.
        IllegalMove: the rules refuse the move, with the reason. Nothing has changed.
    """
    length = check(ruleset, position, move)
    canonical = _canonical(position, move, length)
    after = position.after(move.source, move.destination, length)
    if autoplay is Autoplay.OFF or move.source >= FIRST_FOUNDATION:
        return Played(canonical, (), after)
    auto = []
    while (safe := _next_safe(after)) is not None:
        auto.append(safe)
        after = after.after(safe.source, HOME)
    return Played(canonical, tuple(auto), after)


def check(ruleset: Ruleset, position: Position, move: Move) -> int:
    """Number of cards that a legal move lifts.

    Raises:
        BadMove: a place is not on this board.
        IllegalMove: the rules refuse the move, with the reason.
    """
    source, destination = move.source, move.destination
    _check_places(ruleset, move)
    if source == destination or (source >= FIRST_FOUNDATION and destination == HOME):
        raise IllegalMove(Reason.SAME_PLACE, "source and destination are the same place")
    if source >= FIRST_FOUNDATION and not ruleset.take_back:
        raise IllegalMove(Reason.NO_TAKE_BACK, f"{ruleset.name} lets no card come back")
    pile = position.pile(source)
    if len(pile) < (move.count or 1):
        has = f"has only {len(pile)} cards" if pile else "is empty"
        raise IllegalMove(Reason.NO_CARD, f"place {PLACES[source]} {has}")
    if destination == HOME:
        return _check_home(position, pile[-1])
    if destination >= FIRST_CELL:
        return _check_cell(position, destination)
    if position.columns[destination]:
        return _check_onto(ruleset, position, move, pile)
    return _check_into_empty(ruleset, position, move, pile)


def limit_now(ruleset: Ruleset, position: Position, *, into_empty: bool) -> int:
    """Most cards that may move together, counted before the lift (section 4)."""
    return ruleset.group_limit(position.free_cells, position.empty_columns - into_empty)


def _check_places(ruleset: Ruleset, move: Move) -> None:
    source, destination = move.source, move.destination
    if source not in ruleset.places or destination not in ruleset.places:
        absent = PLACES[destination if source in ruleset.places else source]
        raise BadMove(
            f"{ruleset.name} has no place {absent}: its columns are {COLUMNS[: ruleset.columns]}, "
            f"its cells {CELLS[: ruleset.cells]}"
        )


def _check_home(position: Position, card: int) -> int:
    if position.home[suit_of(card)] != rank_of(card):
        raise IllegalMove(Reason.FOUNDATION_ORDER, f"{card_text(card)} is not the next of its suit")
    return 1


def _check_cell(position: Position, destination: int) -> int:
    held = position.pile(destination)
    if held:
        raise IllegalMove(
            Reason.CELL_FULL, f"cell {PLACES[destination]} holds {card_text(held[0])}"
        )
    return 1


def _check_onto(ruleset: Ruleset, position: Position, move: Move, pile: bytes) -> int:
    target = position.columns[move.destination][-1]
    length = rank_of(target) - rank_of(pile[-1])
    if not 0 < length <= len(pile) or target not in ruleset.lies_on[pile[-length]]:
        raise IllegalMove(
            Reason.DOES_NOT_FIT,
            f"neither {card_text(pile[-1])} nor a run it ends fits on {card_text(target)}",
        )
    if move.count not in (None, length):
        raise IllegalMove(
            Reason.DOES_NOT_FIT,
            f"{length} cards fit on {card_text(target)}, not {move.count}",
        )
    return _check_group(ruleset, position, pile, length, into_empty=False)


def _check_into_empty(ruleset: Ruleset, position: Position, move: Move, pile: bytes) -> int:
    length = move.count or 1
    if length > 1 and length > ruleset.run_length(pile):
        raise _not_in_sequence(length)
    if not ruleset.takes_on_empty(pile[-length]):
        raise IllegalMove(Reason.KINGS_ONLY, f"{ruleset.name} lets only Kings into an empty column")
    return _check_group(ruleset, position, pile, length, into_empty=True)


def _check_group(
    ruleset: Ruleset, position: Position, pile: bytes, length: int, *, into_empty: bool
) -> int:
    if length == 1:
        return 1
    if length > ruleset.run_length(pile):
        raise _not_in_sequence(length)
    limit = limit_now(ruleset, position, into_empty=into_empty)
    if length > limit:
        raise IllegalMove(
            Reason.GROUP_TOO_LONG,
            f"{length} cards are too many: {limit} may move together now",
            limit=limit,
            length=length,
        )
    return length


def _not_in_sequence(length: int) -> IllegalMove:
    return IllegalMove(Reason.NOT_IN_SEQUENCE, f"the last {length} cards are not in sequence")


def _canonical(position: Position, move: Move, length: int) -> Move:
    into_empty = move.destination < FIRST_CELL and not position.columns[move.destination]
    count = length if into_empty and length > 1 else None
    return move if move.count == count else Move(move.source, move.destination, count)


@cache
def safe_cards(home: Home) -> bytes:
    """Next cards of their suits that may go home and can never be missed, with so many home.

    Aces and twos always; another when both foundations of the other colour hold its rank less one.
    """
    clubs, diamonds, hearts, spades = home
    red, black = min(diamonds, hearts), min(clubs, spades)
    return bytes(
        count << 2 | suit
        for suit, (count, other) in enumerate(zip(home, (red, black, black, red), strict=True))
        if count <= KING and (count <= TWO or count <= other)
    )


def _next_safe(position: Position) -> Move | None:
    """Move that sends home the first open card, columns before cells, that is safe there."""
    safe = safe_cards(position.home)
    for place, pile in enumerate(position.columns):
        if pile and pile[-1] in safe:
            return _HOMEWARDS[place]
    for place, pile in enumerate(position.cells, FIRST_CELL):
        if pile and pile[-1] in safe:
            return _HOMEWARDS[place]
    return None


class LegalMoves:
    """The legal moves of a position in canonical form: iterate, take ``len``, ask with ``in``.

    Columns come first, then cells, then take-backs; for each, home before cells before columns.
    """

    __slots__ = ("_moves", "_position", "_ruleset")

    def __init__(self, ruleset: Ruleset, position: Position) -> None:
        self._ruleset = ruleset
        self._position = position
        self._moves: tuple[Move, ...] | None = None

    def __iter__(self) -> Iterator[Move]:
        yield from self._each() if self._moves is None else self._moves

    def __len__(self) -> int:
        if self._moves is None:  # kept, for ``list`` asks for the length before it iterates
            self._moves = tuple(self._each())
        return len(self._moves)

    def _each(self) -> Iterator[Move]:
        position = self._position
        for source, column in enumerate(position.columns):
            if column:
                yield from self._of_pile(source, column, self._ruleset.run_length(column))
        for source, cell in enumerate(position.cells, FIRST_CELL):
            if cell:
                yield from self._of_pile(source, cell, 1)
        yield from self.take_backs()

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __contains__(self, move: Move) -> bool:
        try:
            length = check(self._ruleset, self._position, move)
        except (BadMove, IllegalMove):
            return False
        return _canonical(self._position, move, length) == move

    def take_backs(self) -> Iterator[Move]:
        """Only the moves that take a card back from home."""
        if self._ruleset.take_back:
            for source in range(FIRST_FOUNDATION, FIRST_FOUNDATION + len(FOUNDATIONS)):
                pile = self._position.pile(source)
                if pile:
                    yield from self._of_pile(source, pile, 1)

    def _of_pile(self, source: int, pile: bytes, run: int) -> Iterator[Move]:
        position, card = self._position, pile[-1]
        if source < FIRST_FOUNDATION and position.home[suit_of(card)] == rank_of(card):
            yield Move(source, HOME)
        for destination, cell in enumerate(position.cells, FIRST_CELL):
            if not cell:
                yield Move(source, destination)
        for destination, column in enumerate(position.columns):
            if destination != source:
                yield from self._to_column(source, destination, pile[-run:], column)

    def _to_column(
        self, source: int, destination: int, run: bytes, column: bytes
    ) -> Iterator[Move]:
        ruleset, position = self._ruleset, self._position
        if column:
            length = rank_of(column[-1]) - rank_of(run[-1])
            if (
                0 < length <= len(run)
                and column[-1] in ruleset.lies_on[run[-length]]
                and (length == 1 or length <= limit_now(ruleset, position, into_empty=False))
            ):
                yield Move(source, destination)
            return
        limit = limit_now(ruleset, position, into_empty=True)
        for length in range(1, min(len(run), limit) + 1):
            if ruleset.takes_on_empty(run[-length]):
                yield Move(source, destination, length if length > 1 else None)


def is_stuck(ruleset: Ruleset, position: Position) -> bool:
    """Whether no move is left, on a board that is not won.

    A take-back counts only if another card may then be put on the card that was taken back.
    """
    if position.is_won:
        return False
    if position.free_cells and any(position.columns):
        return False  # as mostly, and much faster found than by the moves
    moves = LegalMoves(ruleset, position)
    first = next(iter(moves), None)
    if first is None:
        return True
    if first.source < FIRST_FOUNDATION:
        return False
    return not any(_is_useful(ruleset, position, move) for move in moves.take_backs())


def _is_useful(ruleset: Ruleset, position: Position, take_back: Move) -> bool:
    after = position.after(take_back.source, take_back.destination)
    return any(
        move.destination == take_back.destination and move.source < FIRST_FOUNDATION
        for move in LegalMoves(ruleset, after)
    )


def tap(ruleset: Ruleset, position: Position, place: int, depth: int, taps: int) -> Move | None:
    """Move that a tap on a card of a column or a cell makes, or None where it makes none.

    ``place`` is an index into ``PLACES``, ``depth`` the number of cards that lie on the tapped card
    and move with it, ``taps`` 1 or 2. One tap does all where the ruleset says so; else one tap only
    sends a card home (section 4).
    """
    moves = [
        move
        for move in LegalMoves(ruleset, position)
        if move.source == place < FIRST_FOUNDATION and _lifts(position, move) == depth + 1
    ]
    homewards = [move for move in moves if move.destination == HOME]
    if homewards or (ruleset.taps is Taps.TWO and taps == 1):
        return homewards[0] if homewards else None
    onto, into_empty, to_cell = [], [], []
    for move in moves:
        if move.destination >= FIRST_CELL:
            to_cell += [move] if place < FIRST_CELL else []
        elif position.columns[move.destination]:
            onto.append(move)
        else:
            into_empty.append(move)
    onto.sort(key=lambda move: -len(position.columns[move.destination]))
    order = onto + into_empty + to_cell if ruleset.taps is Taps.TWO else onto + to_cell + into_empty
    return order[0] if order else None


def _lifts(position: Position, move: Move) -> int:
    """Number of cards that a legal canonical move lifts."""
    target = position.columns[move.destination] if move.destination < FIRST_CELL else NO_CARDS
    if target:
        return rank_of(target[-1]) - rank_of(position.pile(move.source)[-1])
    return move.count or 1


_HOMEWARDS = tuple(Move(place, HOME) for place in range(FIRST_FOUNDATION))
