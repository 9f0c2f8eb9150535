"""What stays behind when people come and go, and what long work holds up meanwhile."""

import asyncio
import gc
import sqlite3
import sys
import tracemalloc
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from http import HTTPStatus
from io import StringIO
from pathlib import Path
from random import Random
from unittest.mock import patch
from urllib.error import HTTPError

from cellmates.daily import challenge_id, opens_at
from server.clock import SystemClock
from server.config import Settings
from server.gateway import Gateway
from server.house import House
from server.metrics import LAG_EVERY_S, Metrics
from server.serving import Service
from server.store import Store
from server.vault import Vault
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server
from tests.e2e.stranger import Stranger

from .endless import RULESET, to_and_fro
from .figures import Figures
from .hostile import lag_of, lag_within
from .network import errors_in, page, plant_players

KEY = "A" * 43 + "="
DAY = "2027-03-14"
NOON = opens_at(DAY) + 12 * 60 * 60 * 1000
CHALLENGE = challenge_id(DAY, "freecell")
LONG = 5_000  # actions of a long game
_DEALT = ("freecell", 1, "617", "safe")
_PLAYERS = 20
_TOGETHER = 10
_LIVE = 50  # games kept in memory, so that these are there long before anything is measured
_PATIENCE_S = 60.0


# -- F11: leaks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What a process holds while nobody is there."""

    tasks: int
    files: int
    followed: int
    connections: int
    live_games: int
    buckets: int
    traced_bytes: int

    def more_than(self, before: "Kept") -> dict[str, int]:
        """What has become more, by its name; bytes apart."""
        names = [name for name in self.__dict__ if name != "traced_bytes"]
        found = {name: getattr(self, name) - getattr(before, name) for name in names}
        return {name: more for name, more in found.items() if more > 0}


class Inside:
    """A server in this process, whose rooms can be looked into."""

    def __init__(self, service: Service) -> None:
        self._house: House = service._house
        self._gateway: Gateway = service._gateway
        self._house.games._most_live = _LIVE

    @property
    def url(self) -> str:
        """Where WebSockets connect."""
        server = self._gateway._server
        assert server is not None
        return f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/ws"

    async def kept(self) -> Kept:
        """What is held once all connections are gone."""
        async with asyncio.timeout(_PATIENCE_S):
            while self._gateway._census.guests or len(asyncio.all_tasks()) > self._tasks:
                await asyncio.sleep(0.01)
        gc.collect()
        hall, rates, census = self._house.hall, self._house.application.rates, self._gateway._census
        maps = (hall.conversations, hall._of_player, hall._of_game, hall._of_board)
        by_key = (rates._greetings, rates._new_players, rates._hints, rates._players)
        return Kept(
            tasks=len(asyncio.all_tasks()),
            files=len(list(Path("/proc/self/fd").iterdir())),
            followed=sum(map(len, maps)),
            connections=len(census.guests) + len(census._groups),
            live_games=self._house.games.live,
            buckets=sum(len(buckets._buckets) for buckets in by_key),
            traced_bytes=tracemalloc.get_traced_memory()[0],
        )

    async def listening(self) -> None:
        """Wait until it listens."""
        async with asyncio.timeout(_PATIENCE_S):
            while self._gateway._server is None:
                await asyncio.sleep(0.01)
        self._tasks = len(asyncio.all_tasks())


@asynccontextmanager
async def inside(folder: Path) -> AsyncIterator[tuple[Inside, list[str]]]:
    """A server in this process, and its players' tokens."""
    url = f"sqlite:///{folder}/games.db"
    tokens = await plant_players(url, _PLAYERS)
    settings = Settings(
        port=0,
        database_url=url,
        max_connections_per_address=10_000,
        moves_per_s=100_000,
        plan_days=0,
    )
    store = await Store.open(url)
    signals: asyncio.Queue[int] = asyncio.Queue()
    with patch.object(sys, "stdout", StringIO()):
        service = Service(settings, store, SystemClock(), Vault(KEY), Metrics())
        running = asyncio.create_task(service.run(signals))
        try:
            rooms = Inside(service)
            await rooms.listening()
            yield rooms, tokens
        finally:
            signals.put_nowait(15)
            await running
            await store.close()


async def leaks(
    folder: Path, *, cycles: int, progress: Callable[[str], None] = lambda _: None
) -> Figures:
    """Connections that come, play a game to its end and go, in order or not; what stays of them."""
    async with inside(folder) as (rooms, tokens):
        tracemalloc.start()
        try:
            await _cycle(rooms, tokens, max(300, cycles // 10))
            before = await rooms.kept()
            for part in range(10):
                await _cycle(rooms, tokens, cycles // 10)
                progress(f"{(part + 1) * 10} %")
            after = await rooms.kept()
        finally:
            tracemalloc.stop()
    more = after.more_than(before)
    bytes_each = (after.traced_bytes - before.traced_bytes) / cycles
    kept = ", ".join(f"{name} +{count}" for name, count in more.items()) or "nothing"
    return Figures(
        "leaks",
        cycles,
        0,
        0,
        None,
        {"kept": kept, "traced bytes a connection": round(bytes_each, 1)},
    )


async def _cycle(rooms: Inside, tokens: list[str], count: int) -> None:
    for at in range(0, count, _TOGETHER):
        await asyncio.gather(
            *[_come_and_go(rooms.url, tokens, number) for number in range(at, at + _TOGETHER)]
        )


async def _come_and_go(url: str, tokens: list[str], number: int) -> None:
    address = f"127.0.{1 + number % 100}.1"  # greetings are counted by address
    stranger = await Stranger.connect(url, local_addr=(address, 0))
    await stranger.hello(tokens[number % len(tokens)])
    game = (await stranger.ask("game.start", ruleset=RULESET))["game"]
    await stranger.ask("game.move", game=game, seq=1, move=to_and_fro(1))
    if number % 3 == 0:
        await stranger.send("game.resign", game=game, seq=2)
        stranger.socket.transport.abort()
        return
    await stranger.ask("game.resign", game=game, seq=2)
    if number % 3 == 1:
        await stranger.close()
    else:
        stranger.socket.transport.abort()


# -- F14: long work --------------------------------------------------------------------------------


async def long_work(
    folder: Path, *, runs: int, reads: int, idle: int = 100, plan_days: int = 1
) -> Figures:
    """A day that is planned, a large board that is loaded and read whole, and long replays.

    Meanwhile as many idle connections as asked must stay, and be answered in the end.
    """
    url = f"sqlite:///{folder}/games.db"
    await asyncio.to_thread(plant_day, url, KEY, DAY)
    await asyncio.to_thread(plant_runs, folder / "games.db", runs)
    settings = {"database_url": url, "secret_key": KEY, "plan_days": str(1 + plan_days)}
    with running_server(folder, now_ms=NOON, **settings) as server:
        strangers = [await Stranger.connect(server.url) for _ in range(idle)]
        for stranger in strangers:
            await stranger.hello()
        first = lag = await asyncio.to_thread(lag_of, server)
        board = f"api/v1/boards/{CHALLENGE}/first/human"
        works: Mapping[str, Callable[[], object]] = {
            "load": lambda: _patiently(server, board),
            "csv": lambda: page(server, f"{board}.csv"),
            "moves csv": lambda: page(server, f"api/v1/boards/{CHALLENGE}/moves/human.csv"),
            "replay": lambda: page(server, "api/v1/replays/long"),
        }
        more: dict[str, str | int | float] = {}
        for name, work in works.items():
            began = asyncio.get_running_loop().time()
            for _ in range(1 if name == "load" else reads):
                await asyncio.to_thread(work)
            more[f"{name} ms"] = round(1000 * (asyncio.get_running_loop().time() - began))
            await asyncio.sleep(2 * LAG_EVERY_S)
            lag, before = await asyncio.to_thread(lag_of, server), lag
            more[f"{name} lag ms at most"] = 1000 * lag_within(before, lag, 1.0)
        dropped = sum([await _is_gone(stranger) for stranger in strangers])
        more["loop lag p99 ms at most"] = 1000 * lag_within(first, lag, 0.99)
        more["loop lag ms at most"] = 1000 * lag_within(first, lag, 1.0)
        for stranger in strangers:
            await stranger.close()
        more["errors"] = len(errors_in(server))
        await asyncio.to_thread(server.stop)
    return Figures("long work", idle, dropped, 0, None, more)


def _patiently(server: RunningServer, path: str) -> str:
    """A page that may take longer than a page may: then the server goes on, and is asked again."""
    while True:
        try:
            return page(server, path)
        except HTTPError as error:
            if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
                raise


async def _is_gone(stranger: Stranger) -> bool:
    try:
        await stranger.ask("ping")
    except Exception:  # noqa: BLE001 - however it is gone
        return True
    return False


def plant_runs(path: Path, count: int) -> None:
    """Keep so many runs of a day's FreeCell, each somebody's first; and one game with many moves.

    Only what a board reads of them is true.
    """
    chance = Random(14)
    players: list[Sequence[object]] = []
    games: list[Sequence[object]] = []
    results: list[Sequence[object]] = []
    for number in range(1, count + 1):
        home = 52 if chance.random() < 0.7 else chance.randrange(52)
        elapsed_ms, moves = chance.randrange(60_000, 6_000_000), chance.randrange(60, 300)
        ended = opens_at(DAY) + elapsed_ms
        who, game = f"runner-{number}", f"run-{number}"
        players.append((who, who, who, "human", who, 0, 0))
        status = "won" if home == 52 else "resigned"
        rest = (moves, home, moves, 0, home, elapsed_ms, "0" * 64, ended)
        games.append((game, who, *_DEALT, CHALLENGE, 1, opens_at(DAY), status, *rest))
        results.append((game, CHALLENGE, who, 1, home, moves, 0, elapsed_ms, ended))
    rest = (LONG, 0, LONG, 0, 0, LONG, "0" * 64, opens_at(DAY))
    games.append(("long", "runner-1", *_DEALT, None, None, opens_at(DAY), "resigned", *rest))
    with closing(sqlite3.connect(path)) as database, database:
        _insert(database, "player", "id handle handle_key kind token_hash created changed", players)
        columns = (
            "id player ruleset ruleset_version deal autoplay challenge attempt started status "
            "seq home moves undos score elapsed_ms hash ended"
        )
        _insert(database, "game", columns, games)
        columns = "game challenge player attempt home moves undos elapsed_ms ended"
        _insert(database, "result", columns, results)
        entries = [("long", seq, "1a", seq, "0" * 64) for seq in range(1, LONG + 1)]
        _insert(database, "entry", "game seq action at_ms hash", entries)


def _insert(
    database: sqlite3.Connection, table: str, columns: str, rows: Sequence[Sequence[object]]
) -> None:
    names = columns.split()
    places = ", ".join("?" * len(names))
    database.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})", rows)
