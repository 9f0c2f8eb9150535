"""What can go wrong between a client and a server: every exception that a client raises."""

from collections.abc import Mapping


class ClientError(Exception):
    """Any of them."""


class ServerError(ClientError):
    """The server refused a request; nothing has changed.

    ``code`` is stable, for programs; ``context`` depends on it, such as ``reason`` for
    ``illegal-move``; ``retry_after_ms`` is there where trying again later may help.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        context: Mapping[str, object] | None = None,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}" if message else code)
        self.code = code
        self.message = message
        self.context: Mapping[str, object] = context or {}
        self.retry_after_ms = retry_after_ms


class Conflict(ServerError):
    """Another action was recorded first. The game's view is up to date when this is raised.

    ``seq`` is the game's now, ``recorded`` what stands where our action should have stood, None
    where nothing does or where it is not known.
    """

    def __init__(self, message: str, seq: int, recorded: str | None) -> None:
        super().__init__("conflict", message, {"seq": seq})
        self.seq = seq
        self.recorded = recorded


class Unavailable(ClientError):
    """What was asked for is not there now: no unfinished game, no daily in the ruleset today."""


class AttemptOver(Unavailable):
    """The one ranked attempt at a challenge has ended; ``context`` says how."""

    def __init__(self, message: str, context: Mapping[str, object]) -> None:
        super().__init__(message)
        self.context = context


class WrongFrame(ClientError):
    """What came from the server is not what docs/protocol.md says."""


class WrongRequest(ClientError, ValueError):
    """The request cannot be sent: too long, or not to be written in the encoding."""


class CannotConnect(ClientError):
    """There is no server at the address, or something else than a server."""


class Closed(ClientError):
    """The server closed the connection, and connecting again would not help; or we left."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class NoAnswer(ClientError):
    """No answer within the time allowed. An action may or may not have been recorded."""
