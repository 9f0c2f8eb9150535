"""How the server says no: error codes, close codes, and what a client may do after either."""

from collections.abc import Mapping
from enum import Enum, IntEnum, StrEnum


class ErrorCode(StrEnum):
    """Why a request was refused; stable, for programs."""

    BAD_FRAME = "bad-frame"
    UNKNOWN_TYPE = "unknown-type"
    BAD_REQUEST = "bad-request"
    HELLO_FIRST = "hello-first"
    UNSUPPORTED_PROTO = "unsupported-proto"
    BAD_TOKEN = "bad-token"
    TOKEN_NEEDED = "token-needed"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    BAD_MOVE = "bad-move"
    ILLEGAL_MOVE = "illegal-move"
    NOTHING_TO_UNDO = "nothing-to-undo"
    CONFLICT = "conflict"
    GAME_OVER = "game-over"
    HANDLE_TAKEN = "handle-taken"
    HANDLE_INVALID = "handle-invalid"
    CHALLENGE_CLOSED = "challenge-closed"
    CHALLENGE_NOT_OPEN = "challenge-not-open"
    NOT_YET = "not-yet"
    BAD_CURSOR = "bad-cursor"
    TOO_MANY_GAMES = "too-many-games"
    RATE_LIMITED = "rate-limited"
    DRAINING = "draining"
    INTERNAL = "internal"


# What the context of an error holds; those not named here have an empty one.
CONTEXTS = {
    ErrorCode.BAD_REQUEST: ("field", "why"),
    ErrorCode.UNSUPPORTED_PROTO: ("supported",),
    ErrorCode.ILLEGAL_MOVE: ("reason", "limit", "length"),
    ErrorCode.CONFLICT: ("seq",),
    ErrorCode.GAME_OVER: ("status",),
    ErrorCode.HANDLE_INVALID: ("why",),
    ErrorCode.RATE_LIMITED: ("key",),
}


class Reconnect(Enum):
    """Whether a client should connect again by itself after a close."""

    DONE = "–"
    NO = "no"
    MEND = "no, mend the client"
    YES = "yes"
    BACK_OFF = "yes, with back-off"
    AFTER_RETRY = "yes, after `retry_after_ms`"
    AFTER_RETRY_JITTER = "yes, after `retry_after_ms` with jitter"


class CloseCode(IntEnum):
    """Why a connection was closed."""

    NORMAL = 1000
    GOING_AWAY = 1001
    TOO_LARGE = 1009
    SERVER_FAULT = 1011
    RESTARTING = 1012
    OVERLOADED = 1013
    BAD_FRAMES = 4400
    BAD_TOKEN = 4401
    UNSUPPORTED_PROTO = 4406
    TOO_SLOW = 4408
    TOO_MANY_REQUESTS = 4429

    @property
    def reconnect(self) -> Reconnect:
        """Whether a client should connect again by itself."""
        return _RECONNECT[self]


_RECONNECT = {
    CloseCode.NORMAL: Reconnect.DONE,
    CloseCode.GOING_AWAY: Reconnect.AFTER_RETRY_JITTER,
    CloseCode.TOO_LARGE: Reconnect.MEND,
    CloseCode.SERVER_FAULT: Reconnect.BACK_OFF,
    CloseCode.RESTARTING: Reconnect.AFTER_RETRY_JITTER,
    CloseCode.OVERLOADED: Reconnect.BACK_OFF,
    CloseCode.BAD_FRAMES: Reconnect.MEND,
    CloseCode.BAD_TOKEN: Reconnect.NO,
    CloseCode.UNSUPPORTED_PROTO: Reconnect.NO,
    CloseCode.TOO_SLOW: Reconnect.YES,
    CloseCode.TOO_MANY_REQUESTS: Reconnect.AFTER_RETRY,
}


class ProtocolError(ValueError):
    """A frame was refused.

    ``re`` is the ``id`` of the request in it, None where none could be read.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        context: Mapping[str, object] | None = None,
        re: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.context: Mapping[str, object] = context or {}
        self.re = re
