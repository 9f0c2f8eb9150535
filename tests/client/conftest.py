"""A server to try things on, and who connects to it."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio

from client.client import Client

from .fake import FakeServer
from .making import QUICK, Commands, Make


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as server:
        yield server


@pytest.fixture(params=["msgpack", "json"])
def make(request: pytest.FixtureRequest, server: FakeServer) -> Make:
    """Clients of the fake server, quick to come back."""
    return partial(Client, server.url, encoding=request.param, back_off=QUICK, deadline_s=10.0)


@pytest.fixture
def bot(make: Make, server: FakeServer) -> Client:
    """A client that has a player."""
    return make(token=server.player())


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for this user's configuration, with nothing in it."""
    for name in (
        "CELLMATES_TOKEN",
        "CELLMATES_BOT_TOKEN",
        "CELLMATES_SERVER",
        "NO_COLOR",
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
        "TTY_INTERACTIVE",
        "COLUMNS",
        "LINES",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def run(
    server: FakeServer,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Commands:
    return Commands(server, monkeypatch, capsys)
