"""The gateway as a whole: listens, and shuts down without ever hanging on a peer."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from .application import Application, Pages
from .census import Census
from .door import Door, House
from .settings import GatewaySettings

logger = logging.getLogger(__name__)

_LAST_WAIT_S = 1.0


class Gateway:
    """WebSockets and pages on one port. Made and used in a running event loop.

    ::

        gateway = Gateway(application, pages, GatewaySettings())
        addresses = await gateway.start("127.0.0.1", 0)
        ...
        await gateway.drain(announce)
    """

    def __init__(
        self, application: Application, pages: Pages, settings: GatewaySettings | None = None
    ) -> None:
        self._application = application
        self._pages = pages
        self._settings = settings or GatewaySettings()
        self._census = Census(self._settings)
        self._server: asyncio.Server | None = None

    @property
    def connections(self) -> int:
        """Number of WebSockets that are open, or whose last message is still in work."""
        return self._census.connections

    @property
    def is_draining(self) -> bool:
        """Whether nobody new is let in any more."""
        return self._census.is_draining

    async def start(self, host: str | Sequence[str], port: int) -> list[tuple[str, int]]:
        """Listen; the addresses that came of it.

        Raises:
            OSError: an address cannot be listened on. Then none is.
        """
        loop = asyncio.get_running_loop()
        house = House(self._application, self._pages, self._census, self._settings, loop)
        self._server = await loop.create_server(
            lambda: Door(house), host, port, backlog=self._settings.backlog
        )
        names = [listener.getsockname() for listener in self._server.sockets]
        return [(name[0], name[1]) for name in names]

    async def drain(
        self, announce: Callable[[], None] | None = None, deadline_s: float | None = None
    ) -> None:
        """Let nobody new in, have the rest say goodbye, return when nobody is left.

        ``announce`` may send a last event to everybody. Then each connection handles what has
        arrived and closes 1012. At the deadline, and at once when this is called a second time,
        what is left is aborted and its work cancelled. Never raises because of a peer.
        """
        if self.is_draining:
            self._abort_all()
            await self._emptied(_LAST_WAIT_S)
            return
        self._census.is_draining = True
        if self._server is not None:
            self._server.close()
        if announce is not None:
            _call(announce)
        for guest in self._census.guests:
            guest.leave()
        if await self._emptied(self._settings.drain_s if deadline_s is None else deadline_s):
            return
        self._abort_all()
        if not await self._emptied(_LAST_WAIT_S):
            logger.error("work for a connection cannot be cancelled")

    async def _emptied(self, wait_s: float) -> bool:
        try:
            async with asyncio.timeout(wait_s):
                await self._census.emptied()
        except TimeoutError:
            return False
        return True

    def _abort_all(self) -> None:
        for guest in self._census.guests:
            guest.abort()


def _call(announce: Callable[[], None]) -> None:
    try:
        announce()
    except Exception:
        logger.exception("the drain could not be announced")
