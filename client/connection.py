"""The client's side of the conversation: requests out, replies and events in. No I/O, no engine.

Written from docs/protocol.md alone, on ``msgpack`` and ``json`` as everybody has them, so whatever
this module needs to know a stranger can know too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, TypeAlias

import msgpack

from .errors import ServerError, WrongFrame, WrongRequest

PROTO = 1
CLIENT_FRAME_BYTES = 4096
SERVER_FRAME_BYTES = 65536

Frame: TypeAlias = bytes | str
Body: TypeAlias = Mapping[str, object]


class Encoding(StrEnum):
    """How maps become frames: binary ones, or text ones."""

    MSGPACK = "msgpack"
    JSON = "json"

    @property
    def subprotocol(self) -> str:
        """Name of the encoding in the WebSocket handshake."""
        return f"cellmates.v{PROTO}.{self.value}"


class Again(Enum):
    """Whether to connect again after a close, and after what wait."""

    NO = "no"
    BACK_OFF = "with back-off"
    AFTER_RETRY = "after what the server said in retry_after_ms, with jitter"


class Closing(NamedTuple):
    """What a close code asks of the client."""

    again: Again
    meaning: str


CLOSINGS: Mapping[int, Closing] = MappingProxyType(
    {
        1000: Closing(Again.NO, "the conversation was ended"),
        1001: Closing(Again.AFTER_RETRY, "the server goes away"),
        1005: Closing(Again.BACK_OFF, "the connection was closed without a reason"),
        1006: Closing(Again.BACK_OFF, "the connection broke"),
        1009: Closing(Again.NO, "a frame was too large"),
        1011: Closing(Again.BACK_OFF, "the server failed"),
        1012: Closing(Again.AFTER_RETRY, "the server restarts"),
        1013: Closing(Again.BACK_OFF, "the server is overloaded"),
        1014: Closing(Again.BACK_OFF, "what stands before the server cannot reach it"),
        4400: Closing(Again.NO, "the server could not read this client's frames"),
        4401: Closing(Again.NO, "the token is not valid any more"),
        4406: Closing(Again.NO, f"the server does not speak version {PROTO} of the protocol"),
        4408: Closing(Again.BACK_OFF, "this client was too slow"),
        4429: Closing(Again.AFTER_RETRY, "too many requests"),
    }
)


def closing(code: int) -> Closing:
    """What a close code asks of the client; one that is not known is not argued with."""
    unknown = Closing(Again.NO, f"the connection was closed with code {code}")
    return CLOSINGS.get(code, unknown)


@dataclass(frozen=True, slots=True)
class Request:
    """Client: one request, as a frame to send. What it says, maybe a token, is not in its repr."""

    id: int
    type: str
    frame: Frame = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """Server: the one reply to a request."""

    request: Request
    body: Body = field(repr=False)
    error: ServerError | None = None

    def result(self) -> Body:
        """Body of the reply.

        Raises:
            ServerError: the request was refused.
        """
        if self.error is not None:
            raise self.error
        return self.body


@dataclass(frozen=True, slots=True)
class Event:
    """Server: something happened that nobody asked for."""

    type: str
    body: Body


@dataclass(frozen=True, slots=True)
class Complaint:
    """Server: an error that answers no request."""

    error: ServerError


Received: TypeAlias = Answer | Event | Complaint


class Connection:
    """One conversation, on one WebSocket, from ``hello`` to its end."""

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        self._last_id = 0
        self._unanswered: dict[int, Request] = {}

    @property
    def unanswered(self) -> Mapping[int, Request]:
        """Requests without an answer so far, by id, the oldest first."""
        return MappingProxyType(self._unanswered)

    def hello(self, name: str, version: str, token: str | None = None) -> Request:
        """The greeting, which comes before any other request.

        Raises:
            WrongRequest: as by ``request``.
        """
        client = {"name": name, "version": version}
        body: dict[str, object] = {"proto": PROTO, "client": client}
        return self.request("hello", body if token is None else body | {"token": token})

    def request(self, type_: str, body: Body) -> Request:
        """A request with an id of its own; it counts as unanswered from now on.

        Raises:
            WrongRequest: it has no form in this encoding or is too long; it does not count.
        """
        message = {"t": type_, "id": self._last_id + 1, "d": dict(body)}
        try:
            frame = _written(self._encoding, message)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise WrongRequest(f"a {type_} like this cannot be sent: {error}") from None
        size = len(frame if isinstance(frame, bytes) else frame.encode())
        if size > CLIENT_FRAME_BYTES:
            raise WrongRequest(f"a {type_} of {size} bytes; {CLIENT_FRAME_BYTES} may be sent")
        self._last_id += 1
        request = Request(self._last_id, type_, frame)
        self._unanswered[request.id] = request
        return request

    def receive(self, frame: Frame) -> Received:
        """What a frame from the server says; an answered request is unanswered no more.

        Raises:
            WrongFrame: it is no message, or answers what was not asked.
        """
        message = _read(self._encoding, frame)
        type_, body = message.get("t"), message.get("d", {})
        if not isinstance(type_, str) or not isinstance(body, dict):
            raise WrongFrame("a message from the server lacks its type or its body")
        match type_:
            case "ok":
                return Answer(self._answered(message.get("re")), body)
            case "error":
                return self._refusal(message.get("re"), _error(body))
            case _:
                return Event(type_, body)

    def _refusal(self, re: object, error: ServerError) -> Answer | Complaint:
        if re is not None:
            return Answer(self._answered(re), {}, error)
        # Requests are answered in order, so a frame that the server could not read is the oldest.
        if error.code == "bad-frame" and self._unanswered:
            return Answer(self._answered(next(iter(self._unanswered))), {}, error)
        return Complaint(error)

    def _answered(self, re: object) -> Request:
        if type(re) is not int or re not in self._unanswered:
            raise WrongFrame("the server answered a request that was not made, or twice")
        return self._unanswered.pop(re)


def _error(body: Mapping[str, Any]) -> ServerError:
    code, message = body.get("code"), body.get("message", "")
    context, retry_after_ms = body.get("context", {}), body.get("retry_after_ms")
    if not isinstance(code, str) or not isinstance(message, str):
        raise WrongFrame("an error from the server has no code, or a message that is no text")
    if not isinstance(context, dict | None):
        raise WrongFrame("the context of an error from the server is no map")
    if retry_after_ms is not None and (type(retry_after_ms) is not int or retry_after_ms < 0):
        raise WrongFrame("retry_after_ms in an error from the server is no number of milliseconds")
    return ServerError(code, message, context, retry_after_ms)


def _written(encoding: Encoding, message: Mapping[str, object]) -> Frame:
    if encoding is Encoding.MSGPACK:
        packed: bytes = msgpack.packb(message)
        return packed
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _read(encoding: Encoding, frame: Frame) -> dict[str, Any]:
    if isinstance(frame, bytes) is not (encoding is Encoding.MSGPACK):
        raise WrongFrame(f"a frame from the server is not of the kind that {encoding} uses")
    try:
        if isinstance(frame, bytes):
            message = msgpack.unpackb(frame, ext_hook=_no_extension)
        else:
            message = json.loads(frame, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise WrongFrame(f"a frame from the server is no {encoding}: {error}") from None
    if not isinstance(message, dict):
        raise WrongFrame("a frame from the server is no map")
    return message


def _no_extension(code: int, _: bytes) -> NoReturn:
    raise ValueError(f"extension type {code}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
