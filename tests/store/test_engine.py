"""Which databases are taken, and the settings that are really in force on them."""

import asyncio
import threading

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from server.store import BadDatabase, Store, engine
from server.store.engine import ANSWER_S, BUSY_S, Engines, open_engines, parse_url
from tests.postgres import Postgres

# -- URLs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("sqlite:///games.db", "sqlite+aiosqlite:///games.db"),
        ("sqlite:////var/games.db", "sqlite+aiosqlite:////var/games.db"),
        ("sqlite+aiosqlite:///games.db", "sqlite+aiosqlite:///games.db"),
        ("postgresql://me@host/games", "postgresql+asyncpg://me@host/games"),
        ("postgresql+asyncpg://me:pw@host:5/g", "postgresql+asyncpg://me:pw@host:5/g"),
        ("postgresql://me@/g?host=/run/pg", "postgresql+asyncpg://me@/g?host=%2Frun%2Fpg"),
        ("postgresql://h/g?sslmode=require", "postgresql+asyncpg://h/g?ssl=require"),
    ],
)
def test_url_is_taken_and_names_the_driver(given: str, taken: str) -> None:
    assert parse_url(given).render_as_string(hide_password=False) == taken


@pytest.mark.parametrize(
    "given",
    [
        *("", "games.db", "/var/games.db", "sqlite", "sqlite:games.db", "://", "postgresql:games"),
        *("sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?mode=memory"),
        *(
            "sqlite:///file:x",
            "sqlite://games.db",
            "sqlite://me@/games.db",
            "sqlite:///g?timeout=1",
        ),
        *("mysql://h/g", "postgres://h/g", "postgresql+psycopg://h/g", "sqlite+pysqlite:///g"),
        *("postgresql://h/g?options=-cfsync", "postgresql://h:port/g"),
    ],
)
def test_other_url_is_refused(given: str) -> None:
    with pytest.raises(BadDatabase):
        parse_url(given)


@pytest.mark.parametrize(
    "given", ["mysql://me:hunter2@h/g", "postgresql://me:hunter2@h:x/g", "me:hunter2@h/g"]
)
def test_refusal_does_not_tell_the_password(given: str) -> None:
    with pytest.raises(BadDatabase) as refusal:
        parse_url(given)
    assert "hunter2" not in str(refusal.value)


OURS = "application_name = 'cellmates'"  # connections of ours

# -- Settings in force -----------------------------------------------------------------------------


async def ask(engines: Engines, *statements: str) -> list[tuple[object, object]]:
    """What the database itself says, on a connection that reads and on the one that writes."""
    answers = []
    for statement in statements:
        async with engines.read.connect() as reading, engines.write.connect() as writing:
            answers.append(
                (
                    (await reading.execute(text(statement))).scalar_one(),
                    (await writing.execute(text(statement))).scalar_one(),
                )
            )
    return answers


@pytest.mark.asyncio
async def test_sqlite_writes_ahead_syncs_fully_waits_and_minds_keys(sqlite_url: str) -> None:
    engines = open_engines(sqlite_url)
    answers = await ask(
        engines,
        "PRAGMA journal_mode",
        "PRAGMA synchronous",
        "PRAGMA foreign_keys",
        "PRAGMA busy_timeout",
        "PRAGMA query_only",
    )
    await engines.dispose()
    full = 2
    busy = int(BUSY_S * 1000)
    assert answers == [("wal", "wal"), (full, full), (1, 1), (busy, busy), (1, 0)]


@pytest.mark.asyncio
async def test_postgres_syncs_and_gives_up_before_we_do(
    postgres: Postgres, postgres_url: str
) -> None:
    name = postgres.name_in(postgres_url)
    postgres.sql(f"ALTER DATABASE {name} SET synchronous_commit = off")
    engines = open_engines(postgres_url)
    answers = await ask(
        engines,
        "SHOW synchronous_commit",
        "SHOW fsync",
        "SELECT setting::int FROM pg_settings WHERE name = 'statement_timeout'",
        "SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'",
        "SHOW default_transaction_read_only",
    )
    await engines.dispose()
    assert answers[:2] == [("on", "on"), ("on", "on")]
    assert answers[2] == answers[3] == (int(ANSWER_S * 800), int(ANSWER_S * 800))
    assert answers[4] == ("on", "off")


@pytest.mark.asyncio
async def test_what_reads_cannot_write(database_url: str) -> None:
    engines = open_engines(database_url)
    async with engines.read.connect() as reading:
        with pytest.raises(DBAPIError, match=r"read-?only"):
            await reading.execute(text("DELETE FROM entry"))
    await engines.dispose()


@pytest.mark.asyncio
async def test_of_two_that_read_and_then_write_neither_is_lost(database_url: str) -> None:
    ours, theirs = open_engines(database_url), open_engines(database_url)
    async with ours.write.begin() as connection:
        await connection.execute(text("CREATE TABLE tally (n INT)"))
        await connection.execute(text("INSERT INTO tally VALUES (0)"))
    lock = "" if database_url.startswith("sqlite") else " FOR UPDATE"

    async def count(engines: Engines) -> None:
        for _ in range(20):
            async with engines.write.begin() as connection:
                found = await connection.execute(text(f"SELECT n FROM tally{lock}"))
                n = {"n": found.scalar_one() + 1}
                await connection.execute(text("UPDATE tally SET n = :n"), n)

    await asyncio.gather(count(ours), count(theirs))
    assert await ask(ours, "SELECT n FROM tally") == [(40, 40)]
    await ours.dispose()
    await theirs.dispose()


@pytest.mark.asyncio
async def test_sqlite_that_cannot_write_ahead_is_refused(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on file systems that do not let processes share memory.
    monkeypatch.setattr(engine, "_ask", lambda connection, statement: "delete")
    with pytest.raises(BadDatabase, match="write-ahead"):
        await Store.open(sqlite_url)


@pytest.mark.asyncio
async def test_postgres_that_does_not_sync_is_refused_unless_a_test_allows_it(
    postgres: Postgres, postgres_url: str
) -> None:
    postgres.restart(fsync="off")
    try:
        with pytest.raises(BadDatabase, match="fsync=off"):
            await Store.open(postgres_url)
        postgres.wait_for(f"SELECT count(*) FROM pg_stat_activity WHERE {OURS}", "0")
        store = await Store.open(postgres_url, allow_fsync_off=True)
        await store.check()
        await store.close()
    finally:
        postgres.restart()


@pytest.mark.asyncio
async def test_nothing_is_left_of_a_connection_that_was_broken_off(sqlite_url: str) -> None:
    """Its thread, still at work, would answer to an event loop that is closed by then."""
    asked, answer = threading.Event(), threading.Event()

    def waits() -> int:
        asked.set()
        answer.wait(ANSWER_S)
        return 1

    async def ask_at_length() -> None:
        async with engines.read.connect() as connection:
            raw = await connection.get_raw_connection()
            assert raw.driver_connection is not None
            await raw.driver_connection.create_function("waits", 0, waits)
            await connection.execute(text("SELECT waits()"))

    before = set(threading.enumerate())
    engines = open_engines(sqlite_url)
    task = asyncio.create_task(ask_at_length())
    await asyncio.to_thread(asked.wait)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.2, answer.set)
    await engines.dispose()
    left = [thread.name for thread in threading.enumerate() if thread not in before]
    assert [name for name in left if "_connection_worker_thread" in name] == []
