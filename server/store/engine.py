"""Engines with the settings that durability rests on, and the one place where trouble is named."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Thread
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import aiosqlite
import asyncpg  # type: ignore[import-untyped]
from sqlalchemy import URL, Connection, Engine, event, make_url
from sqlalchemy.engine.interfaces import AdaptedConnection, DBAPIConnection
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from ..journal import StorageError

READERS = 5  # connections that read at the same time
CONNECT_S = 5.0
BUSY_S = 5.0  # how long SQLite waits for another process that writes
ENDED_S = BUSY_S + 1.0  # by then a connection that was broken off has ended
ANSWER_S = 10.0  # a database that has not answered by then is away


class BadDatabase(Exception):
    """The database named in the settings cannot be used. Nothing was changed."""


# -- Which database --------------------------------------------------------------------------------


def parse_url(text: str) -> URL:
    """Return the URL of a database, with the driver that is used here.

    Raises:
        BadDatabase: it is neither ``sqlite:///path`` nor ``postgresql://…``, or has options that
            are not known here. The message does not repeat a URL, which may hold a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise BadDatabase(
            "not the URL of a database: sqlite:///path or postgresql://user@host/name is expected"
        ) from error
    match url.drivername:
        case "sqlite" | "sqlite+aiosqlite":
            return _sqlite_url(url)
        case "postgresql" | "postgresql+asyncpg":
            return _postgres_url(url)
    raise BadDatabase(
        f"unknown kind of database {url.drivername!r}: sqlite:///path or postgresql://… is expected"
    )


def _sqlite_url(url: URL) -> URL:
    if url.host or url.username:
        raise BadDatabase("sqlite://… names a host: a relative path follows three slashes")
    if url.query:
        raise BadDatabase(f"unknown options for SQLite: {', '.join(sorted(url.query))}")
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise BadDatabase("SQLite needs the path of a file: sqlite:///path")
    return url.set(drivername="sqlite+aiosqlite")


def _postgres_url(url: URL) -> URL:
    unknown = url.query.keys() - {"host", "port", "ssl", "sslmode"}
    if unknown:
        raise BadDatabase(f"unknown options for Postgres: {', '.join(sorted(unknown))}")
    query = dict(url.query)
    if "sslmode" in query:  # as libpq calls it
        query["ssl"] = query.pop("sslmode")
    return url.set(drivername="postgresql+asyncpg", query=query)


# -- Engines ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Engines:
    """Two ways to one database: many that only read, and one connection that writes."""

    read: AsyncEngine
    write: AsyncEngine

    async def dispose(self) -> None:
        """Close every connection, and return when nothing of them is left."""
        await dispose(self.read)
        await dispose(self.write)


# What of ``create_async_engine``'s arguments says how connections are kept.
Pool = dict[str, Any]


# For what only reads: each statement is a transaction by itself, and there is none to roll back.
_NO_TRANSACTIONS: Pool = {"isolation_level": "AUTOCOMMIT", "skip_autocommit_rollback": True}


def _pool(size: int) -> Pool:
    return {"pool_size": size, "max_overflow": 0, "pool_timeout": ANSWER_S}


def open_engines(
    text: str, *, answer_s: float = ANSWER_S, allow_fsync_off: bool = False
) -> Engines:
    """Make the engines of a server; nothing is connected yet.

    Postgres gives up before ``answer_s`` seconds are over, so that no statement is still waiting
    there, with its locks, for which nobody waits here any more.
    ``allow_fsync_off`` is for tests of speed: such a Postgres loses what it has acknowledged.

    Raises:
        BadDatabase: as by ``parse_url``.
    """
    url = parse_url(text)
    if url.get_backend_name() == "sqlite":
        return Engines(
            read=_sqlite(url, _pool(READERS) | _NO_TRANSACTIONS, read_only=True),
            write=_sqlite(url, _pool(1)),
        )
    limit_ms = str(int(answer_s * 800))
    limits = {"statement_timeout": limit_ms, "idle_in_transaction_session_timeout": limit_ms}
    read_only = {"default_transaction_read_only": "on"}
    read_pool = _pool(READERS) | _NO_TRANSACTIONS
    return Engines(
        read=_postgres(url, limits | read_only, read_pool, allow_fsync_off=allow_fsync_off),
        write=_postgres(url, limits, _pool(1), allow_fsync_off=allow_fsync_off),
    )


def open_migrating(text: str) -> AsyncEngine:
    """Make the engine that migrations run on: no limits, and no foreign keys on SQLite.

    There a table is altered by copying and dropping it, and dropping one that others refer to
    would delete or refuse their rows. Whoever migrates checks the keys afterwards.

    Raises:
        BadDatabase: as by ``parse_url``.
    """
    url = parse_url(text)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url, {"poolclass": NullPool}, foreign_keys=False)
    return _postgres(url, {}, {"poolclass": NullPool}, allow_fsync_off=True)


async def dispose(engine: AsyncEngine) -> None:
    """Close an engine's connections, and return when nothing of them is left.

    A connection to SQLite is a thread. One that was broken off is told to end and not waited for,
    and would answer to an event loop that may be closed by then.
    """
    await engine.dispose()
    for worker in tuple(_WORKERS.get(engine.sync_engine, ())):
        if worker.is_alive():
            await asyncio.to_thread(worker.join, ENDED_S)


_WORKERS: WeakKeyDictionary[Engine, WeakSet[Thread]] = WeakKeyDictionary()


def _sqlite(
    url: URL, pool: Pool, *, read_only: bool = False, foreign_keys: bool = True
) -> AsyncEngine:
    workers: WeakSet[Thread] = WeakSet()

    def connect(*arguments: object, **options: object) -> aiosqlite.Connection:
        connection = aiosqlite.connect(*arguments, **options)  # type: ignore[arg-type]
        worker = connection._thread
        worker.daemon = True
        workers.add(worker)
        return connection

    connect_args = {"timeout": BUSY_S, "async_creator_fn": connect}
    engine = create_async_engine(url, hide_parameters=True, connect_args=connect_args, **pool)
    _WORKERS[engine.sync_engine] = workers

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: DBAPIConnection, record: object) -> None:
        if (mode := _ask(connection, "PRAGMA journal_mode = WAL")) != "wal":
            raise BadDatabase(f"SQLite cannot keep a write-ahead log here, only {mode!r}")
        _ask(connection, "PRAGMA synchronous = FULL")
        _ask(connection, f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        _ask(connection, f"PRAGMA query_only = {'ON' if read_only else 'OFF'}")

    if not read_only:  # what reads does so a statement at a time, and each is its own transaction

        @event.listens_for(engine.sync_engine, "begin")
        def begun(connection: Connection) -> None:
            # Left to itself the driver begins with the first write, after the reading that it is
            # decided on, and updates get lost without an error.
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgres(
    url: URL,
    settings: dict[str, str],
    pool: Pool,
    *,
    allow_fsync_off: bool,
) -> AsyncEngine:
    settings = {"synchronous_commit": "on", "application_name": "cellmates"} | settings
    connect_args = {"timeout": CONNECT_S, "server_settings": settings}
    engine = create_async_engine(url, hide_parameters=True, connect_args=connect_args, **pool)

    if not allow_fsync_off:

        @event.listens_for(engine.sync_engine, "connect")
        def connected(connection: DBAPIConnection, record: object) -> None:
            if _ask(connection, "SHOW fsync") != "on":
                raise BadDatabase(
                    "Postgres runs with fsync=off: what it acknowledges a power cut can undo"
                )

    @event.listens_for(engine.sync_engine, "checkout")
    def checked_out(connection: AdaptedConnection, record: object, proxy: object) -> None:
        # One that the server has closed in the meantime, as when it restarts, is replaced.
        if connection.driver_connection.is_closed():
            raise DisconnectionError("the connection was closed")

    return engine


def _ask(connection: DBAPIConnection, statement: str) -> object:
    """First value that a statement returns, if it returns any."""
    cursor = connection.cursor()
    cursor.execute(statement)
    row = cursor.fetchone() if cursor.description else None
    cursor.close()
    return row[0] if row else None


# -- Trouble ---------------------------------------------------------------------------------------

# What a database, its driver or the way there may raise.
TROUBLE = (
    DBAPIError,
    PoolTimeout,
    sqlite3.Error,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,  # refused, reset, unknown host, TimeoutError: some come from under the driver, bare
)


@asynccontextmanager
async def asking(limit_s: float) -> AsyncIterator[None]:
    """Bound what is asked of a database in time, and name what goes wrong.

    Raises:
        StorageError: the database is away, refuses, or has not answered in time.
        IntegrityError: a row breaks a constraint.
    """
    try:
        async with asyncio.timeout(limit_s):
            yield
    except IntegrityError:
        raise
    except TROUBLE as error:
        if _is_our_mistake(error):
            raise
        raise StorageError(_in_a_line(error)) from error


def _in_a_line(error: Exception) -> str:
    """What has gone wrong, without the statement and whatever Postgres says of its values."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    cause = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(error).__name__}: {str(cause).partition(chr(10))[0]}"


def _is_our_mistake(error: Exception) -> bool:
    """Whether a statement or a value was wrong in itself, and the database is not to blame."""
    if isinstance(error, ProgrammingError | DataError):
        return True
    driver = error.driver_exception if isinstance(error, DBAPIError) else error
    # asyncpg looks at values before it sends them; what Postgres says of values is class 22.
    return isinstance(driver, ValueError) or _sqlstate(driver).startswith("22")


def _sqlstate(error: BaseException | None) -> str:
    return getattr(error, "sqlstate", None) or ""


def is_missing(error: DBAPIError) -> bool:
    """Whether a row was refused because it refers to one that is not there."""
    name = getattr(error.orig, "sqlite_errorname", None)
    return name == "SQLITE_CONSTRAINT_FOREIGNKEY" or _sqlstate(error.orig) == "23503"
