"""Databases for tests: real ones, a new one for each test."""

import asyncio
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from server.store import upgrade

from .postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A Postgres of one's own, started when the first test asks for it."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres: Postgres) -> Iterator[str]:
    """Name of a database with the server's tables, to make others from."""
    with postgres.database() as url:
        _upgrade(url)
        yield postgres.name_in(url)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File with the server's tables, to make others from."""
    path = tmp_path_factory.mktemp("template") / "template.sqlite"
    _upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def postgres_url(postgres: Postgres, postgres_template: str) -> Iterator[str]:
    """A new Postgres database with the server's tables and no rows."""
    with postgres.database(postgres_template) as url:
        yield url


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A new SQLite database with the server's tables and no rows."""
    path = tmp_path / "cellmates.sqlite"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A new database of each kind, with the server's tables and no rows."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


def _upgrade(url: str) -> None:
    """Make the tables; apart, because a test's own event loop may already be there."""
    with ThreadPoolExecutor(1) as apart:
        apart.submit(asyncio.run, upgrade(url)).result()
