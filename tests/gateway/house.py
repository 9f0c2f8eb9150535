"""What the gateway's tests are made of: an application that can be told what to do, and raw peers.

The raw peers write bytes by hand, so that what they say does not depend on what is tested.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from server.gateway import (
    Gateway,
    GatewaySettings,
    Pages,
    PageTable,
    Peer,
    Readiness,
    Response,
    standard_pages,
)

# How long anything may take that takes no time: only a failing test waits for it.
PATIENCE_S = 10.0

Behave = Callable[["Talk", bytes | str], Awaitable[None]]


async def echo(talk: "Talk", frame: bytes | str) -> None:
    talk.peer.send(as_bytes(frame))


def as_bytes(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


async def ignore(talk: "Talk", frame: bytes | str) -> None:
    """Receive and say nothing."""


@dataclass(eq=False)
class Talk:
    """A conversation that keeps what it hears."""

    peer: Peer
    behave: Behave
    heard: list[bytes | str] = field(default_factory=list)
    at_work: int = 0
    was_closed: int = 0
    is_closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self, frame: bytes | str) -> None:
        self.heard.append(frame)
        self.at_work += 1
        assert self.at_work == 1, "one frame at a time"
        assert not self.was_closed
        try:
            await self.behave(self, frame)
        finally:
            self.at_work -= 1

    def closed(self) -> None:
        assert not self.at_work
        self.was_closed += 1
        self.is_closed.set()


@dataclass
class App:
    """An application whose conversations all behave alike."""

    behave: Behave = echo
    talks: list[Talk] = field(default_factory=list)

    def opened(self, peer: Peer) -> Talk:
        self.talks.append(Talk(peer, self.behave))
        return self.talks[-1]

    @property
    def talk(self) -> Talk:
        return self.talks[-1]

    async def at_work(self, count: int = 1) -> None:
        """Wait until so many conversations are at work on a message."""
        async with asyncio.timeout(PATIENCE_S):
            while sum(talk.at_work for talk in self.talks) < count:
                await asyncio.sleep(0)

    async def all_closed(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            for talk in self.talks:
                await talk.is_closed.wait()


async def always_ready() -> Readiness:
    return Readiness(database=True, draining=False, planner={})


def ordinary_pages() -> Pages:
    return standard_pages(
        readiness=always_ready,
        asyncapi=b"{}",
        metrics=lambda: b"cellmates_x 1\n",
        api=PageTable({}),
        web={"/": Response(200, {"Content-Type": "text/html; charset=utf-8"}, b"<!doctype html>")},
    )


class OpenHouse:
    """Gateways that are drained, and peers that are closed, when the test is over."""

    def __init__(self) -> None:
        self._gateways: list[Gateway] = []
        self._raws: list[Raw] = []
        self.port = 0

    async def open(
        self,
        app: App,
        settings: GatewaySettings | None = None,
        pages: Pages | None = None,
    ) -> Gateway:
        pages = pages or ordinary_pages()
        gateway = Gateway(app, pages, settings)
        self._gateways.append(gateway)
        [(_, self.port)] = await gateway.start("127.0.0.1", 0)
        return gateway

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    async def knock(self, *, buffer: int | None = None) -> "Raw":
        """A socket that has said nothing yet."""
        sock = socket.socket()
        if buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._raws.append(Raw(sock))
        sock.connect(("127.0.0.1", self.port))  # the kernel does it, whatever the gateway does
        sock.setblocking(False)
        return self._raws[-1]

    async def raw(self, subprotocol: str | None = None, *, buffer: int | None = None) -> "Raw":
        """A socket with an open WebSocket."""
        raw = await self.knock(buffer=buffer)
        await raw.send(upgrade() if subprotocol is None else upgrade(subprotocol))
        answer = await raw.head()
        assert answer.startswith(b"HTTP/1.1 101 "), answer
        return raw

    async def ask(self, request: bytes) -> bytes:
        """All that is answered to a request, until the server closes."""
        raw = await self.knock()
        await raw.send(request)
        answer = await raw.rest()
        raw.close()
        return answer

    async def close(self) -> None:
        for raw in self._raws:
            raw.close()
        for gateway in self._gateways:
            if not gateway.is_draining:
                await gateway.drain()
            if gateway._server is not None:
                gateway._server.close()  # uvloop would hang on it, were it the test that failed
            assert gateway.connections == 0


class Raw:
    """The other end of a socket, without manners."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._loop = asyncio.get_running_loop()
        self._read = bytearray()

    async def send(self, data: bytes) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self._loop.sock_sendall(self.sock, data)

    async def head(self) -> bytes:
        while b"\r\n\r\n" not in self._read:
            assert await self._more(), bytes(self._read)
        return await self.exactly(self._read.index(b"\r\n\r\n") + 4)

    async def exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            assert await self._more(), f"closed after {bytes(self._read)!r}"
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    async def rest(self) -> bytes:
        """All until the server closes; also when it resets the connection."""
        while await self._more():
            pass
        taken = bytes(self._read)
        self._read.clear()
        return taken

    async def frame(self) -> tuple[int, bytes]:
        """First byte and payload of the server's next frame."""
        first, length = await self.exactly(2)
        if length == 126:
            (length,) = struct.unpack("!H", await self.exactly(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", await self.exactly(8))
        return first, await self.exactly(length)

    async def close_code(self) -> int:
        """Code of the close frame that is the next but for pings and data."""
        first, payload = await self.frame()
        while first != 0x88:
            first, payload = await self.frame()
        return int.from_bytes(payload[:2], "big")

    async def is_gone(self) -> bool:
        """Wait for the server to end the connection, whatever it says before."""
        await self.rest()
        return True

    def reset(self) -> None:
        """Break the connection so that the server gets an error, not an end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self) -> None:
        self.sock.close()

    async def _more(self) -> bool:
        async with asyncio.timeout(PATIENCE_S):
            try:
                data = await self._loop.sock_recv(self.sock, 65536)
            except ConnectionError:
                return False
        self._read += data
        return bool(data)


def upgrade(
    subprotocol: str | None = None,
    headers: Mapping[str, str | None] | None = None,
    path: str = "/ws",
) -> bytes:
    """Handshake request; a header given as None is left out."""
    fields: dict[str, str | None] = {
        "Host": "cells.example",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": subprotocol,
    }
    fields |= headers or {}
    lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value is not None]
    return f"GET {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode("latin-1")


TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
FIRST_TEXT, FIRST_BINARY, MIDDLE, LAST = 0x01, 0x02, 0x00, 0x80


def frame(first: int, payload: bytes = b"", mask: bytes | None = b"\x11\x22\x33\x44") -> bytes:
    """Frame of a client: ``first`` byte, masked payload; unmasked where ``mask`` is None."""
    bit = 0 if mask is None else 0x80
    if len(payload) < 126:
        head = bytes([first, bit | len(payload)])
    elif len(payload) < 65536:
        head = bytes([first, bit | 126]) + struct.pack("!H", len(payload))
    else:
        head = bytes([first, bit | 127]) + struct.pack("!Q", len(payload))
    if mask is None:
        return head + payload
    masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
    return head + mask + masked


def close_frame(code: int, reason: bytes = b"") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason)


class Pipe(asyncio.Transport):
    """A transport without a socket: keeps what is written, takes of it what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.buffered = 0
        self.takes_all = True
        self._is_reading = True
        self.is_aborted = self.is_closed = self.has_eof = False
        self.protocol: asyncio.Protocol | None = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.has_eof
        self.writes.append(bytes(data))
        if not self.takes_all:
            self.buffered += len(data)

    def take(self) -> None:
        """Take what is buffered, as a kernel does when its peer has read."""
        self.buffered = 0

    def write_eof(self) -> None:
        self.has_eof = True

    def get_write_buffer_size(self) -> int:
        return self.buffered

    def is_reading(self) -> bool:
        return self._is_reading

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        self._is_reading = True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self.protocol = protocol

    def is_closing(self) -> bool:
        return self.is_aborted or self.is_closed

    def close(self) -> None:
        self._end()
        self.is_closed = True

    def abort(self) -> None:
        self._end()
        self.is_aborted = True

    def _end(self) -> None:
        if not self.is_closing():
            assert self.protocol is not None
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


@asynccontextmanager
async def patient() -> AsyncIterator[None]:
    async with asyncio.timeout(PATIENCE_S):
        yield


class Broken(Exception):
    """What an application raises that has a mistake."""


async def crash(_query: str) -> Response:
    raise Broken
