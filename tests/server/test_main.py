"""The server put together and run in this process, to its end by a signal."""

import asyncio
import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from server import serving
from server.__main__ import main
from server.clock import SystemClock
from server.config import Settings, read_settings
from server.journal import StorageError
from server.serving import serve
from tests.e2e.stranger import Stranger

KEY = "A" * 43 + "="
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: cells\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Commands set up the logs of their process, which here is everybody's."""
    root, alembic = logging.getLogger(), logging.getLogger("alembic")
    before = root.handlers, root.level, alembic.level
    yield
    root.handlers, root.level, alembic.level = before


@asynccontextmanager
async def served(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[tuple[str, asyncio.Task[None]]]:
    """A running server: where it listens, and the task that ends with it."""
    task = asyncio.create_task(serve(settings, SystemClock()))
    said = ""
    while " listens on " not in said:
        await asyncio.sleep(0.01)
        assert not task.done(), task.exception()
        said += capsys.readouterr().out
    try:
        yield said.split()[-1], task
    finally:
        if not task.done():
            os.kill(os.getpid(), signal.SIGTERM)
            await task


@pytest.mark.asyncio
async def test_server_greets_plays_and_stops_at_a_signal(
    database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(port=0, database_url=database_url, secret_key=KEY, plan_days=0)
    async with served(settings, capsys) as (where, task):
        stranger = await Stranger.connect(f"{where.replace('http', 'ws')}ws")
        await stranger.hello()
        await stranger.ask("player.create", handle="anna", kind="human")
        game = (await stranger.ask("game.start", ruleset="eight-off"))["game"]
        assert (await stranger.ask("game.resign", game=game, seq=1))["status"] == "resigned"
        os.kill(os.getpid(), signal.SIGTERM)
        while (frame := await stranger.receive())["t"] != "server.draining":
            pass
        assert frame["d"]["retry_after_ms"] > 0
        await stranger.socket.wait_closed()
        assert stranger.socket.close_code == 1012
        await task


@pytest.mark.asyncio
async def test_second_signal_forces_the_end(
    sqlite_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(
        host="::1", port=0, database_url=sqlite_url, secret_key="A" * 43 + "=", plan_days=0
    )
    async with served(settings, capsys) as (where, task):
        assert where.startswith("http://[::1]:")
        reader, writer = await asyncio.open_connection("::1", urlsplit(where).port)
        writer.write(HANDSHAKE)
        await reader.readuntil(b"\r\n\r\n")
        os.kill(os.getpid(), signal.SIGTERM)
        await reader.readuntil(b"server.draining")  # never answers the close that follows
        os.kill(os.getpid(), signal.SIGTERM)
        await task
        writer.close()


@pytest.mark.asyncio
async def test_ready_is_what_the_database_and_the_drain_leave(
    sqlite_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(port=0, database_url=sqlite_url, secret_key=KEY, plan_days=0)
    async with served(settings, capsys) as (where, _):
        assert await status(where, "/readyz") == 200
        monkeypatch.setattr("server.store.Store.check", away)
        assert await status(where, "/readyz") == 503
        assert await status(where, "/healthz") == 200


async def away(_: object) -> None:
    raise StorageError("away")


async def status(where: str, path: str) -> int:
    parts = urlsplit(where)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: cells\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


def test_key_is_printed_and_can_be_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["secret"]) == 0
    key = capsys.readouterr().out.strip()
    assert read_settings({"CELLMATES_SECRET_KEY": key}).secret_key == key


@pytest.mark.parametrize(
    ("environ", "status", "says"),
    [
        ({"CELLMATES_PORT": "x"}, 2, "CELLMATES_PORT"),
        ({"CELLMATES_DATABASE_URL": "sqlite://"}, 2, "CELLMATES_"),
    ],
)
def test_bad_settings_end_with_two(
    environ: dict[str, str],
    status: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert main(["serve"]) == status
    assert says in capsys.readouterr().err


def test_database_is_upgraded_by_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("CELLMATES_DATABASE_URL", f"sqlite:///{tmp_path}/games.db")
    assert main(["db", "upgrade"]) == 0
    assert "tables of this version" in capsys.readouterr().out


def test_port_that_is_taken_ends_with_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sqlite_url: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("CELLMATES_PORT", str(taken.getsockname()[1]))
        monkeypatch.setenv("CELLMATES_DATABASE_URL", sqlite_url)
        assert main(["serve"]) == 1
    assert "in use" in capsys.readouterr().err


def test_token_is_256_bits_from_the_system() -> None:
    tokens = {serving._new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(urlsafe_b64decode(f"{token}=")) for token in tokens} == {32}
    assert vars(serving)["token_urlsafe"] is secrets.token_urlsafe


def test_logs_are_json_one_line_each_whatever_a_name_holds() -> None:
    code = (
        "import logging; from server.logs import configure_logs; configure_logs('info');"
        "log = logging.getLogger('x'); log.debug('quiet');"
        "log.info('a\\nname', extra={'handle': 'b\\n{\"c\": 1}'});"
        "\ntry: 1 / 0\nexcept ZeroDivisionError: log.exception('crash')"
    )
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = map(json.loads, lines.stderr.splitlines())
    assert (first["event"], first["handle"]) == ("a\nname", 'b\n{"c": 1}')
    assert (first["level"], second["level"]) == ("info", "error")
    assert "ZeroDivisionError" in second["exception"]
