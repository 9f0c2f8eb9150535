"""Kill -9 in the middle of play: nothing acknowledged is lost, doubled or out of line."""

from pathlib import Path

import pytest

from .kill import kill_nine, two_processes

pytestmark = pytest.mark.asyncio

CYCLES = 60
BY_TURNS = 20


async def test_kill_9_at_any_instant_loses_and_doubles_nothing(
    database_url: str, tmp_path: Path
) -> None:
    figures = await kill_nine(database_url, tmp_path, cycles=CYCLES)
    print(figures)
    assert (figures.tried, figures.lost, figures.doubled) == (CYCLES, 0, 0)
    assert int(figures.more["resends of what was committed"]) >= CYCLES / 3
    assert int(figures.more["results"]) > 0


async def test_two_processes_serve_the_same_games_and_are_killed_by_turns(
    database_url: str, tmp_path: Path
) -> None:
    figures = await two_processes(database_url, tmp_path, cycles=BY_TURNS)
    print(figures)
    assert (figures.tried, figures.lost, figures.doubled) == (BY_TURNS, 0, 0)
    assert int(figures.more["conflicts"]) > 0


@pytest.mark.parametrize("mutant", ["early-ack", "no-repeat-check"])
async def test_server_that_answers_too_early_or_twice_is_found_out(
    mutant: str, database_url: str, tmp_path: Path
) -> None:
    figures = await kill_nine(database_url, tmp_path, cycles=3, mutant=mutant)
    print(figures)
    assert figures.lost if mutant == "early-ack" else figures.doubled


async def test_server_that_does_not_fence_is_found_out(database_url: str, tmp_path: Path) -> None:
    figures = await two_processes(database_url, tmp_path, cycles=1, mutant="no-fencing")
    print(figures)
    assert figures.lost
