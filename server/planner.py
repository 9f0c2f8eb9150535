"""Plans the dailies: today's first, then those of the next days, as long as the server runs.

What is planned is sealed before it is kept, and bound by a commitment that names the one before.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from cellmates.daily import (
    DAILIES,
    DAY_MS,
    PLANNER,
    SEED_BYTES,
    Link,
    Planned,
    challenge_id,
    closes_at,
    commitment,
    day_after,
    day_of,
    opens_at,
)
from cellmates.engine import RULESETS, Ruleset

from .background import Sleep
from .clock import Clock
from .journal import ChallengeTaken, Journal, StorageError
from .metrics import Metrics
from .records import ChallengeRecord, Told
from .solving import SolverFailed
from .vault import Vault, WrongKey

LOOK_S = 60.0
RETRY_S = 15.0

_log = logging.getLogger(__name__)


class Solve(Protocol):
    """Who finds the deal of a seed."""

    async def __call__(
        self, ruleset: Ruleset, seed: bytes, progress: Callable[[int], None], /
    ) -> Planned:
        """Plan; ``progress`` is called with the number of each candidate.

        Raises:
            SolverFailed: there is no answer.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """How far planning is: a candidate that is looked at, or with None the challenge is planned."""

    challenge: str
    candidate: int | None


class Planner:
    """Plans what is missing. ``failure`` says what keeps it from that, None when nothing does."""

    def __init__(
        self,
        journal: Journal,
        clock: Clock,
        vault: Vault,
        *,
        solve: Solve,
        draw_seed: Callable[[int], bytes],
        metrics: Metrics,
    ) -> None:
        """``draw_seed(n)`` gives n random bytes of the operating system."""
        self._journal = journal
        self._clock = clock
        self._vault = vault
        self._solve = solve
        self._draw_seed = draw_seed
        self._metrics = metrics
        self.failure: str | None = None
        self.failing_since: int | None = None
        self.planned_until: str | None = None

    async def run(self, days: int, sleep: Sleep) -> None:
        """Plan whenever something of so many days is missing; what fails is tried again."""
        while True:
            await sleep(LOOK_S if await self.look(days) else RETRY_S)

    async def look(self, days: int) -> bool:
        """Plan what is missing; False where that failed: logged, and kept in ``failure``."""
        try:
            await self.plan(days)
        except (StorageError, SolverFailed, WrongKey) as error:
            self._failed(str(error))
        except Exception as error:  # noqa: BLE001 - logged; the next days must be planned all the same
            _log.exception("planning crashed")
            self._failed(f"{type(error).__name__}, see the log")
        else:
            if self.failure is not None:
                _log.info("planning works again")
            self.failure = self.failing_since = None
        return self.failure is None

    async def plan(self, days: int, progress: Callable[[Step], None] | None = None) -> int:
        """Plan what is missing of so many days, today's first; return how many challenges it was.

        Raises:
            StorageError: the database did not answer.
            SolverFailed: the solver gave no answer.
            WrongKey: a challenge that is not told yet was sealed under another key. What was
                planned before either is kept.
        """
        planned, wrong_key = 0, None
        today = day_of(self._clock.now_ms())
        for ahead in range(days):
            day = day_after(today, ahead)
            there = {record.ruleset: record for record in await self._journal.challenges_of(day)}
            for record in there.values():
                wrong_key = self._wrong_key(record) or wrong_key
            for ruleset in (RULESETS[name] for name in DAILIES if name not in there):
                planned += await self._plan_one(ruleset, day, progress or _say_nothing)
            self._planned(today, day)
        if wrong_key is not None:
            raise wrong_key
        return planned

    async def _plan_one(self, ruleset: Ruleset, day: str, progress: Callable[[Step], None]) -> bool:
        """Plan one challenge; False where another process was faster."""
        challenge = challenge_id(day, ruleset.name)
        seed = self._draw_seed(SEED_BYTES)
        planned = await self._solve(ruleset, seed, lambda number: progress(Step(challenge, number)))
        before = await self._journal.challenge_before(ruleset.name, day)
        previous = Link(before.id, before.commitment) if before else None
        record = sealed_challenge(self._vault, ruleset, day, seed, planned, previous)
        try:
            await self._journal.create_challenge(record)
        except ChallengeTaken:
            return False
        progress(Step(challenge, None))
        _log.info("challenge planned", extra={"challenge": challenge})
        return True

    def _wrong_key(self, record: ChallengeRecord) -> WrongKey | None:
        """Why a challenge will not be able to open; None where it will."""
        try:
            self._vault.open(record.sealed)
        except WrongKey as error:
            return error
        return None

    def _planned(self, today: str, day: str) -> None:
        """All challenges up to a day are planned."""
        self.planned_until = day
        ahead = (opens_at(day) - opens_at(today)) // DAY_MS
        for ruleset in DAILIES:
            self._metrics.planned(ruleset, ahead)

    def _failed(self, why: str) -> None:
        self._metrics.planning_failed()
        _log.error("planning failed", extra={"why": why})
        self.failure = why
        if self.failing_since is None:
            self.failing_since = self._clock.now_ms()


def sealed_challenge(
    vault: Vault,
    ruleset: Ruleset,
    day: str,
    seed: bytes,
    planned: Planned,
    previous: Link | None,
) -> ChallengeRecord:
    """A day's challenge: its secrets sealed, and bound by the commitment that is published."""
    challenge = challenge_id(day, ruleset.name)
    deal = str(planned.deal)
    told = Told(seed.hex(), planned.candidate, deal, planned.par, planned.solution)
    return ChallengeRecord(
        id=challenge,
        day=day,
        ruleset=ruleset.name,
        ruleset_version=ruleset.version,
        planner=PLANNER,
        opens=opens_at(day),
        closes=closes_at(day),
        commitment=commitment(
            challenge=challenge,
            ruleset_version=ruleset.version,
            planner=PLANNER,
            seed=seed,
            previous=previous,
        ),
        previous=previous,
        sealed=vault.seal(told),
    )


def _say_nothing(_step: Step) -> None:
    pass
