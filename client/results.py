"""What the server tells, as frozen values. The names are those of docs/protocol.md."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who plays; ``kind`` is ``human`` or ``bot``."""

    id: str
    handle: str
    kind: str


@dataclass(frozen=True, slots=True)
class Server:
    """What program the server is."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection may do; moves count with the requests where nothing is said of them."""

    frame_bytes: int
    requests_burst: int
    requests_per_s: int
    heartbeat_s: int
    moves_burst: int | None = None
    moves_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class GameRef:
    """A game and where it stands."""

    game: str
    seq: int
    status: str


@dataclass(frozen=True, slots=True)
class Greeting:
    """Answer to ``hello``. ``player`` is None for a guest, ``games`` are the unfinished ones."""

    server: Server
    proto: int
    time: int
    player: Player | None
    limits: Limits
    rulesets: tuple[str, ...]
    games: tuple[GameRef, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded action: a move, ``undo`` or ``resign``, ``at_ms`` after the game's start."""

    seq: int
    action: str
    at_ms: int
    hash: str


@dataclass(frozen=True, slots=True)
class View:
    """A game as it stands. Columns have their open card last; ``home`` counts cards by suit.

    ``entries`` are those after the ``since`` that was asked for: None where there were too many, or
    none was asked for.
    """

    game: str
    ruleset: str
    ruleset_version: int
    deal: str
    challenge: str | None
    ranked: bool
    attempt: int | None
    autoplay: str
    seq: int
    columns: tuple[tuple[str, ...], ...]
    cells: tuple[str | None, ...]
    home: Mapping[str, int]
    score: int
    moves: int
    undos: int
    undo_left: int | None
    status: str
    stuck: bool
    started: int
    elapsed_ms: int
    hash: str
    entries: tuple[Entry, ...] | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """An action that is recorded: ``move`` in its canonical form, and the automatic moves after it.

    ``repeated`` says that it had been recorded before, when it was sent the last time.
    """

    seq: int
    move: str
    auto: tuple[str, ...]
    score: int
    moves: int
    undos: int
    status: str
    stuck: bool
    elapsed_ms: int
    hash: str
    repeated: bool
    view: View | None = None


@dataclass(frozen=True, slots=True)
class Hinted:
    """A move worth making after entry ``seq``, or none."""

    move: str | None
    seq: int


@dataclass(frozen=True, slots=True)
class Tapped:
    """The move that a tap would make, or none."""

    move: str | None


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game in a list."""

    game: str
    ruleset: str
    deal: str
    challenge: str | None
    ranked: bool
    seq: int
    status: str
    score: int
    moves: int
    undos: int
    started: int
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class GamePage:
    """Some of a player's games; ``next`` is where the next ones are."""

    games: tuple[GameSummary, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Stats:
    """What a player has done in one ruleset; None where there is no won game to take it from."""

    played: int
    won: int
    best_elapsed_ms: int | None = None
    fewest_moves: int | None = None
    streak: int = 0
    best_streak: int = 0


@dataclass(frozen=True, slots=True)
class PlayerShown:
    """A player and their figures by ruleset."""

    player: Player
    stats: Mapping[str, Stats]


@dataclass(frozen=True, slots=True)
class PlayerCreated:
    """A new player. The token is told this once."""

    player: Player
    token: str

    def __repr__(self) -> str:
        return f"PlayerCreated(player={self.player!r}, token=…)"


@dataclass(frozen=True, slots=True)
class PlayerReply:
    """Who this connection is now."""

    player: Player


@dataclass(frozen=True, slots=True)
class TokenReply:
    """A new token. It is told this once."""

    token: str

    def __repr__(self) -> str:
        return "TokenReply(token=…)"


@dataclass(frozen=True, slots=True)
class ReplayHeader:
    """What a game is before its first entry; ``player`` is None when deleted.

    ``challenge`` and ``attempt`` are None for a game that belongs to no challenge.
    """

    ruleset: str
    ruleset_version: int
    deal: str
    autoplay: str
    player: Player | None
    started: int
    challenge: str | None = None
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """How a game stands after its last entry; ``home`` is the number of cards there."""

    status: str
    score: int
    home: int
    moves: int
    undos: int
    elapsed_ms: int
    hash: str
    seq: int


@dataclass(frozen=True, slots=True)
class Replay:
    """A game from its deal to where it stands."""

    header: ReplayHeader
    entries: tuple[Entry, ...]
    result: ReplayResult
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ChallengeAttempt:
    """My ranked attempt at a challenge: its game, and whether that goes on."""

    game: str
    status: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What shows that a deal was fixed beforehand and can be won; ``seed`` is in hex."""

    seed: str
    candidate: int
    solution: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Previous:
    """The challenge before in the same ruleset, which a commitment names."""

    challenge: str
    commitment: str


@dataclass(frozen=True, slots=True)
class Challenge:
    """A day's deal in one ruleset; ``opens`` and ``closes`` are milliseconds since the epoch.

    ``attempt`` is None where I have not begun. ``deal``, ``proof`` and ``par``, the length of the
    planner's solution in moves, are None until they may be told.
    """

    challenge: str
    ruleset: str
    ruleset_version: int
    opens: int
    closes: int
    commitment: str
    planner: str
    previous: Previous | None
    attempt: ChallengeAttempt | None
    deal: str | None = None
    proof: Proof | None = None
    par: int | None = None


@dataclass(frozen=True, slots=True)
class DailyChallenges:
    """The challenges of a day."""

    challenges: tuple[Challenge, ...]


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One run on a board; ``home`` is the number of cards there."""

    rank: int
    handle: str
    home: int
    won: bool
    elapsed_ms: int
    moves: int
    undos: int
    game: str


@dataclass(frozen=True, slots=True)
class BoardPage:
    """Some rows of a board, and mine wherever it is; ``total`` counts all rows.

    ``next`` and ``prev`` are cursors of the pages after and before, None where there is none.
    """

    rows: tuple[BoardRow, ...]
    total: int
    me: BoardRow | None
    next: str | None
    prev: str | None


@dataclass(frozen=True, slots=True)
class Pong:
    """The time by the server's clock, in milliseconds since the epoch."""

    time: int


@dataclass(frozen=True, slots=True)
class GameEvent:
    """Another connection of the same player acted in a game that is open here.

    ``view`` is the game after it, where the server told it.
    """

    game: str
    entry: Entry
    auto: tuple[str, ...] = ()
    view: View | None = None


@dataclass(frozen=True, slots=True)
class GameExpired:
    """The time of a ranked attempt of mine is over; no more can be done in it."""

    game: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True)
class BoardChanged:
    """The top of a board that is watched is another now; ``total`` counts all rows."""

    challenge: str
    board: str
    kind: str
    top: tuple[BoardRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Resynced:
    """More happened in a game while we were away than could be told; this is how it stands."""

    game: str
    view: View


@dataclass(frozen=True, slots=True)
class Draining:
    """The server goes away at ``deadline``, epoch milliseconds; the client will come back."""

    deadline: int
    retry_after_ms: int


@dataclass(frozen=True, slots=True)
class OtherEvent:
    """An event that this client has no name for."""

    type: str
    body: Mapping[str, object]


Happening: TypeAlias = GameEvent | GameExpired | BoardChanged | Resynced | Draining | OtherEvent
