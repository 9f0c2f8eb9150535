"""Any bytes at all become a request or a refusal; and both encodings understand the same."""

import json
from typing import Any

import msgpack
import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from cellmates.protocol import REQUESTS, Encoding, ProtocolError, Request, decode_request

from .frames import JSON, MESSAGES, MSGPACK, check_form, written

Understood = Request | tuple[object, ...]


def understood(encoding: Encoding, frame: bytes | str) -> Understood:
    """The request in a frame, or all that its refusal says; anything else is a failure."""
    try:
        return decode_request(encoding, frame)
    except ProtocolError as error:
        check_form(error)
        return error.code, error.re, error.context.get("field"), error.context.get("why")


# -- Bytes -----------------------------------------------------------------------------------------

encodings = st.sampled_from(Encoding)
valid = st.sampled_from([{"t": t, "id": n, "d": d} for n, (t, d) in enumerate(MESSAGES.items())])
# Bytes that mean something, and any others.
telling = st.sampled_from([*b'{}[]",:\\0-9.eE"\0', *range(0xC0, 0xE0), 0x80, 0x90, 0xA0, 0xFF])
anything = st.lists(st.integers(0, 255) | telling, max_size=12).map(bytes)


@given(encodings, st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(encoding: Encoding, frame: bytes) -> None:
    understood(encoding, frame)


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(frame: str) -> None:
    understood(JSON, frame)
    understood(MSGPACK, frame)


@given(encodings, valid, st.data())
def test_frame_with_something_else_in_it_is_read_or_refused(
    encoding: Encoding, told: dict[str, Any], data: st.DataObject
) -> None:
    frame = written(encoding, told)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(frame)))
        stop = data.draw(st.integers(start, min(start + 4, len(frame))))
        frame = frame[:start] + data.draw(anything) + frame[stop:]
    understood(encoding, frame)


@given(encodings, valid)
def test_no_piece_of_a_frame_is_read(encoding: Encoding, told: dict[str, Any]) -> None:
    frame = written(encoding, told)
    for length in range(len(frame)):
        assert isinstance(understood(encoding, frame[:length]), tuple)


# -- Maps ------------------------------------------------------------------------------------------

# Floats have a fraction, integers fit both encodings, and no text holds half a surrogate pair.
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.integers(-2, 120)
    | st.floats(-1e9, 1e9).filter(lambda number: not number.is_integer())
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=140)
    | st.sampled_from(["human", "bot", "first", "moves", "safe", "me", "won", "2026-12-01", "\0"])
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def nearly_requests(draw: st.DrawFn) -> dict[str, Any]:
    """Requests in which here and there something is missing, wrong, or too much."""
    t = draw(st.sampled_from([*REQUESTS]))
    d = dict(MESSAGES[t])
    for name in draw(st.lists(st.sampled_from([*d, "client", "x"]), max_size=2)):
        d[name] = draw(values)
    for name in draw(st.lists(st.sampled_from([*d, "x"]), max_size=1)):
        d.pop(name, None)
    told: dict[str, Any] = {"t": t, "id": draw(st.integers(0, 2**53)), "d": d}
    if draw(st.integers(0, 3)) == 0:
        told[draw(st.sampled_from(["t", "id", "d", "x"]))] = draw(values)
    if draw(st.integers(0, 9)) == 0:
        del told[draw(st.sampled_from([*told]))]
    return dict(draw(st.permutations([*told.items()])))


@given(nearly_requests())
@example({"t": "hello", "id": 1, "d": {"proto": 1, "client": {"name": "\0", "version": ""}}})
def test_both_encodings_understand_the_same(told: dict[str, Any]) -> None:
    packed = understood(MSGPACK, msgpack.packb(told))
    assert packed == understood(JSON, json.dumps(told))
    assert packed == understood(JSON, json.dumps(told, ensure_ascii=False).encode())


@given(nearly_requests())
def test_what_is_understood_is_what_was_said(told: dict[str, Any]) -> None:
    request = understood(MSGPACK, msgpack.packb(told))
    if isinstance(request, Request):
        assert request.id == told["id"]
        assert type(request.body) is REQUESTS[told["t"]].request
        read = msgspec.to_builtins(request.body)
        said = {name: value for name, value in told.get("d", {}).items() if name in read}
        assert is_part(said, read)


def is_part(said: dict[str, Any], read: dict[str, Any]) -> bool:
    """Whether a message holds what was said, of the same types, apart from unknown keys."""
    return all(
        is_part({key: value[key] for key in read[name]}, read[name])
        if isinstance(value, dict)
        else (type(value), value) == (type(read[name]), read[name])
        for name, value in said.items()
    )
