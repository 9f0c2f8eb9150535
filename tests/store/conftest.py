"""A journal on each database."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from server.journal import Journal
from server.store import Store
from tests.postgres import Postgres
from tests.server.memory import MemoryJournal

from .records import PLAYER


@pytest_asyncio.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A journal that knows one player, and has let go of every connection at the end of a test."""
    store = await Store.open(database_url)
    await store.create_player(PLAYER, "annie", "token of annie")
    yield store
    for engine in (store.engines.read, store.engines.write):
        assert engine.pool.status().endswith("Current Checked out connections: 0")
    await store.close()


@pytest_asyncio.fixture(params=["sqlite", "postgres", "memory"])
async def journal(request: pytest.FixtureRequest) -> AsyncIterator[Journal]:
    """A journal that knows one player: on each database, and the one that tests elsewhere use."""
    if request.param == "memory":
        memory = MemoryJournal()
        await memory.create_player(PLAYER, "annie", "token of annie")
        yield memory
        return
    store = await Store.open(request.getfixturevalue(f"{request.param}_url"))
    await store.create_player(PLAYER, "annie", "token of annie")
    yield store
    await store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A new database of each kind, with nothing in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite'}"
        return
    postgres: Postgres = request.getfixturevalue("postgres")
    with postgres.database() as url:
        yield url
