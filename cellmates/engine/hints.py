"""What to play next, when the player asks: accepted by the rules, and never round in circles."""

from collections.abc import Iterator
from heapq import heappop, heappush

from .cards import KING, rank_of, suit_of
from .game import Game, Status
from .moves import FIRST_FOUNDATION, Move
from .position import Position
from .rules import LegalMoves, play

_LOOK_AHEAD = 40  # positions
_CARD_HOME = 12
_EMPTY_COLUMN = 9
_FREE_CELL = 5
_IN_SEQUENCE = 4
_BURIED = -3
_OVER_NEXT = -2

_Key = tuple[frozenset[bytes], frozenset[bytes]]


def hint(game: Game) -> Move | None:
    """Legal move towards the most promising position near by, or None where there is none.

    It leads to no position already seen on this line of play, where positions that differ only in
    which column or cell is which count as the same; so following hints always comes to an end.
    Take-backs are never offered: in games built by suit they cannot help.
    """
    if game.status is not Status.PLAYING:
        return None
    seen = {_key(position) for position in game.line()}
    best: tuple[int, Move] | None = None
    waiting: list[tuple[int, int, Position, Move | None]] = [(0, 0, game.position, None)]
    for _ in range(_LOOK_AHEAD):
        if not waiting:
            break
        _, _, position, first = heappop(waiting)
        for move, after in _steps(game, position):
            key = _key(after)
            if key in seen:
                continue
            seen.add(key)
            promise = _promise(game, after)
            heappush(waiting, (-promise, len(seen), after, first or move))
            if best is None or promise > best[0]:
                best = promise, first or move
    return best[1] if best else None


def _steps(game: Game, position: Position) -> Iterator[tuple[Move, Position]]:
    for move in LegalMoves(game.ruleset, position):
        if move.source < FIRST_FOUNDATION:
            yield move, play(game.ruleset, position, move, game.autoplay).position


def _key(position: Position) -> _Key:
    """Equal for positions that are the same but for the order of columns and of cells."""
    return frozenset(position.columns), frozenset(position.cells)


def _promise(game: Game, position: Position) -> int:
    """How good a position looks; larger is better."""
    total = _CARD_HOME * position.cards_home
    total += _EMPTY_COLUMN * position.empty_columns + _FREE_CELL * position.free_cells
    for column in position.columns:
        total += _IN_SEQUENCE * max(game.ruleset.run_length(column) - 1, 0)
        lowest = KING
        for depth, card in enumerate(column):
            lowest = min(lowest, rank_of(card))
            if rank_of(card) > lowest:
                total += _BURIED
            if rank_of(card) == position.home[suit_of(card)]:
                total += _OVER_NEXT * (len(column) - 1 - depth)
    return total
