"""One connection from its greeting to its end: questions asked on it, and who waits for an answer.

The socket is given; this module knows no library for it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .connection import Answer, Body, Complaint, Connection, Encoding, Event, Frame, Request
from .errors import ClientError, ServerError, WrongFrame
from .pace import Pace
from .results import Limits

T = TypeVar("T")

NORMAL, PROTOCOL_ERROR, BROKEN, RESTARTING = 1000, 1002, 1006, 1012

# Requests whose reply is a game that is open on this connection from then on.
_OPENING = frozenset({"game.start", "game.open", "daily.start"})
# Requests that are counted by themselves, where the greeting says so, and what the others go under.
_MOVES = ("game.move", "game.undo", "game.resign")
_OTHERS = ""
# Requests that are part of coming back; an answer to one is no sign that all is well again.
_COMING_BACK = frozenset({"hello", "game.open", "board.watch"})


class LinkLost(Exception):
    """The connection ended before the answer came."""


class SocketClosed(Exception):
    """The socket is closed, for the reason that the code says."""

    def __init__(self, code: int) -> None:
        super().__init__(f"closed with code {code}")
        self.code = code


class Socket(Protocol):
    """What a link needs of a WebSocket."""

    async def send(self, frame: Frame) -> None:
        """Send a frame. Raises SocketClosed."""

    async def receive(self) -> Frame:
        """Wait for the next frame. Raises SocketClosed, WrongFrame."""

    async def close(self, code: int) -> None:
        """Close, and wait for that, but not for long."""


class _Question(Generic[T]):
    """A request under way, and what to make of its reply."""

    def __init__(self, settle: Callable[[Body], T]) -> None:
        self.waiting: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._settle = settle

    def take(self, answer: Answer) -> None:
        try:
            settled = self._settle(answer.result())
        except ClientError as error:
            self.fail(error)
        else:
            if not self.waiting.done():
                self.waiting.set_result(settled)

    def fail(self, error: Exception) -> None:
        if not self.waiting.done():
            self.waiting.set_exception(error)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a connection ended.

    ``retry_after_ms`` is what the server asked for last; ``was_fruitful`` whether anything but
    coming back was answered.
    """

    code: int
    retry_after_ms: int | None = None
    was_fruitful: bool = False


class Link:
    """A connection. ``opened`` are the games that are open on it, ``token`` who it is."""

    def __init__(
        self,
        socket: Socket,
        encoding: Encoding,
        token: str | None,
        *,
        hear: Callable[[Event], None],
        over: Callable[[], None],
    ) -> None:
        self.token = token
        self.opened: set[str] = set()
        self._paces: dict[str, Pace] = {}
        self._socket = socket
        self._talk = Connection(encoding)
        self._hear = hear
        self._over = over
        self._questions: dict[int, _Question[Any]] = {}
        self._is_over = False
        self._is_leaving = False
        self._retry_after_ms: int | None = None
        self._was_fruitful = False

    def limit(self, limits: Limits, now: float) -> None:
        """Keep to what the greeting allows; ``now`` is in seconds of the clock of ``wait_s``."""
        requests = Pace(limits.requests_burst, limits.requests_per_s)
        requests.wait_s(now)  # the greeting was a request too
        moves = requests
        if limits.moves_burst is not None and limits.moves_per_s is not None:
            moves = Pace(limits.moves_burst, limits.moves_per_s)
        self._paces = {_OTHERS: requests} | dict.fromkeys(_MOVES, moves)

    def wait_s(self, type_: str, now: float) -> float:
        """Seconds until one more request of a type may be sent; its place is taken."""
        pace = self._paces.get(type_) or self._paces.get(_OTHERS)
        return 0.0 if pace is None else pace.wait_s(now)

    async def greet(self, name: str, version: str, settle: Callable[[Body], T]) -> T:
        """Say ``hello``. Raises as ``ask`` does."""
        return await self._ask(self._talk.hello(name, version, self.token), settle)

    async def ask(self, type_: str, body: Body, settle: Callable[[Body], T]) -> T:
        """Send a request and wait for what ``settle`` makes of its reply.

        ``settle`` runs as the reply is read, before the next frame is, and also when nobody waits
        any longer: so what is known of a game changes in the order in which the server told it.

        Raises:
            ServerError: the request was refused.
            LinkLost: the connection ended first.
            WrongRequest, WrongFrame: the request cannot be sent; the reply cannot be right.
        """
        if self._is_over or self._is_leaving:
            raise LinkLost
        return await self._ask(self._talk.request(type_, body), settle)

    async def _ask(self, request: Request, settle: Callable[[Body], T]) -> T:
        question = _Question(settle)
        self._questions[request.id] = question
        with suppress(SocketClosed):  # reading notices too, and fails the question
            await self._socket.send(request.frame)
        return await question.waiting

    async def read(self) -> Ending:
        """Read until the end.

        Raises:
            WrongFrame: the server does not keep to the protocol; the connection is closed.
        """
        code = RESTARTING
        try:
            while not (self._is_leaving and not self._questions):
                self._take(await self._socket.receive())
            await self._socket.close(NORMAL)
        except SocketClosed as closed:
            # A server that has said that it goes needs not say so once more.
            code = RESTARTING if self._is_leaving and closed.code == BROKEN else closed.code
        except WrongFrame:
            await self._socket.close(PROTOCOL_ERROR)
            raise
        finally:
            self._is_over = True
            self._over()
            for question in self._questions.values():
                question.fail(LinkLost())
        return Ending(code, self._retry_after_ms, self._was_fruitful)

    def leave(self, retry_after_ms: int) -> None:
        """Ask nothing more; go when all is answered."""
        self._is_leaving = True
        self._retry_after_ms = retry_after_ms

    async def close(self) -> None:
        """Close from our side."""
        await self._socket.close(NORMAL)

    def _take(self, frame: Frame) -> None:
        match self._talk.receive(frame):
            case Event() as event:
                self._hear(event)
            case Complaint(error):
                self._heed(error)
            case Answer(request, body, error) as answer:
                if error is not None:
                    self._heed(error)
                elif request.type in _OPENING:
                    self.opened.add(str(body.get("game")))
                self._was_fruitful |= error is None and request.type not in _COMING_BACK
                self._questions.pop(request.id).take(answer)

    def _heed(self, error: ServerError) -> None:
        if error.retry_after_ms is not None:
            self._retry_after_ms = error.retry_after_ms
