"""Work beside the connections goes on, whatever goes wrong in it."""

import asyncio

import pytest

from server.background import AGAIN_S, Sleep, keep_going

pytestmark = pytest.mark.asyncio


async def test_mistake_is_logged_and_work_begins_anew(caplog: pytest.LogCaptureFixture) -> None:
    begun: list[int] = []
    slept: list[float] = []

    async def work(_: Sleep) -> None:
        begun.append(1)
        if len(begun) == 3:
            raise asyncio.CancelledError
        raise ZeroDivisionError

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with pytest.raises(asyncio.CancelledError):
        await keep_going("counting", work, sleep)
    assert (len(begun), slept) == (3, [AGAIN_S, AGAIN_S])
    assert caplog.text.count("background work crashed") == 2
    assert caplog.records[0].__dict__["work"] == "counting"
