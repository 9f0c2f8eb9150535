"""Group commit: who waits for whom, who is told what, and that nobody can stop it."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from msgspec.structs import replace
from sqlalchemy import Text, bindparam, event, select

from server.journal import HandleTaken, Missing, SeqTaken, StorageError
from server.records import Entry
from server.store import Store
from server.store.writer import Kind, Writer

from .records import (
    NOW,
    OTHER,
    PLAYER,
    a_game,
    after,
    an_attempt,
    append,
    attempt_of,
    entries,
    start_games,
    won,
)

pytestmark = pytest.mark.asyncio

LINE = entries(10)
ONE = ["begin", "commit"]  # one transaction


@contextmanager
def transactions_of(store: Store) -> Iterator[list[str]]:
    """A word for each beginning and each end of what is written while it lasts."""
    words: list[str] = []
    listeners = {
        name: lambda connection, name=name: words.append(name)
        for name in ("begin", "commit", "rollback")
    }
    for name, listener in listeners.items():
        event.listen(store.engines.write.sync_engine, name, listener)
    yield words
    for name, listener in listeners.items():
        event.remove(store.engines.write.sync_engine, name, listener)


# -- Together --------------------------------------------------------------------------------------


async def test_what_waits_is_written_in_one_transaction(store: Store) -> None:
    games = await start_games(store, 50)
    with transactions_of(store) as transactions:
        await asyncio.gather(*(append(store, game, LINE[0]) for game in games))
    assert transactions == ONE
    assert [await store.entries(game) for game in games] == [LINE[:1]] * 50


async def test_lone_write_is_committed_by_itself(store: Store) -> None:
    await store.create_game(a_game())
    with transactions_of(store) as transactions:
        for entry in LINE:
            await append(store, "g1", entry)
    assert transactions == ONE * len(LINE)


async def test_writes_of_all_kinds_go_together(store: Store) -> None:
    await start_games(store, 2)
    with transactions_of(store) as transactions:
        await asyncio.gather(
            append(store, "g00", LINE[0]),
            store.delete_player(PLAYER.id, NOW),
            store.create_game(a_game("g9")),
            store.create_player(OTHER, "bo", "token of bo"),
            append(store, "g01", LINE[0]),
        )
    assert transactions == ONE
    assert await store.player(PLAYER.id) is None
    assert await store.player_by_token("token of bo") == OTHER
    assert await store.game("g9") == a_game("g9")


async def test_each_write_is_told_of_its_own_fate(store: Store) -> None:
    await start_games(store, 3)
    await append(store, "g01", LINE[0])
    with transactions_of(store) as transactions:
        fates = await asyncio.gather(
            append(store, "g00", LINE[0]),
            append(store, "g01", LINE[0]),
            append(store, "g99", LINE[0]),
            append(store, "g02", LINE[0]),
            store.create_player(OTHER, "annie", "token of bo"),
            store.set_token("p9", "token", 1),
            store.create_game(a_game("g3")),
            return_exceptions=True,
        )
    assert [type(fate) for fate in fates] == [
        *(type(None), SeqTaken, Missing, type(None)),
        *(HandleTaken, Missing, type(None)),
    ]
    assert transactions.count("commit") < len(fates)
    assert await store.entries("g00") == await store.entries("g02") == LINE[:1]
    assert await store.game("g3") == a_game("g3")


async def test_conflicts_cost_one_more_transaction_however_many(store: Store) -> None:
    games = await start_games(store, 64)
    await asyncio.gather(*(append(store, game, LINE[0]) for game in games[:32]))
    with transactions_of(store) as transactions:
        fates = await asyncio.gather(
            *(append(store, game, LINE[0]) for game in games),
            *(append(store, game, LINE[0]) for game in games),
            return_exceptions=True,
        )
    assert [game for game, fate in zip(games * 2, fates, strict=True) if fate is None] == games[32:]
    assert {type(fate) for fate in fates} == {type(None), SeqTaken}
    assert transactions == ["begin", "rollback", *ONE]


async def test_claim_of_what_an_end_has_closed_costs_one_more_transaction(store: Store) -> None:
    attempt = attempt_of(an_attempt())
    await store.create_game(an_attempt())
    with transactions_of(store) as transactions:
        fates = await asyncio.gather(
            store.append("g1", LINE[0], won(LINE[0]), attempt),
            store.expire("g1", won(LINE[0], status="expired"), attempt),
            append(store, "g1", LINE[1]),
            return_exceptions=True,
        )
    assert [type(fate) for fate in fates] == [type(None), SeqTaken, SeqTaken]
    assert transactions == ["begin", "rollback", *ONE]
    assert await store.entries("g1") == LINE[:1]


async def test_first_of_two_that_claim_a_seq_has_it(store: Store) -> None:
    await store.create_game(a_game())
    first, second = replace(LINE[0], action="1a"), replace(LINE[0], action="1b")
    fates = await asyncio.gather(
        append(store, "g1", first), append(store, "g1", second), return_exceptions=True
    )
    assert [type(fate) for fate in fates] == [type(None), SeqTaken]
    assert await store.entries("g1") == [first]


async def test_one_that_is_wrong_otherwise_costs_few_transactions(store: Store) -> None:
    games = await start_games(store, 63)
    with transactions_of(store) as transactions:
        fates = await asyncio.gather(
            *(append(store, game, LINE[0]) for game in [*games[:13], "nowhere", *games[13:]]),
            return_exceptions=True,
        )
    assert [number for number, fate in enumerate(fates) if fate] == [13]
    assert isinstance(fates[13], Missing)
    assert transactions.count("commit") == 6  # 32, 16, 8, 4, 2 and 1 of the innocent
    assert (
        transactions.count("rollback") == 8
    )  # twice 64, then 32, 16, 8, 4, 2 and 1 with the guilty


async def test_taken_handles_fail_no_batch(store: Store) -> None:
    await store.create_game(a_game())
    await store.create_player(OTHER, "bo", "token of bo")
    with transactions_of(store) as transactions:
        fates = await asyncio.gather(
            append(store, "g1", LINE[0]),
            *(
                store.create_player(replace(OTHER, id=f"x{number}"), "annie", f"token {number}")
                for number in range(30)
            ),
            store.rename_player(OTHER.id, "Annie", "annie", NOW),
            return_exceptions=True,
        )
    assert [type(fate) for fate in fates] == [type(None), *[HandleTaken] * 31]
    assert transactions == ONE


# -- Observed --------------------------------------------------------------------------------------


async def test_observer_hears_of_each_commit_what_was_written(
    store: Store, database_url: str
) -> None:
    heard: list[tuple[int, float]] = []
    games = await start_games(store, 8)
    observed = await Store.open(database_url, observe=lambda *commit: heard.append(commit))
    begun = asyncio.get_running_loop().time()
    await asyncio.gather(*(append(observed, game, LINE[0]) for game in games))
    await append(observed, "g00", LINE[1])
    fates = await asyncio.gather(
        append(observed, "g01", LINE[1]),
        append(observed, "g01", LINE[1]),
        observed.set_token("p9", "token", 1),
        return_exceptions=True,
    )
    assert [type(fate) for fate in fates] == [type(None), SeqTaken, Missing]
    passed = asyncio.get_running_loop().time() - begun
    await observed.close()
    assert [writes for writes, _ in heard] == [8, 1, 1]
    assert all(seconds > 0 for _, seconds in heard)
    assert sum(seconds for _, seconds in heard) <= passed


# -- Many games ------------------------------------------------------------------------------------


async def play(store: Store, game: str, name: str, chance: random.Random) -> list[int]:
    """Append to a game that others append to as well; return the seqs that were ours."""
    ours = []
    made: list[Entry] = await store.entries(game)
    while len(made) < len(LINE):
        entry = replace(LINE[len(made)], action=name)
        if chance.random() < 0.2:
            await asyncio.sleep(0)
        try:
            await append(store, game, entry)
        except SeqTaken:
            made = await store.entries(game)
        else:
            made.append(entry)
            ours.append(entry.seq)
    return ours


@pytest.mark.parametrize("seed", range(2))
async def test_fifty_games_with_rivals_have_every_seq_once(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    games = await start_games(store, 50)
    names = ["red", "black"]
    players = [play(store, game, name, chance) for game in games for name in names]
    won = iter(await asyncio.gather(*players))
    for game in games:
        kept = await store.entries(game)
        assert [entry.seq for entry in kept] == [entry.seq for entry in LINE]
        for name in names:  # acknowledged to a player exactly when the entry is theirs
            assert next(won) == [entry.seq for entry in kept if entry.action == name]
        record = await store.game(game)
        assert record is not None
        assert record.summary == after(LINE[-1])


async def test_two_processes_cannot_both_have_a_seq(store: Store, database_url: str) -> None:
    games = await start_games(store, 20)
    other = await Store.open(database_url)
    chance = random.Random(0)
    players = [
        play(journal, game, name, chance)
        for game in games
        for name, journal in [("here", store), ("there", other)]
    ]
    won = iter(await asyncio.gather(*players))
    await other.close()
    for game in games:
        kept = await store.entries(game)
        assert [entry.seq for entry in kept] == [entry.seq for entry in LINE]
        for name in ["here", "there"]:
            assert next(won) == [entry.seq for entry in kept if entry.action == name]


async def test_two_processes_that_write_the_same_games_do_not_stop_each_other(
    store: Store, database_url: str
) -> None:
    games = await start_games(store, 100)
    other = await Store.open(database_url)
    for entry in LINE:
        fates = await asyncio.gather(
            *(append(store, game, entry) for game in games),
            *(append(other, game, entry) for game in reversed(games)),
            return_exceptions=True,
        )
        assert {type(fate) for fate in fates} == {type(None), SeqTaken}
    await other.close()
    assert [await store.entries(game) for game in games] == [LINE] * len(games)


# -- The end ---------------------------------------------------------------------------------------


async def test_close_finishes_what_waits(store: Store, database_url: str) -> None:
    games = await start_games(store, 40)
    tasks = [asyncio.create_task(append(store, game, LINE[0])) for game in games]
    await asyncio.sleep(0)
    await store.close()
    assert all(task.done() for task in tasks)
    assert await asyncio.gather(*tasks) == [None] * len(games)
    again = await Store.open(database_url)
    assert [await again.entries(game) for game in games] == [LINE[:1]] * len(games)
    await again.close()


async def test_close_waits_for_who_reads(store: Store) -> None:
    await store.create_game(a_game())
    tasks = [asyncio.create_task(store.entries("g1")) for _ in range(9)]
    await asyncio.sleep(0)
    await store.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes[:5] == [[]] * 5
    assert all(isinstance(outcome, list | StorageError) for outcome in outcomes)


async def test_nothing_is_done_after_close(store: Store) -> None:
    await store.close()
    reads = [store.entries("g1") for _ in range(9)]
    asked = [append(store, "g1", LINE[0]), store.create_game(a_game()), store.check(), *reads]
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageError] * len(asked)
    assert {str(outcome) for outcome in outcomes} == {"the journal is closed"}
    await store.close()


async def test_writer_that_is_stopped_leaves_nobody_waiting(store: Store) -> None:
    games = await start_games(store, 3)
    tasks = [asyncio.create_task(append(store, game, LINE[0])) for game in games]
    await asyncio.sleep(0)
    [writing] = [task for task in asyncio.all_tasks() if task.get_name() == "journal writer"]
    await asyncio.sleep(0)
    late = asyncio.create_task(append(store, games[0], LINE[1]))
    await asyncio.sleep(0)
    writing.cancel()
    outcomes = await asyncio.gather(*tasks, late, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [StorageError] * 4
    with pytest.raises(StorageError):
        await append(store, games[0], LINE[0])
    with pytest.raises(asyncio.CancelledError):
        await store.close()


async def test_mistake_of_ours_is_raised_as_it_is_and_the_writer_goes_on(store: Store) -> None:
    lone = Writer(store.engines.write, 5.0)
    kind = Kind(0, (select(bindparam("given", type_=Text)),))
    with pytest.raises(KeyError, match="given"):
        await lone.write(kind, "", ([{"forgotten": ""}],), AssertionError)
    await lone.write(kind, "", ([{"given": ""}],), AssertionError)
    await lone.close()
