"""Work that goes on beside the connections for as long as the server runs."""

import logging
from collections.abc import Awaitable, Callable

AGAIN_S = 1.0

_log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class Outage:
    """Something that fails again and again: the log says so once, and once that it is over."""

    def __init__(self, log: logging.Logger, says: str) -> None:
        """``says`` is what fails, in words."""
        self._log = log
        self._says = says
        self._lasts = False

    def note(self, error: Exception | None) -> None:
        """Note how a try has ended; None where it went well."""
        if error is not None and not self._lasts:
            self._log.error(self._says, extra={"why": str(error)})
        elif error is None and self._lasts:
            self._log.info("over: %s", self._says)
        self._lasts = error is not None


async def keep_going(name: str, work: Callable[[Sleep], Awaitable[None]], sleep: Sleep) -> None:
    """Do work that has no end; where a mistake of ours ends it, log that and begin anew."""
    while True:
        try:
            await work(sleep)
        except Exception:  # noqa: BLE001 - logged, and one day's mistake must not end all days
            _log.exception("background work crashed", extra={"work": name})
        await sleep(AGAIN_S)
