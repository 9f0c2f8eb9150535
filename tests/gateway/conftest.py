"""The gateway is tested on the loop that it runs on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest_asyncio
import uvloop

from tests.gateway.house import OpenHouse


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest_asyncio.fixture
async def house() -> AsyncIterator[OpenHouse]:
    """A gateway's surroundings; at the end nothing is left and nothing went wrong unseen."""
    loop = asyncio.get_running_loop()
    mishaps: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _loop, context: mishaps.append(context))
    house = OpenHouse()
    yield house
    await house.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert mishaps == []
