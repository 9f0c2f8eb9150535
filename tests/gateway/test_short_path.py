"""The short path means what the library means: same messages, answers and end, at each byte."""

import asyncio
import runpy
import sys
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from server.gateway import GatewaySettings, frames
from server.gateway.frames import ordinary_message
from tests.gateway.both_ways import (
    JSON,
    MOST,
    MSGPACK,
    SMALL,
    ByWire,
    cut,
    long_form,
    opened,
    same,
)
from tests.gateway.house import (
    BINARY,
    CLOSE,
    FIRST_BINARY,
    FIRST_TEXT,
    LAST,
    MIDDLE,
    PING,
    PONG,
    TEXT,
    close_frame,
    frame,
)
from tests.gateway.test_frames import MESSAGES, SNOWMAN, VIOLATIONS


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


SIZES = (0, 1, 5, 125, 126, 127, MOST - 1, MOST, MOST + 1, MOST + 125, MOST + 126)
CASES = {
    **{f"binary of {size}": frame(BINARY, bytes(size)) for size in SIZES},
    **{f"text of {size}": frame(TEXT, b"a" * size) for size in SIZES},
    **{f"not UTF-8 at its end, {size}": frame(TEXT, b"a" * size + b"\xe2") for size in SIZES},
    **{f"ping of {size}": frame(PING, bytes(size)) for size in SIZES},
    **{f"first fragment of {size}": frame(FIRST_TEXT, b"a" * size) for size in SIZES},
    **{
        f"fragments of 100 and {size}": frame(FIRST_BINARY, b"a" * 100) + frame(LAST, b"a" * size)
        for size in (0, 99, 100, 101, 125, 126, 224, 225, 226)
    },
    **{
        f"{size} as {width} bytes": long_form(BINARY, bytes(size), width)
        for size in (0, 1, 125, 126, MOST, MOST + 1, MOST + 125, MOST + 126)
        for width in (2, 8)
    },
    "65 535 announced, some there": b"\x82\xfe\xff\xff" + bytes(50),
    "65 536 announced, some there": b"\x82\xff" + (65536).to_bytes(8, "big") + bytes(50),
    "2**63 announced": b"\x82\xff\x80" + bytes(20),
    "2**64 - 1 announced": b"\x82" + b"\xff" * 9 + bytes(20),
    "not masked": frame(BINARY, b"1", mask=None),
    "not masked text of 126": frame(TEXT, b"a" * 126, mask=None),
    "not masked ping": frame(PING, b"1", mask=None),
    "half a character": frame(TEXT, SNOWMAN[:2]),
    "surrogate": frame(TEXT, b"\xed\xa0\x80"),
    "overlong form of a slash": frame(TEXT, b"\xc0\xaf"),
    "message within a message": frame(FIRST_TEXT, b"a") + frame(TEXT, b"b") + frame(LAST, b"c"),
    "ping within a message": frame(FIRST_TEXT, b"a") + frame(PING, b"p") + frame(LAST, b"c"),
    "close within a message": frame(FIRST_TEXT, b"a") + close_frame(1000),
    "as many fragments as may be": frame(FIRST_TEXT) + frame(MIDDLE) * 2 + frame(LAST),
    "too many fragments": frame(FIRST_TEXT) + frame(MIDDLE) * 4,
    "as many pings as may be": frame(PING, b"p") * 8,
    "too many pings": frame(PING, b"p") * 9,
    "too many pongs": frame(PONG) * 9,
    "close": close_frame(1000, b"bye"),
    "empty close": frame(CLOSE),
    "close of one byte": frame(CLOSE, b"\x03"),
    "close code that may not be": close_frame(1005),
    "not even HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "only zeros": bytes(40),
    "only ones": b"\xff" * 40,
}


@pytest.mark.parametrize("said", CASES.values(), ids=CASES.keys())
def test_every_kind_of_frame_means_the_same(loop: asyncio.AbstractEventLoop, said: bytes) -> None:
    stream = frame(BINARY, b"1") + said + frame(TEXT, b"2") + frame(BINARY, b"3")
    whole = same(loop, [stream])
    assert whole.heard[0] == b"1"
    places = range(1, len(stream))
    for at in (*places[:30], *places[30:-20:13], *places[-20:]):
        same(loop, [stream[:at], stream[at:]])
        same(loop, [stream[:at]])  # and nothing after that
    same(loop, [stream[at : at + 1] for at in range(len(stream))])
    same(loop, cut(stream, places[::7]), holds=True)


@pytest.mark.parametrize("first", range(256))
def test_every_first_byte_means_the_same(loop: asyncio.AbstractEventLoop, first: int) -> None:
    for payload in (b"", b"a"):
        stream = frame(first, payload) + frame(BINARY, b"2")
        for at in range(1, len(stream)):
            same(loop, [stream[:at], stream[at:]])


@pytest.mark.parametrize(
    "said", [*(said for said, _ in MESSAGES.values()), *(said for said, _ in VIOLATIONS.values())]
)
def test_what_is_legal_or_not_means_the_same_under_the_limits_of_production(
    loop: asyncio.AbstractEventLoop, said: bytes
) -> None:
    stream = frame(BINARY, b"1") + said + frame(TEXT, b"2") * 100
    for size in (len(stream), 4096, 1024, 7):
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        same(loop, pieces, GatewaySettings())
        same(loop, pieces, GatewaySettings(), holds=True)


def test_frames_behind_our_own_close_mean_the_same(loop: asyncio.AbstractEventLoop) -> None:
    stream = frame(BINARY, b"1") + frame(PING, b"p") + frame(BINARY, b"2")
    stream += close_frame(4400, b"enough") + frame(BINARY, b"3")
    for at in range(len(stream)):
        for to in range(at + 1, len(stream)):
            same(loop, cut(stream, [at, to]), closes_before=1)


masks = st.binary(min_size=4, max_size=4)
sizes = st.one_of(st.integers(0, 12), st.sampled_from(SIZES))
ordinary_frames = st.one_of(
    st.builds(frame, st.just(BINARY), sizes.map(bytes), masks),
    st.builds(frame, st.just(TEXT), st.text(max_size=40).map(str.encode), masks),
)
any_frames = st.one_of(
    ordinary_frames,
    st.builds(frame, st.sampled_from((PING, PONG)), st.binary(max_size=12), masks),
    st.builds(
        lambda first, middle: frame(FIRST_BINARY, first) + middle + frame(LAST, first),
        st.binary(max_size=120),
        st.sampled_from((b"", frame(PING), frame(MIDDLE, b"m"), frame(BINARY, b"1"))),
    ),
    st.builds(frame, st.integers(0, 255), st.binary(max_size=140), st.one_of(masks, st.none())),
    st.builds(
        long_form, st.sampled_from((BINARY, TEXT)), sizes.map(bytes), st.sampled_from((2, 8))
    ),
    st.binary(max_size=12),
)


@tries(max_examples=400, derandomize=True, deadline=None)
@given(
    st.lists(ordinary_frames, max_size=6),
    st.lists(any_frames, max_size=6),
    st.lists(st.integers(1, 1500), max_size=8),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 8)),
)
def test_any_stream_means_the_same_however_it_is_cut(
    loop: asyncio.AbstractEventLoop,
    before: list[bytes],
    after: list[bytes],
    places: list[int],
    holds: bool,
    closes_before: int | None,
) -> None:
    pieces = cut(b"".join(before + after), places)
    same(loop, pieces, holds=holds, closes_before=closes_before)


@pytest.mark.parametrize("seed", range(40))
def test_long_streams_mean_the_same_in_pieces_of_any_size(
    loop: asyncio.AbstractEventLoop, seed: int
) -> None:
    chance = Random(seed)
    stream = b"".join(lively_frame(chance) for _ in range(400))
    if seed % 2:
        stream += frame(chance.randrange(256), b"?") + frame(BINARY, b"behind it")
    places = [chance.randrange(len(stream)) for _ in range(chance.choice((1, 20, 200, 2000)))]
    settings = GatewaySettings(frame_bytes=MOST, control_frames=1000)
    outcome = same(loop, cut(stream, places), settings, holds=bool(chance.randrange(2)))
    assert len(outcome.heard) > 200


def lively_frame(chance: Random) -> bytes:
    """One that does not end the stream."""
    payload, mask = chance.randbytes(chance.choice((0, 3, 20, 130))), chance.randbytes(4)
    match chance.randrange(12):
        case 0:
            return frame(PING, payload[:125], mask)
        case 1:
            return frame(FIRST_TEXT, SNOWMAN[:1], mask) + frame(PONG) + frame(LAST, SNOWMAN[1:])
        case 2:
            return long_form(BINARY, payload, chance.choice((2, 8)))
        case 3 | 4 | 5:
            return frame(TEXT, SNOWMAN * (len(payload) // 3), mask)
        case _:
            return frame(BINARY, payload, mask)


# That it is taken


ORDINARY = [frame(BINARY, bytes(size)) for size in (0, 1, 125, 126, MOST)] + [
    frame(TEXT, SNOWMAN * size) for size in (0, 1, 60)
]


@pytest.mark.parametrize("size", [1, 2, 5, 64, 500, 10_000])
def test_the_library_sees_nothing_of_ordinary_frames_however_they_come(
    loop: asyncio.AbstractEventLoop, size: int
) -> None:
    by_wire, stream = ByWire(SMALL, loop), b"".join(ORDINARY) * 3
    for at in range(0, len(stream), size):
        by_wire.read(stream[at : at + size])
    assert len(by_wire.heard) == 3 * len(ORDINARY)
    assert by_wire.ws.given == []


@pytest.mark.parametrize(
    "said",
    [
        [frame(PING, b"p")],
        [frame(PONG)],
        [frame(FIRST_TEXT, b"a"), frame(PING), frame(LAST, b"b")],
        [frame(FIRST_BINARY), frame(MIDDLE), frame(LAST)],
        [long_form(BINARY, b"1", 2)],
        [long_form(TEXT, b"1", 8)],
    ],
)
def test_the_library_gets_every_other_frame_whole_and_nothing_behind_it(
    loop: asyncio.AbstractEventLoop, said: list[bytes]
) -> None:
    stream = frame(BINARY, b"1") + b"".join(said) + frame(BINARY, b"2")
    for at in range(len(stream)):
        by_wire = ByWire(SMALL, loop)
        by_wire.read(stream[:at])
        by_wire.read(stream[at:])
        assert by_wire.ws.given == said
        assert by_wire.heard[-1] == b"2"


def test_no_turn_takes_more_than_its_share_of_ordinary_frames(
    loop: asyncio.AbstractEventLoop,
) -> None:
    by_wire = ByWire(SMALL, loop)
    by_wire.wire.data_received(frame(BINARY) * 1000)
    heard = [len(by_wire.heard)]
    while not by_wire.pipe.is_reading():
        by_wire.turn()
        heard.append(len(by_wire.heard))
    assert heard[-1] == 1000
    assert max(after - before for before, after in pairwise(heard)) <= 64


def test_a_listener_that_holds_gets_nothing_more_before_it_releases(
    loop: asyncio.AbstractEventLoop,
) -> None:
    by_wire = ByWire(SMALL, loop, holds=True)
    by_wire.wire.data_received(frame(BINARY, b"1") + frame(BINARY, b"2"))
    by_wire.turn()
    assert by_wire.heard == [b"1"]
    assert not by_wire.pipe.is_reading()
    by_wire.wire.release()
    by_wire.turn()
    assert by_wire.heard == [b"1", b"2"]


@pytest.mark.asyncio
async def test_a_listener_that_aborts_gets_nothing_more() -> None:
    class Rash(ByWire):
        def deliver(self, message: bytes | str) -> None:
            super().deliver(message)
            self.wire.abort("enough")

    by_wire = Rash(SMALL, asyncio.get_running_loop())
    by_wire.read(frame(BINARY, b"1") + frame(PING) + frame(BINARY, b"2"))
    assert by_wire.heard == [b"1"]
    assert by_wire.pipe.writes == []


def test_a_part_of_a_frame_keeps_nothing_alive_that_was_read_before_it(
    loop: asyncio.AbstractEventLoop,
) -> None:
    by_wire, part = ByWire(SMALL, loop), frame(BINARY, b"last")[:-1]
    by_wire.read(frame(BINARY, b"1") * 1000 + part)
    assert by_wire.wire._rest == part


# Its parts


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_frames_are_written_as_the_library_writes_them(
    loop: asyncio.AbstractEventLoop, subprotocol: str, size: int
) -> None:
    by_wire, ws = ByWire(SMALL, loop, subprotocol=subprotocol), opened(SMALL, subprotocol)
    by_wire.wire.send(b"x" * size)
    by_wire.wire.flush()
    (ws.send_binary if subprotocol == MSGPACK else ws.send_text)(b"x" * size)
    assert by_wire.pipe.writes == ws.data_to_send()


def test_without_the_librarys_c_part_frames_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websockets.speedups", None)
    slow = runpy.run_path(str(frames.__file__))
    assert slow["apply_mask"].__module__ == "websockets.utils"
    for said in ORDINARY:
        assert slow["ordinary_message"](said, 0, MOST) == ordinary_message(said, 0, MOST)
