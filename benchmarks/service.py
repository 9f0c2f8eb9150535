"""What a move costs over the wire, from request to reply, beside what it cannot cost less than.

One server process on SQLite, loopback, MessagePack. The rivals of the same run are a bare echo of
the same frames over ``websockets.serve``, and the commit alone. Rounds are interleaved.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from cellmates.engine import RULESETS, Deal, Game
from server.game import hash_at_start, summary_of
from server.players import token_hash
from server.records import Entry, GameRecord, PlayerRecord
from server.store import Store, upgrade

ROOT = Path(__file__).parents[1]
ROUNDS = 5
ALONE = 300  # moves of the lone player, a round
PLAYERS = 200
TOGETHER = 20  # moves of each of many players, a round
SUBPROTOCOL = Subprotocol("cellmates.v1.msgpack")
RULESET = RULESETS["eight-off"]


class Player:
    """A player whose game goes to and fro between two cells, so that every move is legal."""

    def __init__(self, socket: ClientConnection, game: str) -> None:
        self._socket = socket
        self._game = game
        self._seq = 0

    async def move(self) -> float:
        """Make a move; seconds from request to reply."""
        self._seq += 1
        move = "ae" if self._seq % 2 else "ea"
        told, spent = await ask(
            self._socket, "game.move", {"game": self._game, "seq": self._seq, "move": move}
        )
        assert told["seq"] == self._seq, told
        return spent


async def ask(socket: ClientConnection, message: str, body: dict[str, Any]) -> tuple[Any, float]:
    """Answer to a request, and how long it took."""
    frame = msgpack.packb({"t": message, "id": 1, "d": body})
    began = time.perf_counter()
    await socket.send(frame)
    answer = msgpack.unpackb(await socket.recv())
    return answer["d"], time.perf_counter() - began


async def prepare(url: str) -> list[str]:
    """Make the database and its players; their tokens."""
    await upgrade(url)
    store = await Store.open(url)
    tokens = [f"token-{number}" for number in range(PLAYERS)]
    for number, token in enumerate(tokens):
        player = PlayerRecord(f"player-{number}", f"player-{number}", "bot", 0)
        await store.create_player(player, player.handle, token_hash(token))
    await store.close()
    return tokens


async def joined(url: str, token: str) -> Player:
    """A player at a new game."""
    socket = await connect(url, subprotocols=[SUBPROTOCOL], compression=None, proxy=None)
    client = {"name": "benchmark", "version": "1"}
    await ask(socket, "hello", {"proto": 1, "client": client, "token": token})
    view, _ = await ask(socket, "game.start", {"ruleset": RULESET.name, "deal": "1"})
    return Player(socket, view["game"])


@asynccontextmanager
async def our_server(url: str) -> AsyncIterator[str]:
    """A server in a process of its own; where it listens."""
    settings = {"DATABASE_URL": url, "PORT": "0", "MOVES_PER_S": "1000000"}
    environ = os.environ | {f"CELLMATES_{name}": value for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server", "serve", cwd=ROOT, env=environ, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        address = (await process.stdout.readline()).decode().split()[-1]
        yield address.replace("http", "ws") + "ws"
    finally:
        process.terminate()
        await process.wait()


async def echo_forever() -> None:
    """Rival: a bare echo over ``websockets.serve``."""

    async def echo(socket: ServerConnection) -> None:
        async for frame in socket:
            await socket.send(frame)

    server = await serve(echo, "127.0.0.1", 0, compression=None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.wait_closed()


@asynccontextmanager
async def echo_server() -> AsyncIterator[str]:
    """The rival in a process of its own; where it listens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __spec__.name, "echo", cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"ws://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.terminate()
        await process.wait()


async def echoed(socket: ClientConnection) -> float:
    """Seconds that an echo of a frame of a move's size takes."""
    body = {"game": "0123456789abcdef", "seq": 1, "move": "ae"}
    return (await ask(socket, "game.move", body))[1]


class Commits:
    """Rival: the commit of a move alone, in this process, with nothing around it."""

    def __init__(self, store: Store, record: GameRecord) -> None:
        self._store = store
        self._record = record
        self._seq = 0

    async def commit(self) -> float:
        self._seq += 1
        entry = Entry(self._seq, "ae", self._seq, "0" * 64)
        after = replace(self._record.summary, seq=self._seq, hash=entry.hash)
        began = time.perf_counter()
        await self._store.append(self._record.id, entry, after)
        return time.perf_counter() - began


async def commits(url: str) -> Commits:
    """A game in a database of its own."""
    await upgrade(url)
    store = await Store.open(url)
    await store.create_player(PlayerRecord("player", "player", "bot", 0), "player", "token")
    state = Game.start(RULESET, Deal.numbered(1))
    summary = summary_of(state, None, 0)
    record = GameRecord(
        "game", "player", RULESET.name, 1, "1", state.autoplay, None, None, 0, summary
    )
    record = replace(record, summary=replace(summary, hash=hash_at_start(record)))
    await store.create_game(record)
    return Commits(store, record)


Timed = Callable[[], Coroutine[Any, Any, float]]


async def one_after_another(act: Timed, times: int) -> list[float]:
    return [await act() for _ in range(times)]


async def all_at_once(acts: list[Timed], times: int) -> tuple[list[float], float]:
    """Latencies of all, and how many a second were made."""
    began = time.perf_counter()
    spent = await asyncio.gather(*[one_after_another(act, times) for act in acts])
    flat = [latency for one in spent for latency in one]
    return flat, len(flat) / (time.perf_counter() - began)


def shown(name: str, latencies: list[float], rate: float | None = None) -> None:
    ordered = sorted(latencies)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    line = f"{name:<44} median {1000 * statistics.median(ordered):7.3f} ms"
    line += f"  p99 {1000 * p99:8.3f}  worst {1000 * ordered[-1]:8.3f}"
    print(line + (f"  {rate:8.0f}/s" if rate is not None else ""))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/games.db"
        tokens = await prepare(url)
        alone = await commits(f"sqlite:///{folder}/alone.db")
        async with our_server(url) as ours, echo_server() as rival:
            await compare(ours, rival, tokens, alone)
        await alone._store.close()


async def compare(ours: str, rival: str, tokens: list[str], alone: Commits) -> None:
    players = [await joined(ours, token) for token in tokens]
    echoes = [await connect(rival, compression=None, proxy=None) for _ in players]
    found: dict[str, list[float]] = {
        name: [] for name in ("move", "echo", "commit", "moves", "echoes")
    }
    rates: dict[str, list[float]] = {"moves": [], "echoes": []}
    for done in range(ROUNDS):
        print(f"\rround {done + 1} of {ROUNDS}", end="", file=sys.stderr, flush=True)
        found["move"] += await one_after_another(players[0].move, ALONE)
        found["echo"] += await one_after_another(lambda: echoed(echoes[0]), ALONE)
        found["commit"] += await one_after_another(alone.commit, ALONE)
        acts: dict[str, list[Timed]] = {
            "moves": [player.move for player in players],
            "echoes": [lambda socket=socket: echoed(socket) for socket in echoes],  # type: ignore[misc]
        }
        for name, each in acts.items():
            latencies, rate = await all_at_once(each, TOGETHER)
            found[name] += latencies
            rates[name].append(rate)
    print("\r", end="", file=sys.stderr)
    report(found, {name: statistics.median(each) for name, each in rates.items()})


def report(found: dict[str, list[float]], rates: dict[str, float]) -> None:
    print(
        f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, SQLite, one server process"
    )
    shown("a move alone, request to reply", found["move"])
    shown("  bare websockets.serve echo", found["echo"])
    shown("  the commit alone", found["commit"])
    shown(f"{PLAYERS} players moving at once", found["moves"], rates["moves"])
    shown("  bare websockets.serve echo", found["echoes"], rates["echoes"])
    median = {name: statistics.median(latencies) for name, latencies in found.items()}
    print(f"move / (echo + commit): {median['move'] / (median['echo'] + median['commit']):.2f}")
    targets = {
        "a move alone, median under 5 ms": median["move"] < 0.005,
        "none of the many waits longer than a second": max(found["moves"]) < 1.0,
    }
    print(json.dumps({name: "met" if met else "missed" for name, met in targets.items()}, indent=1))


if __name__ == "__main__":
    uvloop.run(echo_forever() if sys.argv[1:] == ["echo"] else main())
