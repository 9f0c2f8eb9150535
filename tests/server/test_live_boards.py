"""Boards that follow the journal: loads, and renames."""

import asyncio

import pytest

from cellmates.daily import FIRST, MOVES
from server import live_boards
from server.boards import BadCursor
from server.journal import StorageError
from server.live_boards import WAIT_MS

from .following import CLOSES, DAY, OTHER, World, record, settled

pytestmark = pytest.mark.asyncio


@pytest.fixture
def world() -> World:
    return World()


# -- Reading ---------------------------------------------------------------------------------------


async def test_first_page_reads_the_board_and_the_next_ones_do_not(world: World) -> None:
    world.run("ann", 1)
    assert await world.names() == ["ANN"]
    reads = world.journal.reads
    assert await world.names() == ["ANN"]
    assert await world.names(board=MOVES) == ["ANN"]
    assert world.journal.reads == reads


async def test_page_is_that_of_the_boards(world: World) -> None:
    for number, player in enumerate(("ann", "bob", "cy", "bot"), 1):
        world.run(player, number)
    page = await world.boards.page(record(DAY), FIRST, "human", limit=1, around="bob", me="cy")
    assert [row.run.player for row in page.rows] == ["bob"]
    assert page.me is not None
    assert page.me.rank == 3
    onwards = await world.boards.page(record(DAY), FIRST, "human", limit=9, cursor=page.next)
    assert [row.run.player for row in onwards.rows] == ["cy"]
    with pytest.raises(BadCursor):
        await world.boards.page(record(DAY), MOVES, "human", limit=9, cursor=page.next)


async def test_close_of_the_challenge_decides_what_counts(world: World) -> None:
    world.run("ann", 1, attempt=2, ended=CLOSES - 1)
    world.run("bob", 2, attempt=2, ended=CLOSES)
    assert await world.names(board=MOVES) == ["ANN"]


async def test_boards_are_counted(world: World) -> None:
    world.run("ann", 1)
    world.run("bob", 2, home=51)
    assert (world.boards.loaded, world.boards.rows) == (0, 0)
    await world.names()
    assert (world.boards.loaded, world.boards.rows) == (1, 3)
    await world.names(OTHER)
    assert (world.boards.loaded, world.boards.rows) == (2, 3)


async def test_board_of_many_pages_is_read_whole(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_LOAD_ROWS", 4)
    monkeypatch.setattr(live_boards, "_ROWS_AT_ONCE", 3)
    for number in range(1, 13):
        world.run(f"p{number:02}", number)
    assert await world.names() == [f"P{number:02}" for number in range(1, 13)]
    assert world.journal.reads == 1 + 12 // 4 + 1  # the last number, three full pages, an empty one


async def test_others_have_their_turn_while_a_board_is_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_ROWS_AT_ONCE", 1)
    for number in range(1, 9):
        world.run(f"p{number}", number)
    load = asyncio.create_task(world.names())
    turns = 0
    while not load.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 8


async def test_callers_at_once_load_once(world: World) -> None:
    world.run("ann", 1)
    assert await asyncio.gather(*(world.names() for _ in range(5))) == [["ANN"]] * 5
    assert world.journal.loads == [DAY]


async def test_loads_at_once_begin_one_tail(world: World) -> None:
    await asyncio.gather(world.names(), world.names(OTHER))
    assert world.journal.reads == 3  # the last number once, and a page each


async def test_caller_who_leaves_does_not_stop_the_load(world: World) -> None:
    world.run("ann", 1)
    world.journal.held["runs"] = asyncio.Event()
    leaving, staying = (asyncio.create_task(world.names()) for _ in range(2))
    await settled()
    leaving.cancel()
    await settled()
    world.journal.held["runs"].set()
    assert await staying == ["ANN"]
    assert leaving.cancelled()
    assert world.journal.loads == [DAY]


async def test_failed_load_fails_for_all_and_is_tried_anew_by_the_next(world: World) -> None:
    world.run("ann", 1)
    world.journal.is_away = True
    outcomes = await asyncio.gather(*(world.names() for _ in range(3)), return_exceptions=True)
    assert [repr(outcome) for outcome in outcomes] == [repr(StorageError("away"))] * 3
    assert world.boards.loaded == 0
    world.journal.is_away = False
    assert await world.names() == ["ANN"]


async def test_load_that_breaks_off_in_the_middle_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_LOAD_ROWS", 1)
    world.run("ann", 1)
    world.run("bob", 2)
    world.journal.meanwhile["runs"] = lambda: setattr(world.journal, "is_away", True)
    with pytest.raises(StorageError):
        await world.names()
    world.journal.is_away = False
    assert await world.names() == ["ANN", "BOB"]
    assert world.journal.loads == [DAY, DAY]


async def test_mistake_while_loading_is_no_storage_error_and_the_next_load_is_new(
    world: World,
) -> None:
    world.run("ann", 1)
    world.journal.meanwhile["runs"] = lambda: setattr(world, "mistake", world.told[0])
    with pytest.raises(IndexError):
        await world.names()
    assert await world.names() == ["ANN"]


# -- Handles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("handle", ["Anna", None])
async def test_rename_here_is_seen_at_once(world: World, handle: str | None) -> None:
    world.run("ann", 1)
    world.run("ann", 2, OTHER)
    await world.names()
    await world.names(OTHER)
    world.boards.renamed("ann", handle)
    assert await world.names() == await world.names(OTHER) == [handle]


async def test_rename_elsewhere_is_seen_after_a_look(world: World) -> None:
    world.run("ann", 1)
    world.run("bob", 2)
    await world.names()
    world.rename("ann", "Anna")
    await world.journal.delete_player("bob", world.clock.now)
    await world.boards.catch_up()
    assert await world.names() == ["Anna", None]


@pytest.mark.parametrize("late_ms", [0, WAIT_MS])
async def test_rename_by_a_clock_that_is_late_is_seen(world: World, late_ms: int) -> None:
    world.run("ann", 1)
    await world.names()
    world.clock.pass_ms(300_000)
    await world.boards.catch_up()
    world.rename("ann", "Anna", world.clock.now - late_ms)
    await world.boards.catch_up()
    assert await world.names() == ["Anna"]


async def test_rename_during_an_outage_is_seen_after_it(world: World) -> None:
    world.run("ann", 1)
    await world.names()
    world.journal.is_away = True
    world.rename("ann", "Anna")
    world.clock.pass_ms(10 * WAIT_MS)
    with pytest.raises(StorageError):
        await world.boards.catch_up()
    world.journal.is_away = False
    world.clock.pass_ms(10 * WAIT_MS)
    await world.boards.catch_up()
    assert await world.names() == ["Anna"]


async def test_old_renames_are_not_asked_for_again_and_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run("ann", 1)
    await world.names()
    asked: list[int] = []
    handles_since = world.journal.handles_since

    async def noting(changed: int) -> dict[str, str | None]:
        asked.append(changed)
        return await handles_since(changed)

    monkeypatch.setattr(world.journal, "handles_since", noting)
    began = world.clock.now
    for _ in range(3):
        world.clock.pass_ms(1_000)
        await world.boards.catch_up()
    assert [began - WAIT_MS, began + 1_000 - WAIT_MS, began + 2_000 - WAIT_MS] == asked


async def test_rename_while_the_board_is_read_is_not_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_boards, "_LOAD_ROWS", 1)
    world.run("ann", 1)
    world.run("bob", 2)
    load = asyncio.create_task(world.names())
    while world.boards.rows or not world.journal.loads:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    world.boards.renamed("ann", "Anna")
    assert await load == ["Anna", "BOB"]


async def test_rename_before_the_first_row_is_read_is_not_lost(world: World) -> None:
    world.run("ann", 1)
    world.journal.held["last_run"] = asyncio.Event()
    load = asyncio.create_task(world.names())
    await settled()
    world.rename("ann", "Anna")
    world.boards.renamed("ann", "Anna")
    world.journal.held["last_run"].set()
    assert await load == ["Anna"]
