"""One WebSocket and its conversation: messages handed on in order, answers sent, silence noticed.

All that runs for a connection is one task, and that only while messages wait.
"""

import logging
from asyncio import AbstractEventLoop, Task, TimerHandle
from collections.abc import Callable

from cellmates.protocol import CloseCode, Encoding

from .application import Application, Conversation
from .census import Census
from .settings import LAST_LOOK_S, GatewaySettings
from .transport import Wire

logger = logging.getLogger(__name__)


class Connection:
    """The ``Peer`` that the application is given."""

    __slots__ = (
        "_beat",
        "_census",
        "_conversation",
        "_farewell",
        "_inbox",
        "_is_closing",
        "_is_lost",
        "_loop",
        "_settings",
        "_task",
        "_wire",
        "address",
        "encoding",
    )

    def __init__(
        self,
        wire: Wire,
        encoding: Encoding,
        address: str,
        *,
        census: Census,
        settings: GatewaySettings,
        loop: AbstractEventLoop,
    ) -> None:
        self.address = address
        self.encoding = encoding
        self._wire = wire
        self._census = census
        self._settings = settings
        self._loop = loop
        self._inbox: list[bytes | str] = []  # short, and mostly empty
        self._task: Task[None] | None = None
        self._conversation: Conversation | None = None
        self._farewell: tuple[int, str] | None = None
        self._is_closing = self._is_lost = False
        self._beat: TimerHandle = loop.call_later(settings.heartbeat_s, self._ping)
        wire.listen(self)

    def open(self, application: Application) -> None:
        """Begin the conversation; if that fails the connection is closed."""
        try:
            self._conversation = application.opened(self)
        except Exception:
            logger.exception("a conversation crashed when it was opened")
            self._close_for_our_fault()

    # For the application

    def send(self, frame: bytes) -> None:
        """Send a message, as ``Peer.send`` promises."""
        self._wire.send(frame)

    def close(self, code: int, reason: str = "") -> None:
        """Close, as ``Peer.close`` promises."""
        self._wire.close(code, reason)
        self._is_closing = True

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> TimerHandle:
        """Call back after a while, as ``Peer.call_later`` promises."""
        return self._loop.call_later(delay_s, self._call_back, callback)

    # For the wire

    def deliver(self, message: bytes | str) -> None:
        """Queue a message; no more is read while too many wait."""
        self._inbox.append(message)
        if len(self._inbox) >= self._settings.inbox_frames:
            self._wire.hold()
        if self._task is None:
            self._begin()

    def lost(self) -> None:
        """End, once the messages that arrived are handled: the socket is closed."""
        self._is_lost = True
        self._beat.cancel()
        if self._task is None:
            self._finish()

    # For the gateway

    def leave(self) -> None:
        """Read no more, handle what arrived, then close: the server restarts."""
        self._farewell = CloseCode.RESTARTING, "the server restarts"
        self._wire.hold()
        if self._task is None:
            self.close(*self._farewell)

    def abort(self) -> None:
        """Close the socket at once and cancel what is being handled."""
        self._is_closing = True
        self._wire.abort("the server stops")
        if self._task is not None:
            self._task.cancel()

    # Messages, one at a time

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._converse())
        self._task.add_done_callback(self._conversed)

    async def _converse(self) -> None:
        conversation = self._conversation
        assert conversation is not None, "one that could not begin was closed, and hears nothing"
        few = self._settings.inbox_frames // 2
        while self._inbox and not self._is_closing:
            message = self._inbox.pop(0)
            if len(self._inbox) <= few and self._farewell is None:
                self._wire.release()
            try:
                await conversation.receive(message)
            except Exception:
                logger.exception("a conversation crashed")
                self._close_for_our_fault()
        self._wire.flush()

    def _conversed(self, _task: Task[None]) -> None:
        self._task = None
        if self._inbox and not self._is_closing:
            self._begin()
        elif self._is_lost:
            self._finish()
        elif self._farewell is not None:
            self.close(*self._farewell)

    def _finish(self) -> None:
        try:
            if self._conversation is not None:
                self._conversation.closed()
        except Exception:
            logger.exception("a conversation crashed when it was closed")
        self._census.gone(self)

    def _close_for_our_fault(self) -> None:
        self.close(CloseCode.SERVER_FAULT, "the server made a mistake")

    def _call_back(self, callback: Callable[[], None]) -> None:
        if not (self._is_closing or self._is_lost):
            callback()

    # Heartbeat: runs on timers alone, whatever waits to be written

    def _ping(self) -> None:
        self._wire.heard = False
        self._wire.ping()
        self._beat = self._loop.call_later(self._settings.pong_s, self._judge)

    def _judge(self) -> None:
        if self._is_alive():
            self._ping_again()
        else:
            # If it was this process that stood still, the pong may be waiting to be read.
            self._beat = self._loop.call_later(LAST_LOOK_S, self._condemn)

    def _condemn(self) -> None:
        if self._is_alive():
            self._ping_again()
        else:
            self._wire.abort("silent")

    def _is_alive(self) -> bool:
        return self._wire.heard or self._wire.is_held

    def _ping_again(self) -> None:
        pause_s = max(0.0, self._settings.heartbeat_s - self._settings.pong_s)
        self._beat = self._loop.call_later(pause_s, self._ping)
