"""Who is measured: servers, each in a process of its own on a core of its own."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from server.keys import new_key
from server.players import token_hash
from server.records import PlayerRecord
from server.store import Store, upgrade
from tests.postgres import Postgres

from .dialects import SUBPROTOCOL, Colyseus, Echo, Ours, PlainEcho, token_of
from .gauges import on_core, parent_of
from .load import Dialect

ROOT = Path(__file__).parents[1]
RIVALS = Path(__file__).parent / "rivals"
STOPPED_S = 15.0
_AT_ONCE = 500  # players made at a time
_PLENTY = "1000000"
_CHECKPOINTER = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"

Database = Literal["sqlite", "postgres"]


@dataclass(frozen=True, slots=True)
class Contender:
    """A server, and how it is spoken to on its port."""

    name: str
    command: tuple[str, ...]
    dialect: Callable[[int], Dialect]
    database: Database | None = None

    @property
    def is_on_node(self) -> bool:
        """Whether it needs Node and what npm has installed."""
        return self.command[0] == "node"


@dataclass(frozen=True, slots=True)
class Running:
    """A contender that runs now."""

    pid: int
    port: int
    database_pid: int | None


def _python(*arguments: str) -> tuple[str, ...]:
    return sys.executable, "-m", *arguments


def _node(script: str) -> tuple[str, ...]:
    return "node", "--expose-gc", str(RIVALS / script)


def _ours(_port: int) -> Dialect:
    return Ours()


OURS = _python("server", "serve")
TCP = Contender(
    "bare TCP echo on uvloop", _python("benchmarks.servers", "tcp"), lambda _: PlainEcho()
)
GATEWAY = Contender(
    "echo over our gateway",
    _python("benchmarks.servers", "gateway"),
    lambda _: Echo("/ws", SUBPROTOCOL),
)
SERVE = Contender(
    "echo over websockets.serve", _python("benchmarks.servers", "serve"), lambda _: Echo()
)
STUBBED = Contender(
    "ours, journal stubbed", _python("benchmarks.servers", "stubbed"), _ours, "sqlite"
)
SQLITE = Contender("ours, SQLite", OURS, _ours, "sqlite")
POSTGRES = Contender("ours, Postgres", OURS, _ours, "postgres")
NODE = Contender("Node ws + msgpackr", _node("ws.js"), _ours)
COLYSEUS = Contender("Colyseus, a patch a move", _node("colyseus.js"), Colyseus)
MOVING = (TCP, GATEWAY, SERVE, STUBBED, SQLITE, POSTGRES, NODE, COLYSEUS)


def rivals_are_there(tell: Callable[[str], None]) -> bool:
    """Whether the rivals on Node can run; what they need is installed where it is missing."""
    if not (shutil.which("node") and shutil.which("npm")):
        tell("Node or npm is not there: its rivals are left out")
        return False
    installed, wanted = RIVALS / "node_modules/.package-lock.json", RIVALS / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= wanted.stat().st_mtime:
        return True
    tell("npm ci in benchmarks/rivals")
    done = subprocess.run(
        ["npm", "ci", "--ignore-scripts"], cwd=RIVALS, check=False, capture_output=True, text=True
    )
    if done.returncode:
        tell(f"npm ci failed, the rivals on Node are left out: {done.stderr.strip()[-300:]}")
    return not done.returncode


class Ground:
    """Databases with players in them, and the core on which servers run.

    Postgres keeps its promises (``fsync`` is on) and shares the core of whoever prepares it.
    """

    def __init__(self, folder: Path, server_core: int, players: int) -> None:
        self._folder = folder
        self._core = server_core
        self._sqlite_template = folder / "template.db"
        self._players = players

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Make the databases; in the end they are gone."""
        asyncio.run(_plant(f"sqlite:///{self._sqlite_template}", self._players))
        with Postgres() as postgres, postgres.database() as url:
            if postgres.sql("SHOW fsync", "SHOW synchronous_commit") != "on\non":
                raise RuntimeError("this Postgres would lose what it has acknowledged")
            asyncio.run(_plant(url, self._players))
            self._postgres = postgres
            self._postgres_template = postgres.name_in(url)
            checkpointer = postgres.sql(_CHECKPOINTER)
            self._postgres_pid = parent_of(int(checkpointer))
            yield

    @contextmanager
    def running(self, contender: Contender) -> Iterator[Running]:
        """Start a contender, on a new database with the same players where it needs one."""
        with self.database(contender) as url, self.running_on(contender, url) as running:
            yield running

    @contextmanager
    def database(self, contender: Contender) -> Iterator[str]:
        """Yield the URL of a new database, empty for who needs none."""
        match contender.database:
            case None:
                yield ""
            case "sqlite":
                with tempfile.TemporaryDirectory(dir=self._folder) as folder:
                    shutil.copy(self._sqlite_template, Path(folder) / "games.db")
                    yield f"sqlite:///{folder}/games.db"
            case "postgres":
                with self._postgres.database(self._postgres_template) as url:
                    yield url

    @contextmanager
    def running_on(self, contender: Contender, url: str) -> Iterator[Running]:
        """Start a contender on a database that is there."""
        log = self._folder / "log"
        with on_core(self._core), log.open("wb") as errors:
            process = subprocess.Popen(
                contender.command,
                cwd=ROOT,
                env=_environ(url),
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        with process:
            try:
                assert process.stdout is not None
                said = process.stdout.readline().decode()
                found = re.search(r"(\d+)/?$", said.rstrip())
                if found is None:
                    raise RuntimeError(
                        f"{contender.name} does not start: {log.read_text()[-2000:]}"
                    )
                is_apart = contender.database == "postgres"
                yield Running(process.pid, int(found[1]), self._postgres_pid if is_apart else None)
            finally:
                process.terminate()
                try:
                    process.wait(STOPPED_S)
                except subprocess.TimeoutExpired:
                    process.kill()


def _environ(url: str) -> dict[str, str]:
    if not url:
        return dict(os.environ)
    settings = {
        "DATABASE_URL": url,
        "SECRET_KEY": new_key(),
        "PORT": "0",
        "PLAN_DAYS": "0",
        "LOG_LEVEL": "warning",
        "MOVES_PER_S": _PLENTY,
        "MAX_CONNECTIONS": _PLENTY,
        "MAX_CONNECTIONS_PER_ADDRESS": _PLENTY,
    }
    return os.environ | {f"CELLMATES_{name}": value for name, value in settings.items()}


async def _plant(url: str, players: int) -> None:
    """Make the tables and the players, whose tokens are known."""
    await upgrade(url)
    store = await Store.open(url)
    for first in range(0, players, _AT_ONCE):
        numbers = range(first, min(players, first + _AT_ONCE))
        await asyncio.gather(*[_plant_player(store, number) for number in numbers])
    await store.close()


async def _plant_player(store: Store, number: int) -> None:
    name = f"player-{number}"
    await store.create_player(
        PlayerRecord(name, name, "bot", 0), name, token_hash(token_of(number))
    )
