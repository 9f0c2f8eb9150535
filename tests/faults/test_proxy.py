"""The proxy itself: it passes everything on, and does what it is told, to the byte."""

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import ClassVar

import pytest
import pytest_asyncio

from .proxy import End, FaultProxy, Split

pytestmark = pytest.mark.asyncio

PATIENCE_S = 30.0
LONG = bytes(range(256)) * 2000


class Echo:
    """A server that sends back what it gets; ``ends`` tells how each connection ended."""

    def __init__(self) -> None:
        self.reads: list[bytes] = []
        self.ends: asyncio.Queue[str] = asyncio.Queue()
        self.tasks: list[asyncio.Task[None]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.append(task)
        try:
            while read := await reader.read(65536):
                self.reads.append(read)
                writer.write(read)
                await writer.drain()
            self.ends.put_nowait("end")
        except ConnectionResetError:
            self.ends.put_nowait("reset")
        finally:
            writer.close()


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest_asyncio.fixture
async def proxy(echo: Echo) -> AsyncIterator[FaultProxy]:
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    async with FaultProxy("127.0.0.1", server.sockets[0].getsockname()[1]) as proxy:
        yield proxy
    for caller in Caller.all:
        caller.writer.close()
    Caller.all.clear()
    server.close()
    await asyncio.gather(*echo.tasks)


class Caller:
    """Who connects."""

    all: ClassVar[list["Caller"]] = []

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer
        self.all.append(self)

    @classmethod
    async def through(cls, proxy: FaultProxy) -> "Caller":
        return cls(*await asyncio.open_connection("127.0.0.1", proxy.port))

    async def read(self, size: int) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self._reader.readexactly(size)

    async def rest(self) -> bytes | None:
        """All until the end; None where the connection is reset."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return None

    async def ask(self, what: bytes) -> bytes:
        self.writer.write(what)
        return await self.read(len(what))


async def ended(echo: Echo) -> str:
    async with asyncio.timeout(PATIENCE_S):
        return await echo.ends.get()


@pytest.mark.parametrize("split", [None, 1, 7, Random(1)])
async def test_everything_is_passed_on_however_it_is_split(
    split: Split, proxy: FaultProxy, echo: Echo
) -> None:
    proxy.split = split
    caller = await Caller.through(proxy)
    sent = LONG if split is None else LONG[:4000]
    assert await caller.ask(sent) == sent
    caller.writer.write_eof()
    assert await caller.rest() == b""
    assert await ended(echo) == "end"
    assert proxy.passed == {"client": len(sent), "server": len(sent)}


async def test_split_writes_arrive_in_pieces(proxy: FaultProxy, echo: Echo) -> None:
    proxy.split = 1
    caller = await Caller.through(proxy)
    await caller.ask(b"x" * 1000)
    assert len(echo.reads) > 10, "a kernel may join pieces, but not nearly all of them"


async def test_cut_resets_both_ends(proxy: FaultProxy, echo: Echo) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.cut()
    assert await caller.rest() is None
    assert await ended(echo) == "reset"
    await proxy.until(lambda: proxy.open == 0)
    again = await Caller.through(proxy)
    assert await again.ask(b"hello") == b"hello"
    assert proxy.accepted == 2


@pytest.mark.parametrize("size", [1, 3, 10])
async def test_cut_comes_after_the_byte_it_was_set_to(
    size: int, proxy: FaultProxy, echo: Echo
) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.cut_after("server", size)
    caller.writer.write(b"0123456789 and more")
    assert await caller.rest() in (None, b"0123456789"[:size])
    assert await ended(echo) == "reset"
    assert proxy.passed["server"] == 5 + size


async def test_close_lets_what_is_under_way_arrive(proxy: FaultProxy, echo: Echo) -> None:
    caller = await Caller.through(proxy)
    assert await caller.ask(b"hello") == b"hello"
    proxy.close()
    assert await caller.rest() == b""
    assert await ended(echo) == "end"


@pytest.mark.parametrize("towards", ["client", "server"])
async def test_muted_connection_looks_well(towards: End, proxy: FaultProxy, echo: Echo) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.mute(towards=towards)
    caller.writer.write(b"anybody there?")
    await caller.writer.drain()
    other = await Caller.through(proxy)
    assert await other.ask(b"x" * 100) == b"x" * 100, "later connections are well"
    assert proxy.open == 2
    assert not caller._reader.at_eof()
    assert (b"anybody there?" in echo.reads) == (towards == "client")


async def test_peer_of_a_network_that_is_gone_does_not_hear_of_the_end(
    proxy: FaultProxy, echo: Echo
) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.mute(towards="client")
    proxy.mute(towards="server")
    caller.writer.transport.abort()
    other = await Caller.through(proxy)
    await other.ask(b"hello")
    assert echo.ends.empty()
    assert proxy.open == 2


@pytest.mark.parametrize("towards", ["client", "server"])
async def test_what_is_held_comes_when_it_is_released(towards: End, proxy: FaultProxy) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.hold(towards=towards)
    passed = proxy.passed[towards]
    caller.writer.write(LONG)
    reading = asyncio.create_task(caller.read(len(LONG)))
    other: End = "client" if towards == "server" else "server"
    if other == "server":
        await proxy.until(lambda: proxy.passed["server"] > 5)
    assert proxy.passed[towards] == passed
    assert not reading.done()
    proxy.release()
    assert await reading == LONG


async def test_delay_is_waited(proxy: FaultProxy) -> None:
    caller = await Caller.through(proxy)
    await caller.ask(b"hello")
    proxy.delay_s = 0.05
    began = asyncio.get_running_loop().time()
    await caller.ask(b"hello")
    assert asyncio.get_running_loop().time() - began >= 0.1, "there and back"


async def test_refused_connections_are_reset(proxy: FaultProxy) -> None:
    proxy.refuse()
    caller = await Caller.through(proxy)
    assert await caller.rest() is None
    proxy.admit()
    caller = await Caller.through(proxy)
    assert await caller.ask(b"hello") == b"hello"


async def test_nobody_behind_the_proxy_is_a_reset() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    async with FaultProxy("127.0.0.1", port) as proxy:
        caller = await Caller.through(proxy)
        assert await caller.rest() is None
        caller.writer.close()
        caller.writer.close()
