"""A journal on each database."""

from collections.abc import AsyncIterator

import pytest_asyncio

from server.store import Store

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
