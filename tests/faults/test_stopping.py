"""SIGTERM among stuck peers ends in time; clocks that jump change no time and no challenge."""

from pathlib import Path

import pytest

from .stopping import clock_jumps, sigterm

pytestmark = pytest.mark.asyncio

STOPPED_MS = 12_000  # 10 s by design; the machine may be busy


async def test_sigterm_among_stuck_peers_ends_in_time_and_loses_nothing(
    sqlite_url: str, tmp_path: Path
) -> None:
    # Twice, for now and then a reader is so stuck that the server has dropped it before it stops.
    figures = await sigterm(sqlite_url, tmp_path, cycles=2)
    print(figures)
    assert (figures.tried, figures.lost, figures.doubled) == (2, 0, 0)
    assert figures.more["status not 0"] == 0
    assert int(figures.more["slowest exit ms"]) < STOPPED_MS
    assert int(figures.more["readers that were stuck"]) > 0


async def test_clock_that_jumps_over_midnight_and_back_changes_no_time(
    database_url: str, tmp_path: Path
) -> None:
    figures = await clock_jumps(database_url, tmp_path, cycles=1)
    print(figures)
    assert (figures.lost, figures.doubled, figures.more["wrong times"]) == (0, 0, 0)
    assert int(figures.more["results"]) > 0
