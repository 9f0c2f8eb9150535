"""One stream in two ways, by a ``Wire`` and by the library alone, compared after every piece.

The library's way is our ``WebSocket`` given everything as it comes.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from websockets.protocol import SEND_EOF, State

from server.gateway import GatewaySettings, handshake
from server.gateway.http import read_request
from server.gateway.transport import Wire
from server.gateway.websocket import WebSocket
from tests.gateway.house import Pipe, upgrade

MSGPACK, JSON = "cellmates.v1.msgpack", "cellmates.v1.json"
MOST = 200
# Small, so that limits are reached by what can be split at every byte.
SMALL = GatewaySettings(frame_bytes=MOST, fragments=4, control_frames=8)


class Watched(WebSocket):
    """Keeps what it is given."""

    def __init__(self, settings: GatewaySettings) -> None:
        super().__init__(settings)
        self.given: list[bytes] = []

    def receive_data(self, data: bytes | bytearray) -> None:
        self.given.append(bytes(data))
        super().receive_data(data)


def opened(settings: GatewaySettings, subprotocol: str = MSGPACK) -> Watched:
    ws = Watched(settings)
    request = read_request(upgrade(subprotocol), ws)
    ws.send_response(handshake.accept(ws, request, frozenset()))
    ws.data_to_send()
    ws.given.clear()
    return ws


@dataclass
class Outcome:
    """What came of a stream so far; ``is_alive`` is whether its last step had a whole frame."""

    heard: list[bytes | str] = field(default_factory=list)
    written: bytes = b""
    is_ended: bool = False
    is_alive: bool = False


class LibraryAlone:
    """A WebSocket that the library parses."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._ws = opened(settings)
        self._is_deaf = False
        self.outcome = Outcome()

    def read(self, piece: bytes) -> None:
        self._ws.receive_data(piece)
        self.outcome.is_alive = bool(self._ws.events_received())
        messages = self._ws.messages_received()
        if not self._is_deaf:
            self.outcome.heard += messages
        self._write()

    def read_end(self) -> None:
        self._ws.receive_eof()
        self._write()

    def close(self) -> None:
        if self._ws.state is State.OPEN:
            self._ws.send_close(4400, "enough")
            self._is_deaf = True
        self._write()

    def _write(self) -> None:
        for write in self._ws.data_to_send():
            self.outcome.written += write
            self.outcome.is_ended |= write is SEND_EOF


class ByWire:
    """A WebSocket on a wire, whose listener may hold it after each message."""

    def __init__(
        self,
        settings: GatewaySettings,
        loop: asyncio.AbstractEventLoop,
        *,
        holds: bool = False,
        subprotocol: str = MSGPACK,
    ) -> None:
        self.ws, self.pipe, self.heard = opened(settings, subprotocol), Pipe(), list[bytes | str]()
        self.wire = Wire(self.pipe, self.ws, settings, loop)
        self.wire.listen(self)
        self.pipe.set_protocol(self.wire)
        self._holds, self._loop = holds, loop

    def deliver(self, message: bytes | str) -> None:
        self.heard.append(message)
        if self._holds:
            self.wire.hold()

    def lost(self) -> None:
        """Nothing is to be done."""

    def turn(self) -> None:
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()

    def read(self, piece: bytes) -> None:
        self.wire.heard = False
        self.wire.data_received(piece)
        while not self.pipe.is_reading():
            self.wire.release()
            self.turn()

    def read_end(self) -> None:
        self.wire.eof_received()

    def close(self) -> None:
        self.wire.close(4400, "enough")

    @property
    def outcome(self) -> Outcome:
        written = b"".join(self.pipe.writes)
        return Outcome(self.heard, written, self.pipe.has_eof, self.wire.heard)


def same(
    loop: asyncio.AbstractEventLoop,
    pieces: Sequence[bytes],
    settings: GatewaySettings = SMALL,
    *,
    holds: bool = False,
    closes_before: int | None = None,
) -> Outcome:
    """Read pieces in both ways, and the end; compare after each."""
    library, by_wire = LibraryAlone(settings), ByWire(settings, loop, holds=holds)
    for number, piece in enumerate(pieces):
        if number == closes_before:
            library.close()
            by_wire.close()
        library.read(piece)
        by_wire.read(piece)
        assert by_wire.outcome == library.outcome, (number, pieces)
    library.read_end()
    by_wire.read_end()
    assert by_wire.outcome == library.outcome, pieces
    by_wire.wire.connection_lost(None)
    return library.outcome


def cut(stream: bytes, places: Sequence[int]) -> list[bytes]:
    ends = [0, *sorted({place for place in places if 0 < place < len(stream)}), len(stream)]
    return [stream[start:end] for start, end in pairwise(ends)]


def long_form(first: int, payload: bytes, width: int) -> bytes:
    """A frame whose length is written in so many bytes, whether it needs them or not."""
    second = {2: 0xFE, 8: 0xFF}[width]
    return bytes([first, second]) + len(payload).to_bytes(width, "big") + bytes(4) + payload
