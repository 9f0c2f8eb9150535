"""F11 and F14: nothing stays behind of who has gone, and long work holds up nobody."""

from pathlib import Path

import pytest

from .leaks import leaks, long_work

MOST_BYTES = 50
MOST_LAG_MS = 500  # on a machine that does other things too; 100 where it does not


@pytest.mark.asyncio
async def test_nothing_stays_behind_of_games_and_connections(tmp_path: Path) -> None:
    figures = await leaks(tmp_path, cycles=500)
    assert figures.more["kept"] == "nothing", figures
    assert float(figures.more["traced bytes a connection"]) <= MOST_BYTES, figures


@pytest.mark.asyncio
async def test_long_work_drops_nobody_and_holds_up_nobody(tmp_path: Path) -> None:
    figures = await long_work(tmp_path, runs=10_000, reads=5)
    assert (figures.tried, figures.lost) == (100, 0), figures
    assert figures.more["errors"] == 0, figures
    assert float(figures.more["loop lag ms at most"]) <= MOST_LAG_MS, figures
