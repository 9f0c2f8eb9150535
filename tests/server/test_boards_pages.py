"""Pages of boards in memory, and the cursors that lead from one to the next."""

import dataclasses
from collections.abc import Iterator
from struct import Struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellmates.daily import BOARDS, FIRST, MOVES, order_of
from cellmates.protocol import LONGEST_CURSOR
from server.boards import BadCursor, Boards, Page
from server.records import Run

from .sorting import CHALLENGE, CLOSES, SIDES, boards_of, recorded, run, sorted_rows


def forwards(boards: Boards, board: str, kind: str, limit: int) -> Iterator[Page]:
    cursor = None
    while True:
        page = boards.page(board, kind, limit=limit, cursor=cursor)
        yield page
        cursor = page.next
        if cursor is None:
            return


def back(boards: Boards, board: str, kind: str, limit: int, page: Page) -> Iterator[Page]:
    """Pages from one to the first, the last of the board first."""
    while True:
        yield page
        if page.prev is None:
            return
        page = boards.page(board, kind, limit=limit, cursor=page.prev)


def cursor_behind(boards: Boards, board: str = FIRST, kind: str = "human", limit: int = 1) -> str:
    cursor = boards.page(board, kind, limit=limit).next
    assert cursor is not None
    return cursor


# -- Pages -----------------------------------------------------------------------------------------


@given(recorded(), st.sampled_from(SIDES), st.integers(1, 9))
def test_pages_concatenate_to_the_board_both_ways(
    runs: list[Run], side: tuple[str, str], limit: int
) -> None:
    """Scenario 12."""
    boards, rows = boards_of(runs), sorted_rows(runs, *side)
    pages = list(forwards(boards, *side, limit))
    assert [row for page in pages for row in page.rows] == rows
    assert all(len(page.rows) == limit for page in pages[:-1])
    backwards = list(back(boards, *side, limit, pages[-1]))
    assert [row for page in backwards[::-1] for row in page.rows] == rows
    assert all(len(page.rows) == limit for page in backwards[1:-1])
    assert {page.total for page in pages + backwards} == {len(rows)}


@given(recorded(), st.sampled_from(SIDES), st.integers(1, 9), st.integers(0, 9))
def test_page_around_me_has_me_in_the_middle_where_it_can(
    runs: list[Run], side: tuple[str, str], limit: int, player: int
) -> None:
    boards, rows = boards_of(runs), sorted_rows(runs, *side)
    me = f"player-{player}"
    page = boards.page(*side, limit=limit, around=me, me=me)
    mine = [row for row in rows if row.run.player == me]
    assert page.me == (mine[0] if mine else None)
    at = rows.index(mine[0]) if mine else 0
    low = max(0, min(at - limit // 2, len(rows) - limit))
    assert list(page.rows) == rows[low : low + limit]
    assert (page.prev is None, page.next is None) == (low == 0, low + limit >= len(rows))
    before = list(back(boards, *side, limit, page))
    assert [row for page in before[::-1] for row in page.rows] == rows[: low + limit]


@pytest.mark.parametrize(
    ("me", "limit", "players"),
    [
        ("a", 3, "abc"),
        ("b", 3, "abc"),
        ("c", 3, "bcd"),
        ("d", 3, "cde"),
        ("d", 4, "bcde"),
        ("d", 1, "d"),
        ("f", 3, "efg"),
        ("g", 3, "efg"),
        ("g", 1, "g"),
        ("d", 7, "abcdefg"),
        ("g", 9, "abcdefg"),
        ("?", 3, "abc"),
        (None, 3, "abc"),
    ],
)
def test_page_around_me_by_example(me: str | None, limit: int, players: str) -> None:
    boards = boards_of([run(player, number) for number, player in enumerate("abcdefg")])
    page = boards.page(FIRST, "human", limit=limit, around=me)
    assert "".join(row.run.player for row in page.rows) == players


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_rank_at_the_start_of_a_page_is_that_of_the_first_who_ties(limit: int) -> None:
    boards = boards_of([run(f"p{number}", number) for number in range(6)])
    pages = forwards(boards, FIRST, "human", limit)
    assert {row.rank for page in pages for row in page.rows} == {1}


@given(recorded(), recorded(), st.sampled_from(SIDES), st.integers(1, 4))
def test_walk_misses_no_row_and_repeats_none_while_others_come_in(
    runs: list[Run], later: list[Run], side: tuple[str, str], limit: int
) -> None:
    boards = boards_of(runs)
    seen: list[Run] = []
    for page in forwards(boards, *side, limit):
        seen += [row.run for row in page.rows]
        for one in later[len(seen) : len(seen) + limit]:
            boards.add(replace(one, number=100 + one.number, player=f"new-{one.player}"))
    there = [row.run for row in sorted_rows(runs, *side)]
    assert [one for one in seen if one in there] == there
    assert len({one.number for one in seen}) == len(seen)


def test_row_that_comes_between_two_pages_is_on_the_next_and_not_lost() -> None:
    boards = boards_of([run("ann", 1, moves=10), run("bob", 2, moves=30)])
    cursor = cursor_behind(boards, MOVES)
    boards.add(run("cy", 3, moves=20))
    page = boards.page(MOVES, "human", limit=5, cursor=cursor)
    assert [row.run.player for row in page.rows] == ["cy", "bob"]
    assert page.prev is not None
    boards.add(run("dan", 4, moves=15))
    before = boards.page(MOVES, "human", limit=5, cursor=page.prev)
    assert [row.run.player for row in before.rows] == ["ann", "dan"]


def test_equal_that_comes_between_two_pages_is_on_the_next() -> None:
    boards = boards_of([run("ann", 1), run("bob", 3)])
    cursor = cursor_behind(boards)
    boards.add(run("cy", 2))
    page = boards.page(FIRST, "human", limit=5, cursor=cursor)
    assert [row.run.player for row in page.rows] == ["cy", "bob"]


def test_page_behind_the_last_row_is_empty_and_leads_back_to_it() -> None:
    boards = boards_of([run("ann", 1, moves=10), run("bob", 2, moves=30)])
    cursor = cursor_behind(boards, MOVES)
    boards.add(run("bob", 3, attempt=2, moves=5))
    page = boards.page(MOVES, "human", limit=5, cursor=cursor)
    assert (page.rows, page.next, page.total) == ((), None, 2)
    before = boards.page(MOVES, "human", limit=5, cursor=page.prev)
    assert [row.run.player for row in before.rows] == ["bob", "ann"]


def test_page_before_the_first_row_is_empty_and_leads_on_to_it() -> None:
    runs = [run("ann", 1), run("bob", 2), run("cy", 3)]
    there = boards_of(runs)
    second = there.page(FIRST, "human", limit=1, cursor=cursor_behind(there))
    behind = boards_of(runs[1:])  # a process that has not seen the first run yet
    page = behind.page(FIRST, "human", limit=5, cursor=second.prev)
    assert (page.rows, page.prev, page.total) == ((), None, 2)
    after = behind.page(FIRST, "human", limit=5, cursor=page.next)
    assert [row.run.player for row in after.rows] == ["bob", "cy"]


def test_first_page_of_an_empty_board_is_all_there_is() -> None:
    empty = Page(rows=(), total=0, me=None, next=None, prev=None)
    assert Boards(CHALLENGE, CLOSES).page(FIRST, "human", limit=5, around="ann", me="ann") == empty


def test_top_is_the_first_page_for_nobody() -> None:
    boards = boards_of([run(f"p{number}", number) for number in range(5)])
    assert boards.top(FIRST, "human", 3) == boards.page(FIRST, "human", limit=3)
    assert len(boards.top(FIRST, "human", 3).rows) == 3


def test_thousand_reads_are_alike_and_so_is_one_after_a_reload() -> None:
    """Scenario 11."""
    runs = [run(f"p{number}", number, elapsed_ms=1 + number % 3) for number in range(60)]
    boards = boards_of(runs)
    cursor = cursor_behind(boards, limit=20)
    read = {repr(boards.page(FIRST, "human", limit=20, cursor=cursor)) for _ in range(1000)}
    reloaded = boards_of(runs[::-1]).page(FIRST, "human", limit=20, cursor=cursor)
    assert read == {repr(reloaded)}


# -- Cursors ---------------------------------------------------------------------------------------


def test_cursor_of_the_greatest_position_fits_its_field() -> None:
    last = run("zoe", 2**64 - 2, home=0, elapsed_ms=2**64 - 1, moves=2**32 - 1, undos=2**32 - 1)
    behind = replace(last, player="zzz", number=2**64 - 1)
    for board in BOARDS:
        won = [
            replace(one, figures=dataclasses.replace(one.figures, home=52))
            for one in (last, behind)
        ]
        boards = boards_of(won)
        cursor = cursor_behind(boards, board)
        assert len(cursor) <= LONGEST_CURSOR
        page = boards.page(board, "human", limit=1, cursor=cursor)
        assert [row.run for row in page.rows] == won[1:]


@pytest.mark.parametrize("side", [(FIRST, "bot"), (MOVES, "human"), (MOVES, "bot")])
def test_cursor_of_another_board_is_refused(side: tuple[str, str]) -> None:
    runs = [run("ann", 1), run("bob", 2), run("hal", 3, "bot"), run("eve", 4, "bot")]
    boards = boards_of(runs)
    foreign = cursor_behind(boards, *side)
    with pytest.raises(BadCursor, match="none of this board's"):
        boards.page(FIRST, "human", limit=1, cursor=foreign)


def test_cursor_of_another_challenge_is_refused() -> None:
    cursor = cursor_behind(boards_of([run("ann", 1), run("bob", 2)]))
    other = Boards("2027-01-15-eight-off", CLOSES)
    with pytest.raises(BadCursor):
        other.page(FIRST, "human", limit=1, cursor=cursor)


@pytest.mark.parametrize(
    ("kept", "added"),
    [
        (0, ""),
        (0, "1800000000000.game-1"),
        (10, ""),
        (-1, ""),
        (-2, ""),
        (None, "00"),
        (None, " "),
        (-2, " 0"),
        (-4, "0 00"),
        (-4, "00 00"),
        (-2, "FF"),
        (-2, "zz"),
        (-2, "\u0663\u0663"),
    ],
)
def test_damaged_cursor_is_refused(kept: int | None, added: str) -> None:
    boards = boards_of([run("ann", 1), run("bob", 2)])
    cursor = cursor_behind(boards)
    with pytest.raises(BadCursor):
        boards.page(FIRST, "human", limit=1, cursor=cursor[:kept] + added)


@given(st.text(max_size=LONGEST_CURSOR))
def test_text_that_is_no_cursor_is_refused(cursor: str) -> None:
    boards = boards_of([run("ann", 1), run("bob", 2)])
    with pytest.raises(BadCursor):
        boards.page(FIRST, "human", limit=1, cursor=cursor)


@given(
    recorded(),
    st.sampled_from("<>"),
    st.tuples(*[st.integers(0, 4)] * 4, st.integers(0, 25)),
    st.integers(1, 4),
)
def test_cursor_of_any_position_gives_the_rows_on_its_side(
    runs: list[Run], direction: str, position: tuple[int, ...], limit: int
) -> None:
    boards, rows = boards_of(runs), sorted_rows(runs, FIRST, "human")
    mark = cursor_behind(boards_of([run("ann", 1), run("bob", 2)]))[2:10]
    cursor = direction.encode().hex() + mark + Struct(">BQIIQ").pack(*position).hex()
    before = sum((*order_of(FIRST, row.run.figures), row.run.number) < position for row in rows)
    wanted = rows[max(0, before - limit) : before]
    if direction == ">":
        wanted = rows[before : before + limit]
    page = boards.page(FIRST, "human", limit=limit, cursor=cursor)
    assert list(page.rows) == wanted
