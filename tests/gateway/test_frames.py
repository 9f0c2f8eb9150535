"""Frames to messages: kinds, limits, fragments, violations; split wherever a network splits."""

import asyncio

import pytest

from cellmates.protocol import Encoding
from server.gateway import GatewaySettings
from server.gateway.census import Census
from server.gateway.door import Door, House
from tests.gateway.house import (
    BINARY,
    CLOSE,
    FIRST_BINARY,
    FIRST_TEXT,
    LAST,
    MIDDLE,
    PATIENCE_S,
    PING,
    PONG,
    TEXT,
    App,
    OpenHouse,
    Pipe,
    Talk,
    close_frame,
    frame,
    ignore,
    ordinary_pages,
    upgrade,
)

pytestmark = pytest.mark.asyncio

MSGPACK, JSON = "cellmates.v1.msgpack", "cellmates.v1.json"
FULL = b"x" * 4096
SNOWMAN = "☃".encode()

MESSAGES: dict[str, tuple[bytes, list[bytes | str]]] = {
    "binary": (frame(BINARY, b"\x80"), [b"\x80"]),
    "text": (frame(TEXT, SNOWMAN), ["☃"]),
    "empty": (frame(BINARY) + frame(TEXT), [b"", ""]),
    "as large as may be": (frame(BINARY, FULL) + frame(TEXT, FULL), [FULL, FULL.decode()]),
    "fragments": (
        frame(FIRST_BINARY, b"ab") + frame(MIDDLE, b"c") + frame(LAST, b"d"),
        [b"abcd"],
    ),
    "fragments as large as may be together": (
        frame(FIRST_BINARY, FULL[1:]) + frame(LAST, b"x"),
        [FULL],
    ),
    "empty fragments": (frame(FIRST_TEXT) + frame(MIDDLE) * 254 + frame(LAST, b"a"), ["a"]),
    "character cut by a fragment": (
        frame(FIRST_TEXT, SNOWMAN[:1]) + frame(MIDDLE, SNOWMAN[1:2]) + frame(LAST, SNOWMAN[2:]),
        ["☃"],
    ),
    "ping among fragments, when no byte is left of the limit": (
        frame(FIRST_BINARY, FULL) + frame(PING, b"p" * 125) + frame(LAST),
        [FULL],
    ),
    "pong that nobody asked for": (frame(PONG, b"p") + frame(BINARY, b"1"), [b"1"]),
    "mask of zeros": (frame(BINARY, b"1", mask=bytes(4)), [b"1"]),
    "length written longer than needed": (
        b"\x82\xff" + (1).to_bytes(8, "big") + bytes(4) + b"1",
        [b"1"],
    ),
}
VIOLATIONS = {
    "one byte too many": (frame(BINARY, FULL + b"x"), 1009),
    "far too large": (frame(BINARY, b"x" * 70_000), 1009),
    "length of 2**62, nothing behind": (b"\x82\xff\x40" + bytes(7) + bytes(4), 1009),
    "too large in fragments": (frame(FIRST_BINARY, FULL) + frame(LAST, b"x"), 1009),
    "too many fragments": (frame(FIRST_BINARY) + frame(MIDDLE) * 256, 1009),
    "not masked": (frame(BINARY, b"1", mask=None), 1002),
    "reserved bit": (frame(BINARY | 0x40, b"1"), 1002),
    "no such opcode": (frame(0x83, b"1"), 1002),
    "no such control opcode": (frame(0x8B, b"1"), 1002),
    "ping too long": (frame(PING, b"p" * 126), 1002),
    "fragmented ping": (frame(0x09, b"p"), 1002),
    "continuation of nothing": (frame(LAST, b"1"), 1002),
    "message within a message": (frame(FIRST_BINARY, b"1") + frame(BINARY, b"2"), 1002),
    "close code of one byte": (frame(CLOSE, b"\x03"), 1002),
    "close code that means nothing": (close_frame(1005), 1002),
    "close reason that is no UTF-8": (close_frame(1000, b"\xff"), 1007),
    "text that is no UTF-8": (frame(TEXT, b"\xff"), 1007),
    "text that is certain to be no UTF-8": (frame(FIRST_TEXT, b"a") + frame(MIDDLE, b"\xff"), 1007),
    "text that ends within a character": (frame(FIRST_TEXT, SNOWMAN[:2]) + frame(LAST), 1007),
}


@pytest.mark.parametrize("subprotocol", [MSGPACK, JSON])
@pytest.mark.parametrize(("said", "messages"), MESSAGES.values(), ids=MESSAGES.keys())
async def test_messages_reach_the_conversation_whole_and_as_what_they_are(
    house: OpenHouse, subprotocol: str, said: bytes, messages: list[bytes | str]
) -> None:
    app = App()
    await house.open(app)
    raw = await house.raw(subprotocol)
    await raw.send(said + close_frame(1000))
    assert await raw.close_code() == 1000
    raw.close()
    await app.all_closed()
    assert app.talk.heard == messages


@pytest.mark.parametrize(("said", "code"), VIOLATIONS.values(), ids=VIOLATIONS.keys())
async def test_a_violation_closes_with_its_code_and_what_came_before_is_handled(
    house: OpenHouse, said: bytes, code: int
) -> None:
    app = App()
    await house.open(app)
    raw = await house.raw(MSGPACK)
    await raw.send(frame(BINARY, b"before") + said + frame(BINARY, b"after"))
    assert await raw.close_code() == code
    assert await raw.rest() == b""
    raw.close()
    await app.all_closed()
    assert app.talk.heard == [b"before"]


async def test_the_limit_that_a_close_names_is_the_limit(house: OpenHouse) -> None:
    await house.open(App())
    for said in (frame(BINARY, FULL + b"x"), frame(BINARY, b"x" * 70_000)):
        raw = await house.raw(MSGPACK)
        await raw.send(said)
        assert await raw.frame() == (CLOSE, b"\x03\xf1message of more than 4096 bytes")


async def test_answers_go_out_in_the_kind_of_frame_that_was_agreed_on(house: OpenHouse) -> None:
    await house.open(App())
    for subprotocol, kind in ((MSGPACK, BINARY), (JSON, TEXT)):
        raw = await house.raw(subprotocol)
        await raw.send(frame(TEXT, b"{}") + frame(BINARY, b"\x80") + frame(BINARY, FULL))
        assert await raw.frame() == (kind, b"{}")
        assert await raw.frame() == (kind, b"\x80")
        assert await raw.frame() == (kind, FULL)


async def test_a_close_is_answered_with_its_own_code(house: OpenHouse) -> None:
    await house.open(App())
    raw = await house.raw(JSON)
    await raw.send(close_frame(4000, b"bye"))
    assert await raw.frame() == (CLOSE, b"\x0f\xa0bye")
    assert await raw.rest() == b""


async def test_pings_are_answered_with_what_they_said(house: OpenHouse) -> None:
    await house.open(App())
    raw = await house.raw(JSON)
    await raw.send(frame(PING, b"1") + frame(PING) + frame(PING, b"p" * 125))
    assert [await raw.frame() for _ in range(3)] == [(PONG, b"1"), (PONG, b""), (PONG, b"p" * 125)]


STREAM = (
    upgrade(MSGPACK)
    + frame(BINARY, b"1")
    + frame(PING, b"p")
    + frame(FIRST_TEXT, SNOWMAN[:2])
    + frame(PING)
    + frame(LAST, SNOWMAN[2:])
    + frame(BINARY, b"x" * 130)
    + frame(TEXT)
    + close_frame(1000, b"bye")
    + frame(BINARY, b"behind the close")
)
HEARD = [b"1", "☃", b"x" * 130, ""]


async def test_a_stream_means_the_same_wherever_it_is_split() -> None:
    whole = await outcome_of([STREAM])
    assert whole[0] == HEARD
    for at in range(1, len(STREAM)):
        assert await outcome_of([STREAM[:at], STREAM[at:]]) == whole, at


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
async def test_a_stream_means_the_same_in_pieces_of_any_size(size: int) -> None:
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert await outcome_of(pieces) == await outcome_of([STREAM])


async def test_a_violation_means_the_same_wherever_it_is_split() -> None:
    for said, code in VIOLATIONS.values():
        if len(said) > 200:
            continue
        stream = upgrade(MSGPACK) + frame(BINARY, b"1") + said + close_frame(1000)
        whole = await outcome_of([stream])
        assert (whole[0], whole[1][-1][1][:2]) == ([b"1"], code.to_bytes(2, "big"))
        for at in range(len(upgrade(MSGPACK)), len(stream)):
            assert await outcome_of([stream[:at], stream[at:]]) == whole


async def outcome_of(pieces: list[bytes]) -> tuple[list[bytes | str], list[tuple[int, bytes]]]:
    """What a conversation hears and what is written, for a stream in pieces; no socket in it."""
    settings, app, pipe = GatewaySettings(), App(behave=ignore), Pipe()
    loop, census = asyncio.get_running_loop(), Census(settings)
    door = Door(House(app, ordinary_pages(), census, settings, loop))
    pipe.set_protocol(door)
    door.connection_made(pipe)
    for piece in pieces:
        assert pipe.protocol is not None
        pipe.protocol.data_received(piece)
        if not pipe.is_reading():
            async with asyncio.timeout(PATIENCE_S):
                while not pipe.is_reading():
                    await asyncio.sleep(0)
    assert pipe.has_eof
    pipe.abort()
    async with asyncio.timeout(PATIENCE_S):
        await census.emptied()
    head, _, frames = b"".join(pipe.writes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101 ")
    assert app.talk.peer.encoding is Encoding.MSGPACK
    return heard(app.talk), short_frames(frames)


def heard(talk: Talk) -> list[bytes | str]:
    assert talk.was_closed == 1
    return talk.heard


def short_frames(data: bytes) -> list[tuple[int, bytes]]:
    frames = []
    while data:
        assert data[1] < 126
        frames.append((data[0], data[2 : 2 + data[1]]))
        data = data[2 + data[1] :]
    return frames
