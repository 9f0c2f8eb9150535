"""Group commit: one task writes what all games have waiting, in one transaction after another.

While a transaction is under way the next batch gathers, so a lone write is committed at once, and
under load one fsync carries many. No caller is waited for, and none can stop a write by leaving.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import Any

from sqlalchemy import ClauseElement, Dialect, Executable
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.sql.compiler import SQLCompiler

from ..background import Outage
from ..journal import StorageError
from .engine import asking

_log = logging.getLogger(__name__)

# Writes that may wait or be under way. Whoever comes on top of that waits for room first.
ROOM = 4096

Row = Mapping[str, Any]
# Those of each statement of a kind: one, none or more.
Rows = tuple[Sequence[Row], ...]

# Told after each commit how many writes it had, and how many seconds it took.
Observe = Callable[[int, float], None]


@dataclass(frozen=True, slots=True)
class Places:
    """What a row needs to have for itself: the columns of ``names``.

    ``taken`` tells which of ``these``, tuples in the order of ``names``, are taken already.
    """

    names: tuple[str, ...]
    taken: Executable


@dataclass(frozen=True, slots=True)
class Kind:
    """Statements that are executed with their rows of every write of this kind in a batch.

    ``order`` is the same in every process, as is that of the keys within a kind: two processes that
    lock the same rows in another order would stop each other; so what claims places in a table is
    of one kind. A ``counted`` write is one statement that changes one row or is refused.
    ``places`` are those of the rows of the first statement.
    """

    order: int
    statements: tuple[Executable, ...]
    counted: bool = False
    places: Places | None = None


# What is raised where a write was asked for: from the constraint that its rows break, or from None
# where a counted write has found no row to change, or a place is taken.
Refuse = Callable[[IntegrityError | None], Exception]


@dataclass(eq=False, slots=True)
class Write:
    """Something to be written, and who waits for it."""

    kind: Kind
    key: str
    rows: Rows
    refuse: Refuse
    done: asyncio.Future[None]


class Writer:
    """The way of all writes from this process into its database."""

    def __init__(
        self, engine: AsyncEngine, answer_s: float, observe: Observe | None = None
    ) -> None:
        self._engine = engine
        self._answer_s = answer_s
        self._observe = observe
        self._room = asyncio.Semaphore(ROOM)
        self._waiting: deque[Write] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._outage = Outage(_log, "the database takes no writes")
        self._clock = asyncio.get_running_loop().time
        self._task = asyncio.create_task(self._run(), name="journal writer")

    async def write(self, kind: Kind, key: str, rows: Rows, refuse: Refuse) -> None:
        """Write rows, those of each statement of ``kind``, and return when they are committed.

        A caller that is cancelled meanwhile leaves the write to go on.

        Raises:
            StorageError: it is unknown whether the rows are there.
            Exception: what ``refuse`` returns; nothing is written.
        """
        await self._room.acquire()
        if self._closing:
            self._room.release()
            raise StorageError("the journal is closed")
        done = asyncio.get_running_loop().create_future()
        self._waiting.append(Write(kind, key, rows, refuse, done))
        self._wake.set()
        await done

    async def close(self) -> None:
        """Take no more, and return when all that waited is written or refused."""
        self._closing = True
        self._wake.set()
        await asyncio.shield(self._task)

    async def _run(self) -> None:
        try:
            while batch := await self._next():
                await self._settle(batch)
        finally:
            self._closing = True
            _fail(self._waiting, StorageError("the writer was stopped"))

    async def _next(self) -> list[Write]:
        """Everything that waits; empty when nothing will come any more."""
        while not self._waiting and not self._closing:
            self._wake.clear()
            await self._wake.wait()
        batch = list(self._waiting)
        self._waiting.clear()
        return batch

    async def _settle(self, batch: list[Write]) -> None:
        """Write a batch and let every wait in it end, whatever happens."""
        error: Exception = StorageError("the writer was stopped")
        try:
            await self._commit(batch)
            self._outage.note(None)
        except StorageError as raised:
            self._outage.note(raised)
            error = raised
        except Exception as raised:  # noqa: BLE001 - it is raised again, where the write was asked for
            error = raised
        finally:
            _fail(batch, error)
            for _ in batch:
                self._room.release()

    async def _commit(self, batch: list[Write], *, sift: bool = False) -> None:
        """Commit a batch in one transaction, or in more where a row of it breaks a constraint.

        Then those whose place is taken are sifted out before it is tried again; that is all it
        takes, unless something rare is wrong. If so the batch is halved until the guilty are alone.
        """
        begun = self._clock()
        try:
            refused = await self._transact(batch, sift=sift)
        except IntegrityError as error:
            if not sift:
                await self._commit(batch, sift=True)
            elif len(batch) > 1:
                middle = len(batch) // 2
                await self._commit(batch[:middle], sift=True)
                await self._commit(batch[middle:], sift=True)
            else:
                _fail(batch, batch[0].refuse(error))
            return
        for write in batch:
            if write in refused:
                _fail([write], write.refuse(None))
            elif not write.done.done():
                write.done.set_result(None)
        if self._observe is not None:
            self._observe(len(batch) - len(refused), self._clock() - begun)

    async def _transact(self, batch: list[Write], *, sift: bool) -> set[Write]:
        """Write a batch in one transaction; return those that are refused and not written."""
        refused = set()
        # Of two that claim the same place the first to come is still the first.
        ordered = sorted(batch, key=lambda write: (write.kind.order, write.key))
        async with asking(self._answer_s), self._engine.begin() as connection:
            for kind, group in groupby(ordered, key=lambda write: write.kind):
                writes = list(group)
                if kind.counted:
                    refused |= await _one_by_one(connection, kind, writes)
                    continue
                if sift and kind.places is not None:
                    refused |= await _displaced(connection, kind.places, writes)
                    writes = [write for write in writes if write not in refused]
                await _together(connection, kind, writes)
        return refused


async def _together(connection: AsyncConnection, kind: Kind, writes: Sequence[Write]) -> None:
    for nth, statement in enumerate(kind.statements):
        if rows := [row for write in writes for row in write.rows[nth]]:
            text, names = _driver_sql(statement, connection.dialect, tuple(rows[0]))
            values = [tuple([row[name] for name in names]) for row in rows]
            await connection.exec_driver_sql(text, values)


@lru_cache(maxsize=100)  # more than there are statements, in two dialects
def _driver_sql(
    statement: ClauseElement, dialect: Dialect, names: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """A statement as the driver takes it, and the names of its values in their order.

    Left to ``execute``, each row of a batch would be put in that order by a walk over the statement
    and its types, which costs more than all else that is done for a row.
    """
    compiled = statement.compile(dialect=dialect, column_keys=names, for_executemany=True)
    assert isinstance(compiled, SQLCompiler)
    return str(compiled), tuple(compiled.positiontup or ())


async def _one_by_one(
    connection: AsyncConnection, kind: Kind, writes: Sequence[Write]
) -> set[Write]:
    refused = set()
    [statement] = kind.statements
    for write in writes:
        [[row]] = write.rows
        result = await connection.execute(statement, row)
        if result.rowcount != 1:
            refused.add(write)
    return refused


async def _displaced(
    connection: AsyncConnection, places: Places, writes: Sequence[Write]
) -> set[Write]:
    """Those whose place is taken, in the database or by one that came before."""
    claimed = [
        [tuple(row[name] for name in places.names) for row in write.rows[0]] for write in writes
    ]
    found = await connection.execute(places.taken, {"these": list(chain(*claimed))})
    taken = {tuple(row) for row in found}
    refused = set()
    for write, claims in zip(writes, claimed, strict=True):
        if taken.isdisjoint(claims):
            taken.update(claims)
        else:
            refused.add(write)
    return refused


def _fail(writes: Iterable[Write], error: Exception) -> None:
    """Raise an error where writes were asked for, if they still have no answer."""
    for write in writes:
        if not write.done.done():
            write.done.set_exception(error)
