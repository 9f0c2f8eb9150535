"""What the server answers: the ``d`` of each ``ok``, and of ``error``."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType

from .errors import ErrorCode
from .limits import Autoplay, Status
from .parts import BoardRow, GameView, Player, WireEntry


class ServerInfo(Struct, frozen=True):
    """What program the server is."""

    name: str
    version: str


class Limits(Struct, frozen=True):
    """What a connection may do before it is told to slow down, and when it is taken for dead."""

    frame_bytes: int
    requests_burst: int
    requests_per_s: int
    heartbeat_s: int
    moves_burst: int
    moves_per_s: int


class GameRef(Struct, frozen=True):
    """A game and where it stands."""

    game: str
    seq: int
    status: Status


class Welcome(Struct, frozen=True):
    """Server: I know you, or greet a guest; these are your unfinished games."""

    server: ServerInfo
    proto: int
    time: int
    player: Player | None
    limits: Limits
    rulesets: Sequence[str]
    games: Sequence[GameRef]


class PlayerCreated(Struct, frozen=True):
    """Server: that is who you are now. The token is told this once."""

    player: Player
    token: str


class PlayerReply(Struct, frozen=True):
    """Server: that is who you are now."""

    player: Player


class TokenReply(Struct, frozen=True):
    """Server: your new token, told this once."""

    token: str


class Done(Struct, frozen=True):
    """Server: done."""


class Stats(Struct, frozen=True):
    """What a player has done in one ruleset."""

    played: int
    won: int
    best_elapsed_ms: int | None
    fewest_moves: int | None
    streak: int
    best_streak: int


class PlayerShown(Struct, frozen=True):
    """Server: who that is, and their figures by ruleset."""

    player: Player
    stats: Mapping[str, Stats]


class Moved(Struct, frozen=True):
    """Server: the action is recorded and made. ``view`` is left out after a move."""

    seq: int
    move: str
    auto: Sequence[str]
    score: int
    moves: int
    undos: int
    status: Status
    stuck: bool
    elapsed_ms: int
    hash: str
    repeated: bool
    view: GameView | UnsetType = UNSET


class Hinted(Struct, frozen=True):
    """Server: a move worth making after entry ``seq``, or none."""

    move: str | None
    seq: int


class Tapped(Struct, frozen=True):
    """Server: the move that the tap would make, or none."""

    move: str | None


class GameSummary(Struct, frozen=True):
    """A game in a list."""

    game: str
    ruleset: str
    deal: str
    challenge: str | None
    ranked: bool
    seq: int
    status: Status
    score: int
    moves: int
    undos: int
    started: int
    elapsed_ms: int


class GameList(Struct, frozen=True):
    """Server: a page of your games. ``next`` is the cursor of the page after it."""

    games: Sequence[GameSummary]
    next: str | None


class Attempt(Struct, frozen=True):
    """A player's ranked attempt at a challenge."""

    game: str
    status: Status


class Proof(Struct, frozen=True):
    """What shows that the deal was fixed beforehand and can be won."""

    seed: str
    candidate: int
    solution: Sequence[str]


class Previous(Struct, frozen=True):
    """The challenge before in the same ruleset, which a commitment names."""

    challenge: str
    commitment: str


class Challenge(Struct, frozen=True):
    """A day's deal in one ruleset. ``deal``, ``proof`` and ``par`` once they may be told."""

    challenge: str
    ruleset: str
    ruleset_version: int
    opens: int
    closes: int
    commitment: str
    planner: str
    previous: Previous | None
    attempt: Attempt | None
    deal: str | UnsetType = UNSET
    proof: Proof | UnsetType = UNSET
    par: int | UnsetType = UNSET


class DailyChallenges(Struct, frozen=True):
    """Server: the challenges of a day."""

    challenges: Sequence[Challenge]


class BoardPage(Struct, frozen=True):
    """Server: a page of a board, and my own row wherever it is."""

    rows: Sequence[BoardRow]
    total: int
    me: BoardRow | None
    next: str | None
    prev: str | None


class ReplayHeader(Struct, frozen=True):
    """What a game is, before its first entry. ``player`` is null once deleted."""

    ruleset: str
    ruleset_version: int
    deal: str
    autoplay: Autoplay
    player: Player | None
    started: int
    challenge: str | None
    attempt: int | None


class ReplayResult(Struct, frozen=True):
    """How a game stands after its last entry."""

    status: Status
    score: int
    home: int
    moves: int
    undos: int
    elapsed_ms: int
    hash: str
    seq: int


class Replay(Struct, frozen=True):
    """Server: a page of a game's entries; header and result are on every page."""

    header: ReplayHeader
    entries: Sequence[WireEntry]
    next: str | None
    result: ReplayResult


class Pong(Struct, frozen=True):
    """Server: I am here, and this is the time."""

    time: int


class Refused(Struct, frozen=True):
    """Server: no. ``code`` is for programs, ``message`` for people."""

    code: ErrorCode
    message: str
    context: Mapping[str, object]
    retry_after_ms: int | UnsetType = UNSET
