"""Pages of the API that a guest gets: how long they may be kept, and boards as tables."""

import asyncio
import csv
from io import StringIO
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.protocol import (
    MOST_ROWS,
    BoardGet,
    BoardRow,
    Challenge,
    DailyList,
    ReplyBody,
    RequestBody,
)
from server.api import Answer

from .library import BOARD, CHALLENGE, CLOSED, DAY_MS, OPENS, Library, body, challenge, get, row

pytestmark = pytest.mark.asyncio

# -- How long a page may be kept -------------------------------------------------------------------

SECOND = 1000
OPEN = OPENS + DAY_MS // 2
UNTOLD = [challenge("eight-off"), challenge()]
HALF_TOLD = [challenge("eight-off"), challenge(told=True)]
OTHER_TOLD = [challenge("eight-off", told=True), challenge()]
TOLD = [challenge("eight-off", told=True), challenge(told=True)]
KEPT: dict[str, tuple[str, int, list[Challenge], int]] = {
    "today": ("daily", OPEN, UNTOLD, 60),
    "today by its date": ("daily/2026-12-01", OPEN, UNTOLD, 60),
    "today as it opens": ("daily", OPENS, UNTOLD, 60),
    "today a minute before the next": ("daily", CLOSED - 60 * SECOND, UNTOLD, 60),
    "today less than a minute before": ("daily", CLOSED - 59 * SECOND - 1, UNTOLD, 59),
    "today in the last second": ("daily", CLOSED - 1, UNTOLD, 0),
    "the day before the day": ("daily/2026-12-01", OPENS - 30 * SECOND, UNTOLD, 30),
    "a day that is closed": ("daily/2026-12-01", CLOSED + 1, UNTOLD, 60),
    "a day that is half told": ("daily/2026-12-01", CLOSED + 1, HALF_TOLD, 60),
    "a day that is told": ("daily/2026-12-01", CLOSED + 1, TOLD, 3600),
    "a day without challenges": ("daily/2026-12-01", CLOSED + 1, [], 60),
    "today whatever is told": ("daily", CLOSED + 1, TOLD, 60),
    "an open board": (BOARD, OPEN, UNTOLD, 5),
    "an open board, whatever is told": (BOARD, CLOSED - 1, TOLD, 5),
    "a closed board that is not told": (BOARD, CLOSED, UNTOLD, 5),
    "a closed board beside one that is told": (BOARD, CLOSED, OTHER_TOLD, 5),
    "a closed board that is told": (BOARD, CLOSED, HALF_TOLD, 3600),
    "a board of no day": ("boards/christmas/first/human", CLOSED, TOLD, 0),
    "an open table": (f"{BOARD}.csv", OPEN, UNTOLD, 5),
    "a table that is told": (f"{BOARD}.csv", CLOSED, TOLD, 3600),
    "a replay": ("replays/g", OPEN, [], 3600),
    "a player": ("players/anna", OPEN, [], 30),
}


@pytest.mark.parametrize(("target", "now", "challenges", "kept_s"), KEPT.values(), ids=KEPT.keys())
async def test_a_page_may_be_kept_as_long_as_it_stays_true(
    target: str, now: int, challenges: list[Challenge], kept_s: int
) -> None:
    answer = await get(target, Library(challenges=challenges).answer, now=now)
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == f"public, max-age={kept_s}"
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


async def test_whether_a_board_still_changes_is_asked_before_its_rows_are() -> None:
    library = Library()
    await get(BOARD, library.answer, now=CLOSED)
    assert library.asked == [DailyList("2026-12-01"), BoardGet(CHALLENGE, "first", "human")]


# -- Tables ----------------------------------------------------------------------------------------

HEADER = ["rank", "handle", "home", "won", "elapsed_ms", "moves", "undos", "game"]
HANDLES = ["anna", "deleted player", 'a "b"', "a,b", "a\r\nb", " a ", "ä", ""]


async def test_a_table_is_the_board_row_by_row() -> None:
    lost = BoardRow(2, "bo", 7, False, 1, 2, 3, "g2")
    answer = await get(f"{BOARD}.csv", Library([row(1), lost]).answer)
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert answer.body == (
        b"rank,handle,home,won,elapsed_ms,moves,undos,game\r\n"
        b"1,anna,52,true,60001,90,0,game-1\r\n"
        b"2,bo,7,false,1,2,3,g2\r\n"
    )
    assert "Link" not in answer.headers


@given(st.lists(st.sampled_from(HANDLES) | st.text(max_size=30), max_size=8))
async def test_what_a_handle_holds_stays_in_its_cell(handles: list[str]) -> None:
    rows = [row(number, handle) for number, handle in enumerate(handles, 1)]
    answer = await get(f"{BOARD}.csv", Library(rows).answer)
    table = list(csv.reader(StringIO(answer.body.decode(), newline="")))
    assert table[0] == HEADER
    assert [cells[1] for cells in table[1:]] == handles
    assert {len(cells) for cells in table} == {len(HEADER)}


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (0, [0]),
        (1, [1]),
        (MOST_ROWS, [MOST_ROWS]),
        (MOST_ROWS + 1, [MOST_ROWS + 1]),
        (10_000, [10_000]),
        (10_001, [10_000, 1]),
        (20_005, [10_000, 10_000, 5]),
    ],
)
async def test_tables_that_are_linked_are_the_whole_board(count: int, sizes: list[int]) -> None:
    library = Library([row(number) for number in range(count)])
    target: str | None = f"{BOARD}.csv"
    found: list[str] = []
    for size in sizes:
        assert target is not None
        answer = await get(target, library.answer)
        header, *rows = csv.reader(StringIO(answer.body.decode(), newline=""))
        assert (header, len(rows)) == (HEADER, size)
        found += [cells[0] for cells in rows]
        target = next_of(answer)
    assert target is None
    assert found == [str(number) for number in range(count)]


def next_of(answer: Answer) -> str | None:
    link = answer.headers.get("Link")
    if link is None:
        return None
    target, relation = link.split("; ")
    assert relation == 'rel="next"'
    assert (target[0], target[-1]) == ("<", ">")
    parts = urlsplit(target[1:-1])
    assert parts.query == f"cursor={quote('after/' + parts.query.rpartition('%2F')[2], safe='')}"
    return f"{parts.path}?{parts.query}".removeprefix("/api/v1/")


async def test_others_have_their_turn_while_a_table_is_made() -> None:
    library = Library([row(number) for number in range(3 * MOST_ROWS)])
    turns: list[None] = []
    turns_before: list[int] = []

    async def answer(message: RequestBody) -> ReplyBody:
        turns_before.append(len(turns))
        asyncio.get_running_loop().call_soon(turns.append, None)
        return await library.answer(message)

    await get(f"{BOARD}.csv", answer)
    assert turns_before == [0, 1, 2]


@pytest.mark.parametrize("cursor", ["x", ""])
async def test_a_table_refuses_a_cursor_that_the_board_refuses(cursor: str) -> None:
    answer = await get(f"{BOARD}.csv?cursor={cursor}")
    assert (answer.status, body(answer)["code"]) == (400, "bad-cursor")
