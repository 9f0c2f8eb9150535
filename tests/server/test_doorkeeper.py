"""A token that works no longer closes its connections, in whatever process they are."""

import pytest

from server.doorkeeper import LOOK_S, OVERLAP_MS

from .world import World

pytestmark = pytest.mark.asyncio


async def twins() -> tuple[World, World]:
    """Two processes on one database."""
    here = World()
    return here, World(here.journal, first_id=1_000)


async def test_token_replaced_in_another_process_closes_the_connection() -> None:
    here, there = await twins()
    caller = await here.player()
    other = await there.greeted(caller.token)
    fresh = (await caller.ok("player.token"))["token"]
    newcomer = await there.greeted(fresh)
    await there.house.doorkeeper.look()
    assert other.peer.closed == 4401
    assert newcomer.peer.closed is None
    await here.house.doorkeeper.look()
    assert caller.peer.closed is None


async def test_player_deleted_in_another_process_is_shown_out() -> None:
    here, there = await twins()
    caller = await here.player()
    other, guest = await there.greeted(caller.token), await there.greeted()
    await caller.ok("player.delete", confirm="anna")
    await there.house.doorkeeper.look()
    assert other.peer.closed == 4401
    assert guest.peer.closed is None


async def test_new_handle_closes_nothing() -> None:
    here, there = await twins()
    caller = await here.player()
    other = await there.greeted(caller.token)
    await caller.ok("player.rename", handle="Berta")
    for world in (here, there):
        await world.house.doorkeeper.look()
    assert caller.peer.closed is other.peer.closed is None


async def test_change_that_is_committed_late_is_not_missed() -> None:
    here, there = await twins()
    caller = await here.player()
    other = await there.greeted(caller.token)
    there.clock.pass_ms(OVERLAP_MS // 2)
    await there.house.doorkeeper.look()
    await caller.ok("player.token")  # dated before that look
    await there.house.doorkeeper.look()
    assert other.peer.closed == 4401


async def test_database_that_is_away_is_said_once_and_nothing_is_missed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here, there = await twins()
    caller = await here.player()
    other = await there.greeted(caller.token)
    await caller.ok("player.token")
    there.journal.is_away = True
    there.clock.pass_ms(10 * OVERLAP_MS)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            there.journal.is_away = False
        if len(slept) == 4:
            raise EOFError

    with pytest.raises(EOFError):
        await there.house.doorkeeper.run(sleep)
    assert caplog.text.count("tokens cannot be looked at") == 1
    assert slept == [LOOK_S] * 4
    assert other.peer.closed == 4401
