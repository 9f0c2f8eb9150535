"""Peers without manners, as many at a time as are asked for, in a process apart from the honest."""

import asyncio
import os
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import msgpack

from tests.gateway.house import BINARY, FIRST_TEXT, MIDDLE, PING, TEXT, frame, upgrade

from .apart import Line

_PATIENCE_S = 60.0
_LESS_URGENT = 10  # than the server and the honest, where there are too few cores for all
_BROKEN = (OSError, EOFError, TimeoutError)
_MSGPACK, _JSON = "cellmates.v1.msgpack", "cellmates.v1.json"

# Made once: it is the server that should be busy.
_FRAGMENTS = frame(MIDDLE, b"") * 100
_PINGS = frame(PING, b"x" * 125) * 100
_NESTS = [
    frame(BINARY, payload)
    for payload in (
        b"\x91" * 15_000,
        b"\x81\xa1d" * 5_000,
        b"\xdd\xff\xff\xff\xff" * 3_000,
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
    )
]


async def vandals(line: Line, http: str) -> None:
    """Do what is asked, and say so: names of vandalisms, and how many do each, all at once.

    None ends it.
    """
    os.nice(_LESS_URGENT)
    while (asked := await line.hear()) is not None:
        names, count = asked
        await asyncio.gather(*[_vandalise(http, VANDALISMS[name]) for name in names * count])
        line.say("done")


async def _vandalise(http: str, act: "Vandalism") -> None:
    async with Vandal.at(http) as vandal:
        await act(vandal)


class Vandal:
    """A socket without manners."""

    def __init__(
        self, http: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.http = http
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def at(cls, http: str) -> AsyncIterator["Vandal"]:
        """A new socket, that is broken off in the end; that the server breaks it off is well."""
        parts = urlsplit(http)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            with suppress(*_BROKEN):
                async with asyncio.timeout(_PATIENCE_S):
                    yield cls(http, reader, writer)
        finally:
            writer.transport.abort()

    async def say(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def open(self, subprotocol: str = _MSGPACK) -> None:
        await self.say(upgrade(subprotocol))
        await self._reader.readuntil(b"\r\n\r\n")

    async def ask(self, type_: str, number: int, **body: object) -> None:
        await self.say(frame(BINARY, msgpack.packb({"t": type_, "id": number, "d": body})))

    async def hello(self, **more: object) -> None:
        await self.open()
        await self.ask("hello", 1, proto=1, client={"name": "vandal", "version": "0"}, **more)

    async def rest(self) -> int:
        """Read until the server ends it; how many bytes came."""
        size = 0
        while read := await self._reader.read(65536):
            size += len(read)
        return size

    async def read(self) -> bytes:
        return await self._reader.read(65536)


Vandalism = Callable[[Vandal], Awaitable[None]]


async def giant_headers(vandal: Vandal) -> None:
    await vandal.say(b"GET /ws HTTP/1.1\r\nHost: x\r\n")
    for number in range(2000):
        await vandal.say(b"X-%d: %s\r\n" % (number, b"y" * 1000))


async def slow_handshake(vandal: Vandal) -> None:
    for byte in upgrade(_MSGPACK)[:60]:
        await vandal.say(bytes([byte]))
        await asyncio.sleep(0.02)


async def fragments(vandal: Vandal) -> None:
    await vandal.open(_JSON)
    await vandal.say(frame(FIRST_TEXT, b"{"))
    for _number in range(100):
        await vandal.say(_FRAGMENTS)


async def pings(vandal: Vandal) -> None:
    await vandal.open()
    for _number in range(100):
        await vandal.say(_PINGS)


async def no_reading(vandal: Vandal) -> None:
    await vandal.hello()
    for number in range(2, 400):
        await vandal.ask("daily.list", number)


async def nested(vandal: Vandal) -> None:
    await vandal.open()
    for nest in _NESTS:
        await vandal.say(nest)
    await vandal.rest()


async def wrong_utf8(vandal: Vandal) -> None:
    await vandal.open(_JSON)
    await vandal.say(frame(TEXT, b'{"t":"\xff\xfe\xed\xa0\x80"}'))
    await vandal.rest()


async def lengths(vandal: Vandal) -> None:
    """A frame that says it will be as long as a frame can be."""
    await vandal.open()
    await vandal.say(bytes([BINARY, 0xFF]) + struct.pack("!Q", 2**63 - 1) + b"abcd" + b"x" * 70_000)
    await vandal.rest()


async def no_mask(vandal: Vandal) -> None:
    await vandal.open()
    await vandal.say(frame(BINARY, b"x" * 1000, mask=None))
    await vandal.rest()


async def hellos(vandal: Vandal) -> None:
    await vandal.hello()
    await _flood(vandal, "hello", proto=1, client={"name": "v", "version": "0"}, token="wrong")


async def wrong_tokens(vandal: Vandal) -> None:
    await vandal.hello(token="x" * 5_000)
    await vandal.rest()


async def watches(vandal: Vandal) -> None:
    await vandal.hello()
    for number in range(2, 302):
        day = f"20{number // 28 + 30}-02-{number % 28 + 1:02}-freecell"
        await vandal.ask("board.watch", number, challenge=day, board="first", kind="human")
    await vandal.rest()


async def new_players(vandal: Vandal) -> None:
    await vandal.hello()
    await _flood(vandal, "player.create", handle=f"vandal-{id(vandal) % 10**9}", kind="bot")


async def gaps(vandal: Vandal) -> None:
    """Numbers that cannot be: of actions far ahead, negative, and larger than a column."""
    await vandal.hello()
    for number, seq in enumerate((2**31, 2**63 - 1, 2**64 - 1, -1, 0) * 20, 2):
        await vandal.ask("game.move", number, game="nobody's", seq=seq, move="1a")
    await vandal.read()


async def cursors(vandal: Vandal) -> None:
    await vandal.hello()
    for number, cursor in enumerate((str(2**63), "9" * 1000, "\0", "-1", "x" * 10_000) * 20, 2):
        await vandal.ask("replay.get", number, game="g", cursor=cursor)
    await vandal.read()


async def pages(vandal: Vandal) -> None:
    """A request a socket, as fast as sockets can be had."""
    for path in (
        "daily",
        "boards/2030-01-01-freecell/first/human",
        "replays/x?cursor=9",
        "%ff/..",
    ) * 5:
        async with Vandal.at(vandal.http) as other:
            await other.say(f"GET /api/v1/{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            await other.rest()
    await vandal.say(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    await vandal.rest()


async def _flood(vandal: Vandal, type_: str, **body: object) -> None:
    for number in range(2, 302):
        await vandal.ask(type_, number, **body)
    await vandal.rest()


VANDALISMS: Mapping[str, Vandalism] = {
    act.__name__.replace("_", " "): act
    for act in (
        giant_headers,
        slow_handshake,
        fragments,
        pings,
        no_reading,
        nested,
        wrong_utf8,
        lengths,
        no_mask,
        hellos,
        wrong_tokens,
        watches,
        new_players,
        gaps,
        cursors,
        pages,
    )
}
