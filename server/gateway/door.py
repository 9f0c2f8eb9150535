"""The door that every socket comes through: one request, answered, or made a WebSocket."""

import asyncio
import logging
from asyncio import AbstractEventLoop, Task, TimerHandle
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from websockets.http11 import Request

from ..address import client_address
from . import handshake
from .application import Application, Pages, Response
from .census import Census
from .connection import Connection
from .http import Refused, end_of_head, plain, read_request, serialise, too_large
from .settings import LAST_LOOK_S, GatewaySettings
from .transport import Wire
from .websocket import WebSocket

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """What is behind every door."""

    application: Application
    pages: Pages
    census: Census
    settings: GatewaySettings
    loop: AbstractEventLoop


class Door(asyncio.Protocol):
    """One socket until its request is answered or its WebSocket is open."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._head = bytearray()
        self._has_request = False
        self._is_answered = False
        self._is_half_closed = False
        self._is_closed = False
        self._task: Task[None] | None = None

    # From the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, so long and no longer."""
        self._transport = cast(asyncio.Transport, transport)
        self._timer: TimerHandle = self._house.loop.call_later(
            self._house.settings.handshake_s, self._look_again
        )
        if not self._house.census.came(self):
            self._drop("no room for another socket")

    def data_received(self, data: bytes) -> None:
        """Take what was read. What comes after a request that is no handshake is ignored."""
        if self._has_request:
            return
        searched = len(self._head)
        self._head += data
        end, largest = end_of_head(self._head, searched), self._house.settings.head_bytes
        if (end or len(self._head)) > largest:
            self._has_request = True
            self._answer(too_large())
        elif end is not None:
            self._has_request = True
            head, behind = bytes(self._head[:end]), bytes(self._head[end:])
            self._head.clear()
            self._take_request(head, behind)

    def eof_received(self) -> bool:
        """Keep our side open while an answer is due on it."""
        self._is_half_closed = True
        return self._has_request and not self._is_answered

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the socket; that it breaks is normal."""
        self._timer.cancel()
        self._is_closed = True
        if self._task is None:
            self._house.census.gone(self)

    # For the gateway

    def leave(self) -> None:
        """Close, once an answer that is due or on its way is written."""
        if not self._has_request:
            self._transport.abort()
        elif self._is_answered:
            self._transport.close()

    def abort(self) -> None:
        """Close the socket at once and cancel the page."""
        self._transport.abort()
        if self._task is not None:
            self._task.cancel()

    # Requests

    def _take_request(self, head: bytes, behind: bytes) -> None:
        is_head = head.startswith(b"HEAD ")
        ws = WebSocket(self._house.settings)
        try:
            request = read_request(head, ws)
            path, _, query = request.path.partition("?")
            if path == handshake.PATH:
                self._open_websocket(ws, request, behind)
                return
            if handshake.is_wanted(request):
                raise Refused(plain(HTTPStatus.NOT_FOUND, f"the WebSocket is at {handshake.PATH}"))
        except Refused as refused:
            self._answer(refused.response, is_head=is_head)
            return
        self._timer.cancel()
        self._task = self._house.loop.create_task(self._show(path, query, is_head=is_head))
        self._task.add_done_callback(self._shown)

    async def _show(self, path: str, query: str, *, is_head: bool) -> None:
        try:
            async with asyncio.timeout(self._house.settings.page_s):
                response = await self._house.pages.get(path, query)
        except TimeoutError:
            response = plain(HTTPStatus.SERVICE_UNAVAILABLE, "this takes too long now")
        except Exception:
            logger.exception("a page crashed")
            response = plain(HTTPStatus.INTERNAL_SERVER_ERROR, "the server made a mistake")
        self._answer(response, is_head=is_head)

    def _shown(self, _task: Task[None]) -> None:
        self._task = None
        if self._is_closed:
            self._house.census.gone(self)

    def _answer(self, response: Response, *, is_head: bool = False) -> None:
        """Write the answer, then wait for the peer to close, so that it can read all of it."""
        self._is_answered = True
        self._timer.cancel()
        if self._transport.is_closing():
            return
        self._transport.write(serialise(response, is_head=is_head))
        self._timer = self._house.loop.call_later(
            self._house.settings.page_s, self._drop, "answer is not read"
        )
        if self._is_half_closed:
            self._transport.close()
        else:
            self._transport.write_eof()

    def _open_websocket(self, ws: WebSocket, request: Request, behind: bytes) -> None:
        """Answer the handshake and hand the socket over.

        Raises:
            Refused: there is no WebSocket for this request, or no room for one.
        """
        house = self._house
        response = handshake.accept(ws, request, house.settings.origins)
        address = self._client_address(request)
        refusal = house.census.refusal(address)
        if refusal is not None:
            raise Refused(refusal)
        self._timer.cancel()
        ws.send_response(response)
        request.headers.clear()  # the library keeps the request for as long as the WebSocket lives
        wire = Wire(self._transport, ws, house.settings, house.loop)
        connection = Connection(
            wire,
            ws.encoding,
            address,
            census=house.census,
            settings=house.settings,
            loop=house.loop,
        )
        house.census.seated(self, connection, address)
        self._transport.set_protocol(wire)
        connection.open(house.application)
        wire.data_received(behind)

    def _client_address(self, request: Request) -> str:
        name = self._transport.get_extra_info("peername")
        return client_address(
            name[0] if name else "",
            request.headers.get_all("X-Forwarded-For"),
            self._house.settings.trusted_proxies,
        )

    def _look_again(self) -> None:
        # If it was this process that stood still, the request may be waiting to be read.
        self._timer = self._house.loop.call_later(LAST_LOOK_S, self._drop, "request took too long")

    def _drop(self, why: str) -> None:
        logger.info("socket dropped", extra={"why": why})
        self._transport.abort()
