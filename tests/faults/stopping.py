"""Ends that take long, and clocks that jump: SIGTERM among stuck peers, midnight under play."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from cellmates.daily import DAILIES, DAY_MS, GRACE_MS, challenge_id, opens_at
from server.keeper import LATEST_COMMIT_MS
from server.records import GameRecord
from server.store import Store
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server
from tests.e2e.stranger import Stranger

from .databases import everybody_goes_on, playing
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

STUCK_ASKS = 400  # each answered with a whole game, by far more than buffers hold


@asynccontextmanager
async def stuck_peers(server: RunningServer, player: Player) -> AsyncIterator[None]:
    """A reader that does not read, a handshake half done, and one that has not begun."""
    parts = urlsplit(server.http)
    where = parts.hostname, parts.port
    stranger = await Stranger.connect(server.url, max_queue=1)
    await stranger.hello(player.token)
    view = await stranger.ask("game.start", ruleset="freecell", deal="1")
    with socket.create_connection(where) as half, socket.create_connection(where):
        half.sendall(b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n")
        stranger.socket.transport.pause_reading()
        for _ in range(STUCK_ASKS):
            await stranger.send("game.move", game=view["game"], seq=1, move="no move")
        try:
            yield
        finally:
            stranger.socket.transport.abort()


async def sigterm(url: str, folder: Path, *, cycles: int, tell: Tell = silent) -> Figures:
    """Ask a server to stop, so many times, while it has peers that do nothing to be rid of it."""
    score, slowest, failed = Score(), 0.0, 0
    players = await create_players(url, 7)
    idler = players.pop()
    with running_server(folder, now_ms=None, database_url=url, secret_key=KEY, **LOAD) as server:
        hands = [Hand(player, [server], score, seed=player.id) for player in players]
        async with playing(hands, score):
            for cycle in range(cycles):
                async with stuck_peers(server, idler):
                    await acknowledgements(score, 20)
                    began = time.perf_counter()
                    failed += await asyncio.to_thread(server.stop) != 0
                    slowest = max(slowest, time.perf_counter() - began)
                await asyncio.to_thread(server.start)
                await everybody_goes_on(hands)
                tell(f"{cycle + 1} of {cycles}")
    seen = await Examination.of(url, score, hands)
    found = figures(f"SIGTERM among stuck peers, {kind_of(url)}", cycles, score, seen)
    ended = {"status not 0": failed, "slowest exit ms": round(slowest * 1000)}
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
