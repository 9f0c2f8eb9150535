"""Who is connected, how many may be, and when nobody is left."""

import asyncio
from collections import Counter
from http import HTTPStatus
from typing import Protocol

from ..address import group_of
from .application import Response
from .http import plain
from .settings import GatewaySettings


class Guest(Protocol):
    """A socket, and the work that was begun for it."""

    def leave(self) -> None:
        """End in good order, soon."""

    def abort(self) -> None:
        """End now, and cancel the work."""


class Census:
    """Sockets by what they are: at the door, or WebSockets, counted by their addresses too."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._doors: set[Guest] = set()
        self._connections: dict[Guest, str] = {}
        self._groups: Counter[str] = Counter()
        self._empty = asyncio.Event()
        self.is_draining = False

    @property
    def connections(self) -> int:
        """Number of WebSockets, with those that are gone but whose last message is in work."""
        return len(self._connections)

    @property
    def guests(self) -> list[Guest]:
        """Everybody, as of now."""
        return [*self._doors, *self._connections]

    def came(self, door: Guest) -> bool:
        """Count a new socket; False where there is no room for it."""
        if self.is_draining or len(self._doors) >= self._settings.handshakes:
            return False
        self._doors.add(door)
        return True

    def refusal(self, address: str) -> Response | None:
        """Why there is no WebSocket for this address now; None where there is one."""
        retry = {"Retry-After": str(self._settings.retry_after_s)}
        if len(self._connections) >= self._settings.connections:
            return plain(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections", retry)
        if self._groups[group_of(address)] >= self._settings.connections_per_address:
            return plain(
                HTTPStatus.TOO_MANY_REQUESTS, "too many connections from this address", retry
            )
        return None

    def seated(self, door: Guest, connection: Guest, address: str) -> None:
        """Count a socket as a WebSocket from now on."""
        group = group_of(address)
        self._connections[connection] = group
        self._groups[group] += 1
        self.gone(door)

    def gone(self, guest: Guest) -> None:
        """Forget somebody, once the socket is closed and the work is done."""
        self._doors.discard(guest)
        group = self._connections.pop(guest, None)
        if group is not None:
            self._groups[group] -= 1
            if not self._groups[group]:
                del self._groups[group]
        if not self._doors and not self._connections:
            self._empty.set()

    async def emptied(self) -> None:
        """Wait until nobody is left. Newcomers should be kept out."""
        while self._doors or self._connections:
            self._empty.clear()
            await self._empty.wait()
