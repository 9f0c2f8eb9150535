"""Time, as the server asks for it; handed in, so that tests can set it."""

import time
from typing import Protocol


class Clock(Protocol):
    """Two clocks: the wall's for what people read, the monotonic for what is measured."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""

    def monotonic_ms(self) -> int:
        """Milliseconds since some moment; never goes back."""


class SystemClock:
    """The clocks of the machine."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Milliseconds since some moment; never goes back."""
        return time.monotonic_ns() // 1_000_000
