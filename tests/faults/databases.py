"""Databases that go away under players: Postgres restarts and stalls, a disk is full.

No connection to a player breaks by it, what is acknowledged is there, and play goes on.
"""

import asyncio
import json
import os
import resource
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from server.store import upgrade
from tests.e2e.running import RunningServer, running_server
from tests.e2e.stranger import Body, Stranger
from tests.postgres import Postgres

from .examination import Examination, figures
from .figures import Figures
from .players import (
    ENOUGH_S,
    KEY,
    LOAD,
    Hand,
    Score,
    Tell,
    acknowledgements,
    create_players,
    silent,
)

How = Literal["fast", "immediate", "away", "stalled"]
PAUSE_S = 0.2


@asynccontextmanager
async def playing(hands: Sequence[Hand], score: Score) -> AsyncIterator[None]:
    """All play as long as the block runs; at its beginning each has played."""
    async with asyncio.TaskGroup() as tasks:
        for hand in hands:
            tasks.create_task(hand.play())
        await everybody_goes_on(hands)
        yield
        score.is_over = True


async def everybody_goes_on(hands: Sequence[Hand]) -> float:
    """Wait until each hand has had an action acknowledged; the seconds that took."""
    began = time.perf_counter()
    before = [hand.acknowledged for hand in hands]
    async with asyncio.timeout(ENOUGH_S):
        while any(hand.acknowledged == count for hand, count in zip(hands, before, strict=True)):
            await asyncio.sleep(0.005)
    return time.perf_counter() - began


async def readiness(server: RunningServer) -> int:
    """Status of /readyz."""

    def ask() -> int:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{server.http}readyz", timeout=ENOUGH_S) as page:
                return int(page.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    return await asyncio.to_thread(ask)


async def until_ready(server: RunningServer, status: int) -> None:
    """Ask until /readyz says this."""
    async with asyncio.timeout(ENOUGH_S):
        while await readiness(server) != status:
            await asyncio.sleep(0.01)


class Probe:
    """A player whose answers are looked at one by one."""

    def __init__(self, stranger: Stranger, game: str) -> None:
        self.stranger = stranger
        self._game = game
        self._seq = 0

    @classmethod
    async def connect(cls, server: RunningServer, token: str) -> "Probe":
        stranger = await Stranger.connect(server.url)
        await stranger.hello(token)
        view = await stranger.ask("game.start", ruleset="eight-off", deal="1")
        return cls(stranger, view["game"])

    async def error(self) -> int:
        """Move until a move is refused: it has to be ``internal``; when to ask again, in ms."""
        async with asyncio.timeout(ENOUGH_S):
            while (frame := await self._move())["t"] == "ok":
                self._seq += 1
        told = frame["d"]
        assert told["code"] == "internal", told
        assert told["retry_after_ms"] > 0, told
        return int(told["retry_after_ms"])

    async def move(self) -> None:
        """Move until it is made."""
        async with asyncio.timeout(ENOUGH_S):
            while (await self._move())["t"] == "error":
                await asyncio.sleep(0.02)
        self._seq += 1

    async def _move(self) -> Body:
        move = "ea" if self._seq % 2 else "ae"  # to and fro between two cells
        number = await self.stranger.send(
            "game.move", game=self._game, seq=self._seq + 1, move=move
        )
        while (frame := await self.stranger.receive()).get("re") != number:
            pass
        return frame


def tracebacks(server: RunningServer) -> list[str]:
    """Events of the log that came with a traceback."""
    lines = [json.loads(line) for line in server.log.splitlines()]
    return [line["event"] for line in lines if "exception" in line]


def reasons(server: RunningServer) -> list[str]:
    """Why something failed, as the log has it."""
    lines = [json.loads(line) for line in server.log.splitlines()]
    return [line["why"] for line in lines if line["level"] == "error" and "why" in line]


# -- F2 --------------------------------------------------------------------------------------------


class Trouble:
    """Ways in which a Postgres is away for a while. Each returns when it is back."""

    def __init__(self, postgres: Postgres, seconds: float) -> None:
        self._postgres = postgres
        self._seconds = seconds

    async def have(self, how: How, server: RunningServer, probe: Probe) -> None:
        """Go through one of them; while it lasts, look at what is told."""
        postgres = self._postgres
        match how:
            case "fast":
                await asyncio.to_thread(postgres.restart, signal.SIGINT)
            case "immediate":
                await asyncio.to_thread(postgres.restart, signal.SIGQUIT)
            case "away":
                await asyncio.to_thread(postgres.stop, signal.SIGINT)
                try:
                    await probe.error()
                    await until_ready(server, 503)
                    await asyncio.sleep(self._seconds)
                finally:
                    await asyncio.to_thread(postgres.start)
            case "stalled":
                with stopped(postgres):
                    await until_ready(server, 503)
                    await asyncio.sleep(self._seconds)


@contextmanager
def stopped(postgres: Postgres) -> Iterator[None]:
    """All processes of a Postgres stand still."""
    assert postgres._process is not None
    parent = postgres._process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    pids = [parent, *map(int, children)]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


async def postgres_goes_away(
    postgres: Postgres,
    url: str,
    folder: Path,
    *,
    how: How,
    cycles: int = 1,
    games: int = 50,
    seconds: float = 1.0,
    tell: Tell = silent,
) -> Figures:
    """Let a Postgres go away under live games, and come back."""
    score, worst = Score(), 0.0
    players = await create_players(url, games + 1)
    trouble = Trouble(postgres, seconds)
    with running_server(folder, now_ms=None, database_url=url, secret_key=KEY, **LOAD) as server:
        probe = await Probe.connect(server, players.pop().token)
        hands = [
            Hand(player, [server], score, seed=player.id, pause_s=PAUSE_S) for player in players
        ]
        async with playing(hands, score):
            for cycle in range(cycles):
                await trouble.have(how, server, probe)
                worst = max(worst, await everybody_goes_on(hands))
                await until_ready(server, 200)
                await probe.move()
                tell(f"{cycle + 1} of {cycles}")
        await probe.stranger.close()
        crashes = tracebacks(server)
    seen = await Examination.of(url, score, hands)
    found = figures(f"Postgres {how}", cycles, score, seen, worst * 1000)
    more = {"dropped": score.broken_off, "told to ask again": score.refused}
    return replace(found, more={**found.more, **more, "tracebacks": len(crashes)})


# -- F3 --------------------------------------------------------------------------------------------


class Room:
    """What is left of a disk."""

    def fill(self, server: RunningServer) -> None:
        """Let nothing be left."""
        raise NotImplementedError

    def empty(self, server: RunningServer) -> None:
        """Let there be room again."""
        raise NotImplementedError


class LittleDisk(Room):
    """A file system of its own, filled by a file."""

    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    def fill(self, server: RunningServer) -> None:
        """See ``Room``."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (65_536, 4_096, 512, 1):
                with suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass

    def empty(self, server: RunningServer) -> None:
        """See ``Room``."""
        self._ballast.unlink()


class ShortFiles(Room):
    """A limit to the size of the server's files, for those who may not mount."""

    def __init__(self, wal: Path) -> None:
        self._wal = wal

    def fill(self, server: RunningServer) -> None:
        """See ``Room``."""
        hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (self._wal.stat().st_size, hard))

    def empty(self, server: RunningServer) -> None:
        """See ``Room``."""
        hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def little_disk(folder: Path, mib: int) -> Iterator[bool]:
    """Mount a small file system, where that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", str(folder)]
    mounted = (
        os.geteuid() == 0
        and not subprocess.run(command, check=False, capture_output=True).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


async def disk_is_full(
    folder: Path, *, cycles: int, mounting: bool = True, tell: Tell = silent
) -> Figures:
    """Let there be no room for SQLite under players, and room again."""
    disk = folder / "disk"
    disk.mkdir()
    # What is played in a cycle needs room of its own; less than one MiB.
    with little_disk(disk, 8 + cycles) if mounting else nullcontext(False) as mounted:
        url = f"sqlite:///{disk}/games.db"
        await upgrade(url)
        room = LittleDisk(disk) if mounted else ShortFiles(disk / "games.db-wal")
        found = await _without_room(folder, url, room, cycles, tell)
        return replace(found, more={"on": "tmpfs" if mounted else "a limit", **found.more})


async def _without_room(folder: Path, url: str, room: Room, cycles: int, tell: Tell) -> Figures:
    score, worst = Score(), 0.0
    players = await create_players(url, 7)
    with running_server(folder, now_ms=None, database_url=url, secret_key=KEY, **LOAD) as server:
        probe = await Probe.connect(server, players.pop().token)
        hands = [Hand(player, [server], score, seed=player.id, pause_s=0.01) for player in players]
        async with playing(hands, score):
            for cycle in range(cycles):
                await acknowledgements(score, 20)
                room.fill(server)
                await probe.error()
                before, refused = score.acknowledged, score.refused
                async with asyncio.timeout(ENOUGH_S):
                    while score.refused < refused + 2 * len(hands):
                        await asyncio.sleep(0.005)
                room.empty(server)
                worst = max(worst, await everybody_goes_on(hands))
                await probe.move()
                tell(f"{cycle + 1} of {cycles}, {score.acknowledged - before} since")
        await probe.stranger.close()
        why, crashes = reasons(server), tracebacks(server)
    seen = await Examination.of(url, score, hands)
    found = figures("disk full, SQLite", cycles, score, seen, worst * 1000)
    more = {"dropped": score.broken_off, "told to ask again": score.refused}
    said = {"tracebacks": len(crashes), "lines that say why": len(why)}
    return replace(found, more={**found.more, **more, **said})
