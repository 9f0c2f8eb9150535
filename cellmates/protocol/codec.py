"""Frames to messages and back, in both encodings. A frame's size is the gateway's business.

A frame is decoded straight into typed messages: what a peer sends is never built as anything else,
and what unknown keys hold is skipped unbuilt. Of two equal keys the last one counts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, DecodeError, Struct, ValidationError
from msgspec.structs import FieldInfo, astuple, fields

from .errors import ErrorCode, ProtocolError
from .limits import Count
from .messages import EVENTS, REQUESTS, EventBody, ReplyBody, RequestBody, may_be_left_out
from .replies import Refused


class Encoding(StrEnum):
    """How messages are written in frames. A member is the name of its WebSocket subprotocol."""

    MSGPACK = "cellmates.v1.msgpack"
    JSON = "cellmates.v1.json"

    @property
    def subprotocol(self) -> str:
        """The name by which a client asks for it in the handshake."""
        return self.value


class Request(Struct, frozen=True):
    """What a client asks, and the number by which it will know the answer."""

    id: int
    body: RequestBody


def decode_request(encoding: Encoding, frame: bytes | str) -> Request:
    """Read a client's frame. JSON may come as text or as its UTF-8 bytes.

    Raises:
        ProtocolError: ``bad-frame`` where the frame cannot be read or has no ``id``; else, with
            ``re`` set, ``unknown-type`` or ``bad-request``.
    """
    form = _FORMS[encoding]
    if isinstance(frame, str):
        frame = _bytes_of(encoding, frame)
    try:
        told = form.read(frame)
    except (DecodeError, RecursionError) as error:
        raise _refusal(form, frame, error) from None
    if form.hint_of_nul in frame and (field := _field_with_nul("d", told.d)):
        raise _bad_request(told.id, field, "a text may not hold NUL")
    return Request(told.id, told.d)


def encode_reply(encoding: Encoding, re: int, body: ReplyBody) -> bytes:
    """Frame of the ``ok`` that answers request ``re``."""
    return _FORMS[encoding].write(_Ok(re, body))


def encode_error(
    encoding: Encoding,
    re: int | None,
    code: ErrorCode,
    message: str,
    context: Mapping[str, object] | None = None,
    retry_after_ms: int | None = None,
) -> bytes:
    """Frame of the ``error`` that answers request ``re``; None where no number could be read."""
    wait = UNSET if retry_after_ms is None else retry_after_ms
    return _FORMS[encoding].write(_Error(re, Refused(code, message, context or {}, wait)))


def encode_event(encoding: Encoding, body: EventBody) -> bytes:
    """Frame of an event."""
    return _FORMS[encoding].write(_Event(_EVENT_NAMES[type(body)], body))


# -- Envelopes -------------------------------------------------------------------------------------


class _Ok(Struct, frozen=True, tag_field="t", tag="ok"):
    re: int
    d: ReplyBody


class _Error(Struct, frozen=True, tag_field="t", tag="error"):
    re: int | None
    d: Refused


class _Event(Struct, frozen=True):
    t: str
    d: EventBody


class _Numbered(Struct, frozen=True):
    """Any request as far as its number."""

    id: Count


class _Named(Struct, frozen=True):
    """Any request as far as its name."""

    t: str


def _envelope(name: str, body: type[Struct]) -> type[Struct]:
    """Class of a whole request. Its ``d`` may be left out where every field in it may."""
    d = ("d", body, body()) if may_be_left_out(body) else ("d", body)
    return msgspec.defstruct(
        body.__name__, [("id", Count), d], tag_field="t", tag=name, frozen=True, gc=False
    )


_EVENT_NAMES = {body: name for name, body in EVENTS.items()}
_ENVELOPES = [_envelope(name, exchange.request) for name, exchange in REQUESTS.items()]


# -- What differs between the encodings ------------------------------------------------------------

_Read = Callable[[bytes], Any]


class _Form(NamedTuple):
    """Readers and writer of one encoding, and a byte that is in every frame which says NUL."""

    read: _Read
    read_number: _Read
    read_name: _Read
    write: Callable[[Struct], bytes]
    hint_of_nul: int


def _form(
    decoder: Callable[[Any], Any], write: Callable[[Struct], bytes], hint_of_nul: int
) -> _Form:
    targets = (Union[tuple(_ENVELOPES)], _Numbered, _Named)  # noqa: UP007 - made from a list
    read, read_number, read_name = (decoder(target).decode for target in targets)
    return _Form(read, read_number, read_name, write, hint_of_nul)


_FORMS = {
    Encoding.MSGPACK: _form(msgspec.msgpack.Decoder, msgspec.msgpack.Encoder().encode, 0),
    Encoding.JSON: _form(msgspec.json.Decoder, msgspec.json.Encoder().encode, ord("\\")),
}


def _bytes_of(encoding: Encoding, frame: str) -> bytes:
    """UTF-8 of a text frame.

    Raises:
        ProtocolError: the encoding has no text frames, or the text is no text.
    """
    if encoding is Encoding.MSGPACK:
        raise ProtocolError(ErrorCode.BAD_FRAME, "MessagePack travels in binary frames")
    try:
        return frame.encode()
    except UnicodeEncodeError as error:
        raise _bad_frame(error) from None


# -- Refusals: they say what was expected, and nothing of what was sent ----------------------------

_NO_NUMBER = "a request is a map with an id, which is an unsigned integer up to 2^53"
_NO_SUCH_TYPE = "there is no such request"
_LOCATED = re.compile(r"(.*) - at `(key` in `)?\$\.?([^`]*)`", re.DOTALL)
_MISSING = re.compile("Object missing required field `([^`]*)`")


def _refusal(form: _Form, frame: bytes, error: Exception) -> ProtocolError:
    """Why a frame was not read, found by reading it again more leniently."""
    if not isinstance(error, ValidationError):
        return _bad_frame(error)
    number = None
    try:
        number = form.read_number(frame).id
        name = form.read_name(frame).t
    except ValidationError as refused:
        if number is None:
            return ProtocolError(ErrorCode.BAD_FRAME, _NO_NUMBER)
        return _bad_request(number, *_explained(str(refused)))
    except (DecodeError, RecursionError) as broken:
        return _bad_frame(broken)
    if name not in REQUESTS:
        return ProtocolError(ErrorCode.UNKNOWN_TYPE, _NO_SUCH_TYPE, re=number)
    return _bad_request(number, *_explained(str(error), fields(REQUESTS[name].request)))


def _bad_frame(error: Exception) -> ProtocolError:
    return ProtocolError(ErrorCode.BAD_FRAME, f"the frame cannot be read: {error}")


def _bad_request(number: int, field: str, why: str) -> ProtocolError:
    context = {"field": field, "why": why}
    return ProtocolError(ErrorCode.BAD_REQUEST, f"{field}: {why}", context, re=number)


def _explained(text: str, known: Iterable[FieldInfo] = ()) -> tuple[str, str]:
    """Field and reason from msgspec's sentence, which may quote what was sent."""
    located = _LOCATED.fullmatch(text)
    why, in_key, field = located.groups() if located else (text, None, "")
    if missing := _MISSING.fullmatch(why):
        return f"{field}.{missing[1]}".lstrip("."), "is missing"
    if why.startswith("Invalid "):
        words = ", ".join(_words(known, field))
        return field, f"expected one of: {words}" if words else "says two things"
    why = why[:1].lower() + why[1:].replace("`", "").replace("None", "null")
    return field, f"a key: {why}" if in_key else why


def _words(known: Iterable[FieldInfo], field: str) -> Iterator[str]:
    """Words of which a field must say one."""
    for candidate in known:
        if field == f"d.{candidate.encode_name}":
            yield from map(str, _literals(candidate.type))


def _literals(kind: Any) -> Iterator[object]:  # noqa: ANN401 - a type as it was annotated
    for part in get_args(kind):
        if get_origin(kind) is Literal:
            yield part
        else:
            yield from _literals(part)


def _field_with_nul(path: str, body: Struct) -> str | None:
    """Where a text stands that holds a NUL; None where there is none."""
    for name, value in zip(body.__struct_encode_fields__, astuple(body), strict=True):
        if isinstance(value, str):
            if "\0" in value:
                return f"{path}.{name}"
        elif isinstance(value, Struct) and (found := _field_with_nul(f"{path}.{name}", value)):
            return found
    return None
