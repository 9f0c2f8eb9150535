"""The one place where exceptions become error replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from cellmates.engine import BadMove, IllegalMove, NothingToUndo
from cellmates.protocol import ErrorCode

from .boards import BadCursor
from .dailies import Closed, NoSuchChallenge, NotOpenYet, NotYet
from .entrance import Crowded
from .game import Conflict, GameOver
from .games import NoSuchGame, TooManyGames
from .journal import GameTaken, HandleTaken, Missing, StorageError
from .players import BadToken, HandleInvalid, NoSuchPlayer, NotConfirmed
from .vault import WrongKey

_RETRY_MS = 1_000


class Refused(Exception):
    """A request is refused by the handlers themselves."""

    def __init__(
        self, code: ErrorCode, message: str, context: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.context = context or {}

    @classmethod
    def bad_request(cls, field: str, why: str) -> Self:
        """A field of the request holds what cannot be used."""
        return cls(ErrorCode.BAD_REQUEST, why, {"field": field, "why": why})


@dataclass(frozen=True, slots=True)
class Error:
    """What an error reply says."""

    code: ErrorCode
    message: str
    context: Mapping[str, object]
    retry_after_ms: int | None = None


def error_of(error: Exception) -> Error | None:
    """What an error reply says of an exception; None of a mistake of the server's."""
    context: Mapping[str, object] = {}
    match error:
        case Refused():
            code, context = error.code, error.context
        case BadMove():
            code = ErrorCode.BAD_MOVE
        case IllegalMove():
            code = ErrorCode.ILLEGAL_MOVE
            context = {"reason": error.reason.value}
            if error.limit is not None:
                context = {**context, "limit": error.limit, "length": error.length}
        case NothingToUndo():
            code = ErrorCode.NOTHING_TO_UNDO
        case Conflict():
            code, context = ErrorCode.CONFLICT, {"seq": error.seq}
        case GameOver():
            code, context = ErrorCode.GAME_OVER, {"status": error.status}
        case NoSuchGame() | NoSuchPlayer() | NoSuchChallenge():
            code = ErrorCode.NOT_FOUND
        case NotOpenYet():
            code = ErrorCode.CHALLENGE_NOT_OPEN
        case Closed():
            code = ErrorCode.CHALLENGE_CLOSED
        case NotYet():
            code = ErrorCode.NOT_YET
        case BadCursor():
            code = ErrorCode.BAD_CURSOR
        case WrongKey():
            return Error(ErrorCode.INTERNAL, "this challenge cannot be opened here", {})
        case GameTaken():
            return Error(ErrorCode.CONFLICT, "you begin this attempt elsewhere: ask again", {})
        case Missing():
            return Error(ErrorCode.NOT_FOUND, "it is gone meanwhile", {})
        case TooManyGames():
            code = ErrorCode.TOO_MANY_GAMES
        case HandleTaken():
            return Error(ErrorCode.HANDLE_TAKEN, "somebody has this handle, or one like it", {})
        case HandleInvalid():
            code, context = ErrorCode.HANDLE_INVALID, {"why": str(error)}
        case BadToken():
            code = ErrorCode.BAD_TOKEN
        case NotConfirmed():
            code = ErrorCode.FORBIDDEN
        case Crowded():
            return Error(
                ErrorCode.RATE_LIMITED, str(error), {"key": "greetings"}, error.retry_after_ms
            )
        case StorageError():
            message = "the database did not answer: send the request again, it will tell"
            return Error(ErrorCode.INTERNAL, message, {}, _RETRY_MS)
        case _:
            return None
    return Error(code, str(error), context)
