"""Live boards as their watchers see them; outages, and what leaves memory."""

import asyncio
import logging
from functools import partial

import pytest

from cellmates.daily import FIRST, MOVES
from server.journal import StorageError
from server.live_boards import TELL_MS
from server.records import ChallengeRecord, Run

from .following import BOARD, DAY, OTHER, THIRD, Act, World, record

pytestmark = pytest.mark.asyncio


@pytest.fixture
def world() -> World:
    return World()


# -- Watching --------------------------------------------------------------------------------------


async def test_watchers_are_told_the_new_top(world: World) -> None:
    world.run("ann", 1)
    world.boards.watch(*BOARD)
    await world.follow(lambda: world.run("bob", 2, elapsed_ms=0), world.wait())
    assert [told[:3] for told in world.told] == [BOARD]
    top = world.told[0][3]
    assert [row.run.player for row in top.rows] == ["bob", "ann"]
    assert top.total == 2


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_watchers_are_not_told_what_was_there_before(world: World, is_loaded: bool) -> None:
    world.run("ann", 1)
    if is_loaded:
        await world.names()
    world.boards.watch(*BOARD)
    await world.follow(world.wait(), world.wait(), world.wait())
    assert world.told == []
    assert world.journal.loads == [DAY]


async def test_only_the_board_that_changed_is_told_of(world: World) -> None:
    for board in (FIRST, MOVES):
        for kind in ("human", "bot"):
            world.boards.watch(DAY, board, kind)
            world.boards.watch(OTHER, board, kind)
    await world.follow(
        world.wait(), lambda: world.run("ann", 1, home=3), lambda: world.run("bot", 2), world.wait()
    )
    assert [told[:3] for told in world.told] == [
        (DAY, FIRST, "human"),
        (DAY, FIRST, "bot"),
        (DAY, MOVES, "bot"),
    ]


async def test_row_below_the_top_is_told_of_by_the_total(world: World) -> None:
    for number in range(1, 12):
        world.run(f"p{number:02}", number)
    world.boards.watch(*BOARD)
    await world.follow(world.wait(), lambda: world.run("zoe", 99), world.wait())
    assert [(len(page.rows), page.total) for *_, page in world.told] == [(10, 12)]


@pytest.mark.parametrize("before", ["nothing", "board read", "other board read", "told"])
async def test_better_run_below_the_top_is_not_told_of(world: World, before: str) -> None:
    for number in range(1, 13):
        world.run(f"p{number:02}", number)
    if before == "board read":
        await world.names()
    world.boards.watch(DAY, MOVES, "human")
    steps: list[Act] = [
        world.wait(),
        partial(world.run, "p12", 14, attempt=2, elapsed_ms=11),
        world.wait(),
    ]
    if before == "told":
        steps = [world.wait(), partial(world.run, "p00", 13, elapsed_ms=0), *steps]
    if before == "other board read":
        await world.names()
        await world.names(OTHER)
    await world.follow(*steps)
    assert len(world.told) == (1 if before == "told" else 0)
    assert (await world.names(board=MOVES))[-1] == "P12"


async def test_board_that_is_as_it_was_before_is_told_of_again(world: World) -> None:
    world.run("ann", 1)
    world.boards.watch(*BOARD)
    names = ["Anna", "ANN", "Anna"]
    steps: list[Act] = [partial(world.boards.renamed, "ann", name) for name in names]
    await world.follow(*[step for each in steps for step in (world.wait(), each)])
    assert [page.rows[0].run.handle for *_, page in world.told] == names


async def test_all_boards_that_changed_are_told_of_at_the_same_look(world: World) -> None:
    world.boards.watch(*BOARD)
    world.boards.watch(DAY, MOVES, "human")
    await world.follow(world.wait(), lambda: world.run("ann", 1))
    assert [told[1] for told in world.told] == [FIRST, MOVES]


async def test_board_is_told_of_once_a_second_and_the_last_state_is_not_lost(world: World) -> None:
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(),
        lambda: world.run("p1", 1),
        lambda: world.run("p2", 2),
        world.wait(TELL_MS - 1),
        lambda: world.run("p3", 3),
        world.wait(1),
        world.wait(9_000),
    )
    assert [page.total for *_, page in world.told] == [1, 3]


@pytest.mark.parametrize(("early", "late"), [(DAY, OTHER), (OTHER, DAY)])
async def test_other_boards_do_not_wait_for_one_just_told_of(
    world: World, early: str, late: str
) -> None:
    world.boards.watch(early, FIRST, "human")
    world.boards.watch(late, FIRST, "human")

    def both() -> None:
        world.run("bob", 2, early)
        world.run("bob", 3, late)

    await world.follow(world.wait(), lambda: world.run("ann", 1, early), both)
    assert [told[0] for told in world.told] == [early, late]


@pytest.mark.parametrize("here", [True, False])
async def test_rename_at_the_top_is_told_of(world: World, here: bool) -> None:
    world.run("ann", 1)
    world.run("bob", 2, OTHER)
    world.boards.watch(*BOARD)
    world.boards.watch(OTHER, FIRST, "human")

    def rename() -> None:
        if here:
            world.boards.renamed("ann", "Anna")
        else:
            world.rename("ann", "Anna")

    await world.follow(world.wait(), rename, world.wait(), world.wait())
    assert [(told[0], told[3].rows[0].run.handle) for told in world.told] == [(DAY, "Anna")]


async def test_rename_of_somebody_who_has_no_row_is_not_told_of(world: World) -> None:
    world.run("ann", 1)
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(), lambda: world.boards.renamed("zoe", "Zoe"), world.wait(), world.wait()
    )
    assert world.told == []


async def test_board_is_told_of_until_the_last_has_left(world: World) -> None:
    world.boards.watch(*BOARD)
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(),
        lambda: world.boards.unwatch(*BOARD),
        lambda: world.run("ann", 1),
        world.wait(),
        lambda: world.boards.unwatch(*BOARD),
        lambda: world.run("bob", 2),
        world.wait(),
    )
    assert [page.total for *_, page in world.told] == [1]


async def test_watcher_who_leaves_before_being_told_is_not_told(world: World) -> None:
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(),
        lambda: world.run("ann", 1),
        lambda: world.run("bob", 2),  # too soon to be told of
        lambda: world.boards.unwatch(*BOARD),
        world.wait(),
        lambda: world.boards.watch(*BOARD),
        world.wait(),
    )
    assert [page.total for *_, page in world.told] == [1]


async def test_one_who_comes_to_watch_takes_nothing_from_those_who_watch(world: World) -> None:
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(),
        lambda: world.run("ann", 1),
        lambda: world.run("bob", 2),  # too soon to be told of
        lambda: world.boards.watch(*BOARD),
        world.wait(),
    )
    assert [page.total for *_, page in world.told] == [1, 2]


async def test_leaving_a_board_that_nobody_watches_does_nothing(world: World) -> None:
    world.boards.unwatch(*BOARD)
    world.boards.watch(*BOARD)
    await world.follow(world.wait(), lambda: world.run("ann", 1), world.wait())
    assert len(world.told) == 1


async def test_watched_board_of_a_challenge_that_is_not_there_is_left_alone(world: World) -> None:
    world.boards.watch("2027-02-01-freecell", FIRST, "human")
    world.boards.watch(*BOARD)
    await world.follow(world.wait(), lambda: world.run("ann", 1), world.wait())
    assert [told[0] for told in world.told] == [DAY]
    assert world.boards.loaded == 1


async def test_long_load_of_a_watched_board_keeps_no_other_waiting(world: World) -> None:
    await world.names(OTHER)
    world.boards.watch(OTHER, FIRST, "human")
    world.journal.held["runs"] = asyncio.Event()
    world.boards.watch(*BOARD)
    await world.follow(
        world.wait(),
        lambda: world.run("ann", 1, OTHER),
        world.wait(),
        world.journal.held["runs"].set,
    )
    assert [told[0] for told in world.told] == [OTHER]
    assert world.journal.loads == [OTHER, DAY]


async def test_board_read_by_a_caller_while_follow_looks_it_up_is_not_read_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.boards.watch(*BOARD)
    challenge = world.journal.challenge

    async def slow(name: str) -> ChallengeRecord | None:
        await world.names()
        return await challenge(name)

    monkeypatch.setattr(world.journal, "challenge", slow)
    await world.follow(world.wait())
    assert world.journal.loads == [DAY]


# -- Outages ---------------------------------------------------------------------------------------


def warnings(caplog: pytest.LogCaptureFixture) -> int:
    return [record.getMessage() for record in caplog.records].count("boards cannot be read")


def away(world: World, is_away: bool) -> Act:
    return lambda: setattr(world.journal, "is_away", is_away)


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_outage_is_logged_once_and_following_goes_on(
    world: World, caplog: pytest.LogCaptureFixture, is_loaded: bool
) -> None:
    world.boards.watch(*BOARD)
    if is_loaded:
        await world.names()
    world.journal.is_away = True
    await world.follow(
        world.wait(),
        away(world, False),
        world.wait(),
        lambda: world.run("ann", 1),
        world.wait(),
        away(world, True),
        world.wait(),
    )
    assert len(world.told) == 1
    assert warnings(caplog) == 2
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


async def test_load_that_fails_over_and_over_is_logged_once(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(challenge: str, after: Run | None, limit: int) -> list[Run]:
        world.journal.loads.append(challenge)
        raise StorageError("too slow")

    await world.names(OTHER)
    monkeypatch.setattr(world.journal, "runs", refuse)
    world.boards.watch(*BOARD)
    await world.follow(*[world.wait()] * 5)
    assert warnings(caplog) == 1
    assert len(world.journal.loads) > 3
    assert "too slow" in str(caplog.records[0].__dict__["why"])


async def test_boards_are_shown_as_they_were_while_the_database_is_away(world: World) -> None:
    world.run("ann", 1)
    await world.names()
    world.journal.is_away = True
    await world.follow(world.wait())
    assert await world.names() == ["ANN"]


# -- Forgetting ------------------------------------------------------------------------------------


async def test_board_unused_for_longest_leaves_memory() -> None:
    world = World(most=2)
    for challenge in (DAY, OTHER, DAY, THIRD, DAY, OTHER):
        await world.names(challenge)
    assert world.journal.loads == [DAY, OTHER, THIRD, OTHER]
    assert world.boards.loaded == 2


async def test_no_board_leaves_memory_while_there_is_room() -> None:
    world = World(most=3)
    for challenge in (DAY, OTHER, DAY, OTHER):
        await world.names(challenge)
    assert world.journal.loads == [DAY, OTHER]


async def test_watched_board_stays_in_memory() -> None:
    world = World(most=1)
    await world.names()
    world.boards.watch(*BOARD)
    for challenge in (OTHER, THIRD, DAY):
        await world.names(challenge)
    assert world.journal.loads == [DAY, OTHER, THIRD]
    assert world.boards.loaded == 2


async def test_board_is_unused_from_when_its_last_watcher_leaves() -> None:
    world = World(most=1)
    await world.names()
    world.boards.watch(*BOARD)
    await world.names(OTHER)
    world.boards.unwatch(*BOARD)
    assert world.boards.loaded == 1
    await world.names()
    assert world.journal.loads == [DAY, OTHER]


async def test_what_a_board_missed_while_it_was_out_of_memory_is_read_again() -> None:
    world = World(most=1)
    await world.names()
    await world.names(OTHER)
    world.run("ann", 1)
    await world.boards.catch_up()
    assert await world.names() == ["ANN"]


async def test_reloaded_board_is_the_same(world: World) -> None:
    for number in range(1, 30):
        world.run(f"p{number:02}", number, elapsed_ms=number % 4, attempt=1 + number % 2)
    other = World(world.journal)
    for board in (FIRST, MOVES):
        pages = [
            await one.boards.page(record(DAY), board, "human", limit=99) for one in (world, other)
        ]
        assert pages[0] == pages[1]
        assert pages[0].total > 0
