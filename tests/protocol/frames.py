"""Frames for the tests: made by plain json and msgpack, or by hand, never by our own codec."""

import json
import struct
from collections.abc import Iterable
from typing import Any

import msgpack
import pytest

from cellmates.protocol import Encoding, ErrorCode, ProtocolError, decode_request

MSGPACK, JSON = Encoding

both = pytest.mark.parametrize("encoding", Encoding, ids=lambda encoding: encoding.name)

# A small request of each kind, everything in it that may be.
MESSAGES: dict[str, dict[str, Any]] = {
    "hello": {"proto": 1, "client": {"name": "bot", "version": "0.3"}, "token": "secret"},
    "player.create": {"handle": "Ada", "kind": "human"},
    "player.rename": {"handle": "Ada"},
    "player.token": {},
    "player.delete": {"confirm": "Ada"},
    "player.get": {"handle": "Ada"},
    "game.start": {"ruleset": "freecell", "deal": "cards:" + "JD" * 52, "autoplay": "off"},
    "game.open": {"game": "g", "since": 0},
    "game.move": {"game": "g", "seq": 41, "move": "26v3"},
    "game.undo": {"game": "g", "seq": 41},
    "game.hint": {"game": "g"},
    "game.tap": {"game": "g", "from": "6", "depth": 3, "taps": 2},
    "game.resign": {"game": "g", "seq": 41},
    "games.mine": {"status": "won", "cursor": "c", "limit": 100},
    "daily.list": {"date": "2026-12-01"},
    "daily.start": {"challenge": "c"},
    "board.get": {"challenge": "c", "board": "first", "kind": "bot", "limit": 1, "cursor": "c"},
    "board.watch": {"challenge": "c", "board": "moves", "kind": "human"},
    "board.unwatch": {"challenge": "c", "board": "moves", "kind": "human"},
    "replay.get": {"game": "g", "cursor": "c"},
    "ping": {},
}


def written(encoding: Encoding, told: object) -> bytes:
    """A frame of plain json or msgpack."""
    if encoding is JSON:
        return json.dumps(told, ensure_ascii=False).encode()
    frame: bytes = msgpack.packb(told)
    return frame


def request(t: object = "ping", number: object = 7, **d: object) -> dict[str, Any]:
    """A request as a map."""
    return {"t": t, "id": number, "d": d}


def text(value: str | bytes) -> bytes:
    """MessagePack of a text of any bytes, as str 32."""
    raw = value.encode() if isinstance(value, str) else value
    return b"\xdb" + struct.pack(">I", len(raw)) + raw


def pairs(*told: tuple[bytes, bytes]) -> bytes:
    """MessagePack of a map, as map 32, in this order and with its keys as they are."""
    return b"\xdf" + struct.pack(">I", len(told)) + b"".join(key + value for key, value in told)


def packed(t: str, *more: tuple[bytes, bytes], number: bytes = b"\x07") -> bytes:
    """MessagePack of a request with more in it than ``t`` and ``id``."""
    return pairs((text("t"), text(t)), (text("id"), number), *more)


def listed(values: Iterable[Any]) -> list[Any]:
    """Values as parameters, each with its place among them and how it begins."""
    return [pytest.param(value, id=f"{n}-{value!r:.30}") for n, value in enumerate(values)]


def refusal(encoding: Encoding, frame: bytes | str) -> ProtocolError:
    """How a frame is refused, which must be in one of three ways."""
    with pytest.raises(ProtocolError) as caught:
        decode_request(encoding, frame)
    error = caught.value
    check_form(error)
    return error


def check_form(error: ProtocolError) -> None:
    """Hold a refusal to what the page promises of its code."""
    assert error.code in (ErrorCode.BAD_FRAME, ErrorCode.UNKNOWN_TYPE, ErrorCode.BAD_REQUEST)
    assert (error.re is None) == (error.code is ErrorCode.BAD_FRAME)
    assert len(error.message) < 200
    if error.code is ErrorCode.BAD_REQUEST:
        assert error.context.keys() == {"field", "why"}
        assert all(error.context.values())
    else:
        assert error.context == {}


def is_refused(
    encoding: Encoding, frame: bytes | str, code: ErrorCode, field: str | None = None
) -> bool:
    """Whether a frame with number 7 is refused so."""
    error = refusal(encoding, frame)
    number = None if code is ErrorCode.BAD_FRAME else 7
    return (error.code, error.re, error.context.get("field")) == (code, number, field)
