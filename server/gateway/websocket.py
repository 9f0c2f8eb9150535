"""One WebSocket as the library keeps it: bytes to messages and back, within our limits. No I/O.

What the library leaves to its callers is done frame by frame here, as it parses: joining fragments,
decoding text, counting. Done later it would depend on how the network had split the stream.
"""

import logging
from collections.abc import Sequence

from websockets.exceptions import NegotiationError
from websockets.frames import CloseCode, Frame, Opcode
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from cellmates.protocol import CloseCode as OurCloseCode
from cellmates.protocol import Encoding

from .assembly import Assembly, TooLarge
from .settings import GatewaySettings

_LARGEST_CONTROL_BYTES = 125
_CONTROL = frozenset({Opcode.PING, Opcode.PONG})
_SUBPROTOCOLS = [Subprotocol(encoding.subprotocol) for encoding in Encoding]

# The library logs whole frames at DEBUG and every connection at INFO. Its errors are mistakes.
_library_logger = logging.getLogger(f"{__name__}.library")
_library_logger.setLevel(logging.ERROR)


class WebSocket(ServerProtocol):
    """The server's side of one WebSocket; without extensions.

    ``controls`` counts pings and pongs; who watches the peer resets it. The library holds them to
    what is left of the limit while a fragmented message comes in, so it gets room for one more, and
    the exact limit is the assembly's.
    """

    # With these among the library's own attributes they would be too many for a dictionary whose
    # keys all connections share: 1.4 KiB more for each.
    __slots__ = ("_assembly", "_messages", "_settings", "controls")

    def __init__(self, settings: GatewaySettings) -> None:
        super().__init__(
            subprotocols=_SUBPROTOCOLS,
            max_size=settings.frame_bytes + _LARGEST_CONTROL_BYTES,
            logger=_library_logger,
        )
        self._settings = settings
        self._assembly = Assembly(settings.frame_bytes, settings.fragments)
        self._messages: list[bytes | str] = []
        self.controls = 0

    @property
    def encoding(self) -> Encoding:
        """What the handshake agreed on; JSON with a client that asked for nothing."""
        return Encoding(self.subprotocol) if self.subprotocol else Encoding.JSON

    @property
    def room(self) -> int:
        """Bytes of payload in the next frame that the library does not refuse at sight."""
        return self._settings.frame_bytes + _LARGEST_CONTROL_BYTES - (self.current_size or 0)

    def messages_received(self) -> list[bytes | str]:
        """Messages that ended since this was last asked."""
        messages, self._messages = self._messages, []
        return messages

    # What the library calls

    def select_subprotocol(self, subprotocols: Sequence[Subprotocol]) -> Subprotocol | None:
        """Choose the first that we know, in the client's order; none where none is offered."""
        for subprotocol in subprotocols:
            if subprotocol in _SUBPROTOCOLS:
                return subprotocol
        if subprotocols:
            known = ", ".join(_SUBPROTOCOLS)
            raise NegotiationError(f"no known subprotocol is offered; there are {known}")
        return None

    def recv_frame(self, frame: Frame) -> None:
        """Take a frame that was parsed; the library has the first look, and sees to its order."""
        super().recv_frame(frame)
        if frame.opcode in _CONTROL:
            self.controls += 1
            if self.controls > self._settings.control_frames:
                self.fail(OurCloseCode.TOO_MANY_REQUESTS, "too many pings")
        elif frame.opcode is not Opcode.CLOSE:
            self._join(frame)

    def fail(self, code: CloseCode | int, reason: str = "") -> None:
        """Close because of the peer's mistake, without waiting for its answer."""
        if code is CloseCode.MESSAGE_TOO_BIG:  # said by the library, of the limit with the room
            reason = f"message of more than {self._settings.frame_bytes} bytes"
        super().fail(code, reason)

    def _join(self, frame: Frame) -> None:
        try:
            message = self._assembly.add(frame)
        except UnicodeDecodeError:
            self.fail(CloseCode.INVALID_DATA, "text is not UTF-8")
        except TooLarge as error:
            self.fail(OurCloseCode.TOO_LARGE, str(error))
        else:
            if message is not None:
                self._messages.append(message)
