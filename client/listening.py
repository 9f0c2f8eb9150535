"""Events one by one, for whoever listens."""

import asyncio
from typing import Self

from .errors import ClientError, Closed
from .link import NORMAL
from .results import Happening


class Events:
    """Events since this was made, in order: an asynchronous iterator.

    It ends when the client is closed, and raises what ended the client otherwise.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Happening | ClientError] = asyncio.Queue()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Happening:
        happening = await self._queue.get()
        if not isinstance(happening, ClientError):
            return happening
        self._queue.put_nowait(happening)  # and so it ends when asked again
        if isinstance(happening, Closed) and happening.code == NORMAL:
            raise StopAsyncIteration
        raise happening

    def put(self, happening: Happening) -> None:
        """One more event."""
        self._queue.put_nowait(happening)

    def end(self, error: ClientError) -> None:
        """There will be no more, and why."""
        self._queue.put_nowait(error)
