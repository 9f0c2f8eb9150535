"""How a database comes by its tables, and is known to have others."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, MetaData, Table, inspect, text
from sqlalchemy.exc import DBAPIError

from server.journal import StorageError
from server.store import (
    NewerSchema,
    OlderSchema,
    Store,
    WrongSchema,
    check,
    downgrade,
    schema,
    upgrade,
)
from server.store.engine import dispose, open_engines, open_migrating
from server.store.tables import INTEGER, TEXT, metadata
from tests.postgres import Postgres

from .records import PLAYER, a_game, after, entries

pytestmark = pytest.mark.asyncio

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
SCRIPTS = ScriptDirectory(str(schema.MIGRATIONS))
REVISIONS = [script.revision for script in SCRIPTS.walk_revisions()][::-1]

# What a database may hold at each revision: statements that fit the tables of that time. Whoever
# adds a revision adds rows that it has to carry.
ROWS: dict[str, list[str]] = {
    "0001": [
        "INSERT INTO player VALUES ('p1', 'Annie', 'annie', 'human', 'token', 1)",
        "INSERT INTO player VALUES ('p2', NULL, NULL, 'bot', NULL, NULL)",
        "INSERT INTO game VALUES ('g1', 'p1', 'freecell', 1, '11982', 'safe', NULL, NULL, 7,"
        " 'playing', 1, 0, 1, 0, 0, 100, 'hash', NULL, 'ok')",
        "INSERT INTO game VALUES ('g2', 'p2', 'eight-off', 1, '1', 'off', 'day', 1, 8,"
        " 'won', 2, 52, 1, 1, 52, 200, 'hash', 208, 'withdrawn')",
        "INSERT INTO entry VALUES ('g1', 1, '26v3', 100, 'hash')",
        "INSERT INTO entry VALUES ('g2', 1, '1a', 100, 'hash'), ('g2', 2, 'undo', 200, 'hash')",
    ],
    "0002": [
        "INSERT INTO player VALUES ('p1', 'Annie', 'annie', 'human', 'token', 1, 9)",
        "INSERT INTO player VALUES ('p2', NULL, NULL, 'bot', NULL, NULL, NULL)",
        "INSERT INTO challenge VALUES ('day', '2026-12-01', 'eight-off', 1, 'planner', 1, 2,"
        " 'commitment', NULL, NULL, 'sealed', 'seed', 3, 'deal', 80, '1a ah')",
        "INSERT INTO challenge VALUES ('next', '2026-12-02', 'eight-off', 1, 'planner', 2, 3,"
        " 'commitment', 'day', 'commitment', 'sealed', NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO game VALUES ('g1', 'p1', 'freecell', 1, '11982', 'safe', NULL, NULL, 7,"
        " 'playing', 1, 0, 1, 0, 0, 100, 'hash', NULL, 'ok')",
        "INSERT INTO game VALUES ('g2', 'p2', 'eight-off', 1, '1', 'off', 'day', 1, 8,"
        " 'won', 2, 52, 1, 1, 52, 200, 'hash', 208, 'withdrawn')",
        "INSERT INTO entry VALUES ('g1', 1, '26v3', 100, 'hash')",
        "INSERT INTO entry VALUES ('g2', 1, '1a', 100, 'hash'), ('g2', 2, 'undo', 200, 'hash')",
        "INSERT INTO entry VALUES ('g2', 3, 'end', 200, '')",
        "INSERT INTO result VALUES (1, 'g2', 'day', 'p2', 1, 52, 1, 1, 200, 208)",
    ],
}
LATEST = ROWS[REVISIONS[-1]]


async def run(url: str, *statements: str) -> None:
    engines = open_engines(url)
    try:
        async with engines.write.begin() as connection:
            for statement in statements:
                await connection.execute(text(statement))
    finally:
        await engines.dispose()


async def look(url: str, see: Callable[[Connection], T]) -> T:
    engine = open_migrating(url)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(see)
    finally:
        await dispose(engine)


def rows(connection: Connection) -> dict[str, list[str]]:
    """Every row of every table."""
    return {
        table: sorted(str(row) for row in connection.execute(text(f"SELECT * FROM {table}")))
        for table in inspect(connection).get_table_names()
        if table != "alembic_version"
    }


def differences(connection: Connection) -> list[object]:
    """Where the tables are not those that the server expects."""
    context = MigrationContext.configure(
        connection, opts={"compare_type": True, "compare_server_default": True}
    )
    return list(compare_metadata(context, metadata))


# -- There and back --------------------------------------------------------------------------------


async def test_upgrade_makes_the_tables_that_the_server_expects(empty_url: str) -> None:
    await upgrade(empty_url)
    await check(empty_url)
    assert await look(empty_url, differences) == []


async def test_difference_would_be_seen(empty_url: str) -> None:
    await upgrade(empty_url)
    await run(empty_url, "DROP INDEX game_of_player", "ALTER TABLE entry ADD COLUMN extra INT")
    assert len(await look(empty_url, differences)) == 2


async def test_upgrade_of_what_is_up_to_date_changes_nothing(database_url: str) -> None:
    await run(database_url, *LATEST)
    before = await look(database_url, rows)
    await upgrade(database_url)
    assert await look(database_url, rows) == before


@pytest.mark.parametrize("revision", REVISIONS)
async def test_revision_goes_up_down_and_up_with_rows_in_place(
    empty_url: str, revision: str
) -> None:
    script = SCRIPTS.get_revision(revision)
    earlier = script.down_revision
    assert earlier is None or isinstance(earlier, str)
    await run(empty_url, "CREATE TABLE diary (day INT)", "INSERT INTO diary VALUES (1)")
    if earlier:
        await upgrade(empty_url, earlier)
        await run(empty_url, *ROWS[earlier])
    before = await look(empty_url, rows)
    await upgrade(empty_url, revision)
    upgraded = await look(empty_url, rows)
    await downgrade(empty_url, earlier or "base")
    assert await look(empty_url, rows) == before
    await upgrade(empty_url, revision)
    assert await look(empty_url, rows) == upgraded
    for table, kept in before.items():
        assert len(upgraded[table]) == len(kept)
    await run(empty_url, *([] if earlier else ROWS[revision]))


async def test_older_server_finds_no_entries_that_are_none(empty_url: str) -> None:
    """What closes an attempt, an older server would take for an entry of the game."""
    await upgrade(empty_url, "0002")
    await run(empty_url, *ROWS["0002"])
    await downgrade(empty_url, "0001")
    left = await look(empty_url, rows)
    assert left["entry"] == [
        "('g1', 1, '26v3', 100, 'hash')",
        "('g2', 1, '1a', 100, 'hash')",
        "('g2', 2, 'undo', 200, 'hash')",
    ]
    assert {table: len(kept) for table, kept in left.items()} == {
        "player": 2,
        "game": 2,
        "entry": 3,
    }


async def test_every_revision_has_rows_to_carry() -> None:
    assert sorted(ROWS) == REVISIONS


async def test_text_sorts_by_bytes_whatever_the_locale(postgres_url: str) -> None:
    def columns(connection: Connection) -> set[str | None]:
        found = connection.execute(
            text(
                "SELECT collation_name FROM information_schema.columns"
                " WHERE table_schema = 'public' AND data_type = 'text'"
            )
        )
        return set(found.scalars())

    assert await look(postgres_url, columns) == {"C"}


async def test_database_itself_refuses_what_cannot_be(database_url: str) -> None:
    await run(database_url, *LATEST)
    for statement in [
        "UPDATE game SET attempt = NULL WHERE id = 'g2'",
        "UPDATE game SET player = 'p9' WHERE id = 'g2'",
        "DELETE FROM game WHERE id = 'g1'",
        "DELETE FROM player WHERE id = 'p1'",
        "INSERT INTO entry VALUES ('g1', 1, 'undo', 100, 'hash')",
        "UPDATE player SET handle_key = 'annie' WHERE id = 'p2'",
        "UPDATE player SET token_hash = 'token' WHERE id = 'p2'",
        "UPDATE challenge SET day = '2026-12-01' WHERE id = 'next'",
        "UPDATE challenge SET previous_challenge = NULL WHERE id = 'next'",
        "UPDATE result SET game = 'g9'",
        "UPDATE result SET ended = NULL",
        "INSERT INTO result SELECT 2, game, challenge, player, 2, 1, 1, 1, 1, 1 FROM result",
    ]:
        with pytest.raises(DBAPIError, match=r"(?i)constraint|foreign"):
            await run(database_url, statement)


# -- Other tables than ours ------------------------------------------------------------------------


async def test_database_without_tables_is_older_and_says_what_to_do(empty_url: str) -> None:
    with pytest.raises(OlderSchema, match="run: python -m server db upgrade"):
        await check(empty_url)
    assert await look(empty_url, rows) == {}


async def test_database_of_a_newer_server_is_left_alone(database_url: str) -> None:
    await run(database_url, "UPDATE alembic_version SET version_num = '9999'", *LATEST)
    before = await look(database_url, rows)
    for ask in (check(database_url), upgrade(database_url), downgrade(database_url, "base")):
        with pytest.raises(NewerSchema, match="made by a newer Cellmates"):
            await ask
    assert await look(database_url, rows) == before


async def test_database_that_is_away_has_no_schema_to_be_wrong(tmp_path: Path) -> None:
    for url in [f"sqlite:///{tmp_path}/none/x.db", "postgresql://me@/x?host=/nowhere"]:
        for ask in (check(url), upgrade(url)):
            with pytest.raises(StorageError):
                await ask


# -- Revisions to come -----------------------------------------------------------------------------

NEXT = '''"""The next revision, of a test."""

import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = "{after}"
branch_labels = None
depends_on = None


def recreate() -> str:
    return "always" if op.get_bind().dialect.name == "sqlite" else "never"


def upgrade() -> None:
    with op.batch_alter_table("game", recreate=recreate()) as game:
        game.add_column(sa.Column("mood", sa.Text()))
    {more}


def downgrade() -> None:
    with op.batch_alter_table("game", recreate=recreate()) as game:
        game.drop_column("mood")
'''


@pytest.fixture
def revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test may put revisions of its own beside ours."""
    copy = tmp_path / "with % in its name"
    shutil.copytree(schema.MIGRATIONS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(schema, "MIGRATIONS", copy)
    return copy / "versions"


def put_next(revisions: Path, more: str = "pass") -> None:
    file = revisions / "next.py"
    file.write_text(NEXT.format(after=REVISIONS[-1], more=more))


async def test_table_is_altered_without_harm_to_what_refers_to_it(
    database_url: str, revisions: Path
) -> None:
    await run(database_url, *LATEST)
    before = await look(database_url, rows)
    put_next(revisions)
    with pytest.raises(OlderSchema):
        await check(database_url)
    await upgrade(database_url)
    await check(database_url)
    upgraded = await look(database_url, rows)
    assert upgraded["entry"] == before["entry"]
    assert [row.replace(", None)", ")") for row in upgraded["game"]] == before["game"]
    await downgrade(database_url, REVISIONS[-1])
    assert await look(database_url, rows) == before


@pytest.mark.parametrize("fault", ["1 / 0", "op.execute('DELETE FROM game')"])
async def test_upgrade_that_fails_has_changed_nothing(
    database_url: str, revisions: Path, fault: str
) -> None:
    await run(database_url, *LATEST)
    before = await look(database_url, rows)
    put_next(revisions, fault)
    with pytest.raises((ZeroDivisionError, RuntimeError, DBAPIError)):
        await upgrade(database_url)
    with pytest.raises(OlderSchema):
        await check(database_url)
    assert await look(database_url, rows) == before


async def test_foreign_keys_that_are_on_stop_a_migration(
    sqlite_url: str, revisions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_next(revisions)
    monkeypatch.setattr(schema, "open_migrating", lambda url: open_engines(url).write)
    with pytest.raises(RuntimeError, match="foreign keys are on"):
        await upgrade(sqlite_url)


async def test_draft_is_a_revision_to_what_the_server_expects(
    database_url: str, revisions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.sorted_tables:
        table.to_metadata(grown)
    Table("diary", grown, Column("day", INTEGER, primary_key=True), Column("words", TEXT))
    monkeypatch.setattr(schema, "metadata", grown)
    await schema.draft(database_url, "A diary")
    number = f"{int(REVISIONS[-1]) + 1:04}"
    drafted = (revisions / f"{number}_a_diary.py").read_text()
    assert drafted.startswith('"""A diary."""\n')
    assert f"down_revision = '{REVISIONS[-1]}'" in drafted
    await upgrade(database_url)
    await check(database_url)
    assert (await look(database_url, rows))["diary"] == []


async def test_nothing_is_drafted_on_a_database_that_is_behind(
    empty_url: str, revisions: Path
) -> None:
    before = sorted(revisions.glob("*.py"))
    with pytest.raises(WrongSchema):
        await schema.draft(empty_url, "A diary")
    assert sorted(revisions.glob("*.py")) == before


# -- Several at once -------------------------------------------------------------------------------

UPGRADE = "import asyncio, sys; from server.store import *; asyncio.run(upgrade(sys.argv[1]))"


def begin_upgrade(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", UPGRADE, url]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


async def end(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What each has to complain of."""
    return [(await asyncio.to_thread(process.communicate, timeout=60))[1] for process in processes]


async def test_postgres_may_be_upgraded_by_several_at_once(postgres: Postgres) -> None:
    with postgres.database() as url:
        engine = open_migrating(url)
        async with engine.begin() as holder:
            await holder.execute(text(f"SELECT pg_advisory_xact_lock({schema.LOCK})"))
            processes = [begin_upgrade(url) for _ in range(3)]
            waiting = f"datname = '{postgres.name_in(url)}' AND wait_event = 'advisory'"
            await asyncio.to_thread(
                postgres.wait_for, f"SELECT count(*) FROM pg_stat_activity WHERE {waiting}", "3"
            )
        await dispose(engine)
        assert await end(processes) == ["", "", ""]
        await check(url)


async def test_sqlite_may_be_upgraded_by_several_at_once(tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode = WAL")
    holder.execute("BEGIN IMMEDIATE")
    processes = [begin_upgrade(f"sqlite:///{path}") for _ in range(3)]
    await asyncio.sleep(1)  # not relied upon: the later they come, the less is asked of them
    holder.execute("COMMIT")
    holder.close()
    assert await end(processes) == ["", "", ""]
    await check(f"sqlite:///{path}")


# -- With the journal ------------------------------------------------------------------------------


async def test_journal_works_on_what_an_upgrade_has_made(empty_url: str) -> None:
    await upgrade(empty_url)
    store = await Store.open(empty_url)
    await store.create_player(PLAYER, "annie", "token of annie")
    await store.create_game(a_game())
    [one] = entries(1)
    await store.append("g1", one, after(one))
    assert await store.entries("g1") == [one]
    await store.close()
