"""Callers who leave while they wait: they lose nothing, and stop nobody."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import pytest

from server.journal import SeqTaken
from server.store import Store, writer

from .records import a_game, append, entries, start_games

pytestmark = pytest.mark.asyncio

LINE = entries(10)


class Cancelled(Awaitable[None]):
    """A coroutine whose task is cancelled when it waits for the ``nth`` time."""

    def __init__(self, coroutine: Coroutine[Any, Any, object], nth: int) -> None:
        self._coroutine = coroutine
        self._nth = nth
        self.waits = 0

    def __await__(self) -> Generator[Any, Any, None]:
        try:
            step = self._coroutine.send(None)
            while True:
                self.waits += 1
                if self.waits == self._nth:
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()
                try:
                    sent = yield step
                except BaseException as error:  # noqa: BLE001 - a coroutine in between
                    step = self._coroutine.throw(error)
                else:
                    step = self._coroutine.send(sent)
        except StopIteration:
            return


async def cancel_at_every_wait(
    ask: Callable[[], Coroutine[Any, Any, object]], afterwards: Callable[[], Awaitable[None]]
) -> int:
    """Ask again and again, cancelled a wait later each time, until it gets through."""
    nth = 1
    while True:
        cancelled = Cancelled(ask(), nth)
        [outcome] = await asyncio.gather(asyncio.ensure_future(cancelled), return_exceptions=True)
        await afterwards()
        if outcome is None:
            return nth
        assert isinstance(outcome, asyncio.CancelledError)
        nth += 1


async def test_reader_may_leave_at_any_wait(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    await store.create_game(a_game())
    await append(store, "g1", LINE[0])

    async def still_reads() -> None:
        async with asyncio.timeout(5):
            # More at once than there are connections: none may have been lost.
            found = await asyncio.gather(*(store.entries("g1") for _ in range(8)))
        assert found == [LINE[:1]] * 8

    assert await cancel_at_every_wait(lambda: store.entries("g1"), still_reads) > 1
    assert caplog.records == []  # leaving is nothing to complain of


async def test_writer_may_be_left_at_any_wait(store: Store) -> None:
    games = iter(await start_games(store, 30))
    others = iter(range(10**6))
    asked = []

    def ask() -> Coroutine[Any, Any, None]:
        asked.append(next(games))
        return append(store, asked[-1], LINE[0])

    async def others_are_written() -> None:
        await asyncio.gather(*(store.create_game(a_game(f"o{next(others)}")) for _ in range(3)))

    await cancel_at_every_wait(ask, others_are_written)
    # It was asked for and nobody took it back: the leaving of a caller loses nothing.
    assert [await store.entries(game) for game in asked] == [LINE[:1]] * len(asked)


@pytest.mark.parametrize("seed", range(4))
async def test_callers_who_leave_lose_nothing_and_stop_nobody(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    games = await start_games(store, 30)

    async def play_on(game: str) -> None:
        for entry in LINE:
            await append(store, game, entry)

    async def play_and_leave(game: str) -> None:
        while (seq := len(await store.entries(game))) < len(LINE):
            task = asyncio.create_task(append(store, game, LINE[seq]))
            await asyncio.sleep(chance.choice([0, chance.random() / 200]))
            task.cancel()
            [outcome] = await asyncio.gather(task, return_exceptions=True)
            # What was left may be written before the reading or after: then the seq is taken.
            assert outcome is None or isinstance(outcome, asyncio.CancelledError | SeqTaken)

    async with asyncio.timeout(60):
        await asyncio.gather(*map(play_on, games[::2]), *map(play_and_leave, games[1::2]))
    assert [await store.entries(game) for game in games] == [LINE] * len(games)


async def test_caller_who_leaves_while_there_is_no_room_was_never_there(
    store: Store, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "ROOM", 2)
    small = await Store.open(database_url)
    games = await start_games(small, 4)
    tasks = [asyncio.create_task(append(small, game, LINE[0])) for game in games]
    await asyncio.sleep(0)  # each has come as far as it can: two wait for room
    tasks[3].cancel()
    assert await asyncio.gather(*tasks[:3]) == [None] * 3
    assert [len(await small.entries(game)) for game in games] == [1, 1, 1, 0]
    await asyncio.gather(*(append(small, game, LINE[1]) for game in games[:3]))
    await small.close()
