"""Nothing but the documented answers and errors, whatever is sent."""

import logging

import pytest

from server.store import Store

from .fuzz import fuzz

pytestmark = pytest.mark.asyncio


async def test_nothing_but_what_is_documented_comes_of_anything(
    caplog: pytest.LogCaptureFixture,
) -> None:
    figures = await fuzz(rounds=2)
    assert figures.more["wrong"] == "none"
    assert figures.lost == 0
    assert figures.tried > 80_000
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_nor_does_it_of_a_database(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    store = await Store.open(sqlite_url)
    figures = await fuzz(seed=2, journal=store)
    await store.close()
    assert figures.more["wrong"] == "none"
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
