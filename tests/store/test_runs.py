"""What the journal promises about runs: one order for databases, memory and boards."""

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from sqlalchemy import event, text

from cellmates.daily import FIRST, Figures, order_of
from server.journal import Journal
from server.records import Run
from server.store import Store
from tests.server.memory import MemoryJournal

from .records import (
    DAY,
    NOW,
    OTHER,
    PLAYER,
    a_challenge,
    an_attempt,
    finish,
)

pytestmark = pytest.mark.asyncio


async def judge(journal: Journal, game: str, validity: str) -> None:
    """Say whether a game counts, as an operator does."""
    if isinstance(journal, MemoryJournal):
        journal.validity[game] = validity
        return
    assert isinstance(journal, Store)
    async with journal.engines.write.begin() as connection:
        await connection.execute(
            text("UPDATE game SET validity = :validity WHERE id = :game"),
            {"validity": validity, "game": game},
        )


async def finish_all(journal: Journal, figures: list[Figures], challenge: str = DAY) -> None:
    """Keep a run of each, all at once."""
    await asyncio.gather(
        *(
            finish(
                journal,
                an_attempt(f"{challenge} {run.attempt}", run.attempt, challenge=challenge),
                home=run.home,
                elapsed_ms=run.elapsed_ms,
                moves=run.moves,
                undos=run.undos,
                ended=run.ended,
            )
            for run in figures
        )
    )


def place_of(run: Run) -> tuple[int, ...]:
    """What the order of a board is, beside ``journal.runs``."""
    return *order_of(FIRST, run.figures), run.number


# -- In order --------------------------------------------------------------------------------------

# So few values that many runs tie, in some of their figures or in all.
FIGURES = st.builds(
    Figures,
    home=st.sampled_from([0, 9, 10, 51, 52]),
    elapsed_ms=st.sampled_from([0, 9, 10, 2**53]),
    moves=st.sampled_from([1, 9, 10]),
    undos=st.sampled_from([0, 1]),
    attempt=st.just(1),
    ended=st.just(NOW),
)
ANY_FIGURES = st.lists(FIGURES, max_size=24).map(
    lambda runs: [dataclasses.replace(run, attempt=nth) for nth, run in enumerate(runs, 1)]
)


CHALLENGES = (f"challenge {number}" for number in count())


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(figures=ANY_FIGURES, limit=st.integers(1, 9))
async def test_runs_come_in_the_order_of_boards_and_pages_make_the_whole(
    journal: Journal, figures: list[Figures], limit: int
) -> None:
    challenge = next(CHALLENGES)
    await finish_all(journal, figures, challenge)
    every = await journal.runs(challenge, None, 99)
    assert every == sorted(every, key=place_of)
    assert sorted((run.figures for run in every), key=lambda run: run.attempt) == figures
    paged: list[Run] = []
    while page := await journal.runs(challenge, paged[-1] if paged else None, limit):
        assert len(page) <= limit
        paged += page
        assert paged == every[: len(paged)]
    assert paged == every


async def test_page_goes_on_behind_a_run_that_counts_no_more(journal: Journal) -> None:
    await finish_all(journal, [Figures(52, 9, 9, 0, number, NOW) for number in range(1, 6)])
    every = await journal.runs(DAY, None, 9)
    await judge(journal, every[2].game, "withdrawn")
    assert await journal.runs(DAY, every[2], 9) == every[3:]


async def test_run_is_told_with_kind_and_handle_of_its_player(journal: Journal) -> None:
    third = replace(OTHER, id="p3", handle="Cy")
    for player in (OTHER, third):
        await journal.create_player(player, player.handle.lower(), f"token of {player.id}")
    for number, player in enumerate([PLAYER, OTHER, third]):
        await finish(journal, an_attempt(f"g{number}", player=player.id))
    await journal.rename_player(OTHER.id, "Bob", "bob", NOW)
    await journal.delete_player(third.id, NOW)
    told = [("p1", "human", "Annie"), ("p2", "bot", "Bob"), ("p3", "bot", None)]
    for runs in (await journal.runs(DAY, None, 9), await journal.runs_since(0, [], 9)):
        assert [(run.player, run.kind, run.handle) for run in runs] == told


@pytest.mark.parametrize("validity", ["withdrawn", "under-review", "banned"])
async def test_only_valid_runs_count(journal: Journal, validity: str) -> None:
    await finish_all(journal, [Figures(52, 9, 9, 0, number, NOW) for number in (1, 2, 3)])
    first, second, third = await journal.runs(DAY, None, 9)
    await judge(journal, second.game, validity)
    assert await journal.runs(DAY, None, 9) == [first, third]
    assert await journal.runs_since(0, [second.number], 9) == [first, third]
    assert await journal.last_run() == third.number


async def test_day_that_was_won_by_a_run_that_does_not_count_is_not_won(journal: Journal) -> None:
    await journal.create_challenge(a_challenge())
    await finish(journal, an_attempt())
    assert await journal.days_won(PLAYER.id) == [("freecell", "2026-12-01")]
    await judge(journal, "g1", "withdrawn")
    assert await journal.days_won(PLAYER.id) == []


# -- As they are recorded --------------------------------------------------------------------------


async def test_runs_of_all_challenges_are_numbered_as_they_are_recorded(journal: Journal) -> None:
    assert await journal.last_run() == 0
    assert await journal.runs_since(0, [], 9) == []
    for number, challenge in enumerate(["b", "a", "b", "c"], 1):
        await finish(journal, an_attempt(f"g{number}", number, challenge=challenge, home=number))
    every = await journal.runs_since(0, [], 9)
    assert [(run.game, run.challenge) for run in every] == [
        *(("g1", "b"), ("g2", "a"), ("g3", "b"), ("g4", "c"))
    ]
    numbers = [run.number for run in every]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == await journal.last_run()


@pytest.mark.parametrize(
    ("since", "gaps", "limit", "found"),
    [
        (0, [], 9, [1, 2, 3, 4]),
        (2, [], 9, [3, 4]),
        (4, [], 9, []),
        (3, [1], 9, [1, 4]),
        (4, [3, 1, 99], 9, [1, 3]),
        (2, [4, 1], 9, [1, 3, 4]),
        (2, [1], 2, [1, 3]),
        (0, [], 0, []),
    ],
)
async def test_runs_are_told_from_a_number_on_and_those_of_gaps(
    journal: Journal, since: int, gaps: list[int], limit: int, found: list[int]
) -> None:
    for number in range(1, 5):
        await finish(journal, an_attempt(f"g{number}", number))
    runs = await journal.runs_since(since, gaps, limit)
    assert [run.number for run in runs] == found


async def test_number_of_a_run_is_never_given_again(store: Store) -> None:
    await finish(store, an_attempt("g1", 1))
    await finish(store, an_attempt("g2", 2))
    last = await store.last_run()
    async with store.engines.write.begin() as connection:
        await connection.execute(text("DELETE FROM result"))
    await finish(store, an_attempt("g3", 3))
    assert await store.last_run() > last


async def test_run_that_is_committed_later_than_a_greater_number_fills_its_gap(
    postgres_url: str,
) -> None:
    store = await Store.open(postgres_url)
    await store.create_player(PLAYER, "annie", "token of annie")
    await store.create_game(an_attempt("g1", 1))
    slow = await asyncpg.connect(postgres_url)
    async with slow.transaction():
        smaller = await slow.fetchval(
            "INSERT INTO result (game, challenge, player, attempt, home, moves, undos, elapsed_ms,"
            " ended) VALUES ('g1', 'day', 'p1', 1, 52, 9, 0, 9, 9) RETURNING number"
        )
        await finish(store, an_attempt("g2", 2))
        [greater] = await store.runs_since(0, [], 9)
        assert smaller < greater.number == await store.last_run()
    await slow.close()
    [found] = await store.runs_since(greater.number, [smaller], 9)
    assert (found.number, found.game) == (smaller, "g1")
    await store.close()


# -- By an index -----------------------------------------------------------------------------------

RUN = Run(1, "g1", DAY, "p1", "human", "Annie", Figures(52, 100, 1, 0, 1, NOW))
BY_INDEX: dict[str, tuple[str, Callable[[Store], Coroutine[Any, Any, object]]]] = {
    "runs": ("result_in_order", lambda store: store.runs(DAY, None, 9)),
    "runs, after": ("result_in_order", lambda store: store.runs(DAY, RUN, 9)),
    "under_way": ("game_under_way", lambda store: store.under_way(DAY)),
    "overdue": ("game_under_way", lambda store: store.overdue(NOW)),
    "untold": ("challenge_untold", lambda store: store.untold(NOW)),
    "challenge_before": (
        "challenge_of_ruleset",
        lambda store: store.challenge_before("freecell", "2026-12-01"),
    ),
    "challenges_of": ("challenge_day_ruleset_key", lambda store: store.challenges_of("day")),
    "handles_since": ("player_changed", lambda store: store.handles_since(NOW)),
}
# Plans are those of a Postgres that has so many rows that it reads an index where it can, and to
# which the values are not told when it plans.
PLANNED_AS_WITH_MANY_ROWS = [
    *(f"SET enable_{way} = off" for way in ("seqscan", "bitmapscan", "hashjoin", "mergejoin")),
    "SET plan_cache_mode = force_generic_plan",
]


async def plans_of(store: Store, ask: Callable[[Store], Coroutine[Any, Any, object]]) -> list[str]:
    """Plan of each statement that is asked."""
    asked: list[tuple[str, Any]] = []

    @event.listens_for(store.engines.read.sync_engine, "before_cursor_execute")
    def hear(*call: Any) -> None:  # noqa: ANN401 - whatever the driver takes
        asked.append((call[2], call[3]))

    await ask(store)
    return [await plan_of(store, statement, values) for statement, values in tuple(asked)]


async def plan_of(store: Store, statement: str, values: tuple[object, ...]) -> str:
    async with store.engines.read.connect() as connection:
        if store.engines.read.dialect.name == "sqlite":
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            return "\n".join(row.detail for row in rows)
        for setting in PLANNED_AS_WITH_MANY_ROWS:
            await connection.exec_driver_sql(setting)
        types = ", ".join("text" if isinstance(value, str) else "bigint" for value in values)
        await connection.exec_driver_sql(f"PREPARE asked ({types}) AS {statement}")
        given = ", ".join(repr(value) for value in values)
        rows = await connection.exec_driver_sql(f"EXPLAIN EXECUTE asked ({given})")
        plan = "\n".join(rows.scalars())
        await connection.exec_driver_sql("DEALLOCATE asked")
        return plan


@pytest.mark.parametrize("name", BY_INDEX)
async def test_question_is_answered_from_an_index(store: Store, name: str) -> None:
    index, ask = BY_INDEX[name]
    made_for_keys = "sqlite_autoindex_"  # how SQLite calls the index of a constraint
    plans = await plans_of(store, ask)
    assert plans
    for plan in plans:
        assert index in plan or made_for_keys in plan


@pytest.mark.parametrize("name", ["runs", "runs, after", "challenge_before"])
async def test_order_is_read_off_the_index_and_not_made(store: Store, name: str) -> None:
    for plan in await plans_of(store, BY_INDEX[name][1]):
        assert "Sort" not in plan
        assert "TEMP B-TREE" not in plan


async def test_page_of_a_board_begins_in_the_index_where_the_last_has_ended(store: Store) -> None:
    beside, below = await plans_of(store, BY_INDEX["runs, after"][1])
    if store.engines.read.dialect.name == "sqlite":
        assert "(challenge=? AND home=? AND (elapsed_ms,moves,undos)>(?,?,?))" in beside
        assert "(challenge=? AND home<?)" in below
    else:
        assert "home = $" in beside.partition("Index Cond: ")[2].partition("\n")[0]
        assert "ROW(elapsed_ms, moves, undos, number) > ROW(" in beside
