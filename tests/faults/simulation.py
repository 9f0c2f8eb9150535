"""Many clients, server processes that die, a database and networks that fail, in virtual time.

The rooms are the real ones, from the conversation down to the store and its SQL; sockets, disks and
clocks are simulated. A seed says everything that happens, so what it finds can be found again:

    python -m tests.faults.simulation 17          # one seed, and what happened
    python -m tests.faults.simulation --seeds 10000

A seed that finds a fault is kept in seeds.json, and from then on it is one of the tests.
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from cellmates.daily import DAY_MS, GRACE_MS, day_of, opens_at
from server.boards import Boards
from server.game import LiveGame
from server.keeper import LATEST_COMMIT_MS
from server.records import GameRecord, Run
from server.store import Store, upgrade

from .hands import Hand, Played, Player
from .inline import Disk
from .processes import Broken, Process
from .virtual import OWNER, VirtualLoop, run

PLAYERS = 4
PROCESSES = 2
LONGEST_S = 600.0
KEPT = Path(__file__).parent / "seeds.json"


class World:
    """Everything that a seed says."""

    def __init__(self, seed: int, path: Path, loop: VirtualLoop) -> None:
        self.seed = seed
        self.path = path
        self.loop = loop
        self.trace = sha256()
        self.lines: list[str] = []
        self._chance = Random(f"{seed} faults")
        self.processes = [Process(self, f"process-{number}") for number in range(PROCESSES)]
        self.players = [Player(number) for number in range(PLAYERS)]

    def now_ms(self) -> int:
        """What the first process's wall clock shows."""
        return self.processes[0].clock.now_ms()

    def tell(self, line: str) -> None:
        """Something happened."""
        line = f"{self.loop.time():.6f} {line}"
        self.trace.update(line.encode())
        self.lines.append(line)

    def connect(self, path: str, **options: Any) -> Any:  # noqa: ANN401
        """Where the store connects: the disk of the process that opens it."""
        for process in self.processes:
            if OWNER.get() == process.name:
                return process.disk.connect(path, **options)
        return Disk(Random(0)).connect(path, **options)

    async def live(self) -> None:
        """Begin, go through trouble, become quiet, and be looked at."""
        for process in self.processes:
            await process.start()
        hands = [Hand(self, player, 0) for player in self.players]
        hands += [Hand(self, player, 1) for player in self.players[: PLAYERS // 2]]
        async with asyncio.timeout(LONGEST_S):
            for hand in hands[:PLAYERS]:
                await hand.join()
            trouble = self.loop.create_task(self._trouble())
            await asyncio.gather(*(hand.live() for hand in hands))
            trouble.cancel()
            with suppress(asyncio.CancelledError):
                await trouble
        await self._heal()
        await self._look()

    async def _trouble(self) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(0.2, 3.0))
            process = self._chance.choice(self.processes)
            match self._chance.randrange(8):
                case 0 | 1:
                    await process.kill()
                    await asyncio.sleep(self._chance.uniform(0.0, 2.0))
                    await process.start()
                case 2 | 3 if process.links:
                    self._chance.choice(process.links).cut()
                case 4:
                    process.disk.trouble = self._chance.choice([0.0, 0.05, 0.3])
                case 5:
                    process.disk.is_away = not process.disk.is_away
                case 6:
                    process.clock.shift_ms += self._chance.randrange(-60_000, 60_000)
                case 7 if self._chance.random() < 0.2:
                    for each in self.processes:
                        each.clock.shift_ms += DAY_MS // 2
                case _:
                    pass

    async def _heal(self) -> None:
        """All faults are over, and then the day is too."""
        for process in self.processes:
            if process.house is not None:
                await process.kill()
            process.clock.shift_ms += 2 * DAY_MS + GRACE_MS + LATEST_COMMIT_MS
            await process.start()
        await asyncio.sleep(4.0)

    async def _look(self) -> None:
        """Whether everything was kept that was promised."""
        store = self.processes[0].store
        ended: dict[str, str] = {}
        for player in self.players:
            for game in player.games.values():
                record = await store.game(game.id)
                if record is None:
                    raise Broken(f"{game.id} is gone")
                await self._look_at(store, record, game)
                if record.challenge and record.summary.status != "playing":
                    ended[game.id] = record.challenge
        await self._look_at_challenges(store, ended)

    async def _look_at(self, store: Store, record: GameRecord, game: Played) -> None:
        entries = await store.entries(game.id)
        live = LiveGame(record, entries)  # gapless, legal and chained, or it raises
        if live.summary.seq != len(entries) or live.hash != record.summary.hash:
            raise Broken(f"{game.id}: the summary is not that of its entries")
        told = {entry.seq: (entry.action, entry.hash) for entry in entries}
        if not game.acknowledged.items() <= told.items():
            raise Broken(f"{game.id}: acknowledged {game.acknowledged}, kept {told}")
        if record.attempt == 1 and record.summary.status == "playing":
            raise Broken(f"{game.id}: a ranked attempt goes on after the grace")

    async def _look_at_challenges(self, store: Store, ended: dict[str, str]) -> None:
        runs: dict[str, str] = {}
        day = "2027-03-14"
        for number in range(4):
            for challenge in await store.challenges_of(day_of(opens_at(day) + number * DAY_MS)):
                found = await store.runs(challenge.id, None, 1_000)
                for one in found:
                    if runs.setdefault(one.game, challenge.id) != challenge.id:
                        raise Broken(f"{one.game} has two results")
                first = [one.player for one in found if one.figures.attempt == 1]
                if len(first) != len(set(first)):
                    raise Broken(f"{challenge.id}: a second first attempt")
                is_over = challenge.closes + GRACE_MS + LATEST_COMMIT_MS < self.now_ms()
                if is_over and challenge.told is None:
                    raise Broken(f"{challenge.id} is not told")
                await self._compare(challenge.id, challenge.closes, found)
        if not ended.items() <= runs.items():
            raise Broken(f"ended {ended}, results {runs}")

    async def _compare(self, challenge: str, closes: int, found: list[Run]) -> None:
        """The boards of each process are those that the results make."""
        cold = Boards(challenge, closes)
        for one in found:
            cold.add(one)
        for process in self.processes:
            record = await process.store.challenge(challenge)
            assert record is not None
            assert process.house is not None
            for board in ("first", "moves"):
                for kind in ("human", "bot"):
                    live = await process.house.boards.page(record, board, kind, limit=100)
                    if live != cold.page(board, kind, limit=100):
                        raise Broken(f"{process.name}: {challenge} {board} {kind} is another")


@dataclass(frozen=True)
class Outcome:
    """What came of a seed: a digest of all that happened, and what was not kept."""

    trace: str
    lines: list[str]
    broken: str | None


@cache
def _empty_database() -> bytes:
    """A database with its tables and nothing in them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        asyncio.run(upgrade(f"sqlite:///{path}"))
        return path.read_bytes()


def _connect(worlds: list["World"], *where: Any, **how: Any) -> Any:  # noqa: ANN401
    return worlds[0].connect(*where, **how)


def simulate(seed: int) -> Outcome:
    """Live through a seed."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        path = Path(folder) / "games.db"
        path.write_bytes(_empty_database())
        worlds: list[World] = []

        def main(loop: VirtualLoop) -> Coroutine[Any, Any, None]:
            worlds.append(World(seed, path, loop))
            return worlds[0].live()

        broken = None
        connects = partial(_connect, worlds)
        with patch("server.store.engine.aiosqlite.connect", connects):
            try:
                run(main)
            except Exception as error:  # noqa: BLE001 - whatever it is, the seed has found it
                broken = f"{type(error).__name__}: {error}"
        return Outcome(worlds[0].trace.hexdigest(), worlds[0].lines, broken)


def kept_seeds() -> dict[int, str]:
    """Seeds that have found a fault once, and what it was."""
    return {int(seed): says for seed, says in json.loads(KEPT.read_text("utf-8")).items()}


def _keep(seed: int, broken: str) -> None:
    kept = kept_seeds()
    kept.setdefault(seed, broken)
    KEPT.write_text(json.dumps({str(one): kept[one] for one in sorted(kept)}, indent=2) + "\n")


def main() -> int:
    """Run seeds, keep those that show a fault, and say which they are."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.simulation")
    parser.add_argument("seed", nargs="?", type=int, help="one seed, with all that happens in it")
    parser.add_argument("--seeds", type=int, default=300, help="so many seeds from 0 on")
    chosen = parser.parse_args()
    logging.disable()
    if chosen.seed is not None:
        outcome = simulate(chosen.seed)
        print("\n".join(outcome.lines))
        print(outcome.trace, outcome.broken or "all promises were kept")
        return 1 if outcome.broken else 0
    found = 0
    for seed in range(chosen.seeds):
        broken = simulate(seed).broken
        if broken:
            found += 1
            _keep(seed, broken)
            print(f"\rseed {seed}: {broken}", flush=True)
        if sys.stderr.isatty():
            print(f"\r{seed + 1} of {chosen.seeds}", end="", file=sys.stderr, flush=True)
    print(f"{chosen.seeds} seeds, {found} with a broken promise")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
