"""The keeper: days close by the clock, whatever the database and other processes do."""

import pytest
import pytest_asyncio

from cellmates.daily import DAILIES, DAY_MS, day_of, deadline_of
from server.keeper import LATEST_COMMIT_MS, LOOK_S
from server.vault import WrongKey

from .world import World

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def closed(world: World) -> World:
    """A world just after the end of a planned day."""
    await world.house.planner.plan(1)
    world.clock.now += DAY_MS - world.clock.now % DAY_MS + LATEST_COMMIT_MS
    return world


def told(world: World) -> set[str]:
    return {record.id for record in world.journal.challenges.values() if record.told is not None}


async def test_day_that_nobody_plays_is_told_when_it_has_closed(closed: World) -> None:
    closed.clock.now -= 1
    await closed.house.keeper.look()
    assert told(closed) == set()
    closed.clock.now += 1
    await closed.house.keeper.look()
    assert told(closed) == set(closed.journal.challenges)
    for record in closed.journal.challenges.values():
        assert record.told == closed.vault.open(record.sealed)
    assert b"cellmates_challenges_told_total 5.0" in closed.house.metrics.text()


async def test_attempt_that_is_committed_last_of_all_keeps_the_day_secret(closed: World) -> None:
    """It was begun in the last moment, and its commit took its time."""
    closed.clock.now -= LATEST_COMMIT_MS + 1_000
    caller = await closed.player()
    challenge = f"{day_of(closed.clock.now)}-freecell"
    await caller.ok("daily.start", challenge=challenge)
    closed.clock.now += LATEST_COMMIT_MS + 1_000
    await closed.house.keeper.look()
    assert told(closed) == set(closed.journal.challenges) - {challenge}


async def test_attempt_that_another_process_begins_when_the_day_is_told_expires_too(
    closed: World,
) -> None:
    """That process's clock is behind, and it had read the challenge before it was told."""
    twin = World(closed.journal, first_id=1_000)
    twin.clock.now = closed.clock.now - 2 * LATEST_COMMIT_MS
    caller = await twin.player()
    challenge = f"{day_of(twin.clock.now)}-freecell"
    untold = closed.journal.challenges[challenge]
    await closed.house.keeper.look()
    told = closed.journal.challenges[challenge]
    closed.journal.challenges[challenge] = untold
    game = (await caller.ok("daily.start", challenge=challenge))["game"]
    closed.journal.challenges[challenge] = told
    closed.clock.now = deadline_of(told.closes) - 1
    await closed.house.keeper.look()
    assert closed.journal.games[game].summary.status == "playing"
    closed.clock.now += 1
    await closed.house.keeper.look()
    assert closed.journal.games[game].summary.status == "expired"
    [run] = await closed.journal.runs(challenge, None, 9)
    assert run.game == game


async def test_database_that_is_away_is_said_once_and_tried_again(
    closed: World, caplog: pytest.LogCaptureFixture
) -> None:
    closed.journal.is_away = True
    for _ in range(3):
        await closed.house.keeper.look()
    assert caplog.text.count("a day cannot be closed") == 1
    closed.journal.is_away = False
    await closed.house.keeper.look()
    assert told(closed) == set(closed.journal.challenges)
    closed.journal.is_away = True
    await closed.house.keeper.look()
    assert caplog.text.count("a day cannot be closed") == 2


async def test_one_challenge_under_another_key_does_not_keep_the_others(
    closed: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    foreign = min(closed.journal.challenges)
    sealed = closed.journal.challenges[foreign].sealed
    open_ = type(closed.vault).open

    def opened(vault: object, text: str) -> object:
        if text == sealed:
            raise WrongKey("another key")
        return open_(vault, text)  # type: ignore[arg-type]

    monkeypatch.setattr(type(closed.vault), "open", opened)
    await closed.house.keeper.look()
    assert told(closed) == set(closed.journal.challenges) - {foreign}
    assert "a day cannot be closed" in caplog.text


async def test_two_processes_close_one_day(closed: World) -> None:
    twin = World(closed.journal)
    twin.clock.now = closed.clock.now
    await closed.house.keeper.look()
    before = dict(closed.journal.challenges)
    await twin.house.keeper.look()
    assert closed.journal.challenges == before
    assert len(before) == len(DAILIES)


async def test_keeper_looks_again_and_again(closed: World) -> None:
    slept: list[float] = []

    class Enough(Exception):
        pass

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise Enough

    with pytest.raises(Enough):
        await closed.house.keeper.run(sleep)
    assert slept == [LOOK_S] * 3
