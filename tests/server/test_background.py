"""Work beside the connections goes on, whatever goes wrong in it."""

import asyncio
import logging
from itertools import pairwise

import pytest

from server.background import AGAIN_S, Outage, Sleep, keep_going
from server.journal import StorageError

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


@pytest.mark.parametrize(
    ("tries", "said"),
    [
        ([None, None], []),
        (["a", "b"], ["it fails"]),
        (["a", None, None], ["it fails", "over: it fails"]),
        (["a", None, "b"], ["it fails", "over: it fails", "it fails"]),
    ],
)
async def test_outage_is_said_once_and_once_that_it_is_over(
    tries: list[str | None], said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    outage = Outage(logging.getLogger("here"), "it fails")
    for why in tries:
        outage.note(None if why is None else StorageError(why))
    assert [record.getMessage() for record in caplog.records] == said
    assert [record.__dict__["why"] for record in caplog.records if record.levelname == "ERROR"] == [
        why for before, why in pairwise([None, *tries]) if why and not before
    ]
