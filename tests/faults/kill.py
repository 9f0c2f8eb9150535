"""Servers killed at any instant, alone and two on one database; players who go on regardless.

In the end every acknowledged entry is looked for, and every entry and result that is there has to
be one that somebody made.
"""

import asyncio
import itertools
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from cellmates.daily import DAILIES, challenge_id
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server

from .examination import Examination, figures, kind_of
from .figures import Figures
from .mutants import Inside
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
    duel,
    silent,
)

# -- F1 --------------------------------------------------------------------------------------------

PLAYERS = 8
Instant = Literal["any", "before", "after"]
INSTANTS: tuple[Instant, ...] = ("any", "before", "after")


class Doomed:
    """A server whose end is chosen when it starts: at any instant, or at one of its commits.

    The latter it brings about itself.
    """

    def __init__(
        self, server: RunningServer, chance: random.Random, score: Score, mutant: str | None
    ) -> None:
        self._server = server
        self._chance = chance
        self._score = score
        self._mutant = mutant
        self._instants = itertools.cycle(INSTANTS)
        self._instant: Instant = "any"

    async def start(self) -> None:
        """Start, with an end in mind."""
        self._instant = next(self._instants)
        dies = None if self._instant == "any" else self._instant
        inside = Inside(self._mutant, dies, self._chance.randrange(1, 16))
        await asyncio.to_thread(self._server.start, inside)

    async def end(self) -> None:
        """Be killed."""
        if self._instant == "any":
            await acknowledgements(self._score, self._chance.randrange(1, 40))
            await asyncio.sleep(self._chance.uniform(0, 0.003))
            await asyncio.to_thread(self._server.kill)
        else:
            await asyncio.to_thread(self._server.wait, ENOUGH_S)


async def _players(url: str, count: int) -> list[Player]:
    """Players of a day with its dailies."""
    await asyncio.to_thread(plant_day, url, KEY, DAY)
    challenges = [challenge_id(DAY, ruleset) for ruleset in DAILIES]
    return await create_players(url, count, challenges=challenges)


async def kill_nine(
    url: str,
    folder: Path,
    *,
    cycles: int,
    mutant: str | None = None,
    seed: int = 9,
    tell: Tell = silent,
) -> Figures:
    """Kill a server so many times under players, a third each before and after a commit."""
    chance, score = random.Random(seed), Score()
    players = await _players(url, PLAYERS)
    worst = 0.0
    with running_server(
        folder, database_url=url, secret_key=KEY, now_ms=TEN_O_CLOCK, **LOAD
    ) as server:
        server.kill()
        doomed = Doomed(server, chance, score, mutant)
        hands = [Hand(player, [server], score, seed=f"{seed} {player.id}") for player in players]
        await doomed.start()
        async with asyncio.TaskGroup() as tasks:
            for hand in hands:
                tasks.create_task(hand.play())
            for cycle in range(cycles):
                await doomed.end()
                ended = time.perf_counter()
                await doomed.start()
                # One that ends with its first commit may do so before it has told anybody.
                if doomed._instant == "any":
                    await acknowledgements(score, 1)
                    worst = max(worst, time.perf_counter() - ended)
                tell(f"{cycle + 1} of {cycles}")
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start, Inside(mutant))
            await acknowledgements(score, 30)
            score.is_over = True
    seen = await Examination.of(url, score, hands)
    return figures(f"kill -9, {kind_of(url)}", cycles, score, seen, worst * 1000)


@contextmanager
def _two_servers(url: str, folder: Path) -> Iterator[list[RunningServer]]:
    """Two of one database, neither of which is running."""
    with ExitStack() as running:
        servers: list[RunningServer] = []
        for name in ("one", "other"):
            (folder / name).mkdir()
            coming = running_server(
                folder / name, database_url=url, secret_key=KEY, now_ms=TEN_O_CLOCK, **LOAD
            )
            servers.append(running.enter_context(coming))
            servers[-1].kill()
        yield servers


def _one_or_two_hands(
    players: Sequence[Player], servers: Sequence[RunningServer], score: Score, seed: int
) -> list[Hand]:
    """A hand for every other player, and two for the rest."""
    return [
        Hand(player, servers, score, seed=f"{seed} {nth} {player.id}", alone=hands == 1)
        for number, player in enumerate(players)
        for hands in [1 + number % 2]
        for nth in range(hands)
    ]


async def two_processes(
    url: str,
    folder: Path,
    *,
    cycles: int,
    mutant: str | None = None,
    seed: int = 2,
    tell: Tell = silent,
) -> Figures:
    """Kill two servers of one database by turns; players change between them.

    Half of the players have one hand, which goes from one to the other, and half have two, which
    claim the same seqs. Before that two duel with both servers alive.
    """
    chance, score = random.Random(seed), Score()
    players = await _players(url, PLAYERS // 2 + 1)
    with _two_servers(url, folder) as servers:
        both = [Doomed(server, chance, score, mutant) for server in servers]
        for doomed in both:
            await doomed.start()
        duellists = await duel(players.pop(), servers, score)
        hands = _one_or_two_hands(players, servers, score, seed)
        async with asyncio.TaskGroup() as tasks:
            for hand in hands:
                tasks.create_task(hand.play())
            for cycle, doomed in zip(range(cycles), itertools.cycle(both)):
                await doomed.end()  # the other may have ended by itself already
                await doomed.start()
                tell(f"{cycle + 1} of {cycles}")
            for server in servers:
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start, Inside(mutant))
            await acknowledgements(score, 30)
            score.is_over = True
    seen = await Examination.of(url, score, [*hands, *duellists])
    return figures(f"kill -9, two processes, {kind_of(url)}", cycles, score, seen)
