"""What an operator does at the command line: plan, look at timing, copy the database."""

import asyncio
import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from cellmates.daily import DAILIES, DAY_MS, day_of
from server import __main__ as commands
from server.__main__ import main
from server.records import Attempt, Summary
from server.solving import SolverFailed
from server.store import Store

from .memory import ManualClock
from .world import KEY, World, line_of, plan_at_once, play

CLOCK = ManualClock()
TODAY = day_of(CLOCK.now)


@pytest.fixture(autouse=True)
def setting(monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[None]:
    """Commands on a database of their own, with a clock that stands still and a quick solver."""
    root, levels = logging.getLogger(), ("alembic", "sqlalchemy.pool")
    before = root.handlers, root.level, [logging.getLogger(name).level for name in levels]
    monkeypatch.setenv("CELLMATES_DATABASE_URL", database_url)
    monkeypatch.setenv("CELLMATES_SECRET_KEY", KEY)
    monkeypatch.setattr(commands, "system_clock", lambda: CLOCK)
    monkeypatch.setattr("server.operating.plan_apart", plan_at_once)
    main(["db", "upgrade"])
    yield
    root.handlers, root.level, of_others = before
    for name, level in zip(levels, of_others, strict=True):
        logging.getLogger(name).setLevel(level)


def test_plan_says_what_is_planned_and_until_when(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--days", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(DAILIES)] == [f"{TODAY}-{ruleset} is planned" for ruleset in DAILIES]
    tomorrow = day_of(CLOCK.now + DAY_MS)
    assert lines[-1] == f"10 challenges planned; all are there until {tomorrow}"
    assert main(["plan", "--days", "2"]) == 0
    assert capsys.readouterr().out == f"0 challenges planned; all are there until {tomorrow}\n"


def test_plan_shows_candidates_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["plan", "--days", "1"]) == 0
    assert f"{TODAY}-freecell: candidate 0" in capsys.readouterr().err


@pytest.mark.parametrize("days", ["0", "-1", "367", "x", ""])
def test_number_of_days_that_is_none_is_wrong_input(
    days: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", "--days", days])
    assert ended.value.code == 2
    assert "from 1 to 366" in capsys.readouterr().err


def test_plan_that_fails_says_why_and_ends_with_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> object:
        raise SolverFailed("the solver ended with status 1 and no answer")

    monkeypatch.setattr("server.operating.plan_apart", broken)
    assert main(["plan", "--days", "1"]) == 1
    assert "the solver ended" in capsys.readouterr().err


def test_plan_under_another_key_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["plan", "--days", "1"]) == 0
    monkeypatch.setenv("CELLMATES_SECRET_KEY", "B" * 43 + "=")
    assert main(["plan", "--days", "1"]) == 1
    assert "CELLMATES_SECRET_KEY" in capsys.readouterr().err


def test_interrupted_command_ends_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "read_settings", interrupted)
    assert main(["plan"]) == 130


# -- Timing ----------------------------------------------------------------------------------------


async def _played(url: str, waits: dict[str, int]) -> None:
    """People who have won today's FreeCell, each with that many milliseconds a move."""
    world = World()
    world.clock.now = CLOCK.now
    await world.house.planner.plan(1)
    store = await Store.open(url)
    for handle, wait in waits.items():
        caller = await world.player(handle)
        view = await caller.ok("daily.start", challenge=f"{TODAY}-freecell")
        world.clock.pass_ms(wait)
        await play(caller, view, line_of("freecell"))
        record = world.journal.games[view["game"]]
        player = world.journal.players[record.player]
        await store.create_player(player, handle, handle)
        if await store.challenge(f"{TODAY}-freecell") is None:
            await store.create_challenge(world.journal.challenges[f"{TODAY}-freecell"])
        await _copy(store, world, view["game"], wait)
    await store.close()


async def _copy(store: Store, world: World, game: str, wait: int) -> None:
    """A game of the world into the store, with its times even, or uneven where they are long."""
    record, entries = world.journal.games[game], world.journal.rows[game]
    begun = Summary("playing", 0, 0, 0, 0, 0, 0, "", None)
    await store.create_game(replace(record, summary=begun))
    at_ms = 0
    for number, entry in enumerate(entries, 1):
        at_ms += wait if wait < 1_000 else wait * (1 + number % 5)
        is_last = number == len(entries)
        after = replace(record.summary if is_last else begun, seq=entry.seq, hash=entry.hash)
        attempt = Attempt(f"{TODAY}-freecell", record.player, 1) if is_last else None
        await store.append(game, replace(entry, at_ms=at_ms), after, attempt)


def test_flags_lists_the_runs_that_no_hand_has_played(
    capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    asyncio.run(_played(database_url, {"quick": 20, "slow": 2_000}))
    capsys.readouterr()
    assert main(["flags", TODAY]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{TODAY}-freecell ")
    assert line.endswith(" quick: median 20 ms, spread 0.00, fast steady")
    assert main(["flags", TODAY, "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split(": ")[1].rpartition(", ")[2] for line in lines) == ["-", "fast steady"]


def test_flags_of_no_day_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flags", "today"]) == 2
    assert "YYYY-MM-DD" in capsys.readouterr().err


# -- Back-up ---------------------------------------------------------------------------------------


def test_backup_copies_sqlite_and_leaves_postgres_to_its_own_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    main(["plan", "--days", "1"])
    copy = tmp_path / "copy.db"
    capsys.readouterr()
    if not database_url.startswith("sqlite"):
        assert main(["db", "backup", str(copy)]) == 2
        assert "pg_dump" in capsys.readouterr().err
        return
    assert main(["db", "backup", str(copy)]) == 0
    assert str(copy) in capsys.readouterr().out
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT count(*) FROM challenge").fetchone() == (len(DAILIES),)
    connection.close()
    assert main(["db", "backup", str(copy)]) == 1
    assert "is there already" in capsys.readouterr().err
