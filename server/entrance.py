"""Admission of those who come with a token: a few are looked up at a time, some wait, no more.

After a restart everybody comes back at once. Looking all of them up at once would take longer than
any of them waits, and then they would all come again, for ever.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .clock import Clock

AT_ONCE = 8
MOST_WAIT_MS = 4_000  # well within the patience of a client
FIRST_MS = 1_000
MOST_SPREAD_MS = 30_000
EACH_MS = 3.0  # what a turn takes, to begin with
_WEIGHT = 1 / 32


class Crowded(Exception):
    """Too many wait already: come back after ``retry_after_ms``."""

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__("too many come at once: come back later")
        self.retry_after_ms = retry_after_ms


class Entrance:
    """Turns in the order of coming. Those who would wait too long are sent away, each for longer.

    How fast it goes is measured, since that depends on the machine and on who is inside already.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._here = 0  # in their turn, or waiting for it
        self._each_ms = EACH_MS
        self._busy_since_ms: int | None = None  # when the last turn ended, if others waited then
        self._place_ms = 0.0  # when the last one who was sent away may come back

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn.

        Raises:
            Crowded: it would take too long.
        """
        if self._here * self._each_ms > MOST_WAIT_MS:
            raise Crowded(self._place())
        self._here += 1
        try:
            async with self._turns:
                yield
        finally:
            self._here -= 1
            self._measure()

    def _place(self) -> int:
        """Milliseconds after which the next one who is sent away may come back."""
        now = self._clock.monotonic_ms()
        place = max(self._place_ms, now + FIRST_MS) + self._each_ms
        self._place_ms = min(place, now + MOST_SPREAD_MS)
        return int(self._place_ms - now)

    def _measure(self) -> None:
        now = self._clock.monotonic_ms()
        if self._busy_since_ms is not None:
            self._each_ms += _WEIGHT * (now - self._busy_since_ms - self._each_ms)
        self._busy_since_ms = now if self._here >= AT_ONCE else None
