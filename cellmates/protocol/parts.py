"""What several replies and events are made of."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType

from .limits import Autoplay, Kind, Status


class Player(Struct, frozen=True):
    """Who plays."""

    id: str
    handle: str
    kind: Kind


class Home(Struct, frozen=True, rename="upper"):
    """How many cards of each suit are home."""

    c: int
    d: int
    h: int
    s: int


class WireEntry(Struct, frozen=True, array_like=True):
    """One recorded action, as an array. ``at_ms`` counts from the start of the game."""

    seq: int
    action: str
    at_ms: int
    hash: str


class GameView(Struct, frozen=True):
    """Server: the whole of a game as it stands.

    ``entries`` is there only when asked for with ``since``; null where they would not fit.
    """

    game: str
    ruleset: str
    ruleset_version: int
    deal: str
    challenge: str | None
    ranked: bool
    attempt: int | None
    autoplay: Autoplay
    seq: int
    columns: Sequence[Sequence[str]]
    cells: Sequence[str | None]
    home: Home
    score: int
    moves: int
    undos: int
    undo_left: int | None
    status: Status
    stuck: bool
    started: int
    elapsed_ms: int
    hash: str
    entries: Sequence[WireEntry] | UnsetType | None = UNSET


class BoardRow(Struct, frozen=True):
    """One run on a board."""

    rank: int
    handle: str
    home: int
    won: bool
    elapsed_ms: int
    moves: int
    undos: int
    game: str
