"""Live boards and the journal's tail: what is recorded after a board was read, or seen late."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import live_boards
from server.journal import StorageError
from server.live_boards import MOST_GAPS, WAIT_MS, _Tail

from .following import DAY, OTHER, World, settled

pytestmark = pytest.mark.asyncio


@pytest.fixture
def world() -> World:
    return World()


# -- What is recorded later ------------------------------------------------------------------------


async def test_own_run_is_seen_at_once(world: World) -> None:
    assert await world.names() == []
    world.run("ann", 1)
    world.boards.ended()
    assert await world.names() == ["ANN"]


async def test_look_for_an_own_run_is_made_once_for_all_who_ask(world: World) -> None:
    await world.names()
    world.run("ann", 1)
    world.boards.ended()
    assert await asyncio.gather(*(world.names() for _ in range(5))) == [["ANN"]] * 5
    assert len(world.journal.asked) == 1


async def test_own_run_recorded_while_the_board_is_read_is_seen_by_whoever_asks_then(
    world: World,
) -> None:
    world.run("ann", 1)

    def meanwhile() -> None:
        world.run("bob", 2)
        world.boards.ended()

    world.journal.meanwhile["runs"] = meanwhile
    early = asyncio.create_task(world.names())
    await settled()
    assert await early == ["ANN"]
    assert await world.names() == ["ANN", "BOB"]


async def test_failed_look_for_an_own_run_is_told_and_made_anew(world: World) -> None:
    await world.names()
    world.run("ann", 1)
    world.boards.ended()
    world.journal.is_away = True
    with pytest.raises(StorageError):
        await world.names()
    world.journal.is_away = False
    assert await world.names() == ["ANN"]


async def test_own_run_is_seen_though_the_board_left_memory_during_the_look() -> None:
    world = World(most=1)
    world.run("ann", 1)
    await world.names()
    world.run("bob", 2)
    world.boards.ended()
    world.journal.held["runs_since"] = asyncio.Event()
    asking = [asyncio.create_task(world.names(challenge)) for challenge in (DAY, OTHER)]
    await settled()
    world.journal.held["runs_since"].set()
    assert await asyncio.gather(*asking) == [["ANN", "BOB"], []]
    assert world.journal.loads == [DAY, OTHER, DAY]


async def test_own_run_recorded_during_a_look_is_seen_by_whoever_asks_then(world: World) -> None:
    await world.names()

    def meanwhile() -> None:
        world.run("bob", 2)
        world.boards.ended()

    world.run("ann", 1)
    world.boards.ended()
    world.journal.meanwhile["runs_since"] = meanwhile
    assert await world.names() == ["ANN"]
    assert await world.names() == ["ANN", "BOB"]


async def test_run_of_another_process_is_seen_after_a_look(world: World) -> None:
    await world.names()
    world.run("ann", 1)
    world.run("eve", 2, OTHER)
    assert await world.names() == []
    await world.boards.catch_up()
    assert await world.names() == ["ANN"]
    assert await world.names(OTHER) == ["EVE"]


async def test_look_before_anything_is_loaded_asks_nothing(world: World) -> None:
    world.run("ann", 1)
    await world.boards.catch_up()
    assert world.journal.reads == 0


async def test_look_takes_all_there_is_though_it_reads_in_pages(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_TAIL_ROWS", 3)
    await world.names()
    for number in range(1, 10):
        world.run(f"p{number}", number)
    await world.boards.catch_up()
    assert len(await world.names()) == 9


async def test_looks_are_made_one_behind_the_other(world: World) -> None:
    await world.names()
    world.run("ann", 1)
    await asyncio.gather(world.boards.catch_up(), world.boards.catch_up())
    assert world.journal.asked == [(0, []), (1, [])]


async def test_run_that_does_not_count_is_on_no_board_and_asked_for_again_in_vain(
    world: World,
) -> None:
    await world.names()
    world.run("eve", 1)
    world.run("ann", 2)
    world.journal.validity["game-1"] = "banned"
    await world.boards.catch_up()
    await world.boards.catch_up()
    assert await world.names() == ["ANN"]
    assert world.journal.asked[-1] == (2, [1])


# -- Runs that are seen late -----------------------------------------------------------------------


@pytest.mark.parametrize("looks", [1, 4])
async def test_run_committed_after_one_with_a_greater_number_is_seen(
    world: World, looks: int
) -> None:
    await world.names()
    for number in range(1, 5):
        world.run(f"p{number}", number)
    world.journal.uncommitted = {1, 3}
    for _ in range(looks):
        await world.boards.catch_up()
    assert await world.names() == ["P2", "P4"]
    world.journal.uncommitted = set()
    await world.boards.catch_up()
    assert await world.names() == ["P1", "P2", "P3", "P4"]
    assert world.journal.asked[-1] == (4, [1, 3])
    await world.boards.catch_up()
    assert world.journal.asked[-1] == (4, [])


async def test_run_under_way_before_this_process_began_is_seen(world: World) -> None:
    for number in range(1, 4):
        world.run(f"p{number}", number)
    world.journal.uncommitted = {2}
    assert await world.names() == ["P1", "P3"]
    world.journal.uncommitted = set()
    await world.boards.catch_up()
    assert await world.names() == ["P1", "P2", "P3"]


async def test_run_under_way_before_this_process_began_is_seen_after_a_look_without_it(
    world: World,
) -> None:
    for number in range(1, 4):
        world.run(f"p{number}", number)
    world.journal.uncommitted = {2}
    await world.names()
    await world.boards.catch_up()
    world.journal.uncommitted = set()
    await world.boards.catch_up()
    assert await world.names() == ["P1", "P2", "P3"]


@pytest.mark.parametrize("looks_within", [False, True])
async def test_run_recorded_behind_what_a_load_has_read_comes_by_the_tail(
    world: World, monkeypatch: pytest.MonkeyPatch, looks_within: bool
) -> None:
    monkeypatch.setattr(live_boards, "_LOAD_ROWS", 1)
    world.run("ann", 1)
    world.run("cy", 3)
    world.run("bob", 2, elapsed_ms=0)
    world.journal.uncommitted = {2}
    world.journal.meanwhile["runs"] = world.journal.uncommitted.clear
    load = asyncio.create_task(world.names())
    if looks_within:
        while world.journal.meanwhile:
            await asyncio.sleep(0)
        assert not load.done()
    await world.boards.catch_up()
    await load
    await world.boards.catch_up()
    assert await world.names() == ["BOB", "ANN", "CY"]


async def test_run_seen_by_the_tail_while_its_board_is_read_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_LOAD_ROWS", 1)
    await world.names(OTHER)
    world.run("ann", 1)
    world.run("bob", 2)
    world.journal.meanwhile["runs"] = lambda: world.run("cy", 3, elapsed_ms=0)
    load = asyncio.create_task(world.names())
    while world.journal.meanwhile:
        await asyncio.sleep(0)
    await world.boards.catch_up()  # the last look at number 3
    assert not load.done()
    assert await load == ["CY", "ANN", "BOB"]


async def test_missing_number_is_given_up_after_a_while_and_not_before(world: World) -> None:
    await world.names()
    world.run("ann", 2)
    await world.boards.catch_up()
    world.clock.pass_ms(WAIT_MS - 1)
    await world.boards.catch_up()
    await world.boards.catch_up()
    assert world.journal.asked[-1] == (2, [1])
    world.clock.pass_ms(1)
    await world.boards.catch_up()
    assert world.journal.asked[-1] == (2, [1])
    await world.boards.catch_up()
    assert world.journal.asked[-1] == (2, [])


async def test_number_missing_through_a_long_outage_is_asked_for_once_more(world: World) -> None:
    await world.names()
    world.run("ann", 1)
    world.run("bob", 2)
    world.journal.uncommitted = {1}
    await world.boards.catch_up()
    world.journal.is_away = True
    world.clock.pass_ms(10 * WAIT_MS)
    with pytest.raises(StorageError):
        await world.boards.catch_up()
    world.journal.is_away = False
    world.journal.uncommitted = set()
    await world.boards.catch_up()
    assert await world.names() == ["ANN", "BOB"]


@given(
    st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=30),
    st.integers(0, 12),
)
async def test_tail_asks_for_each_number_until_it_has_been_seen(
    commits: list[tuple[int, bool]], last: int
) -> None:
    tail, committed = _Tail(last), set(range(1, last + 1))
    seen: set[int] = set()
    for number, looks in [*commits, (13, True)]:
        committed.add(number)
        if looks:
            found = sorted(n for n in committed if n > tail.seen or n in tail.gaps)
            assert seen.isdisjoint(found)
            for one in found:
                tail.take(one, 0)
            seen.update(found)
            assert seen == committed
            assert tail.gaps == sorted(set(range(1, max(seen) + 1)) - seen)


async def test_of_a_leap_in_the_numbers_only_the_last_are_asked_for() -> None:
    tail = _Tail(0)
    tail.take(3 * MOST_GAPS, 0)
    assert tail.gaps == list(range(2 * MOST_GAPS, 3 * MOST_GAPS))
    tail.take(3 * MOST_GAPS + 3, 0)
    assert len(tail.gaps) == MOST_GAPS
    assert tail.gaps[-3:] == [3 * MOST_GAPS - 1, 3 * MOST_GAPS + 1, 3 * MOST_GAPS + 2]
    assert _Tail(10 * MOST_GAPS).seen == 9 * MOST_GAPS
