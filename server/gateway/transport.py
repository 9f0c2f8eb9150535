"""Bytes to frames and back: one open WebSocket on its socket, by the library's Sans-I/O protocol.

What was read is cut into frames. Ordinary ones take the short path, and the library sees nothing of
them; every other it gets whole, or as much as it needs to refuse it. So it is always between frames
when the next one comes.

Nothing here waits for a peer. What the kernel does not take is counted, and whoever does not read
is aborted; a close is asked for politely and has a deadline.
"""

import asyncio
import logging
from asyncio import AbstractEventLoop, TimerHandle
from typing import Protocol

from websockets.protocol import SEND_EOF, State

from cellmates.protocol import Encoding

from .frames import BINARY, TEXT, frame_end, ordinary_message, server_frame
from .outbox import Outbox
from .settings import LAST_LOOK_S, GatewaySettings
from .websocket import WebSocket

logger = logging.getLogger(__name__)

# A read may hold 40 000 empty frames, half a second's work. So it goes on in the loop's next turn
# once there were this many.
_TURN_FRAMES = 32
_LONGEST_REASON_BYTES = 123
# A timer may fire this much before its time by the loop's own clock.
_CLOCK_STEP_S = 0.002


class Listener(Protocol):
    """Who gets what comes in."""

    def deliver(self, message: bytes | str) -> None:
        """Take a message that arrived whole."""

    def lost(self) -> None:
        """Forget the wire: the socket is closed."""


class Wire(asyncio.Protocol):
    """One open WebSocket.

    ``heard`` is set whenever a whole frame has come, or may be waiting unread because of ``hold``;
    who watches the peer resets it.
    """

    __slots__ = (
        "_deadline",
        "_first_byte",
        "_flush_is_due",
        "_held",
        "_is_deaf",
        "_is_ended",
        "_listener",
        "_loop",
        "_outbox",
        "_paused",
        "_pending",
        "_read",
        "_rest",
        "_settings",
        "_transport",
        "_unread",
        "_ws",
        "heard",
    )

    def __init__(
        self,
        transport: asyncio.Transport,
        ws: WebSocket,
        settings: GatewaySettings,
        loop: AbstractEventLoop,
    ) -> None:
        self._transport = transport
        self._ws = ws
        self._settings = settings
        self._loop = loop
        self._first_byte = BINARY if ws.encoding is Encoding.MSGPACK else TEXT
        self._outbox = Outbox()
        self._pending = 0  # bytes sent in this turn of the loop
        self._flush_is_due = False
        self._rest = b""  # what was read, taken up to ``_read``
        self._read = 0
        self._held = self._paused = False
        self._is_deaf = False  # nothing more is delivered: we closed
        self._is_ended = False  # nothing more is written
        self._deadline: TimerHandle | None = None
        self._unread: TimerHandle | None = None
        self.heard = True

    def listen(self, listener: Listener) -> None:
        """Say who gets what comes in; once, before anything does."""
        self._listener = listener

    # From the event loop

    def data_received(self, data: bytes) -> None:
        """Take what was read."""
        self._rest = self._rest[self._read :] + data
        self._read = 0
        self._feed()

    def eof_received(self) -> None:
        """Close: the peer has closed its side. One that said so before has had its answer."""
        self._ws.receive_eof()
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the socket. That it breaks is normal, so ``exc`` is nobody's business."""
        self._is_deaf = self._is_ended = True
        self._rest, self._read = b"", 0
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        self._listener.lost()

    # From the connection

    def send(self, frame: bytes) -> None:
        """Send a message with what else is sent in this turn of the loop."""
        if self._is_ended or self._ws.state is not State.OPEN:
            return
        writes, settings = self._ws.writes, self._settings
        writes.append(server_frame(self._first_byte, frame))
        self._pending += len(frame)
        if len(writes) >= settings.outbox_messages or self._pending >= settings.outbox_bytes:
            self.flush()
        elif not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush_due)

    def ping(self) -> None:
        """Send a ping, unless the WebSocket is closing, and count the peer's anew."""
        self._ws.controls = 0
        if not self._is_ended and self._ws.state is State.OPEN:
            self._ws.send_ping(b"")
            self.flush()

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake; whoever does not answer it in time is aborted.

        Raises:
            websockets.ProtocolError: a close frame must not have this code. Nothing has changed.
        """
        if not self._is_ended and self._ws.state is State.OPEN:
            reason = reason.encode()[:_LONGEST_REASON_BYTES].decode(errors="ignore")
            self._ws.send_close(code, reason)
            self._is_deaf = True
            self._start_deadline()
            self.flush()
        self.release()  # the peer's close is behind whatever it sent before

    def abort(self, why: str) -> None:
        """Close the socket without a word; not even what was written need arrive."""
        if not self._is_ended or not self._transport.is_closing():
            waiting = self._transport.get_write_buffer_size()
            logger.info("connection dropped", extra={"why": why, "unread_bytes": waiting})
        self._is_deaf = self._is_ended = True
        self._transport.abort()

    def hold(self) -> None:
        """Read no more."""
        self._held = True
        self._pause()

    @property
    def is_held(self) -> bool:
        """Whether no more is read because of ``hold``."""
        return self._held

    def release(self) -> None:
        """Read on, from the loop's next turn."""
        if self._held:
            self._held = False
            self.heard = True
            self._loop.call_soon(self._feed)

    def flush(self) -> None:
        """Write at once what was sent."""
        if not self._ws.writes:
            return
        writes = self._ws.data_to_send()
        self._pending = 0
        if self._is_ended:
            return
        data = b"".join(writes)
        if data:
            self._transport.write(data)
            self._count(writes)
        if SEND_EOF in writes and not self._is_ended:
            self._is_ended = True
            self._start_deadline()
            self._transport.write_eof()

    # Inward

    def _feed(self) -> None:
        frames = 0
        while not self._held:
            if frames == _TURN_FRAMES:
                self._pause()
                self._loop.call_soon(self._feed)
                break
            if not self._take():
                self._rest, self._read = self._rest[self._read :], 0
                self._resume()
                break
            frames += 1
        self.flush()

    def _take(self) -> bool:
        """Take the next frame; False where there is none, or only a part of one."""
        rest, at, ws = self._rest, self._read, self._ws
        if at == len(rest):
            return False
        if ws.state is State.OPEN and ws.current_size is None and not self._is_deaf:
            ordinary = ordinary_message(rest, at, self._settings.frame_bytes)
            if ordinary is not None:
                message, self._read = ordinary
                self.heard = True
                self._listener.deliver(message)
                return True
        end = frame_end(rest, at, ws.room)
        if end is None:
            return False
        self._read = end
        self._take_by_library(rest[at:end])
        return True

    def _take_by_library(self, frame: bytes) -> None:
        self._ws.receive_data(frame)
        if self._ws.events_received():
            self.heard = True
        for message in self._ws.messages_received():
            if not self._is_deaf:
                self._listener.deliver(message)

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._paused and not self._held:
            self._paused = False
            self._transport.resume_reading()

    # Outward

    def _flush_due(self) -> None:
        self._flush_is_due = False
        self.flush()

    def _count(self, writes: list[bytes]) -> None:
        buffered = self._transport.get_write_buffer_size()
        if not buffered:
            self._outbox.settle(0)
            return
        now = self._loop.time()
        for write in writes:
            self._outbox.wrote(len(write), now)
        self._outbox.settle(buffered)
        settings = self._settings
        if buffered > settings.outbox_bytes or len(self._outbox) > settings.outbox_messages:
            self.abort("outbox is full")
        elif self._unread is None:
            self._unread = self._loop.call_later(settings.unread_s, self._check_unread)

    def _check_unread(self) -> None:
        left_s = self._unread_left_s()
        if left_s is None:
            self._unread = None
        elif left_s > _CLOCK_STEP_S:
            self._unread = self._loop.call_later(left_s, self._check_unread)
        else:
            # If it was this process that stood still, the kernel may have had no chance to take it.
            self._unread = self._loop.call_later(LAST_LOOK_S, self._condemn_unread)

    def _condemn_unread(self) -> None:
        left_s = self._unread_left_s()
        if left_s is not None and left_s <= _CLOCK_STEP_S:
            self.abort("does not read")
        else:
            self._check_unread()

    def _unread_left_s(self) -> float | None:
        """How long the oldest message in the outbox may wait yet; None where there is none."""
        self._outbox.settle(self._transport.get_write_buffer_size())
        if not self._outbox:
            return None
        return self._outbox.since + self._settings.unread_s - self._loop.time()

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self._loop.call_later(
                self._settings.close_s, self.abort, "close took too long"
            )
