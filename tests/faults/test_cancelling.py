"""Requests that are broken off hold nothing, and sending them again tells what became of them."""

import logging

import pytest

from .cancelling import cancelling

pytestmark = pytest.mark.asyncio


async def test_request_may_be_broken_off_at_any_wait(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    figures = await cancelling(sqlite_url, each=8)
    assert figures.more["broken"] == "none"
    assert (figures.lost, figures.doubled) == (0, 0)
    assert int(figures.more["broken off"]) > 100
    assert int(figures.more["made all the same"]) > 0
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
