"""What a connection may say, and when. No I/O."""

from dataclasses import dataclass, field
from enum import Enum, auto

from cellmates.protocol import (
    BoardGet,
    BoardUnwatch,
    BoardWatch,
    DailyList,
    DailyStart,
    ErrorCode,
    GameHint,
    GameMove,
    GameOpen,
    GameResign,
    GamesMine,
    GameStart,
    GameTap,
    GameUndo,
    Hello,
    Ping,
    PlayerCreate,
    PlayerDelete,
    PlayerGet,
    PlayerRename,
    PlayerToken,
    ReplayGet,
)


class State(Enum):
    """How far a conversation is."""

    GREETING = auto()
    GUEST = auto()
    PLAYING = auto()


OPEN_TO_GUESTS = frozenset(
    {BoardGet, BoardUnwatch, BoardWatch, DailyList, Ping, PlayerGet, ReplayGet}
)
OPEN_TO_PLAYERS = OPEN_TO_GUESTS | {
    DailyStart,
    GameHint,
    GameMove,
    GameOpen,
    GameResign,
    GamesMine,
    GameStart,
    GameTap,
    GameUndo,
    PlayerDelete,
    PlayerRename,
    PlayerToken,
}
MAY_SAY = {
    State.GREETING: frozenset({Hello}),
    State.GUEST: OPEN_TO_GUESTS | {PlayerCreate},
    State.PLAYING: OPEN_TO_PLAYERS,
}
MOVES = frozenset({GameMove, GameUndo, GameResign})


class NotNow(Exception):
    """The message may not be said in this state; ``code`` is the error's."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def check(state: State, message: type) -> None:
    """Whether a message may be said now.

    Raises:
        NotNow: it may not, with the error code that says why.
    """
    if message in MAY_SAY[state]:
        return
    if state is State.GREETING:
        raise NotNow(ErrorCode.HELLO_FIRST, "say hello first")
    if message is Hello:
        raise NotNow(ErrorCode.FORBIDDEN, "hello was said already")
    if message is PlayerCreate:
        raise NotNow(ErrorCode.FORBIDDEN, "this connection has a player already")
    raise NotNow(
        ErrorCode.TOKEN_NEEDED,
        "for this a player is needed: give a token with hello, or player.create",
    )


@dataclass(frozen=True, slots=True)
class Rate:
    """So many at once, and so many a second after that."""

    burst: int
    per_s: float


@dataclass(slots=True)
class Bucket:
    """What is left of a rate. Times are milliseconds of the monotonic clock."""

    rate: Rate
    left: float = field(init=False)
    at_ms: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.left = self.rate.burst

    def take(self, now_ms: int) -> int:
        """Take one; 0 when there was one, else the milliseconds until there will be."""
        passed = max(now_ms - self.at_ms, 0) * self.rate.per_s / 1000
        self.left = min(self.rate.burst, self.left + passed)
        self.at_ms = now_ms
        if self.left >= 1:
            self.left -= 1
            return 0
        return max(1, int((1 - self.left) * 1000 / self.rate.per_s))

    def is_full(self, now_ms: int) -> bool:
        """Whether nothing is missing, so that the bucket may be forgotten."""
        passed = max(now_ms - self.at_ms, 0) * self.rate.per_s / 1000
        return self.left + passed >= self.rate.burst


class Buckets:
    """Buckets of one rate by key, such as an address; full ones are forgotten now and then."""

    def __init__(self, rate: Rate, *, most: int = 10_000) -> None:
        self._rate = rate
        self._most = most
        self._buckets: dict[str, Bucket] = {}

    def take(self, key: str, now_ms: int) -> int:
        """Take one of a key's; 0 when there was one, else the milliseconds until there will be."""
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._most:
                self._forget(now_ms)
            bucket = self._buckets[key] = Bucket(self._rate)
        return bucket.take(now_ms)

    def _forget(self, now_ms: int) -> None:
        kept = {key: bucket for key, bucket in self._buckets.items() if not bucket.is_full(now_ms)}
        self._buckets = kept
