"""A TCP proxy that does to connections what networks do: cut, close, delay, swallow, cut to pieces.

It knows nothing of what goes through it.

    async with FaultProxy("127.0.0.1", port) as proxy:
        client = Client(proxy.url)
        proxy.split = 1             # every byte a write of its own, from now on
        proxy.cut_after("server", 100)
        proxy.mute(towards="client")
        proxy.cut()
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from types import TracebackType
from typing import Literal, Self, TypeAlias, cast
from urllib.parse import urlsplit

End: TypeAlias = Literal["client", "server"]
Split: TypeAlias = int | Random | None

ENDS: Sequence[End] = ("client", "server")
_READ_BYTES = 65536
_LONGEST_PIECE = 64
_PIECES_AT_ONCE = 256
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no seconds: closing sends RST


class FaultProxy:
    """Passes on what it gets, until it is told otherwise. Settings hold for all connections.

    ``split`` is how many bytes a write has at most, or a seeded ``Random`` that draws that for each
    write; ``delay_s`` is how long each read waits before it is passed on. ``accepted`` counts
    connections, ``passed`` the bytes towards each end.
    """

    def __init__(self, host: str, port: int, *, path: str = "/ws") -> None:
        self.split: Split = None
        self.delay_s = 0.0
        self.accepted = 0
        self.passed: dict[End, int] = {"client": 0, "server": 0}
        self.news = asyncio.Event()
        self._upstream = host, port
        self._path = path
        self._flows = {end: _Flow() for end in ENDS}
        self._pairs: dict[asyncio.Task[None], _Pair] = {}
        self._server: asyncio.Server | None = None
        self._is_refusing = False

    @classmethod
    def before(cls, url: str) -> Self:
        """A proxy before whatever has this address."""
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        return cls(parts.hostname, parts.port, path=parts.path)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=4096)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._pairs:
            task.cancel()
        await asyncio.gather(*self._pairs, return_exceptions=True)

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Where WebSockets connect."""
        return f"ws://127.0.0.1:{self.port}{self._path}"

    @property
    def open(self) -> int:
        """Number of connections that go through it."""
        return len(self._pairs)

    # -- Faults ------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Reset all connections, at both ends; what is under way is lost."""
        for pair in self._pairs.values():
            pair.cut()

    def close(self) -> None:
        """End all connections in good order: what is under way arrives, then the end."""
        for pair in self._pairs.values():
            pair.close()

    def cut_after(self, towards: End, size: int) -> None:
        """Reset a connection when so many more bytes have gone that way, not one byte later."""
        self._flows[towards].left = size

    def mute(self, *, towards: End) -> None:
        """From now on swallow what goes towards one end on the connections that are open now.

        Their end is swallowed too, so from there they look well for ever. Later ones are well.
        """
        for pair in self._pairs.values():
            pair.muted.add(towards)

    def hold(self, *, towards: End) -> None:
        """Keep back what goes towards one end, and read no more, until ``release``."""
        self._flows[towards].goes_on.clear()

    def release(self) -> None:
        """Let go of all that is kept back."""
        for flow in self._flows.values():
            flow.goes_on.set()

    def refuse(self) -> None:
        """Reset whoever connects, until ``admit``."""
        self._is_refusing = True

    def admit(self) -> None:
        """Take connections again."""
        self._is_refusing = False

    async def until(self, is_so: Callable[[], bool], patience_s: float = 60.0) -> None:
        """Wait until something is so that changes with what comes and goes here."""
        async with asyncio.timeout(patience_s):
            while not is_so():
                self.news.clear()
                await self.news.wait()

    # -- Connections -------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.accepted += 1
        pair = self._pairs[task] = _Pair(reader, writer)
        try:
            if self._is_refusing:
                pair.cut()
            else:
                pair.join(*await asyncio.open_connection(*self._upstream))
                await self._pass_both(pair)
        except (OSError, asyncio.CancelledError):
            pair.cut()  # nobody is behind this proxy, or the test is over
        else:
            pair.end()
        finally:
            del self._pairs[task]
            self.news.set()

    async def _pass_both(self, pair: "_Pair") -> None:
        (client_reader, client), (server_reader, server) = pair.sides
        ways = [
            asyncio.create_task(self._pass("server", client_reader, server, pair)),
            asyncio.create_task(self._pass("client", server_reader, client, pair)),
        ]
        self.news.set()

        def passed(_: asyncio.Task[None]) -> None:
            if all(way.done() for way in ways):
                pair.is_over.set()

        for way in ways:
            way.add_done_callback(passed)
        try:
            await pair.is_over.wait()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(
        self,
        towards: End,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        pair: "_Pair",
    ) -> None:
        flow = self._flows[towards]
        try:
            await flow.goes_on.wait()
            while read := await reader.read(_READ_BYTES):
                if self.delay_s:
                    await asyncio.sleep(self.delay_s)
                await flow.goes_on.wait()
                if towards not in pair.muted and not await self._write(towards, read, writer):
                    pair.cut()
                    return
        except ConnectionError:
            if towards not in pair.muted:
                pair.cut()
            return
        if towards not in pair.muted:
            with suppress(OSError):
                writer.write_eof()

    async def _write(self, towards: End, read: bytes, writer: asyncio.StreamWriter) -> bool:
        """Write as it is set; False where the connection is to be cut now."""
        flow = self._flows[towards]
        is_cut = flow.left is not None and len(read) >= flow.left
        if flow.left is not None:
            read = read[: flow.left]
            flow.left = None if is_cut else flow.left - len(read)
        written = 0
        while read:
            size = self._size()
            writer.write(read[:size])
            self.passed[towards] += min(size, len(read))
            read = read[size:]
            written += 1
            if size < _READ_BYTES and written % _PIECES_AT_ONCE:
                await asyncio.sleep(0)
            await writer.drain()
        self.news.set()
        return not is_cut

    def _size(self) -> int:
        if isinstance(self.split, Random):
            return self.split.randrange(1, _LONGEST_PIECE)
        return self.split or _READ_BYTES


class _Flow:
    """What happens to bytes towards one end."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.goes_on = asyncio.Event()
        self.goes_on.set()


class _Pair:
    """A connection from the client, and the one to the server that belongs to it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sides = [(reader, writer)]
        self.muted: set[End] = set()
        self.is_over = asyncio.Event()

    def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sides.append((reader, writer))
        for _, each in self.sides:
            _socket(each).setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def cut(self) -> None:
        for _, writer in self.sides:
            _reset(writer)
        self.is_over.set()

    def close(self) -> None:
        for reader, writer in self.sides:
            if not writer.transport.is_closing():
                cast(asyncio.Transport, writer.transport).pause_reading()
                reader.feed_eof()

    def end(self) -> None:
        """Both sides have said all: let go of the sockets, with what is still to be sent."""
        for _, writer in self.sides:
            writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    if not writer.transport.is_closing():
        with suppress(OSError):
            _socket(writer).setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


def _socket(writer: asyncio.StreamWriter) -> socket.socket:
    sock: socket.socket = writer.get_extra_info("socket")
    return sock
