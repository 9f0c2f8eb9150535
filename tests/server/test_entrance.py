"""Who comes with a token when all do: some are let in, some wait, and the rest come later."""

import asyncio

import pytest

from server.conversation import HELLO_S
from server.entrance import (
    AT_ONCE,
    EACH_MS,
    FIRST_MS,
    MOST_SPREAD_MS,
    MOST_WAIT_MS,
    Crowded,
    Entrance,
)
from server.records import PlayerRecord

from .memory import ManualClock, MemoryJournal
from .world import World

pytestmark = pytest.mark.asyncio

MANY = 5_000


class Comers:
    """Those who stay in their turn until they are let go."""

    def __init__(self, entrance: Entrance) -> None:
        self._entrance = entrance
        self._goes = asyncio.Semaphore(0)
        self.inside = 0
        self.tasks: list[asyncio.Task[None]] = []
        self.told: list[int] = []

    async def come(self, count: int) -> None:
        """So many come; when this returns each is inside, waits, or was sent away."""
        self.tasks += [asyncio.create_task(self._one()) for _ in range(count)]
        for _ in range(3):
            await asyncio.sleep(0)

    async def let_go(self, count: int) -> None:
        for _ in range(count):
            self._goes.release()
            for _ in range(4):
                await asyncio.sleep(0)

    async def _one(self) -> None:
        try:
            async with self._entrance.turn():
                self.inside += 1
                try:
                    await self._goes.acquire()
                finally:
                    self.inside -= 1
        except Crowded as crowded:
            self.told.append(crowded.retry_after_ms)


async def test_a_few_are_inside_and_all_who_wait_get_their_turn() -> None:
    comers = Comers(Entrance(ManualClock()))
    await comers.come(100)
    assert comers.inside == AT_ONCE
    await comers.let_go(100)
    assert comers.inside == 0
    await asyncio.gather(*comers.tasks)
    assert comers.told == []


async def test_those_who_would_wait_too_long_are_sent_away_each_for_longer() -> None:
    comers = Comers(Entrance(ManualClock()))
    await comers.come(MANY)
    waiting = MANY - len(comers.told)
    assert AT_ONCE < waiting < MOST_WAIT_MS
    assert comers.told == sorted(comers.told)
    assert FIRST_MS <= comers.told[0] < comers.told[-1] <= MOST_SPREAD_MS
    assert len(set(comers.told)) > MANY // 2
    await comers.let_go(waiting)
    await asyncio.gather(*comers.tasks)


async def test_slow_turns_let_fewer_wait() -> None:
    clock = ManualClock()
    comers = Comers(Entrance(clock))
    await comers.come(600)
    assert comers.told == []
    for _ in range(500):
        clock.pass_ms(50)
        await comers.let_go(1)
    await comers.come(600)
    assert len(comers.told) > 500
    await comers.let_go(700)
    await asyncio.gather(*comers.tasks)


async def test_who_leaves_while_waiting_makes_room() -> None:
    entrance = Entrance(ManualClock())
    comers = Comers(entrance)
    await comers.come(MANY)
    sent_away = len(comers.told)
    for task in comers.tasks:
        task.cancel()
    await asyncio.gather(*comers.tasks, return_exceptions=True)
    await comers.come(AT_ONCE)
    assert comers.inside == AT_ONCE
    assert len(comers.told) == sent_away
    await comers.let_go(AT_ONCE)


class Slow(MemoryJournal):
    """Looks nobody up before it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        await self.goes_on.wait()
        return await super().player_by_token(token_hash)


async def test_greeting_that_is_sent_away_may_be_said_again_on_the_same_connection() -> None:
    journal = Slow()
    journal.goes_on.set()
    world = World(journal)
    token = (await world.player()).token
    journal.goes_on.clear()
    tasks = [
        asyncio.create_task(world.greeted(token)) for _ in range(1 + int(MOST_WAIT_MS / EACH_MS))
    ]
    await asyncio.sleep(0)
    late = world.connect()
    error = await late.error("hello", proto=1, client={"name": "t", "version": "1"}, token=token)
    assert (error["code"], error["context"]) == ("rate-limited", {"key": "greetings"})
    assert error["retry_after_ms"] >= FIRST_MS
    assert late.peer.closed is None
    journal.goes_on.set()
    await asyncio.gather(*tasks)
    told = await late.ok("hello", proto=1, client={"name": "t", "version": "1"}, token=token)
    assert told["player"] is not None


async def test_greeting_that_was_said_in_time_is_not_missed_while_it_is_answered() -> None:
    journal = Slow()
    journal.goes_on.set()
    world = World(journal)
    token = (await world.player()).token
    journal.goes_on.clear()
    caller = world.connect()
    greeting = asyncio.create_task(caller.hello(token))
    await asyncio.sleep(0)
    caller.peer.timers[HELLO_S].callback()
    journal.goes_on.set()
    assert (await greeting)["player"] is not None
    assert caller.peer.closed is None
    assert caller.peer.timers[HELLO_S].is_off
