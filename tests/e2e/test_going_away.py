"""Starting and stopping: what an operator sees, and what players lose by it, which is nothing."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from websockets.exceptions import ConnectionClosed

from tests.postgres import Postgres

from .running import running_server
from .stranger import Stranger

ROOT = Path(__file__).parents[2]
GAMES = 500
PLAYERS = 20


@pytest.mark.asyncio
async def test_sigterm_with_500_games_under_way_loses_none(tmp_path: Path) -> None:
    """Scenario 20: shutting down ends with the last of many commits, not with the first."""
    with running_server(tmp_path, database_url=f"sqlite:///{tmp_path}/games.db") as server:
        tables = [await Table.prepared(server.url, number) for number in range(PLAYERS)]
        for table in tables:
            await table.send_all()
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        await asyncio.gather(*[table.read_to_the_end() for table in tables])
        assert await stopping == 0
        assert sum(len(table.acknowledged) for table in tables) > 0
        await asyncio.to_thread(server.start)
        for table in tables:
            await table.check(server.url)


class Table:
    """One player with many games, each about to make its first move."""

    def __init__(self, stranger: Stranger, token: str, games: list[str]) -> None:
        self.stranger = stranger
        self.token = token
        self.games = games
        self.sent: dict[int, str] = {}
        self.acknowledged: set[str] = set()

    @classmethod
    async def prepared(cls, url: str, number: int) -> "Table":
        stranger = await Stranger.connect(url)
        await stranger.hello()
        made = await stranger.ask("player.create", handle=f"player-{number}", kind="bot")
        games = [
            (await stranger.ask("game.start", ruleset="freecell", deal="1"))["game"]
            for _ in range(GAMES // PLAYERS)
        ]
        return cls(stranger, made["token"], games)

    async def send_all(self) -> None:
        for game in self.games:
            number = await self.stranger.send("game.move", game=game, seq=1, move="6a")
            self.sent[number] = game

    async def read_to_the_end(self) -> None:
        """Read what was acknowledged until the server says that it goes, and goes."""
        announced = False
        with suppress(ConnectionClosed):
            while True:
                frame = await self.stranger.receive()
                announced = announced or frame["t"] == "server.draining"
                if frame["t"] == "ok":
                    self.acknowledged.add(self.sent[frame["re"]])
        assert self.stranger.socket.close_code == 1012
        assert announced

    async def check(self, url: str) -> None:
        stranger = await Stranger.connect(url)
        await stranger.hello(self.token)
        for game in self.games:
            seq = (await stranger.ask("game.open", game=game))["seq"]
            assert seq == 1 if game in self.acknowledged else seq in (0, 1)
        await stranger.close()


def test_pages_say_that_the_server_is_alive_and_what_it_speaks(tmp_path: Path) -> None:
    with running_server(tmp_path, database_url=f"sqlite:///{tmp_path}/games.db") as server:
        for path in ("healthz", "readyz", ""):
            with urlopen(f"{server.http}{path}") as page:
                assert page.status == 200
        with urlopen(f"{server.http}schema/asyncapi.json") as page:
            assert json.load(page)["asyncapi"].startswith("3.")
        for line in server.log.splitlines():
            assert json.loads(line)["level"] in ("info", "warning")


def run(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    environ = {f"CELLMATES_{name.upper()}": value for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "server", *arguments],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("settings", "status", "says"),
    [
        ({"port": "eighty"}, 2, "CELLMATES_PORT: 'eighty' is not a whole number"),
        ({"database_url": "mysql://x"}, 2, "CELLMATES_DATABASE_URL: the database is sqlite"),
        ({"database_url": "sqlite:////nowhere/games.db"}, 2, "CELLMATES_SECRET_KEY is not set"),
        ({"database_url": "postgresql://x@/x?host=/nowhere"}, 2, "CELLMATES_SECRET_KEY: with"),
        (
            {"database_url": "postgresql://x@/x?host=/nowhere", "secret_key": "A" * 43 + "="},
            1,
            "cellmates-server: ",
        ),
    ],
)
def test_server_that_cannot_start_says_why_and_ends(
    settings: dict[str, str], status: int, says: str
) -> None:
    ran = run("serve", **settings)
    assert ran.returncode == status, ran.stderr
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


def test_port_that_is_taken_ends_the_start(tmp_path: Path) -> None:
    with running_server(tmp_path, database_url=f"sqlite:///{tmp_path}/games.db") as server:
        port = server.http.rstrip("/").rpartition(":")[2]
        other = run("serve", port=port, database_url=f"sqlite:///{tmp_path}/other.db")
        assert other.returncode == 1
        assert "in use" in other.stderr


def test_database_is_upgraded_by_hand_and_keys_are_made(tmp_path: Path) -> None:
    upgraded = run("db", "upgrade", database_url=f"sqlite:///{tmp_path}/games.db")
    assert upgraded.returncode == 0, upgraded.stderr
    assert "tables of this version" in upgraded.stdout
    key = run("secret").stdout.strip()
    assert run("db", "upgrade", secret_key=key, database_url="sqlite://x").returncode == 2


def test_postgres_without_this_versions_tables_is_refused(postgres: Postgres) -> None:
    """On Postgres nobody is upgraded unasked; the refusal says what to run."""
    key = run("secret").stdout.strip()
    with postgres.database() as url:
        refused = run("serve", database_url=url, secret_key=key, port="0")
        assert refused.returncode == 1
        assert "python -m server db upgrade" in refused.stderr
        assert run("db", "upgrade", database_url=url, secret_key=key).returncode == 0
        postgres.sql(
            "UPDATE alembic_version SET version_num = '9999'", database=postgres.name_in(url)
        )
        refused = run("serve", database_url=url, secret_key=key, port="0")
        assert refused.returncode == 1
        assert "newer Cellmates" in refused.stderr


def test_sqlite_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/games.db"
    assert run("db", "upgrade", database_url=url).returncode == 0
    with closing(sqlite3.connect(tmp_path / "games.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    refused = run("serve", database_url=url, port="0")
    assert refused.returncode == 1
    assert "newer Cellmates" in refused.stderr
    with closing(sqlite3.connect(tmp_path / "games.db")) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
