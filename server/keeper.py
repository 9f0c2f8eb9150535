"""Closes days by the server's clock, whether anyone is connected or not.

Attempts that are under way when the grace is over end as expired. A day that has closed, and at
which nobody plays any more, is told: from then on everybody may see its proof and its replays.
"""

import logging

from cellmates.daily import GRACE_MS

from .background import Outage, Sleep
from .clock import Clock
from .games import Games
from .journal import Journal, StorageError
from .metrics import Metrics
from .records import ChallengeRecord
from .vault import Vault, WrongKey

LOOK_S = 1.0
# An attempt that was begun in a day's last moment may be committed this much later, by the clock of
# another process at that.
LATEST_COMMIT_MS = 30_000

_log = logging.getLogger(__name__)


class Keeper:
    """Looks after the days that have closed and are not told yet."""

    def __init__(
        self, journal: Journal, clock: Clock, vault: Vault, games: Games, metrics: Metrics
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._vault = vault
        self._games = games
        self._metrics = metrics
        self._outage = Outage(_log, "a day cannot be closed")

    async def run(self, sleep: Sleep) -> None:
        """Look again and again, for ever; what fails is logged and tried again."""
        while True:
            await self.look()
            await sleep(LOOK_S)

    async def look(self) -> None:
        """End what has to end now, and tell what may be told."""
        error: Exception | None = None
        try:
            await self._expire()
            for record in await self._journal.untold(self._clock.now_ms() - LATEST_COMMIT_MS):
                error = await self._close(record) or error
        except StorageError as raised:
            error = raised
        self._outage.note(error)

    async def _expire(self) -> None:
        """End the attempts whose time is over, told their challenges or not.

        One may have begun in a process whose clock is behind that of the one which has told.
        """
        for game in await self._journal.overdue(self._clock.now_ms() - GRACE_MS):
            await self._games.expire(game.id)

    async def _close(self, record: ChallengeRecord) -> WrongKey | None:
        """Tell, unless somebody still plays; return why it cannot be told."""
        if await self._journal.under_way(record.id):
            return None
        try:
            told = self._vault.open(record.sealed)
        except WrongKey as error:
            return error
        await self._journal.tell(record.id, told)
        self._metrics.told(1)
        _log.info("challenge told", extra={"challenge": record.id})
        return None
