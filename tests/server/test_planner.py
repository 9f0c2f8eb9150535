"""The planner: what it plans, in which order, how it is bound, and what it does when it cannot."""

from collections.abc import Callable

import pytest

from cellmates.daily import (
    DAILIES,
    DAY_MS,
    Link,
    Planned,
    commitment,
    day_after,
    day_of,
)
from cellmates.engine import Ruleset
from server.planner import LOOK_S, RETRY_S, Step
from server.solving import SolverFailed

from .world import World, plan_at_once

pytestmark = pytest.mark.asyncio


class Solver:
    """Plans at once, keeps what it was asked for, and fails for some rulesets."""

    def __init__(self, *broken: str) -> None:
        self.broken = set(broken)
        self.asked: list[tuple[str, bytes]] = []

    async def __call__(
        self, ruleset: Ruleset, seed: bytes, progress: Callable[[int], None]
    ) -> Planned:
        self.asked.append((ruleset.name, seed))
        if ruleset.name in self.broken:
            raise SolverFailed("no answer")
        return await plan_at_once(ruleset, seed, progress)


def with_solver(world: World, *broken: str) -> Solver:
    world.solve = solver = Solver(*broken)
    return solver


async def test_todays_dailies_come_first_then_those_of_the_next_days(world: World) -> None:
    today = day_of(world.clock.now)
    steps: list[Step] = []
    assert await world.house.planner.plan(3, steps.append) == 3 * len(DAILIES)
    planned = [step.challenge for step in steps if step.candidate is None]
    days = [day_after(today, ahead) for ahead in range(3)]
    assert planned == [f"{day}-{ruleset}" for day in days for ruleset in DAILIES]
    assert world.house.planner.planned_until == days[-1]


async def test_what_is_planned_is_not_planned_again(world: World) -> None:
    solver = with_solver(world)
    await world.house.planner.plan(2)
    before = dict(world.journal.challenges)
    assert await world.house.planner.plan(2) == 0
    assert (len(solver.asked), world.journal.challenges) == (2 * len(DAILIES), before)
    world.clock.pass_ms(DAY_MS)
    assert await world.house.planner.plan(2) == len(DAILIES)


async def test_each_commitment_binds_the_seed_and_the_day_before(world: World) -> None:
    await world.house.planner.plan(3)
    records = sorted(world.journal.challenges.values(), key=lambda record: record.day)
    for ruleset in DAILIES:
        before = None
        for record in (record for record in records if record.ruleset == ruleset):
            told = world.vault.open(record.sealed)
            assert record.previous == before
            assert record.commitment == commitment(
                challenge=record.id,
                ruleset_version=1,
                planner=record.planner,
                seed=bytes.fromhex(told.seed),
                previous=before,
            )
            before = Link(record.id, record.commitment)


async def test_every_challenge_has_a_seed_of_its_own_from_the_system(world: World) -> None:
    solver = with_solver(world)
    await world.house.planner.plan(2)
    seeds = [seed for _, seed in solver.asked]
    assert len(set(seeds)) == len(seeds)
    assert {len(seed) for seed in seeds} == {32}


async def test_day_that_was_missed_is_left_out_of_the_chain(world: World) -> None:
    await world.house.planner.plan(1)
    first = day_of(world.clock.now)
    world.clock.pass_ms(5 * DAY_MS)
    await world.house.planner.plan(1)
    record = world.journal.challenges[f"{day_of(world.clock.now)}-freecell"]
    assert record.previous is not None
    assert record.previous.challenge == f"{first}-freecell"


async def test_other_process_that_is_faster_wins(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = World(world.journal, first_id=1_000)
    await twin.house.planner.plan(1)
    planned = dict(world.journal.challenges)

    async def nothing_yet(_: str) -> list[object]:
        return []

    monkeypatch.setattr(world.journal, "challenges_of", nothing_yet)
    assert await world.house.planner.plan(1) == 0
    assert world.journal.challenges == planned


# -- Failure ---------------------------------------------------------------------------------------


async def test_failure_keeps_what_was_planned_and_says_why(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    solver = with_solver(world, "eight-off-2")
    planner = world.house.planner
    assert not await planner.look(8)
    assert len(world.journal.challenges) == DAILIES.index("eight-off-2")
    assert (planner.failure, planner.failing_since) == ("no answer", world.clock.now)
    assert "planning failed" in caplog.text
    assert b"cellmates_planning_failures_total 1.0" in world.house.metrics.text()
    world.clock.pass_ms(1)
    assert not await planner.look(8)
    assert planner.failing_since == world.clock.now - 1
    solver.broken.clear()
    assert await planner.look(8)
    assert not planner.failure
    assert not planner.failing_since
    assert len(world.journal.challenges) == 8 * len(DAILIES)


async def test_database_that_is_away_is_a_failure_and_tried_again(world: World) -> None:
    world.journal.is_away = True
    assert not await world.house.planner.look(1)
    world.journal.is_away = False
    assert await world.house.planner.look(1)


async def test_mistake_of_ours_is_logged_and_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    solver = with_solver(world)

    async def broken(*_: object) -> Planned:
        raise ZeroDivisionError

    world.solve = broken
    assert not await world.house.planner.look(1)
    assert "ZeroDivisionError" in caplog.text
    assert world.house.planner.failure == "ZeroDivisionError, see the log"
    world.solve = solver
    assert await world.house.planner.look(1)


async def test_challenge_under_another_key_is_a_failure_and_the_rest_is_planned(
    world: World,
) -> None:
    await world.house.planner.plan(1)
    other = World(world.journal, key="B" * 43 + "=")
    assert not await other.house.planner.look(2)
    assert other.house.planner.failure is not None
    assert "CELLMATES_SECRET_KEY" in other.house.planner.failure
    assert len(world.journal.challenges) == 2 * len(DAILIES)


async def test_run_looks_again_sooner_after_a_failure(world: World) -> None:
    solver = with_solver(world, "freecell")
    slept: list[float] = []

    class Enough(Exception):
        pass

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        solver.broken.clear()
        if len(slept) == 2:
            raise Enough

    with pytest.raises(Enough):
        await world.house.planner.run(1, sleep)
    assert slept == [RETRY_S, LOOK_S]


async def test_metrics_say_how_far_ahead_days_are_planned(world: World) -> None:
    await world.house.planner.plan(8)
    assert b'cellmates_planned_ahead_days{ruleset="freecell"} 7.0' in world.house.metrics.text()
