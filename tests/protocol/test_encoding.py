"""What the server says is plain JSON and plain MessagePack, and the same in both."""

import json
from enum import StrEnum
from typing import Any

import msgpack
import msgspec
import pytest
from msgspec import Struct

from cellmates.protocol import (
    EVENTS,
    REQUESTS,
    Done,
    Draining,
    Encoding,
    ErrorCode,
    Moved,
    Player,
    PlayerShown,
    Pong,
    Stats,
    encode_error,
    encode_event,
    encode_reply,
)

from . import page
from .frames import JSON, MSGPACK, both

PLAIN = (dict, list, str, int, bool, type(None))


def is_plain(told: object) -> bool:
    """Whether a message holds only what both encodings have, and no number too large."""
    if isinstance(told, dict):
        return all(type(key) is str and is_plain(value) for key, value in told.items())
    if isinstance(told, list):
        return all(map(is_plain, told))
    return type(told) in PLAIN and (not isinstance(told, int) or abs(told) <= 2**53)


def unpacked(frame: bytes) -> Any:  # noqa: ANN401 - a message as it is
    """A frame of MessagePack as a stranger reads it, who knows no extensions."""
    told = msgpack.unpackb(
        frame, strict_map_key=True, ext_hook=lambda *ext: pytest.fail(f"an extension: {ext}")
    )
    assert is_plain(told)
    return told


def plain(encoding: Encoding, frame: bytes) -> Any:  # noqa: ANN401 - a message as it is
    """A frame as a stranger reads it."""
    assert type(frame) is bytes
    return json.loads(frame.decode()) if encoding is JSON else unpacked(frame)


# The page's examples are checked to be what the classes are; here they come out of the codec.
ANSWERS = [
    pytest.param(frame, REQUESTS[name].reply, id=f"{n}-{name}")
    for n, (frame, name) in enumerate(page.answers())
]
TOLD = [
    pytest.param(frame, EVENTS[frame["t"]], id=f"{n}-{frame['t']}")
    for n, frame in enumerate(page.examples())
    if frame["t"] in EVENTS
]


@both
@pytest.mark.parametrize(("frame", "body"), ANSWERS)
def test_reply_is_the_frame_of_the_page(
    encoding: Encoding, frame: dict[str, Any], body: type[Struct]
) -> None:
    made: Any = msgspec.convert(frame["d"], body)
    assert plain(encoding, encode_reply(encoding, frame["re"], made)) == frame


@both
@pytest.mark.parametrize(("frame", "body"), TOLD)
def test_event_is_the_frame_of_the_page(
    encoding: Encoding, frame: dict[str, Any], body: type[Struct]
) -> None:
    made: Any = msgspec.convert(frame["d"], body)
    assert plain(encoding, encode_event(encoding, made)) == frame


def test_bytes_are_those_that_a_hand_would_write() -> None:
    assert encode_reply(JSON, 7, Pong(5)) == b'{"t":"ok","re":7,"d":{"time":5}}'
    assert encode_reply(MSGPACK, 7, Pong(5)) == b"\x83\xa1t\xa2ok\xa2re\x07\xa1d\x81\xa4time\x05"
    assert encode_reply(JSON, 7, Done()) == b'{"t":"ok","re":7,"d":{}}'
    assert encode_event(MSGPACK, Draining(1, 2)) == (
        b"\x82\xa1t\xafserver.draining\xa1d\x82\xa8deadline\x01\xaeretry_after_ms\x02"
    )


@both
def test_error_says_what_is_known_and_leaves_out_the_rest(encoding: Encoding) -> None:
    frame = encode_error(encoding, None, ErrorCode.BAD_FRAME, "why")
    assert plain(encoding, frame) == {
        "t": "error",
        "re": None,
        "d": {"code": "bad-frame", "message": "why", "context": {}},
    }
    context = {"reason": "group-too-long", "limit": 2, "length": 3}
    frame = encode_error(encoding, 7, ErrorCode.ILLEGAL_MOVE, "why", context, retry_after_ms=0)
    assert plain(encoding, frame) == {
        "t": "error",
        "re": 7,
        "d": {"code": "illegal-move", "message": "why", "context": context, "retry_after_ms": 0},
    }


@both
@pytest.mark.parametrize("code", ErrorCode)
def test_every_error_code_is_sent_as_its_text(encoding: Encoding, code: ErrorCode) -> None:
    assert plain(encoding, encode_error(encoding, 1, code, ""))["d"]["code"] == code.value


class Word(StrEnum):
    """Like those in which the engine gives its reasons and states."""

    WON = "won"


@both
def test_word_of_an_enumeration_is_sent_as_its_text(encoding: Encoding) -> None:
    frame = encode_error(encoding, 1, ErrorCode.GAME_OVER, "why", {"status": Word.WON})
    assert plain(encoding, frame)["d"]["context"] == {"status": "won"}
    told = Moved(1, "3a", ("5h",), 1, 2, 0, Word.WON.value, False, 5, "00", repeated=False)
    assert plain(encoding, encode_reply(encoding, 1, told))["d"]["auto"] == ["5h"]


@both
def test_text_of_any_kind_arrives_whole(encoding: Encoding) -> None:
    name = 'Zoë 🃏 "\\\n\u2028\x7f'
    shown = PlayerShown(
        Player("p", "Ada", "human"), {name: Stats(1, 0, None, None, streak=0, best_streak=2**53)}
    )
    assert [*plain(encoding, encode_reply(encoding, 2**53, shown))["d"]["stats"]] == [name]
