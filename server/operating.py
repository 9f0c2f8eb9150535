"""What an operator does beside the running server: plan ahead, and look at how runs are timed."""

import sys
from collections.abc import AsyncIterator
from secrets import token_bytes

from cellmates.daily import BadDay, opens_at

from .clock import Clock
from .config import BadSetting, Settings
from .keys import secret_key
from .metrics import Metrics
from .planner import Planner, Step
from .records import ChallengeRecord, Run
from .serving import opened
from .solving import plan_apart
from .store import Store
from .timing import timing_of
from .vault import Vault

_PAGE = 1_000


async def plan(settings: Settings, clock: Clock, days: int) -> None:
    """Plan the dailies of so many days, today's first, and say how far it is.

    Raises:
        BadSetting: there is no secret key.
        BadDatabase: the URL names no database that can be used, here and below.
        WrongSchema: the tables are not those of this version.
        StorageError: the database is away.
        SolverFailed: the solver gave no answer. What was planned before is kept, here and below.
        WrongKey: a challenge was sealed under another key.
    """
    vault = Vault(secret_key(settings))
    async with opened(settings) as store:
        planner = Planner(
            store, clock, vault, solve=plan_apart, draw_seed=token_bytes, metrics=Metrics()
        )
        planned = await planner.plan(days, _tell)
    _say(f"{planned} challenges planned; all are there until {planner.planned_until}")


async def show_timing(settings: Settings, day: str, *, everything: bool) -> None:
    """List the people's ranked runs of a day whose timing no hand has, or all that can be judged.

    Raises:
        BadSetting: the text is no day.
        BadDatabase, WrongSchema, StorageError: as ``plan``.
    """
    try:
        opens_at(day)
    except BadDay as error:
        raise BadSetting(str(error)) from None
    async with opened(settings) as store:
        for challenge in await store.challenges_of(day):
            async for run in _runs(store, challenge):
                times = [entry.at_ms for entry in await store.entries(run.game)]
                timing = timing_of(times)
                if timing is None or not (timing.marks or everything):
                    continue
                marks = " ".join(timing.marks) or "-"
                _say(
                    f"{challenge.id} {run.game} {run.handle or '-'}: "
                    f"median {timing.median_ms:.0f} ms, spread {timing.spread:.2f}, {marks}"
                )


async def _runs(store: Store, challenge: ChallengeRecord) -> AsyncIterator[Run]:
    """The people's first attempts at a challenge that have ended."""
    after = None
    while page := await store.runs(challenge.id, after, _PAGE):
        for run in page:
            if run.kind == "human" and run.figures.attempt == 1:
                yield run
        after = page[-1]


def _tell(step: Step) -> None:
    """Say what is planned, and on a terminal what is looked at."""
    if step.candidate is None:
        _say(f"{step.challenge} is planned")
    elif sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{step.challenge}: candidate {step.candidate} ")
        sys.stderr.flush()


def _say(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
