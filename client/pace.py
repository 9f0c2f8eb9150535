"""How long to wait: before connecting again, and between requests. No clock and no chance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BackOff:
    """Exponential back-off with full jitter, so that a crowd does not come back all at once."""

    first_s: float = 0.25
    most_s: float = 10.0

    def wait_s(self, failures: int, chance: float, retry_after_ms: int | None = None) -> float:
        """Seconds to wait after so many failures before this one.

        ``chance`` is a random number from 0 to 1; ``retry_after_ms`` what the server asked for,
        which is waited in any case.
        """
        most = min(self.most_s, self.first_s * 2.0 ** min(failures, 64))
        return (retry_after_ms or 0) / 1000 + chance * most


class Pace:
    """Requests no faster than the limits in the greeting; times are seconds of any one clock."""

    def __init__(self, burst: int, per_s: int) -> None:
        self._apart = 1 / per_s if per_s > 0 else 0.0
        self._early = self._apart * max(burst - 1, 0)
        self._due = 0.0

    def wait_s(self, now: float) -> float:
        """Seconds until one more request may be sent; its place is taken."""
        self._due = max(self._due, now)
        wait = max(self._due - self._early - now, 0.0)
        self._due += self._apart
        return wait
