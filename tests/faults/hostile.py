"""Hostile peers, twenty of a kind at a time, beside ten who only want to play."""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

import msgpack

from server.metrics import LAG_EVERY_S
from tests.e2e.running import RunningServer
from tests.e2e.stranger import Body, Stranger
from tests.gateway.house import BINARY, FIRST_TEXT, MIDDLE, PING, TEXT, frame, upgrade

from .figures import Figures
from .network import RULESET, errors_in, page, served, to_and_fro

HONEST = 10
HOSTILE = 20
_PATIENCE_S = 60.0
_BROKEN = (OSError, EOFError, TimeoutError, asyncio.IncompleteReadError)
_MSGPACK, _JSON = "cellmates.v1.msgpack", "cellmates.v1.json"


class Vandal:
    """A socket without manners."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    @asynccontextmanager
    async def at(cls, server: RunningServer) -> AsyncIterator["Vandal"]:
        """A new socket, that is broken off in the end; that the server breaks it off is well."""
        parts = urlsplit(server.http)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            with suppress(*_BROKEN):
                async with asyncio.timeout(_PATIENCE_S):
                    yield cls(reader, writer)
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


Vandalism = Callable[[RunningServer, Vandal], Awaitable[None]]


async def giant_headers(_: RunningServer, vandal: Vandal) -> None:
    await vandal.say(b"GET /ws HTTP/1.1\r\nHost: x\r\n")
    for number in range(2000):
        await vandal.say(b"X-%d: %s\r\n" % (number, b"y" * 1000))


async def slow_handshake(_: RunningServer, vandal: Vandal) -> None:
    for byte in upgrade(_MSGPACK)[:60]:
        await vandal.say(bytes([byte]))
        await asyncio.sleep(0.02)


async def fragments(_: RunningServer, vandal: Vandal) -> None:
    await vandal.open(_JSON)
    await vandal.say(frame(FIRST_TEXT, b"{"))
    for _number in range(100):
        await vandal.say(frame(MIDDLE, b"") * 100)


async def pings(_: RunningServer, vandal: Vandal) -> None:
    await vandal.open()
    for _number in range(100):
        await vandal.say(frame(PING, b"x" * 125) * 100)


async def no_reading(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello()
    for number in range(2, 400):
        await vandal.ask("daily.list", number)


async def nested(_: RunningServer, vandal: Vandal) -> None:
    await vandal.open()
    for payload in (
        b"\x91" * 15_000,
        b"\x81\xa1d" * 5_000,
        b"\xdd\xff\xff\xff\xff" * 3_000,
        b"\xdf\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
    ):
        await vandal.say(frame(BINARY, payload))
    await vandal.rest()


async def wrong_utf8(_: RunningServer, vandal: Vandal) -> None:
    await vandal.open(_JSON)
    await vandal.say(frame(TEXT, b'{"t":"\xff\xfe\xed\xa0\x80"}'))
    await vandal.rest()


async def lengths(_: RunningServer, vandal: Vandal) -> None:
    """A frame that says it will be as long as a frame can be."""
    await vandal.open()
    await vandal.say(bytes([BINARY, 0xFF]) + struct.pack("!Q", 2**63 - 1) + b"abcd" + b"x" * 70_000)
    await vandal.rest()


async def no_mask(_: RunningServer, vandal: Vandal) -> None:
    await vandal.open()
    await vandal.say(frame(BINARY, b"x" * 1000, mask=None))
    await vandal.rest()


async def hellos(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello()
    await _flood(vandal, "hello", proto=1, client={"name": "v", "version": "0"}, token="wrong")


async def wrong_tokens(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello(token="x" * 5_000)
    await vandal.rest()


async def watches(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello()
    for number in range(2, 302):
        day = f"20{number // 28 + 30}-02-{number % 28 + 1:02}-freecell"
        await vandal.ask("board.watch", number, challenge=day, board="first", kind="human")
    await vandal.rest()


async def new_players(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello()
    await _flood(vandal, "player.create", handle=f"vandal-{id(vandal) % 10**9}", kind="bot")


async def gaps(_: RunningServer, vandal: Vandal) -> None:
    """Numbers that cannot be: of actions far ahead, negative, and larger than a column."""
    await vandal.hello()
    for number, seq in enumerate((2**31, 2**63 - 1, 2**64 - 1, -1, 0) * 20, 2):
        await vandal.ask("game.move", number, game="nobody's", seq=seq, move="1a")
    await vandal.read()


async def cursors(_: RunningServer, vandal: Vandal) -> None:
    await vandal.hello()
    for number, cursor in enumerate((str(2**63), "9" * 1000, "\0", "-1", "x" * 10_000) * 20, 2):
        await vandal.ask("replay.get", number, game="g", cursor=cursor)
    await vandal.read()


async def pages(server: RunningServer, vandal: Vandal) -> None:
    """A request a socket, as fast as sockets can be had."""
    for path in (
        "daily",
        "boards/2030-01-01-freecell/first/human",
        "replays/x?cursor=9",
        "%ff/..",
    ) * 5:
        async with Vandal.at(server) as other:
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


# -- Who only want to play -------------------------------------------------------------------------


class Honest:
    """A player who makes one move after another, at the pace of somebody who thinks."""

    def __init__(self, stranger: Stranger, game: str) -> None:
        self._stranger = stranger
        self._game = game
        self.spent_s: list[float] = []

    @classmethod
    async def seated(cls, server: RunningServer, token: str) -> "Honest":
        # From an address of their own, as people have one: what is counted there is the others'.
        stranger = await Stranger.connect(server.url, local_addr=("127.0.0.2", 0))
        await stranger.hello(token)
        view: Body = await stranger.ask("game.start", ruleset=RULESET)
        return cls(stranger, view["game"])

    async def play(self, is_over: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        while not is_over.is_set():
            seq, began = len(self.spent_s) + 1, loop.time()
            told = await self._stranger.ask(
                "game.move", game=self._game, seq=seq, move=to_and_fro(seq)
            )
            assert (told["seq"], told["repeated"]) == (seq, False), told
            self.spent_s.append(loop.time() - began)
            await asyncio.sleep(0.02)

    async def leave(self) -> None:
        seq = (await self._stranger.ask("game.open", game=self._game))["seq"]
        assert seq == len(self.spent_s), "all that was acknowledged is there, and nothing else"
        await self._stranger.close()


# -- What the server says of itself ----------------------------------------------------------------


def lag_of(server: RunningServer) -> dict[float, float]:
    """How often the server's loop was late, by how late at most, in seconds."""
    found: dict[float, float] = {}
    for line in page(server, "metrics").splitlines():
        name, _, count = line.partition(" ")
        if name.startswith("cellmates_loop_lag_seconds_bucket"):
            found[float(name.split('"')[1])] = float(count)
    return found


def lag_within(before: Mapping[float, float], after: Mapping[float, float], part: float) -> float:
    """Bound, in seconds, that so great a part of what was late since keeps."""
    since = {bound: after[bound] - before[bound] for bound in sorted(after)}
    asked = max(since.values())
    return next(bound for bound, count in since.items() if count >= part * asked)


def resident_mib(server: RunningServer) -> float:
    """Memory that the server's process has."""
    for line in page(server, "metrics").splitlines():
        if line.startswith("process_resident_memory_bytes "):
            return float(line.split()[1]) / 2**20
    raise AssertionError("the server does not say how much memory it has")


# -- F8 --------------------------------------------------------------------------------------------


async def hostile(
    folder: Path, *, rounds: int, progress: Callable[[str], None] = lambda _: None
) -> Figures:
    """All vandalisms, so many times each; what it costs the server, and those who only play."""
    async with served(folder, HONEST, moves_per_s="100") as (server, tokens):
        honest = [await Honest.seated(server, token) for token in tokens]
        is_over = asyncio.Event()
        quiet = await _played(honest, partial(asyncio.sleep, 1.0))
        await asyncio.gather(*[_vandalise(server, act) for act in VANDALISMS.values()])
        # What is allocated once, by whatever was the first of its kind, is no growth.
        lag, memory = lag_of(server), resident_mib(server)
        playing = [asyncio.create_task(one.play(is_over)) for one in honest]
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            await _each(server, HOSTILE)
        is_over.set()
        await asyncio.gather(*playing)
        for one in honest:
            await one.leave()
        await asyncio.sleep(2 * LAG_EVERY_S)
        after, grown = await asyncio.to_thread(lag_of, server), resident_mib(server) - memory
        errors = errors_in(server)
    spent = [spent for one in honest for spent in one.spent_s]
    return Figures(
        "hostile peers",
        rounds * HOSTILE * len(VANDALISMS),
        0,
        0,
        None,
        {
            "RSS growth MiB": round(grown, 1),
            "loop lag p99 ms at most": 1000 * lag_within(lag, after, 0.99),
            "honest moves": len(spent),
            "honest p99 ms": round(1000 * _p99(spent), 1),
            "honest p99 ms when quiet": round(1000 * quiet, 1),
            "errors": len(errors),
        },
    )


async def _played(honest: list[Honest], meanwhile: Callable[[], Awaitable[object]]) -> float:
    is_over = asyncio.Event()
    playing = [asyncio.create_task(one.play(is_over)) for one in honest]
    await meanwhile()
    is_over.set()
    await asyncio.gather(*playing)
    return _p99([spent for one in honest for spent in one.spent_s])


async def _each(server: RunningServer, count: int) -> None:
    """Each vandalism in its turn, so many at a time."""
    for act in VANDALISMS.values():
        await asyncio.gather(*[_vandalise(server, act) for _ in range(count)])


async def _vandalise(server: RunningServer, act: Vandalism) -> None:
    async with Vandal.at(server) as vandal:
        await act(server, vandal)


def _p99(values: list[float]) -> float:
    return quantiles(values, n=100)[-1]
