"""A copy of the whole database while it is in use, which only SQLite needs us for.

A Postgres has ``pg_dump``, and a copy made in any other way would be a worse one.
"""

import asyncio
import os
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from ..journal import StorageError
from .engine import BUSY_S, BadDatabase, parse_url

OWNER_ONLY = 0o600
PARTIAL = ".partial"  # behind the name of a copy that is not finished


async def backup(url: str, path: str | Path) -> None:
    """Copy a SQLite database into a new file, whatever is being written to it meanwhile.

    The copy is the database at one instant after the call, one file without a log beside it, and
    its owner's alone. It is there under its name once it is whole and on the disk, and not before;
    a crash may leave a file that ends in ``.partial``. Once begun it is brought to its end, even if
    whoever waits for it leaves.

    Raises:
        BadDatabase: the URL names none that can be used, or a Postgres. Here and below no file is
            left that was not there before.
        FileExistsError: the file is there already, or an unfinished copy is.
        OSError: the file cannot be written.
        StorageError: the database is away or damaged, or the disk is full.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite" or parsed.database is None:
        raise BadDatabase(
            "a Postgres is backed up by its own pg_dump; docs/operations.md has the commands"
        )
    await asyncio.to_thread(_backup, Path(parsed.database).absolute(), Path(path).absolute())


def _backup(source: Path, target: Path) -> None:
    partial = target.with_name(target.name + PARTIAL)
    with ExitStack() as failing:
        _claim(partial)
        failing.callback(partial.unlink)
        if target.exists():
            raise FileExistsError(f"{target} is there already, and is not written over")
        try:
            _copy(source, partial)
        except sqlite3.Error as error:
            raise StorageError(f"{type(error).__name__}: {error}") from error
        _sync(partial)
        partial.rename(target)
        failing.pop_all()
    _sync(target.parent)


def _claim(partial: Path) -> None:
    """Make the unfinished file, which is also what keeps a second back-up away from it."""
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        raise FileExistsError(
            f"{partial} is there: a back-up is under way, or one was broken off; then remove it"
        ) from None
    os.close(descriptor)


def _copy(source: Path, partial: Path) -> None:
    # "rw" does not make a database where there is none. VACUUM INTO reads in one transaction, which
    # in a write-ahead log stops nobody, and leaves behind what was deleted.
    with closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", BUSY_S, uri=True)) as database:
        database.execute("VACUUM INTO ?", (str(partial),))
    with closing(sqlite3.connect(partial)) as copy:
        [(found,)] = copy.execute("PRAGMA quick_check(1)").fetchall()
    if found != "ok":
        raise StorageError(f"the copy is damaged, as the database may be: {found}")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
