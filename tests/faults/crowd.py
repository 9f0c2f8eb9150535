"""Many players who come back after a restart, in processes apart from the server's.

Most are cheap: bytes written by hand and a back-off like the client's, so that what is measured is
the server and not they. The others are the client of this project itself.
"""

import asyncio
import resource
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from itertools import cycle
from random import random
from typing import Any, Protocol, Self
from unittest.mock import patch
from urllib.parse import urlsplit

import msgpack
from websockets.asyncio.client import connect

import client.dialling
from client.client import Client
from client.connection import Again, closing
from client.errors import CannotConnect
from client.game import Game
from client.pace import BackOff
from client.results import Greeting
from tests.gateway.house import BINARY, CLOSE, PING, PONG, frame, upgrade

from .apart import Line
from .endless import RULESET, to_and_fro

_TOGETHER = 2500  # players of one process
_CLIENTS = 200  # so many of all players, and half of them at most, use the client
_AN_ADDRESS = 1000  # so that all who share it can greet within its limit
_PATIENT_S = 300.0
_GREETING_S = 10.0  # for the handshake, and for the greeting; the client's own
_AT_ONCE = 25
_BROKEN = (OSError, EOFError, TimeoutError)
_NO_MASK = b"\0\0\0\0"


@dataclass(frozen=True)
class Party:
    """Players of one process, by their tokens; the first ``clients`` of them use the client."""

    url: str
    tokens: Sequence[str]
    addresses: Sequence[str]
    clients: int


@dataclass(frozen=True)
class Return:
    """When somebody's next action was acknowledged, by the clock that all processes share.

    ``setbacks`` are the ends of tries that led nowhere while there was a server, as far as they are
    known; ``failure`` says why there was no return.
    """

    game: str
    at_s: float
    setbacks: Sequence[str]
    failure: str | None = None


def parties_of(url: str, tokens: Sequence[str]) -> list[Party]:
    """Players in parties, one for each process."""
    parts = [tokens[at : at + _TOGETHER] for at in range(0, len(tokens), _TOGETHER)]
    each = max(1, _CLIENTS // len(parts))
    return [
        Party(
            url,
            part,
            [f"127.0.{2 + number}.{1 + at}" for at in range(1 + len(part) // _AN_ADDRESS)],
            min(each, len(part) // 2),
        )
        for number, part in enumerate(parts)
    ]


class Guest(Protocol):
    """Somebody at a game; ``setbacks`` are as in a ``Return``."""

    game_id: str
    setbacks: list[str]

    async def sit_down(self) -> None:
        """Start a game and make an action."""

    async def come_back(self) -> None:
        """Make the next action, on another connection than the one before."""

    async def stay(self) -> None:
        """Be there until cancelled."""

    async def leave(self) -> None:
        """Close."""


async def crowd(line: Line, party: Party) -> None:
    """Sit down and say so; come back and say when; and leave when told to."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    addresses = cycle(party.addresses)
    async with AsyncExitStack() as stack:

        def from_some_address(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            return connect(*arguments, local_addr=(next(addresses), 0), **options)

        stack.enter_context(patch.object(client.dialling, "connect", from_some_address))
        guests: list[Guest] = [
            Full(party.url, token) if number < party.clients else Lean(party.url, token, address)
            for number, (token, address) in enumerate(zip(party.tokens, addresses, strict=False))
        ]
        turns, seated = asyncio.Semaphore(_AT_ONCE), asyncio.Queue[None]()
        returned = asyncio.Queue[Return]()
        evenings = [asyncio.create_task(_evening(one, turns, seated, returned)) for one in guests]
        for _ in guests:
            await seated.get()
        line.say("seated")
        line.say([await returned.get() for _ in guests])
        await line.hear()
        for evening in evenings:
            evening.cancel()
        await asyncio.gather(*evenings, return_exceptions=True)


async def _evening(
    one: Guest,
    turns: asyncio.Semaphore,
    seated: asyncio.Queue[None],
    returned: asyncio.Queue[Return],
) -> None:
    """Sit down, come back, and stay until cancelled."""
    try:
        try:
            async with turns, asyncio.timeout(_PATIENT_S):
                await one.sit_down()
        finally:
            seated.put_nowait(None)
        async with asyncio.timeout(_PATIENT_S):
            await one.come_back()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told
        returned.put_nowait(Return(one.game_id, 0.0, one.setbacks, repr(error)[:200]))
        return
    returned.put_nowait(Return(one.game_id, time.monotonic(), one.setbacks))
    try:
        await one.stay()
    finally:
        await one.leave()


# -- The client itself -----------------------------------------------------------------------------


class Full(Client):
    """A client that tells when it is greeted again."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(url, token=token, deadline_s=_PATIENT_S)
        self.setbacks: list[str] = []
        self._is_back = asyncio.Event()
        self.game_id = ""
        self._game: Game | None = None

    def greeted(self, greeting: Greeting) -> None:
        super().greeted(greeting)
        self._is_back.set()

    async def sit_down(self) -> None:
        await self._enter()
        self._game = await self.start_game(RULESET)
        self.game_id = self._game.id
        await self._game.move(to_and_fro(1))
        self._is_back.clear()

    async def _enter(self) -> None:
        while True:  # where the server is too busy to greet in time
            with suppress(CannotConnect):
                await self.__aenter__()
                return

    async def come_back(self) -> None:
        await self._is_back.wait()
        assert self._game is not None
        moved = await self._game.move(to_and_fro(2))
        assert moved.seq == 2, moved

    async def stay(self) -> None:
        await asyncio.Event().wait()  # it does the rest by itself

    async def leave(self) -> None:
        await self.__aexit__(None, None, None)


# -- Cheap ones ------------------------------------------------------------------------------------


class Gone(EOFError):
    """The connection is over, or was refused; come back after this many milliseconds and more."""

    def __init__(self, why: str, retry_after_ms: int = 0) -> None:
        super().__init__(why)
        self.retry_after_ms = retry_after_ms


class Lean:
    """A player who does what is needed to be there, and waits as the client does."""

    def __init__(self, url: str, token: str, address: str) -> None:
        self.setbacks: list[str] = []
        self._url = url
        self._token = token
        self._address = address
        self.game_id = ""
        self._wire: Wire | None = None

    async def sit_down(self) -> None:
        await self._insist(self._start)
        self.setbacks.clear()

    async def come_back(self) -> None:
        try:
            await self._wired.listen()
        except _BROKEN as error:
            self._wired.close()
            await self._insist(self._go_on, _asked_to_wait_ms(error))

    async def stay(self) -> None:
        with suppress(*_BROKEN):
            await self._wired.listen()

    async def leave(self) -> None:
        self._wired.close()

    @property
    def _wired(self) -> "Wire":
        assert self._wire is not None
        return self._wire

    async def _insist(self, act: Any, retry_after_ms: int | None = None) -> None:  # noqa: ANN401
        failures = 0
        while True:
            if retry_after_ms is not None:
                await asyncio.sleep(BackOff().wait_s(failures, random(), retry_after_ms))
                failures += 1
            try:
                await self._greet()
                await act()
                return
            except _BROKEN as error:
                retry_after_ms = _asked_to_wait_ms(error)
                if not isinstance(error, ConnectionRefusedError):
                    self.setbacks.append(str(error) or type(error).__name__)
                if self._wire is not None:
                    self._wire.close()

    async def _greet(self) -> None:
        self._wire = await Wire.to(self._url, self._address)
        about = {"name": "lean", "version": "0"}
        async with asyncio.timeout(_GREETING_S):
            await self._wire.ask("hello", proto=1, client=about, token=self._token)

    async def _start(self) -> None:
        view = await self._wired.ask("game.start", ruleset=RULESET)
        self.game_id = view["game"]
        await self._move(1)

    async def _go_on(self) -> None:
        await self._wired.ask("game.open", game=self.game_id)
        await self._move(2)

    async def _move(self, seq: int) -> None:
        moved = await self._wired.ask("game.move", game=self.game_id, seq=seq, move=to_and_fro(seq))
        assert moved["seq"] == seq, moved


def _asked_to_wait_ms(error: BaseException) -> int:
    return error.retry_after_ms if isinstance(error, Gone) else 0


class Wire:
    """One WebSocket, as little of it as will do: all frames are short and whole."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._last = 0

    @classmethod
    async def to(cls, url: str, address: str) -> Self:
        """Connect from an address.

        Raises:
            OSError, EOFError, TimeoutError: there is no server, or it has no room.
        """
        parts = urlsplit(url)
        async with asyncio.timeout(_GREETING_S):
            reader, writer = await asyncio.open_connection(
                parts.hostname, parts.port, local_addr=(address, 0)
            )
            try:
                writer.write(upgrade("cellmates.v1.msgpack"))
                head = await reader.readuntil(b"\r\n\r\n")
                if not head.startswith(b"HTTP/1.1 101 "):
                    raise Gone(head[:40].decode("latin-1"))
            except BaseException:
                writer.transport.abort()
                raise
        return cls(reader, writer)

    async def ask(self, type_: str, **body: object) -> Any:  # noqa: ANN401
        """Body of the reply; what else comes meanwhile is nothing that matters.

        Raises:
            OSError, EOFError: it did not come, or was that it should be asked again.
            AssertionError: it was another error.
        """
        self._last += 1
        self._say(BINARY, msgpack.packb({"t": type_, "id": self._last, "d": body}))
        while (told := await self._read()).get("re") != self._last:
            self._heed(told)
        if told["t"] == "ok":
            return told["d"]
        assert "retry_after_ms" in told["d"], told
        raise Gone(told["d"]["code"], told["d"]["retry_after_ms"])

    async def listen(self) -> None:
        """Answer pings until the end. Raises as ``ask`` does."""
        while True:
            self._heed(await self._read())

    def close(self) -> None:
        self._writer.transport.abort()

    def _heed(self, told: dict[str, Any]) -> None:
        if told.get("t") == "server.draining":
            raise Gone("draining", told["d"]["retry_after_ms"])

    async def _read(self) -> dict[str, Any]:
        while True:
            first, size = await self._reader.readexactly(2)
            if size == 126:
                size = int.from_bytes(await self._reader.readexactly(2), "big")
            payload = await self._reader.readexactly(size)
            if first == BINARY:
                told: dict[str, Any] = msgpack.unpackb(payload)
                return told
            if first == PING:
                self._say(PONG, payload)
            elif first == CLOSE:
                code = int.from_bytes(payload[:2], "big")
                assert closing(code).again is not Again.NO, code
                raise Gone(f"closed {code}")

    def _say(self, first: int, payload: bytes) -> None:
        self._writer.write(frame(first, payload, mask=_NO_MASK))
