"""Frames that no honest client sends: skipped or refused, and at no cost."""

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from cellmates.protocol import (
    LAST_INTEGER,
    Encoding,
    ErrorCode,
    Hello,
    Ping,
    ProtocolError,
    Request,
    decode_request,
)

from .frames import (
    JSON,
    MSGPACK,
    both,
    is_refused,
    listed,
    packed,
    pairs,
    refusal,
    request,
    text,
    written,
)

BAD_FRAME = ErrorCode.BAD_FRAME
DEEP = 100_000
ALL_ONES = b"\xff\xff\xff\xff"  # a length of 2^32 - 1

# -- Keys that nobody knows ------------------------------------------------------------------------

UNKNOWN: list[Any] = [
    None,
    True,
    1.5,
    -(2**63),
    2**64 - 1,
    "\0",
    [[[[{"a": [{}]}]]]],
    {"t": "hello", "id": -1},
    "x" * DEEP,
]


@both
@pytest.mark.parametrize("unknown", listed(UNKNOWN))
def test_unknown_keys_are_ignored_whatever_they_hold(encoding: Encoding, unknown: object) -> None:
    client = {"name": "b", "version": "1", "x": unknown}
    told = request("hello", 7, proto=1, client=client, x=unknown) | {"x": unknown}
    asked = decode_request(encoding, written(encoding, told))
    assert isinstance(asked.body, Hello)
    assert msgspec.to_builtins(asked.body.client) == {"name": "b", "version": "1"}


@pytest.mark.parametrize(
    "unknown",
    listed(
        [
            b"\xc4\x01\x00",  # binary
            b"\xd6\xff\x00\x00\x00\x00",  # a timestamp
            b"\xc7\x01\x05\x00",  # another extension
            b"\xca\x7f\xc0\x00\x00",  # NaN
            b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",  # infinity
            b"\xa1\xff",  # no UTF-8
            b"\x81\x01\x02",  # a key that is no text
            b"\x81\x91\x01\x02",  # a key that is a list
        ]
    ),
)
def test_unknown_key_may_hold_what_messagepack_should_not(unknown: bytes) -> None:
    assert decode_request(MSGPACK, packed("ping", (text("x"), unknown))) == Request(7, Ping())


@both
@pytest.mark.parametrize("depth", [10, 100, 300])
def test_unknown_key_may_hold_what_is_nested_deep(encoding: Encoding, depth: int) -> None:
    nested = {
        JSON: b'{"t":"ping","id":7,"x":' + b"[" * depth + b"]" * depth + b"}",
        MSGPACK: packed("ping", (text("x"), b"\x91" * depth + b"\xc0")),
    }
    assert decode_request(encoding, nested[encoding]) == Request(7, Ping())


# -- Frames that cannot be read --------------------------------------------------------------------

PING, HINT = '{"t":"ping","id":7,"x":%s}', '{"t":"game.hint","id":7,"d":%s}'
BROKEN_JSON = [
    "",
    " ",
    "{",
    "x",
    "null",
    "7",
    '"ping"',
    "[]",
    '["ping", 7]',
    "{}",
    '{"t":"ping"}',
    '{"t":"ping","id":7',
    '{"t":"ping","id":7,}',
    '{"t":"ping","id":7}}',
    '{"t":"ping","id":7} {"t":"ping","id":8}',
    '{"t":"ping","id":07}',
    "{'t':'ping','id':7}",
    '\ufeff{"t":"ping","id":7}',
    '{"t":"ping","id":' + "9" * 5000 + "}",
    PING % "NaN",
    PING % "Infinity",
    PING % "-Infinity",
    PING % "01",
    HINT % '{"game":NaN}',
    HINT % '{"game":"\\ud800"}',
    HINT % '{"game":"\n"}',
    HINT % '{"game":"\0"}',
    HINT % '{"game":1',  # a field is wrong, and the frame is broken behind it
    PING % ("[" * DEEP),
    PING % ("[" * DEEP + "]" * DEEP),
    PING % ('{"a":' * DEEP),
    HINT % ("[" * DEEP + "]" * DEEP),
    HINT % ('{"game":' + "[" * DEEP + "]" * DEEP + "}"),
    "[" * DEEP,
]


def hint_for(game: bytes) -> bytes:
    """MessagePack of a request with any bytes in the place of a text."""
    return packed("game.hint", (text("d"), pairs((text("game"), game))))


BROKEN_MSGPACK = [
    b"",
    b"\xc0",
    b"\x07",
    b"\xa4ping",
    b"\x92\xa4ping\x07",
    b"\xc1",
    b"\x80",
    b"\x81\xa1t\xa4ping",
    b"\x82\xa1t\xa4ping\xa2id",
    packed("ping")[:-1],
    packed("ping") + b"\x00",
    packed("ping") + packed("ping"),
    packed("ping", (text("x"), b"\xc1")),
    # Keys that are no texts.
    packed("ping", (b"\x01", b"\x02")),
    packed("ping", (b"\xc4\x01x", b"\x02")),
    packed("ping", (b"\xc0", b"\x02")),
    pairs((b"\xc4\x01t", text("ping")), (text("id"), b"\x07")),
    # Texts that are no UTF-8.
    hint_for(text(b"\xff")),
    hint_for(text(b"\xed\xa0\x80")),
    hint_for(text(b"\xc0\x80")),
    pairs((text("t"), text(b"\xff")), (text("id"), b"\x07")),
    packed("game.hint", (text("d"), b"\x05"), (text("t"), text(b"\xff"))),
    # Headers that promise more than there is.
    b"\xdf" + ALL_ONES,
    b"\xdd" + ALL_ONES,
    b"\xdb" + ALL_ONES,
    b"\xc6" + ALL_ONES,
    b"\xc9" + ALL_ONES + b"\x05",
    b"\xdf" + ALL_ONES + packed("ping")[5:],
    packed("ping", (text("x"), b"\xdb" + ALL_ONES)),
    packed("ping", (text("x"), b"\xc9" + ALL_ONES + b"\x01")),
    packed("ping", (text("x"), (b"\xdd" + ALL_ONES) * 800)),
    packed("ping", (text("x"), b"\xdc\xff\xff" * 1300)),
    packed("ping", (text("x"), (b"\xdf" + ALL_ONES + b"\xa0") * 600)),
    packed("ping", (text("d"), b"\xdf" + ALL_ONES)),
    packed("ping", (text("d"), b"\xdd" + ALL_ONES)),
    hint_for(b"\xdb" + ALL_ONES),
    hint_for(b"\xdd" + ALL_ONES),
    hint_for((b"\xdd" + ALL_ONES) * 800),
    # Nested deeper than anyone could want.
    b"\x91" * DEEP,
    b"\x91" * DEEP + b"\xc0",
    packed("ping", (text("x"), b"\x91" * DEEP + b"\xc0")),
    packed("ping", (text("x"), b"\x81\xa0" * DEEP + b"\xc0")),
    packed("ping", (text("d"), b"\x91" * DEEP + b"\xc0")),
    hint_for(b"\x91" * DEEP + b"\xc0"),
]


@pytest.mark.parametrize("frame", listed(BROKEN_JSON))
def test_json_that_cannot_be_read_is_a_bad_frame(frame: str) -> None:
    assert is_refused(JSON, frame, BAD_FRAME)
    assert is_refused(JSON, frame.encode(), BAD_FRAME)


@pytest.mark.parametrize("frame", listed(BROKEN_MSGPACK))
def test_messagepack_that_cannot_be_read_is_a_bad_frame(frame: bytes) -> None:
    assert is_refused(MSGPACK, frame, BAD_FRAME)


def test_text_that_no_utf8_can_hold_is_a_bad_frame() -> None:
    assert is_refused(JSON, HINT % '{"game":"\ud800"}', BAD_FRAME)
    assert is_refused(JSON, b'{"t":"game.hint","id":7,"d":{"game":"\xff"}}', BAD_FRAME)


def test_messagepack_does_not_come_as_text() -> None:
    error = refusal(MSGPACK, '{"t":"ping","id":7}')
    assert (error.code, "binary" in error.message) == (BAD_FRAME, True)


@both
@pytest.mark.parametrize(
    "number",
    listed([None, -1, 1.0, 7.5, "7", True, [7], {}, LAST_INTEGER + 1, 2**63, 2**64 - 1, -(2**63)]),
)
@pytest.mark.parametrize("t", ["ping", "game.hint", "no.such"])
def test_frame_without_a_right_number_is_a_bad_frame(
    encoding: Encoding, number: object, t: str
) -> None:
    assert is_refused(encoding, written(encoding, request(t, number)), BAD_FRAME)


# -- What it costs ---------------------------------------------------------------------------------

LARGE = [
    *((JSON, frame.encode()) for frame in BROKEN_JSON),
    *((MSGPACK, frame) for frame in BROKEN_MSGPACK),
    (JSON, (PING % ("[" * 200 + "]" * 200)).encode()),
    (JSON, (PING % ("[" + "0," * DEEP + "0]")).encode()),
    (JSON, (PING % ('{"a":{}' + ',"a":{}' * DEEP + "}")).encode()),
    (MSGPACK, packed("ping", (text("x"), b"\xdd\x00\x01\x86\xa0" + b"\x90" * DEEP))),
    (MSGPACK, packed("ping", (text("x"), b"\xdf\x00\x01\x86\xa0" + b"\xa0\x80" * DEEP))),
    (MSGPACK, packed("ping", (text("x"), b"\xc6\x00\x01\x86\xa0" + b"\0" * DEEP))),
    (MSGPACK, packed("ping", *[(text(f"key {n}"), b"\x90") for n in range(5000)])),
    (MSGPACK, hint_for(b"\xdd\x00\x01\x86\xa0" + b"\x90" * DEEP)),
    (MSGPACK, hint_for(text("\0" * DEEP))),
    (MSGPACK, packed("x" * DEEP)),
]


def receive(encoding: Encoding, frame: bytes) -> None:
    with suppress(ProtocolError):
        decode_request(encoding, frame)


@pytest.fixture
def memory() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(("encoding", "frame"), LARGE, ids=range(len(LARGE)))
def test_frame_takes_little_memory(encoding: Encoding, frame: bytes) -> None:
    before, _ = tracemalloc.get_traced_memory()
    receive(encoding, frame)
    _, peak = tracemalloc.get_traced_memory()
    assert peak - before < 2 * len(frame) + 32_768


@pytest.mark.usefixtures("memory")
def test_frames_leave_nothing_behind() -> None:
    def all_of_them() -> int:
        for encoding, frame in LARGE:
            receive(encoding, frame)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    before = [all_of_them() for _ in range(3)][-1]
    assert [all_of_them() for _ in range(10)][-1] - before < 1024
