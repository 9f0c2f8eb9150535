"""What the gateway asks of the application, and what it gives it: the port between the two."""

from asyncio import TimerHandle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cellmates.protocol import Encoding


class Peer(Protocol):
    """The other end of one WebSocket, as the application sees it."""

    @property
    def address(self) -> str:
        """IP address in its shortest form; the client's own where a trusted proxy tells it."""

    @property
    def encoding(self) -> Encoding:
        """What the handshake agreed on."""

    def send(self, frame: bytes) -> None:
        """Send a message, in the encoding agreed on. Never waits, never fails.

        What is sent in one turn of the event loop is written at once, at its end. To a peer that
        is gone or closing nothing is sent; one that does not read is dropped.
        """

    def close(self, code: int, reason: str = "") -> None:
        """Close, with the handshake, after what was sent; no more frames are received.

        Raises:
            websockets.ProtocolError: a close frame must not have this code. Nothing is sent.
        """

    def call_later(self, delay_s: float, callback: Callable[[], None]) -> TimerHandle:
        """Call back after a while, unless the connection is closing or gone by then."""


class Conversation(Protocol):
    """One WebSocket's side in the application."""

    async def receive(self, frame: bytes | str) -> None:
        """Handle one message: bytes of a binary one, text of a text one, either in any encoding.

        Called for one at a time, in order, for every message that arrived whole, even if the peer
        has gone meanwhile; not after ``Peer.close``. It is not cancelled when the peer goes, only
        at the hard deadline of a drain. What it raises is logged and closes this connection 1011.
        """

    def closed(self) -> None:
        """Forget the peer: the socket is gone. Called once, after the last ``receive`` is done."""


class Application(Protocol):
    """Who talks to the peers."""

    def opened(self, peer: Peer) -> Conversation:
        """Begin a conversation: the handshake is done. It may already send."""


@dataclass(frozen=True, slots=True)
class Response:
    """A page, or why there is none. A header given here replaces the gateway's own."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class Pages(Protocol):
    """Who answers plain GET and HEAD."""

    async def get(self, path: str, query: str) -> Response:
        """Answer for a path as it was sent, undecoded; a 404 where there is no page."""
