"""What the server says unasked: the ``d`` of each event."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from .limits import Board, Kind
from .parts import BoardRow, GameView, WireEntry


class GameEvent(Struct, frozen=True):
    """Server: another connection of yours acted in this game. ``view`` is left out after a move."""

    game: str
    entry: WireEntry
    auto: Sequence[str]
    view: GameView | UnsetType = UNSET


class GameExpired(Struct, frozen=True):
    """Server: the time of this attempt of yours is over; no more can be done in it."""

    game: str
    elapsed_ms: int


class BoardChanged(Struct, frozen=True):
    """Server: the top of a board that you watch is another now."""

    challenge: str
    board: Board
    kind: Kind
    top: Sequence[BoardRow]
    total: int


class Draining(Struct, frozen=True):
    """Server: I go away at ``deadline``; come back ``retry_after_ms`` after the close."""

    deadline: int
    retry_after_ms: int
