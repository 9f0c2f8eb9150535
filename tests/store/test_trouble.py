"""A database that is away, stalls, is full or locked: what callers are told, and going on after."""

import asyncio
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]
import pytest
from sqlalchemy import exc, text

from server.journal import SeqTaken, StorageError
from server.records import Entry
from server.store import Store, engine
from server.store.engine import asking
from tests.postgres import Postgres

from .records import PLAYER, a_game, after, entries

LINE = entries(12)
WAITING = "FROM pg_stat_activity WHERE application_name = 'cellmates' AND wait_event_type = 'Lock'"


async def open_with_games(url: str, count: int, answer_s: float = 10.0) -> tuple[Store, list[str]]:
    store = await Store.open(url, answer_s=answer_s)
    await store.create_player(PLAYER, "annie", "token of annie")
    games = [f"g{number:02}" for number in range(count)]
    await asyncio.gather(*(store.create_game(a_game(game)) for game in games))
    return store, games


async def append_all(store: Store, games: list[str], entry: Entry) -> list[type]:
    """Append to every game at once; what became of each."""
    outcomes = await asyncio.gather(
        *(store.append(game, entry, after(entry)) for game in games), return_exceptions=True
    )
    return [type(outcome) for outcome in outcomes]


# -- The connection breaks -------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_connection_killed_in_the_middle_fails_its_batch_and_no_other(
    postgres: Postgres, postgres_url: str
) -> None:
    store, games = await open_with_games(postgres_url, 5)
    holder = await asyncpg.connect(postgres_url)
    transaction = holder.transaction()
    await transaction.start()
    await holder.execute("SELECT FROM game WHERE id = 'g03' FOR UPDATE")
    batch = asyncio.create_task(append_all(store, games, LINE[0]))
    await asyncio.to_thread(postgres.wait_for, f"SELECT count(*) {WAITING}", "1")
    postgres.sql(f"SELECT pg_terminate_backend(pid) {WAITING}")
    assert await batch == [StorageError] * 5
    assert [await store.entries(game) for game in games] == [[]] * 5
    await transaction.rollback()
    await holder.close()
    assert await append_all(store, games, LINE[0]) == [type(None)] * 5
    await store.close()


@pytest.mark.asyncio
async def test_connection_closed_while_idle_is_noticed_before_it_is_used(
    postgres: Postgres, postgres_url: str
) -> None:
    store, games = await open_with_games(postgres_url, 5)
    await asyncio.gather(*(store.game(game) for game in games))
    await asyncio.to_thread(postgres.restart)
    assert await append_all(store, games, LINE[0]) == [type(None)] * 5
    assert [await store.entries(game) for game in games] == [LINE[:1]] * 5
    await store.close()


@pytest.mark.asyncio
async def test_stalled_database_is_given_up_and_used_again_when_it_is_back(
    postgres: Postgres, postgres_url: str
) -> None:
    store, games = await open_with_games(postgres_url, 3, answer_s=0.5)
    async with store.engines.write.connect() as writing:
        pid = (await writing.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert await append_all(store, games, LINE[0]) == [StorageError] * 3
    finally:
        os.kill(pid, signal.SIGCONT)
    again = set(await append_all(store, games, LINE[0]))
    assert again <= {type(None), SeqTaken}  # it was unknown which, and now it is known
    assert [await store.entries(game) for game in games] == [LINE[:1]] * 3
    await store.close()


@pytest.mark.asyncio
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
async def test_restart_under_load_loses_nothing_acknowledged(
    postgres: Postgres, postgres_url: str, how: signal.Signals
) -> None:
    store, games = await open_with_games(postgres_url, 50, answer_s=2.0)
    acknowledged: dict[str, list[Entry]] = {game: [] for game in games}

    async def play(game: str) -> None:
        while len(kept := acknowledged[game]) < len(LINE):
            entry = LINE[len(kept)]
            try:  # whatever else were raised would fail the test
                await store.append(game, entry, after(entry))
            except StorageError:
                await asyncio.sleep(0.01)
                continue
            except SeqTaken:  # it had been committed when the answer got lost
                assert entry in await read_on(store, game)
            kept.append(entry)
            await asyncio.sleep(0.01)

    players = asyncio.gather(*map(play, games))
    for _ in range(3):
        await asyncio.sleep(0.1)
        await asyncio.to_thread(postgres.restart, how)
    async with asyncio.timeout(60):
        await players
    assert [await store.entries(game) for game in games] == [LINE] * len(games)
    await store.close()


async def read_on(store: Store, game: str) -> list[Entry]:
    """Read a game, however often it takes."""
    while True:
        try:
            return await store.entries(game)
        except StorageError:
            await asyncio.sleep(0.01)


@pytest.mark.asyncio
async def test_sign_of_life_is_missed_while_the_database_is_away(
    postgres: Postgres, postgres_url: str
) -> None:
    store = await Store.open(postgres_url)
    await store.check()
    postgres.stop()
    try:
        with pytest.raises(StorageError):
            await store.check()
        with pytest.raises(StorageError):
            await store.game("g1")
        with pytest.raises(StorageError):
            await store.create_game(a_game())
    finally:
        postgres.start()
    await store.check()
    await store.close()


# -- SQLite: locked, full --------------------------------------------------------------------------


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


@pytest.mark.asyncio
async def test_lock_that_is_kept_too_long_is_told_and_reading_goes_on(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    store, games = await open_with_games(sqlite_url, 3)
    other = sqlite3.connect(file_of(sqlite_url), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert await append_all(store, games, LINE[0]) == [StorageError] * 3
    assert [await store.entries(game) for game in games] == [[]] * 3
    other.execute("ROLLBACK")
    other.close()
    assert await append_all(store, games, LINE[0]) == [type(None)] * 3
    await store.close()


@pytest.mark.asyncio
async def test_start_that_fails_leaves_no_connection_open(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    other = sqlite3.connect(file_of(sqlite_url), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # reading is possible, writing is not
    before = set(threading.enumerate())
    with pytest.raises(StorageError) as told:
        await Store.open(sqlite_url)
    other.close()
    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert [name for name in left if "_connection_worker_thread" in name] == []
    assert "locked" in str(told.value)


@pytest.mark.asyncio
async def test_full_disk_is_told_and_nothing_is_acknowledged_until_there_is_room(
    sqlite_url: str,
) -> None:
    store, [game] = await open_with_games(sqlite_url, 1)

    async def limit_pages(pages: int) -> None:
        async with store.engines.write.connect() as writing:
            await writing.execute(text(f"PRAGMA max_page_count = {pages}"))

    await limit_pages(1)  # SQLite takes it for as many as there are
    kept: list[Entry] = []
    for entry in entries(5000):
        try:
            await store.append(game, entry, after(entry))
        except StorageError as error:
            assert "full" in str(error)  # noqa: PT017 - which of them is full is another matter
            break
        kept.append(entry)
    assert len(kept) < 5000
    assert await store.entries(game) == kept
    await limit_pages(100_000)
    entry = entries(len(kept) + 1)[-1]
    await store.append(game, entry, after(entry))
    assert await store.entries(game) == [*kept, entry]
    await store.close()


# -- One name for all trouble ----------------------------------------------------------------------


def of_sqlalchemy(kind: type[exc.DBAPIError], cause: Exception) -> exc.DBAPIError:
    return kind("SELECT 1", {}, cause)


def name_of(error: Exception) -> str:
    return f"{type(error).__module__}.{type(error).__name__}"


TROUBLE: list[Exception] = [
    ConnectionRefusedError(),
    ConnectionResetError(),
    BrokenPipeError(),
    socket.gaierror(),
    TimeoutError(),
    OSError(),
    exc.TimeoutError(),
    of_sqlalchemy(exc.OperationalError, sqlite3.OperationalError("database is locked")),
    of_sqlalchemy(exc.InterfaceError, Exception()),
    of_sqlalchemy(exc.InternalError, Exception()),
    of_sqlalchemy(exc.NotSupportedError, Exception()),
    of_sqlalchemy(exc.DBAPIError, Exception()),
    sqlite3.OperationalError("unable to open database file"),
    sqlite3.DatabaseError("file is not a database"),
    asyncpg.CannotConnectNowError("said Postgres"),
    asyncpg.TooManyConnectionsError("said Postgres"),
    asyncpg.AdminShutdownError("said Postgres"),
    asyncpg.DiskFullError("said Postgres"),
    asyncpg.InvalidPasswordError("said Postgres"),
    asyncpg.ConnectionDoesNotExistError("said Postgres"),
    asyncpg.InterfaceError("connection is closed"),
    asyncpg.InternalClientError("said Postgres"),
]


@pytest.mark.asyncio
@pytest.mark.parametrize("error", TROUBLE, ids=name_of)
async def test_trouble_of_any_kind_has_one_name(error: Exception) -> None:
    with pytest.raises(StorageError) as told:
        async with asking(5.0):
            raise error
    assert told.value.__cause__ is error


OURS: list[Exception] = [
    of_sqlalchemy(exc.IntegrityError, Exception()),
    of_sqlalchemy(exc.ProgrammingError, Exception()),
    of_sqlalchemy(exc.DataError, Exception()),
    asyncpg.NumericValueOutOfRangeError("said Postgres"),
    asyncpg.exceptions._base.DataError("expected str, got int"),
    exc.InvalidRequestError(),
    exc.ArgumentError(),
    ValueError(),
    KeyError(),
    AssertionError(),
]


@pytest.mark.asyncio
@pytest.mark.parametrize("error", OURS, ids=name_of)
async def test_mistake_of_ours_keeps_its_name(error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        async with asking(5.0):
            raise error
    assert raised.value is error


@pytest.mark.asyncio
async def test_what_takes_too_long_is_trouble() -> None:
    with pytest.raises(StorageError, match="no answer in time"):
        async with asking(0.01):
            await asyncio.Event().wait()


@pytest.mark.asyncio
async def test_trouble_tells_no_values(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    store = await Store.open(sqlite_url)
    other = sqlite3.connect(file_of(sqlite_url), isolation_level=None)
    other.execute("DROP TABLE player")
    with pytest.raises(StorageError) as told:
        await store.create_player(PLAYER, "annie", "hunter2")
    other.close()
    assert "player" in str(told.value)
    assert "hunter2" not in str(told.value) + str(told.value.__cause__)
    await store.close()


# -- A start that fails ----------------------------------------------------------------------------

# Reads a URL from its arguments. What is not closed at the end is left as an error leaves it.
START = """
import asyncio, sys, uvloop
from server.store import Store

async def main():
    store = await Store.open(sys.argv[1])
    await store.check()
    raise SystemError("after the start")

(uvloop.run if "uvloop" in sys.argv else asyncio.run)(main())
"""


def start(*args: str) -> subprocess.CompletedProcess[str]:
    """Run a start that fails, in a process that is to end by itself."""
    command = [sys.executable, "-c", START, *args]
    root = Path(__file__).parents[2]
    return subprocess.run(
        command, cwd=root, check=False, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("sqlite:////nowhere/at/all.db", "StorageError"),
        ("sqlite:///{tmp_path}/no_database", "StorageError"),
        ("postgresql://nobody@/nothing?host=/nowhere", "StorageError"),
        ("mysql://h/g", "BadDatabase"),
    ],
)
def test_process_ends_after_a_failed_start(url: str, error: str, loop: str, tmp_path: Path) -> None:
    (tmp_path / "no_database").write_text("Annie's diary. " * 100)
    begun = time.monotonic()
    done = start(url.format(tmp_path=tmp_path), loop)
    assert done.returncode == 1
    assert f"{error}: " in done.stderr.splitlines()[-1]
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_process_ends_after_an_error_that_leaves_the_journal_open(
    database_url: str, loop: str
) -> None:
    done = start(database_url, loop)
    assert done.returncode == 1
    assert "SystemError: after the start" in done.stderr
