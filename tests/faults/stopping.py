"""Ends that take long, and clocks that jump: SIGTERM among stuck peers, midnight under play."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from cellmates.daily import DAILIES, DAY_MS, GRACE_MS, challenge_id, opens_at
from server.keeper import LATEST_COMMIT_MS
from server.records import GameRecord
from server.store import Store
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server
from tests.e2e.stranger import Body, Stranger

from .databases import everybody_goes_on, playing
from .endless import RULESET, to_and_fro
from .examination import Examination, figures, kind_of
from .figures import Figures
from .players import (
    DAY,
    ENOUGH_S,
    KEY,
    LOAD,
    TEN_O_CLOCK,
    Hand,
    Player,
    Score,
    Tell,
    acknowledgements,
    create_players,
    silent,
)

# -- F4 --------------------------------------------------------------------------------------------

_STEP = 10  # answers; the server drops a peer for which 64 wait beyond what the kernel takes
_FULL_STEPS = 3  # so many of which the kernel has taken nothing
_SEGMENT_BYTES = 536  # the smallest usual, and with small buffers they are full soon
_BUFFER_BYTES = 2_048


class StuckReader:
    """A connection that asks until its answers have to wait in the server, and reads none."""

    def __init__(self, stranger: Stranger, game: str) -> None:
        self._stranger = stranger
        self._game = game

    @classmethod
    async def at(cls, server: RunningServer, player: Player) -> Self:
        """One whose answers wait in the server by now."""
        witness = await Stranger.connect(server.url)
        await witness.hello(player.token)
        view = await witness.ask("game.start", ruleset=RULESET)
        parts = urlsplit(server.http)
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, _SEGMENT_BYTES)
        sock.connect((parts.hostname, parts.port))
        sock.setblocking(False)
        stranger = await Stranger.connect(server.url, sock=sock, max_queue=1)
        await stranger.hello(player.token)
        stranger.socket.transport.pause_reading()
        reader = cls(stranger, view["game"])
        await reader._fill(witness)
        await witness.close()
        return reader

    def leave(self) -> None:
        self._stranger.socket.transport.abort()

    async def _fill(self, witness: Stranger) -> None:
        taken, full = 0, 0
        while full < _FULL_STEPS:
            for _ in range(_STEP):
                await self._stranger.send("game.move", **self._first_move)
            for _ in range(2):  # what came before it, the server has looked at when it answers this
                await witness.ask("game.move", **self._first_move)
            before, taken = taken, _bytes_in_kernel(*self._stranger.socket.local_address[:2])
            full = full + 1 if taken <= before else 0

    @property
    def _first_move(self) -> Body:
        """An action that is answered however often it is sent."""
        return {"game": self._game, "seq": 1, "move": to_and_fro(1)}


def _bytes_in_kernel(address: str, port: int) -> int:
    """What waits between the two ends of a connection over IPv4, one of which is this."""
    here = f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}:{port:04X}"
    total = 0
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        _, local, remote, _, queues = line.split()[:5]
        to_send, to_read = (int(size, 16) for size in queues.split(":"))
        total += to_read if local == here else to_send if remote == here else 0
    return total


@asynccontextmanager
async def stuck_peers(server: RunningServer, player: Player) -> AsyncIterator[None]:
    """A reader that does not read, a handshake half done, and one that has not begun."""
    parts = urlsplit(server.http)
    where = parts.hostname, parts.port
    with socket.create_connection(where) as half, socket.create_connection(where):
        half.sendall(b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n")
        reader = await StuckReader.at(server, player)
        try:
            yield
        finally:
            reader.leave()


def unread_bytes(log: str) -> int:
    """What the peer that was dropped with the most unread had not read."""
    lines = [json.loads(line) for line in log.splitlines() if "unread_bytes" in line]
    return max((line["unread_bytes"] for line in lines), default=0)


async def sigterm(url: str, folder: Path, *, cycles: int, tell: Tell = silent) -> Figures:
    """Ask a server to stop, so many times, while it has peers that do nothing to be rid of it."""
    score, slowest, failed = Score(), 0.0, 0
    unread: list[int] = []
    players = await create_players(url, 7)
    idler = players.pop()
    with running_server(folder, now_ms=None, database_url=url, secret_key=KEY, **LOAD) as server:
        hands = [Hand(player, [server], score, seed=player.id) for player in players]
        async with playing(hands, score):
            for cycle in range(cycles):
                async with stuck_peers(server, idler):
                    await acknowledgements(score, 20)
                    logged, began = len(server.log), time.perf_counter()
                    failed += await asyncio.to_thread(server.stop) != 0
                    slowest = max(slowest, time.perf_counter() - began)
                unread.append(unread_bytes(server.log[logged:]))
                await asyncio.to_thread(server.start)
                await everybody_goes_on(hands)
                tell(f"{cycle + 1} of {cycles}")
    seen = await Examination.of(url, score, hands)
    found = figures(f"SIGTERM among stuck peers, {kind_of(url)}", cycles, score, seen)
    ended = {
        "status not 0": failed,
        "slowest exit ms": round(slowest * 1000),
        "readers that were stuck": sum(size > 0 for size in unread),
    }
    return replace(found, more={**found.more, **ended})


# -- F5 --------------------------------------------------------------------------------------------

HOUR_MS = 60 * 60 * 1000
# Where the wall clock is set, one after another; then the grace ends.
JUMPS = (
    TEN_O_CLOCK + 9 * HOUR_MS,
    opens_at(DAY) + 1,
    TEN_O_CLOCK,
    opens_at(DAY) + DAY_MS - 200,  # midnight comes by itself
    opens_at(DAY) + DAY_MS + GRACE_MS - HOUR_MS,
    TEN_O_CLOCK + HOUR_MS,
)


async def clock_jumps(url: str, folder: Path, *, cycles: int, tell: Tell = silent) -> Figures:
    """Set the wall clock to and fro under play, and over midnight; in the end the day is over."""
    score = Score()
    await asyncio.to_thread(plant_day, url, KEY, DAY)
    challenges = [challenge_id(DAY, ruleset) for ruleset in DAILIES]
    players = await create_players(url, 6, challenges=challenges)
    began = time.monotonic()
    with running_server(
        folder, database_url=url, secret_key=KEY, now_ms=TEN_O_CLOCK, **LOAD
    ) as server:
        hands = [Hand(player, [server], score, seed=player.id, pause_s=0.01) for player in players]
        async with playing(hands, score):
            for cycle in range(cycles):
                for jump in JUMPS:
                    server.set_clock(jump)
                    await everybody_goes_on(hands)
                tell(f"{cycle + 1} of {cycles}")
        took_ms = (time.monotonic() - began) * 1000
        server.set_clock(opens_at(DAY) + DAY_MS + GRACE_MS + LATEST_COMMIT_MS)
        await until_told(url)
    seen = await Examination.of(url, score, hands)
    wrong = await wrong_times(url, players, took_ms)
    for what in wrong[:5]:
        print(what)
    found = figures(f"clock jumps, {kind_of(url)}", cycles * len(JUMPS), score, seen)
    return replace(found, more={**found.more, "wrong times": len(wrong)})


async def until_told(url: str) -> None:
    """Wait until the day is over for the server."""
    store = await Store.open(url)
    try:
        async with asyncio.timeout(ENOUGH_S):
            while any(record.told is None for record in await store.challenges_of(DAY)):
                await asyncio.sleep(0.1)
    finally:
        await store.close()


async def wrong_times(url: str, players: list[Player], took_ms: float) -> list[str]:
    """Games whose times no monotonic clock has shown, and results that do not agree with them."""
    store = await Store.open(url)
    wrong: list[str] = []
    try:
        ranked: dict[str, GameRecord] = {}
        for player in players:
            for record in await store.games_of(player.id, status=None, before=None, limit=100_000):
                times = [entry.at_ms for entry in await store.entries(record.id)]
                if times != sorted(times) or (times and not 0 <= times[-1] <= took_ms):
                    wrong.append(f"{record.id}: {times[-3:]} ms of {took_ms:.0f}")
                if record.challenge is not None and record.summary.status != "playing":
                    ranked[record.id] = record
        for challenge in await store.challenges_of(DAY):
            for run in await store.runs(challenge.id, None, 100_000):
                record, figures = ranked.pop(run.game), run.figures
                summary = record.summary
                if (run.challenge, figures.elapsed_ms) != (record.challenge, summary.elapsed_ms):
                    wrong.append(f"{run.game}: {run}")
                if figures.ended != record.started + figures.elapsed_ms:
                    wrong.append(f"{run.game}: ended {figures.ended}")
        wrong += [f"{game}: no result" for game in ranked]
    finally:
        await store.close()
    return wrong
