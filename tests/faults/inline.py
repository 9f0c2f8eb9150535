"""SQLite without threads, for a loop with virtual time: each call takes a while, and may go wrong.

It stands where the store has ``aiosqlite``, as far as SQLAlchemy uses that. What is asked of one
connection happens in order, whether or not anybody still waits for it, as it does in a thread.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

BUSY_EACH_S = 0.003
WAIT_S = (0.0001, 0.004)


@dataclass
class Disk:
    """What a server process sees of its disk. ``trouble`` is how likely a call is to fail."""

    chance: Random
    trouble: float = 0.0
    is_away: bool = False
    is_dead: bool = False
    connections: list["InlineConnection"] = field(default_factory=list)

    def connect(self, path: str, *, timeout: float = 5.0, **_: object) -> "InlineConnection":
        """A connection, to be awaited."""
        connection = InlineConnection(self, path, timeout)
        self.connections.append(connection)
        return connection

    def die(self) -> None:
        """The process is gone: what was not committed never was."""
        self.is_dead = True
        for connection in self.connections:
            connection.break_off()


class _NoThread:
    daemon = True

    def is_alive(self) -> bool:
        return False


@dataclass
class _Call:
    what: Callable[[], Any]
    done: asyncio.Future[Any]
    deadline: float
    fails_before: bool
    fails_after: bool


class InlineConnection:
    """One connection, and its calls in their order."""

    def __init__(self, disk: Disk, path: str, timeout: float) -> None:
        self._disk = disk
        self._path = path
        self._timeout = timeout
        self._thread = _NoThread()
        self._tx = _Way(self)
        self._connection: sqlite3.Connection | None = None
        self._calls: deque[_Call] = deque()

    def __await__(self) -> Generator[Any, None, "InlineConnection"]:
        yield from self.ask(self._open).__await__()
        return self

    @property
    def _conn(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.OperationalError("the connection is closed")
        return self._connection

    @property
    def isolation_level(self) -> str | None:
        """As the driver's."""
        return self._conn.isolation_level

    def cursor(self) -> "InlineCursor":
        """A cursor, to be entered."""
        return InlineCursor(self)

    async def commit(self) -> None:
        """Commit."""
        await self.ask(lambda: self._conn.commit())

    async def rollback(self) -> None:
        """Roll back."""
        await self.ask(lambda: self._conn.rollback(), is_safe=True)

    async def close(self) -> None:
        """Close."""
        self.break_off()

    async def create_function(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
        """Register a function."""
        await self.ask(lambda: self._conn.create_function(*arguments, **options), is_safe=True)

    def stop(self) -> None:
        """Close without waiting."""
        self.break_off()

    def break_off(self) -> None:
        """Let go of the file at once."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def ask(self, what: Callable[[], Any], *, is_safe: bool = False) -> Any:  # noqa: ANN401
        """Have something done in its turn, and wait for that."""
        chance, loop = self._disk.chance, asyncio.get_running_loop()
        trouble = 0.0 if is_safe else self._disk.trouble
        call = _Call(
            what,
            loop.create_future(),
            loop.time() + self._timeout,
            fails_before=chance.random() < trouble,
            fails_after=chance.random() < trouble,
        )
        self._calls.append(call)
        if len(self._calls) == 1:
            self._later(self._begin)
        return await call.done

    def _open(self) -> None:
        self._connection = sqlite3.connect(self._path, timeout=0, check_same_thread=False)

    def _later(self, callback: Callable[[], None], wait_s: float | None = None) -> None:
        wait_s = self._disk.chance.uniform(*WAIT_S) if wait_s is None else wait_s
        asyncio.get_running_loop().call_later(wait_s, callback)

    def _begin(self) -> None:
        call = self._calls[0]
        if self._disk.is_dead or self._disk.is_away or call.fails_before:
            self._end(sqlite3.OperationalError("disk I/O error"))
            return
        try:
            result = call.what()
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            if is_busy and asyncio.get_running_loop().time() < call.deadline:
                self._later(self._begin, BUSY_EACH_S)
            else:
                self._end(error)
        except sqlite3.Error as error:
            self._end(error)
        else:
            failed = sqlite3.OperationalError("disk I/O error") if call.fails_after else None
            self._later(lambda: self._end(failed, result))

    def _end(self, error: Exception | None, result: object = None) -> None:
        call = self._calls.popleft()
        if not call.done.done():
            if error is None:
                call.done.set_result(result)
            else:
                call.done.set_exception(error)
        if self._calls:
            self._later(self._begin)


class _Way:
    """How SQLAlchemy sets a connection's isolation level: by the queue of the driver's thread."""

    def __init__(self, connection: InlineConnection) -> None:
        self._connection = connection
        self._under_way: set[asyncio.Task[Any]] = set()

    def put_nowait(self, asked: tuple[asyncio.Future[Any], Callable[[], Any]]) -> None:
        """Have something done in its turn; what comes of it is the future's."""
        task = asyncio.ensure_future(self._do(*asked))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _do(self, done: asyncio.Future[Any], what: Callable[[], Any]) -> None:
        try:
            result = await self._connection.ask(what, is_safe=True)
        except sqlite3.Error as error:
            if not done.done():
                done.set_exception(error)
        else:
            if not done.done():
                done.set_result(result)


class InlineCursor:
    """A cursor of such a connection."""

    def __init__(self, connection: InlineConnection) -> None:
        self._connection = connection
        self._cursor: sqlite3.Cursor | None = None

    async def __aenter__(self) -> "InlineCursor":
        return self

    @property
    def description(self) -> Any:  # noqa: ANN401
        """As the driver's."""
        return None if self._cursor is None else self._cursor.description

    @property
    def rowcount(self) -> int:
        """As the driver's."""
        return -1 if self._cursor is None else self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """As the driver's."""
        return None if self._cursor is None else self._cursor.lastrowid

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> "InlineCursor":
        """Execute a statement."""
        self._cursor = await self._connection.ask(
            lambda: self._connection._conn.execute(statement, values)
        )
        return self

    async def executemany(self, statement: str, rows: Sequence[Any]) -> "InlineCursor":
        """Execute a statement for each row."""
        self._cursor = await self._connection.ask(
            lambda: self._connection._conn.executemany(statement, rows)
        )
        return self

    async def fetchall(self) -> list[Any]:
        """All rows."""
        return [] if self._cursor is None else self._cursor.fetchall()

    async def close(self) -> None:
        """Nothing is kept open."""
