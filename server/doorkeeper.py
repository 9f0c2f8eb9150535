"""Shows those out whose token works no longer, whichever process has replaced it."""

import logging

from .background import Outage, Sleep
from .clock import Clock
from .hall import Hall
from .journal import Journal, StorageError

LOOK_S = 1.0
# Changes are looked for again this long after, because they are committed later than they are
# dated, and by the clock of another process.
OVERLAP_MS = 60_000

_log = logging.getLogger(__name__)


class Doorkeeper:
    """Looks for tokens that have changed, and closes what connections came with the old ones."""

    def __init__(self, journal: Journal, clock: Clock, hall: Hall) -> None:
        self._journal = journal
        self._clock = clock
        self._hall = hall
        self._looked_ms = clock.now_ms()
        self._outage = Outage(_log, "tokens cannot be looked at")

    async def run(self, sleep: Sleep) -> None:
        """Look again and again, for ever; a database that is away is said once."""
        while True:
            await self.look()
            await sleep(LOOK_S)

    async def look(self) -> None:
        """Look once."""
        now = self._clock.now_ms()
        try:
            hashes = await self._journal.tokens_since(min(self._looked_ms, now) - OVERLAP_MS)
        except StorageError as error:
            self._outage.note(error)
            return
        self._outage.note(None)
        self._looked_ms = now
        self._hall.check_tokens(hashes)
