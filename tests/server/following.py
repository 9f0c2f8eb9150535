"""One process's live boards on a journal whose reads a test can hold up."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import pytest

from cellmates.daily import FIRST, Figures
from server.boards import Page
from server.live_boards import LOOK_S, TELL_MS, LiveBoards
from server.records import ChallengeRecord, PlayerRecord, Run

from .memory import ManualClock, MemoryJournal

CLOSES = 1_900_000_000_000
DAY, OTHER, THIRD = "2027-01-15-freecell", "2027-01-15-eight-off", "2027-01-16-freecell"
BOARD = (DAY, FIRST, "human")
Act = Callable[[], None]
T = TypeVar("T")


class Enough(Exception):
    """A test has followed for long enough."""


@dataclass
class Journal(MemoryJournal):
    """``meanwhile`` is done just after the next reading of the method it is under, before it tells.

    A method under ``held`` waits before it reads.
    """

    meanwhile: dict[str, Act] = field(default_factory=dict)
    held: dict[str, asyncio.Event] = field(default_factory=dict)
    asked: list[tuple[int, list[int]]] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    async def runs(self, challenge: str, after: Run | None, limit: int) -> list[Run]:
        if after is None:
            self.loads.append(challenge)
        return await self._told("runs", partial(super().runs, challenge, after, limit))

    async def runs_since(self, number: int, gaps: Sequence[int], limit: int) -> list[Run]:
        self.asked.append((number, list(gaps)))
        read = partial(super().runs_since, number, gaps, limit)
        return await self._told("runs_since", read)

    async def last_run(self) -> int:
        return await self._told("last_run", super().last_run)

    async def _told(self, name: str, read: Callable[[], Coroutine[None, None, T]]) -> T:
        await asyncio.sleep(0)
        if name in self.held:
            await self.held[name].wait()
        found = await read()
        self.meanwhile.pop(name, _nothing)()
        return found


@dataclass
class World:
    """A journal and the boards of one process on it; ``told`` is what watchers were told."""

    journal: Journal = field(default_factory=Journal)
    clock: ManualClock = field(default_factory=ManualClock)
    told: list[tuple[str, str, str, Page]] = field(default_factory=list)
    most: int = 64
    boards: LiveBoards = field(init=False)

    def __post_init__(self) -> None:
        self.boards = LiveBoards(self.journal, self.clock, self._changed, most=self.most)
        for challenge in (DAY, OTHER, THIRD):
            self.journal.challenges[challenge] = record(challenge)

    def _changed(self, challenge: str, board: str, kind: str, top: Page) -> None:
        self.told.append((challenge, board, kind, top))

    def run(self, player: str, number: int, challenge: str = DAY, **figures: int) -> None:
        """Somebody, in whatever process, has recorded a run."""
        told = {"home": 52, "elapsed_ms": number, "moves": 9, "undos": 0, "attempt": 1, "ended": 5}
        kind = "bot" if player.startswith("bot") else "human"
        self.journal.players.setdefault(player, PlayerRecord(player, player.upper(), kind, 0))
        self.journal.kinds[player] = kind
        self.journal.ended[number] = Run(
            number, f"game-{number}", challenge, player, "", None, Figures(**told | figures)
        )

    def rename(self, player: str, handle: str, changed: int | None = None) -> None:
        """Another process has renamed a player."""
        kind = self.journal.kinds[player]
        self.journal.players[player] = PlayerRecord(player, handle, kind, 0)
        self.journal.changed[player] = self.clock.now if changed is None else changed

    async def names(self, challenge: str = DAY, board: str = FIRST) -> list[str | None]:
        """Handles on a board, best first."""
        page = await self.boards.page(record(challenge), board, "human", limit=10_000)
        return [row.run.handle for row in page.rows]

    async def follow(self, *steps: Act) -> None:
        """Follow; between two looks comes a step, after the last the end."""
        left = list(steps)

        async def sleep(seconds: float) -> None:
            assert seconds == LOOK_S
            await settled()
            if not left:
                raise Enough
            left.pop(0)()
            await settled()

        with pytest.raises(Enough):
            await self.boards.follow(sleep)

    def wait(self, span_ms: int = TELL_MS) -> Act:
        return lambda: self.clock.pass_ms(span_ms)


def record(challenge: str) -> ChallengeRecord:
    return ChallengeRecord(
        challenge, challenge[:10], challenge[11:], 1, "planner", 0, CLOSES, "ab", None, "sealed"
    )


async def settled() -> None:
    """Whatever can go on without a look has gone on."""
    for _ in range(50):
        await asyncio.sleep(0)


def _nothing() -> None:
    """What is done meanwhile where nothing is."""
