"""A line to the server that is kept up: connect, greet, and again as long as that is of use.

Whoever asks on it waits through that. How to dial is given: this module knows no library for it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from .connection import Again, Encoding, Event, closing
from .errors import CannotConnect, ClientError, Closed, NoAnswer, ServerError, WrongFrame
from .link import BROKEN, NORMAL, RESTARTING, Ending, Link, LinkLost, Socket
from .pace import BackOff
from .results import Greeting
from .shape import read

T = TypeVar("T")

OVERLOADED, BAD_TOKEN = 1013, 4401

_GREETING_S = 10


class NotNow(Exception):
    """There is a server, but it takes no connections at present."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a line is kept: what one answer may take, how long to wait, and what draws the lots."""

    name: str
    version: str
    encoding: Encoding
    deadline_s: float
    back_off: BackOff
    chance: Callable[[], float]


class Owner(Protocol):
    """Whose line it is."""

    def hear(self, event: Event) -> None:
        """Take an event, as it is read."""

    def greeted(self, greeting: Greeting) -> None:
        """Take a greeting, before anything else is asked on that connection."""

    async def resume(self) -> None:
        """Take up again what was going on; it is cancelled if the connection breaks."""

    def ended(self, error: ClientError) -> None:
        """The line will not be up again."""


class Line:
    """The line. ``token`` is who calls, None for a guest; it may change while the line is up."""

    def __init__(
        self, dial: Callable[[], Awaitable[Socket]], terms: Terms, token: str | None, owner: Owner
    ) -> None:
        self.token = token
        self.end: ClientError | None = None
        self._dial = dial
        self._terms = terms
        self._owner = owner
        self._link: Link | None = None
        self._news = asyncio.Event()  # set while there is a link, or when the end has come
        self._was_up = False

    @asynccontextmanager
    async def patience(
        self, said: Callable[[], ServerError | None] = lambda: None
    ) -> AsyncIterator[None]:
        """Context in which there is only so much time; ``said`` is the server's last excuse.

        Raises:
            NoAnswer: the time is up.
        """
        try:
            async with asyncio.timeout(self._terms.deadline_s):
                yield
        except TimeoutError:
            excuse = f"; the server said {said()}" if said() else ""
            raise NoAnswer(f"no answer within {self._terms.deadline_s:g} s{excuse}") from None

    async def linked(self) -> Link:
        """The connection, as soon as there is one.

        Raises:
            ClientError: there will be none.
        """
        while self._link is None:
            if self.end is not None:
                raise self.end
            await self._news.wait()
        return self._link

    async def insist(self, type_: str, act: Callable[[Link], Awaitable[T]]) -> T:
        """Do something on a connection until it has an answer; ``type_`` is what it will ask.

        Raises:
            ServerError: a refusal that the server does not ask to try again.
            NoAnswer: the time is up.
            ClientError: the line has come to its end.
        """
        said: ServerError | None = None
        tries = 0
        async with self.patience(lambda: said):
            while True:
                link = await self.linked()
                await asyncio.sleep(link.wait_s(type_, asyncio.get_running_loop().time()))
                try:
                    return await act(link)
                except LinkLost:
                    continue
                except ServerError as error:
                    if error.retry_after_ms is None:
                        raise
                    said = error
                await asyncio.sleep(self._wait_s(tries, said.retry_after_ms))
                tries += 1

    def drain(self, retry_after_ms: int) -> None:
        """Leave this connection as soon as what was asked on it is answered."""
        if self._link is not None:
            self._link.leave(retry_after_ms)
            self._unlink()

    async def run(self) -> None:
        """Connect again and again, until that is no use; ``end`` says why."""
        try:
            failures = 0
            while True:
                ending = await self._converse()
                failures = 0 if ending.was_fruitful else failures
                await asyncio.sleep(self._wait_s(failures, _asked_to_wait(ending)))
                failures += 1
        except ClientError as error:
            self.end = error
        finally:
            if self.end is None:
                self.end = Closed(NORMAL, "the client was closed")
            self._news.set()
            self._owner.ended(self.end)

    async def _converse(self) -> Ending:
        """One connection, from dialling to its end.

        Raises:
            ClientError: it should not be tried again.
        """
        try:
            socket = await self._dial()
        except NotNow:
            return Ending(OVERLOADED)
        except CannotConnect:
            if not self._was_up:
                raise
            return Ending(BROKEN)
        link = Link(
            socket, self._terms.encoding, self.token, hear=self._owner.hear, over=self._unlink
        )
        reading = asyncio.create_task(link.read())
        try:
            ending = await self._greeted(link, reading)
        finally:
            self._unlink()
            await link.close()
            reading.cancel()
            with suppress(asyncio.CancelledError, WrongFrame):
                await reading
        # A token that we have replaced ourselves is no reason to stay away.
        is_ours = ending.code == BAD_TOKEN and self.token not in (None, link.token)
        return replace(ending, code=RESTARTING) if is_ours else ending

    async def _greeted(self, link: Link, reading: "asyncio.Task[Ending]") -> Ending:
        """The rest of a connection that was made: the greeting and all that follows."""
        try:
            async with asyncio.timeout(_GREETING_S):
                greeting = await link.greet(self._terms.name, self._terms.version, _greeting)
        except TimeoutError:
            return Ending(BROKEN)
        except LinkLost:
            return await reading
        except ServerError as error:
            if error.retry_after_ms is None:
                raise
            return Ending(RESTARTING, error.retry_after_ms)
        link.limit(greeting.limits, asyncio.get_running_loop().time())
        self._was_up = True
        self._owner.greeted(greeting)
        self._link = link
        self._news.set()
        resuming = asyncio.create_task(self._owner.resume())
        try:
            return await reading
        finally:
            resuming.cancel()

    def _unlink(self) -> None:
        self._link = None
        self._news.clear()

    def _wait_s(self, failures: int, retry_after_ms: int | None) -> float:
        return self._terms.back_off.wait_s(failures, self._terms.chance(), retry_after_ms)


def _greeting(body: object) -> Greeting:
    return read(Greeting, body)


def _asked_to_wait(ending: Ending) -> int | None:
    """What the server asked to wait before the next connect.

    Raises:
        Closed: there should be none.
    """
    again, meaning = closing(ending.code)
    if again is Again.NO:
        raise Closed(ending.code, f"{meaning} ({ending.code})")
    return ending.retry_after_ms if again is Again.AFTER_RETRY else None
