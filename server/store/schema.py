"""Which tables a database has, and how it gets those of this server: by ``migrations/``."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from .engine import asking, dispose, open_migrating
from .tables import metadata

# Beside the server, in a checkout as well as where both are installed.
MIGRATIONS = Path(__file__).parents[2] / "migrations"

LOCK = 0x63656C6C  # whoever migrates a Postgres holds this advisory lock; any number that stays
# Copying a table takes as long as it takes.
MIGRATE_S = 24 * 60 * 60.0


class WrongSchema(Exception):
    """The tables of a database are not those of this server. Nothing was changed."""


class OlderSchema(WrongSchema):
    """They are of an older server, or there are none yet: upgrading helps."""

    def __init__(self) -> None:
        super().__init__(
            "the database has no tables of this version yet; run: python -m server db upgrade"
        )


class NewerSchema(WrongSchema):
    """They are of a server that this one knows nothing about."""

    def __init__(self) -> None:
        super().__init__("the database was made by a newer Cellmates; run that version, or newer")


async def upgrade(url: str, revision: str = "head") -> None:
    """Bring the tables up to this server's, in one transaction; where they are so, do nothing.

    Several processes may do this at once. Within one process only one at a time may.

    Raises:
        BadDatabase: the URL names no database that can be used.
        NewerSchema: they are beyond it already.
        StorageError: the database is away, or refuses.
    """
    async with _migrating(url) as connection:
        await connection.run_sync(_upgrade, revision)


async def downgrade(url: str, revision: str) -> None:
    """Take the tables back to a revision, with what only the later ones can hold.

    Raises:
        as ``upgrade``.
    """
    async with _migrating(url) as connection:
        await connection.run_sync(_downgrade, revision)


async def check(url: str) -> None:
    """Let a database through whose tables are this server's.

    Raises:
        BadDatabase: the URL names no database that can be used.
        NewerSchema: they are a newer server's.
        OlderSchema: they are an older server's, or there are none.
        StorageError: the database is away, or refuses.
    """
    async with _migrating(url) as connection:
        await connection.run_sync(_check)


async def draft(url: str, message: str) -> None:
    """Write the file of the next revision: from what ``tables`` has and the database has not.

    It is a draft, to be read and put right: a renamed column looks like one less and one more.

    Raises:
        as ``check``.
    """
    async with _migrating(url) as connection:
        await connection.run_sync(_draft, message)


@asynccontextmanager
async def _migrating(url: str) -> AsyncIterator[AsyncConnection]:
    """Hold a connection in a transaction, the only one of its kind in the database."""
    engine = open_migrating(url)
    try:
        async with asking(MIGRATE_S), engine.begin() as connection:
            if engine.dialect.name == "postgresql":  # on SQLite writing is enough to be alone
                await connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
            yield connection
    finally:
        await dispose(engine)


def _upgrade(connection: Connection, revision: str) -> None:
    if _is_newer(connection):
        raise NewerSchema
    command.upgrade(_config(connection), revision)


def _downgrade(connection: Connection, revision: str) -> None:
    if _is_newer(connection):
        raise NewerSchema
    command.downgrade(_config(connection), revision)


def _check(connection: Connection) -> None:
    if _is_newer(connection):
        raise NewerSchema
    if _revisions(connection) != set(ScriptDirectory(str(MIGRATIONS)).get_heads()):
        raise OlderSchema


def _draft(connection: Connection, message: str) -> None:
    _check(connection)
    [latest] = _revisions(connection)
    number = f"{int(latest) + 1:04}"
    command.revision(_config(connection), message, autogenerate=True, rev_id=number)


def _is_newer(connection: Connection) -> bool:
    """Whether the database is at a revision that is not among ours."""
    known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
    return not _revisions(connection) <= known


def _revisions(connection: Connection) -> set[str]:
    return set(MigrationContext.configure(connection).get_current_heads())


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["metadata"] = metadata
    return config
