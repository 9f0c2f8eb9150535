"""Work that goes on beside the connections for as long as the server runs."""

import logging
from collections.abc import Awaitable, Callable

AGAIN_S = 1.0

_log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]


async def keep_going(name: str, work: Callable[[Sleep], Awaitable[None]], sleep: Sleep) -> None:
    """Do work that has no end; where a mistake of ours ends it, log that and begin anew."""
    while True:
        try:
            await work(sleep)
        except Exception:  # noqa: BLE001 - logged, and one day's mistake must not end all days
            _log.exception("background work crashed", extra={"work": name})
        await sleep(AGAIN_S)
