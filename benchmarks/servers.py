"""Servers that are measured beside ours: ``python -m benchmarks.servers NAME``.

``stubbed`` is ours but for its journal, whose appends return at once. The others give back what
they get. Each prints where it listens.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import cast

import uvloop
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_websockets

from server.clock import SystemClock
from server.config import read_settings
from server.gateway import Conversation, Gateway, GatewaySettings, PageTable, Peer
from server.keys import secret_key
from server.logs import configure_logs
from server.metrics import Metrics
from server.records import Attempt, Entry, Summary
from server.serving import Service, collect_seldom
from server.store import Store
from server.vault import Vault

HOST = "127.0.0.1"
BACKLOG = 4096


class Stubbed(Store):
    """The journal, but what is appended to a game is not kept."""

    async def append(
        self, game: str, entry: Entry, after: Summary, attempt: Attempt | None = None
    ) -> None:
        """Return at once."""


class Echoing:
    """A conversation in which everything is said back."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def receive(self, frame: bytes | str) -> None:
        """Say it back."""
        assert isinstance(frame, bytes)
        self._peer.send(frame)

    def closed(self) -> None:
        """Nothing is to be forgotten."""


class Echoes:
    """The application whose conversations these are."""

    def opened(self, peer: Peer) -> Conversation:
        """See ``Application``."""
        return Echoing(peer)


class PlainEchoing(asyncio.Protocol):
    """Bytes of one socket, given back."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep where to write."""
        self._write = cast(asyncio.Transport, transport).write

    def data_received(self, data: bytes) -> None:
        """Give it back."""
        self._write(data)


async def stubbed() -> None:
    settings = read_settings(os.environ)
    vault, clock, metrics = Vault(secret_key(settings)), SystemClock(), Metrics()
    store = await Stubbed.open(settings.database_url, observe=metrics.commit)
    service = Service(settings, store, clock, vault, metrics)
    collect_seldom()
    await service.run(asyncio.Queue())


async def gateway() -> None:
    settings = GatewaySettings(connections_per_address=20_000)
    served = Gateway(Echoes(), PageTable({}), settings)
    [(_, port)] = await served.start(HOST, 0)
    await _forever(port)


async def serve() -> None:
    async def echo(socket: ServerConnection) -> None:
        async for frame in socket:
            await socket.send(frame)

    server = await serve_websockets(echo, HOST, 0, compression=None, backlog=BACKLOG)
    await _forever(server.sockets[0].getsockname()[1])


async def tcp() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(PlainEchoing, HOST, 0, backlog=BACKLOG)
    await _forever(server.sockets[0].getsockname()[1])


async def _forever(port: int) -> None:
    print(port, flush=True)
    await asyncio.Event().wait()


SERVERS: dict[str, Callable[[], Awaitable[None]]] = {
    "stubbed": stubbed,
    "gateway": gateway,
    "serve": serve,
    "tcp": tcp,
}


async def main(name: str) -> None:
    await SERVERS[name]()


if __name__ == "__main__":
    configure_logs("warning")
    uvloop.run(main(sys.argv[1]))
