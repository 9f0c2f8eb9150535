"""Dialling a server. The only module of the client that knows a WebSocket library."""

import logging
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI
from websockets.typing import Subprotocol

from .connection import SERVER_FRAME_BYTES, Encoding, Frame
from .errors import CannotConnect, WrongFrame
from .line import NotNow
from .link import BROKEN, Socket, SocketClosed

_CLOSING_S = 2
# A peer that is gone is noticed within 20 s, so that a call with 30 s can still be answered.
_HEARTBEAT_S = 10
# The library's codes for a frame from the server that it will not read.
_UNREADABLE = frozenset({1002, 1003, 1007, 1009})
# Answers to the handshake of a server that will be there again soon.
_SOON_AGAIN = frozenset({429, 502, 503, 504})
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

# Frames hold tokens, and at level DEBUG the library would log them.
_LOG = logging.getLogger("cellmates.client.websocket")
_LOG.setLevel(logging.INFO)


async def dial(url: str, encoding: Encoding) -> Socket:
    """Open a WebSocket.

    Raises:
        NotNow: the server takes no connections at present.
        CannotConnect: there is no server, or something else.
    """
    try:
        connection = await connect(
            url,
            subprotocols=[Subprotocol(encoding.subprotocol)],
            compression=None,
            max_size=SERVER_FRAME_BYTES,
            ping_interval=_HEARTBEAT_S,
            ping_timeout=_HEARTBEAT_S,
            close_timeout=_CLOSING_S,
            proxy=None if urlsplit(url).hostname in _LOOPBACK else True,
            logger=_LOG,
        )
    except InvalidStatus as error:
        status = error.response.status_code
        if status in _SOON_AGAIN:
            raise NotNow from None
        raise CannotConnect(f"{url} is no Cellmates server: it answers {status}") from None
    except InvalidHandshake as error:
        raise CannotConnect(f"{url} is no Cellmates server: {error}") from None
    except ConnectionRefusedError:
        raise CannotConnect(f"there is no server at {url}") from None
    except ConnectionClosed:  # between the connection and the request of the handshake
        raise CannotConnect(f"the server at {url} closed the connection at once") from None
    except (OSError, UnicodeError, InvalidURI) as error:
        raise CannotConnect(f"there is no server to be reached at {url}: {error}") from None
    if connection.subprotocol != encoding.subprotocol:
        await connection.close()
        raise CannotConnect(f"the server at {url} does not speak {encoding.subprotocol}")
    return _Socket(connection)


class _Socket:
    """A connection of the library, as a link needs it."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def send(self, frame: Frame) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as closed:
            raise SocketClosed(_code(closed)) from None

    async def receive(self) -> Frame:
        try:
            return await self._connection.recv()
        except ConnectionClosed as closed:
            sent = closed.sent
            if sent is not None and not closed.rcvd_then_sent and sent.code in _UNREADABLE:
                raise WrongFrame(f"the server sent what cannot be read: {sent.reason}") from None
            raise SocketClosed(_code(closed)) from None

    async def close(self, code: int) -> None:
        await self._connection.close(code)


def _code(closed: ConnectionClosed) -> int:
    return closed.rcvd.code if closed.rcvd is not None else BROKEN
