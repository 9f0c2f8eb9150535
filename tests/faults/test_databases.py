"""Postgres restarts and stalls and a full disk: no player is dropped, and nothing is lost."""

from pathlib import Path

import pytest

from tests.postgres import Postgres

from .databases import How, disk_is_full, postgres_goes_away
from .figures import Figures

pytestmark = pytest.mark.asyncio

RECOVERED_MS = 10_000  # 2 s on a quiet machine; see the long form


def assert_nobody_noticed(figures: Figures) -> None:
    print(figures)
    assert (figures.lost, figures.doubled) == (0, 0)
    assert (figures.more["dropped"], figures.more["tracebacks"]) == (0, 0)
    assert figures.recovery_ms is not None
    assert figures.recovery_ms < RECOVERED_MS


@pytest.mark.parametrize("how", ["fast", "immediate", "away", "stalled"])
async def test_postgres_that_comes_back_is_played_on_at_once(
    how: How, postgres: Postgres, postgres_url: str, tmp_path: Path
) -> None:
    figures = await postgres_goes_away(postgres, postgres_url, tmp_path, how=how)
    assert_nobody_noticed(figures)
    assert how != "away" or int(figures.more["told to ask again"]) > 0


@pytest.mark.parametrize("mounting", [True, False], ids=["disk", "limit"])
async def test_full_disk_is_told_and_survived(mounting: bool, tmp_path: Path) -> None:
    figures = await disk_is_full(tmp_path, cycles=2, mounting=mounting)
    assert_nobody_noticed(figures)
    assert figures.more["lines that say why"] == 2
