"""What the tests of the server's rooms share."""

import pytest
import pytest_asyncio

from cellmates.daily import DAY_MS, opens_at

from .world import World


@pytest.fixture
def world() -> World:
    return World()


@pytest_asyncio.fixture
async def planned(world: World) -> World:
    """A world at noon of a day whose dailies are planned, and those of the day after."""
    world.clock.now = opens_at("2027-03-14") + DAY_MS // 2
    await world.house.planner.plan(2)
    return world
