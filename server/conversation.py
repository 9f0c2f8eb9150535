"""Conversations: one for each connection; together they are the application behind the gateway."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cellmates.protocol import REQUESTS as EXCHANGES
from cellmates.protocol import (
    CloseCode,
    Draining,
    Encoding,
    ErrorCode,
    EventBody,
    ProtocolError,
    Request,
    decode_request,
    encode_error,
    encode_event,
    encode_reply,
)

from .address import group_of
from .clock import Clock
from .daily_handlers import BoardKey
from .hall import Hall
from .handlers import Handlers
from .metrics import OK, Metrics
from .players import token_hash
from .rates import REQUESTS, Rates
from .records import PlayerRecord
from .refusals import Error, error_of
from .session import MOVES, Bucket, NotNow, Rate, State, check

_NAMES = {exchange.request: name for name, exchange in EXCHANGES.items()}

_log = logging.getLogger(__name__)

BAD_FRAMES_ALLOWED = 2
WARNINGS = Rate(50, 1)  # who is told to slow down more often does not listen
HELLO_S = 5.0
APART_MS = 2  # a handshake and a greeting take about a millisecond
MOST_SPREAD_MS = 20_000


class Peer(Protocol):
    """The other end of a connection, as the gateway gives it."""

    @property
    def address(self) -> str:
        """IP address of whoever is there."""

    @property
    def encoding(self) -> Encoding:
        """What the handshake agreed on."""

    def send(self, frame: bytes) -> None:
        """Send a frame; never waits."""

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye and close."""

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> "Timer":
        """Call back after a while, unless the connection is gone by then."""


class Timer(Protocol):
    """What can still be called off."""

    def cancel(self) -> None:
        """Do not call back."""


class Conversation:
    """What is said over one connection. Frames are handled one at a time, in order."""

    def __init__(self, peer: Peer, room: "Application") -> None:
        """``room`` is the application that the conversation is part of."""
        self.player: PlayerRecord | None = None
        self.token_hash: str | None = None
        self.followed: set[str] = set()
        self.watched: set[BoardKey] = set()
        self._peer = peer
        self._hall = room.hall
        self._handlers = room.handlers
        self._rates = room.rates
        self._clock = room.clock
        self._metrics = room.metrics
        self._timer = room.timer
        self._state = State.GREETING
        self._network = group_of(peer.address)
        self._buckets = {
            "requests": Bucket(REQUESTS),
            "moves": Bucket(self._rates.moves),
        }
        self._bad_frames = 0
        self._warnings = Bucket(WARNINGS)
        self._is_answering = False
        self._is_closing = False
        self._is_draining = False
        self._hall.enter(self)
        self._greeting_deadline = peer.call_later(HELLO_S, self._greeting_missed)

    async def receive(self, frame: bytes | str) -> None:
        """Answer one frame. Never raises."""
        if self._is_closing:
            return
        try:
            request = decode_request(self._peer.encoding, self._in_its_kind(frame))
        except ProtocolError as unread:
            self._misread(unread)
            return
        began = self._timer()
        self._is_answering = True
        error = self._may_not(request) or await self._answer(request)
        self._is_answering = False
        if error is not None:
            self._refuse(request.id, error)
            self._close_after(error.code)
        outcome = OK if error is None else error.code
        self._metrics.request(_NAMES[type(request.body)], outcome, self._timer() - began)

    def closed(self) -> None:
        """The socket is gone."""
        self._is_closing = True
        self._greeting_deadline.cancel()
        self._hall.leave(self)

    def say(self, event: EventBody) -> None:
        """Send an event."""
        self._peer.send(encode_event(self._peer.encoding, event))

    def close(self, code: CloseCode, reason: str) -> None:
        """Say goodbye; what comes in after that is not answered."""
        self._is_closing = True
        self._peer.close(code, reason)

    def drain(self) -> None:
        """From now on answer nothing new: the server goes away."""
        self._is_draining = True

    def become(self, player: PlayerRecord | None, token: str | None) -> None:
        """From now on this connection is that player's, who has this token, or a guest's."""
        self._greeting_deadline.cancel()
        self.token_hash = None if token is None else token_hash(token)
        self._state = State.GUEST if player is None else State.PLAYING
        self._hall.identify(self, player)

    def hold(self, token: str) -> None:
        """From now on the player of this connection has this token."""
        self.token_hash = token_hash(token)

    def follow(self, game: str) -> None:
        """Tell this connection what others of its player do in a game."""
        self._hall.follow(self, game)

    def watch(self, board: BoardKey, most: int) -> bool:
        """Tell this connection when a board changes; False where it watches ``most`` already."""
        if board not in self.watched and len(self.watched) >= most:
            return False
        self._hall.watch(self, board)
        return True

    def unwatch(self, board: BoardKey) -> None:
        """Tell it no longer."""
        self._hall.unwatch(self, board)

    def _misread(self, unread: ProtocolError) -> None:
        """Answer a frame in which no request can be read; it counts as one all the same."""
        wait_ms = self._buckets["requests"].take(self._clock.monotonic_ms())
        error = Error(unread.code, unread.message, unread.context)
        self._metrics.frame_refused(unread.code)
        self._refuse(unread.re, _slow_down("requests", wait_ms) if wait_ms else error)
        if unread.code is ErrorCode.BAD_FRAME:
            self._count_bad_frame()
        elif wait_ms:
            self._close_after(ErrorCode.RATE_LIMITED)

    async def _answer(self, request: Request) -> Error | None:
        try:
            body = await self._handlers.answer(self, request.body)
        except Exception as crash:  # noqa: BLE001 - logged below, and the connection lives on
            error = error_of(crash)
            if error is None:
                _log.exception("request crashed", extra={"type": type(request.body).__name__})
                return Error(ErrorCode.INTERNAL, "the server made a mistake", {})
            return error
        self._peer.send(encode_reply(self._peer.encoding, request.id, body))
        return None

    def _may_not(self, request: Request) -> Error | None:
        """Why a request may not be said now; None where it may."""
        said = type(request.body)
        if self._is_draining:
            return Error(ErrorCode.DRAINING, "the server is about to restart", {}, 1_000)
        wait_ms, key = self._wait_ms(said)
        if wait_ms:
            return _slow_down(key, wait_ms)
        try:
            check(self._state, said)
        except NotNow as error:
            return Error(error.code, str(error), {})
        return None

    def _wait_ms(self, message: type) -> tuple[int, str]:
        now = self._clock.monotonic_ms()
        key = "moves" if message in MOVES else "requests"
        wait_ms = self._buckets[key].take(now)
        if wait_ms:
            return wait_ms, key
        return self._rates.wait_ms(self._network, self.player, message, now), "player or address"

    def _close_after(self, code: ErrorCode) -> None:
        if code is ErrorCode.UNSUPPORTED_PROTO:
            self.close(CloseCode.UNSUPPORTED_PROTO, "protocol version")
        elif code is ErrorCode.BAD_TOKEN:
            self.close(CloseCode.BAD_TOKEN, "token")
        elif code is ErrorCode.RATE_LIMITED and self._warnings.take(self._clock.monotonic_ms()):
            self.close(CloseCode.TOO_MANY_REQUESTS, "too many requests")

    def _in_its_kind(self, frame: bytes | str) -> bytes | str:
        """The frame, if it is of the kind that the encoding asks for."""
        wanted = str if self._peer.encoding is Encoding.JSON else bytes
        if not isinstance(frame, wanted):
            kind = "text" if wanted is str else "binary"
            message = f"frames of {self._peer.encoding} are {kind} frames"
            raise ProtocolError(ErrorCode.BAD_FRAME, message)
        return frame

    def _refuse(self, re: int | None, error: Error) -> None:
        frame = encode_error(
            self._peer.encoding, re, error.code, error.message, error.context, error.retry_after_ms
        )
        self._peer.send(frame)

    def _count_bad_frame(self) -> None:
        self._bad_frames += 1
        if self._bad_frames > BAD_FRAMES_ALLOWED:
            self.close(CloseCode.BAD_FRAMES, "bad frames")

    def _greeting_missed(self) -> None:
        if self._is_answering:  # said in time, and it is the answer that takes long
            self._greeting_deadline = self._peer.call_later(HELLO_S, self._greeting_missed)
            return
        self.close(CloseCode.TOO_SLOW, "no hello in time")


@dataclass(frozen=True, slots=True)
class Application:
    """What the gateway talks to: makes a conversation for each connection.

    ``timer`` gives seconds since some moment, for the metrics; ``below(n)`` draws a number.
    """

    hall: Hall
    handlers: Handlers
    clock: Clock
    rates: Rates
    metrics: Metrics
    timer: Callable[[], float]
    below: Callable[[int], int]

    def opened(self, peer: Peer) -> Conversation:
        """A WebSocket connection is there."""
        return Conversation(peer, self)

    def draining(self, deadline_s: float, retry_after_ms: int) -> None:
        """Tell everybody that the server goes away, and answer nothing new.

        All are told to come back after ``retry_after_ms``, and by chance somewhat later, the later
        the more they are: not all at once.
        """
        deadline = self.clock.now_ms() + int(deadline_s * 1000)
        conversations = tuple(self.hall.conversations)
        spread_ms = min(len(conversations) * APART_MS, MOST_SPREAD_MS)
        for conversation in conversations:
            conversation.say(Draining(deadline, retry_after_ms + self.below(spread_ms + 1)))
            conversation.drain()


def _slow_down(key: str, wait_ms: int) -> Error:
    return Error(ErrorCode.RATE_LIMITED, f"slow down: too many {key}", {"key": key}, wait_ms)
