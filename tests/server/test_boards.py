"""Boards in memory, held to a board made anew from all runs by sorting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellmates.daily import BOARDS, FIRST, MOVES, Figures, order_of
from server.boards import KINDS, Boards, Row
from server.records import Run

from .sorting import CHALLENGE, CLOSES, SIDES, boards_of, recorded, run, sorted_rows


def whole(boards: Boards, board: str, kind: str) -> list[Row]:
    return list(boards.page(board, kind, limit=10_000).rows)


# -- Order -----------------------------------------------------------------------------------------


@given(recorded(), st.data())
def test_boards_are_those_made_by_sorting_in_whatever_order_runs_come(
    runs: list[Run], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(runs))) if runs else []
    boards = boards_of(data.draw(st.permutations(runs + again)))
    for side in SIDES:
        assert whole(boards, *side) == sorted_rows(runs, *side)
    assert boards.rows == sum(len(sorted_rows(runs, *side)) for side in SIDES)


@given(
    st.sampled_from(BOARDS),
    st.lists(
        st.builds(
            Figures,
            home=st.just(52),
            elapsed_ms=st.integers(0, 2**62),
            moves=st.integers(0, 2**32 - 1),
            undos=st.integers(0, 2**32 - 1),
            attempt=st.just(1),
            ended=st.integers(0, 2**62),
        ),
        max_size=9,
    ),
)
def test_order_in_memory_is_the_order_of_the_rules(board: str, figures: list[Figures]) -> None:
    runs = [
        replace(run(f"player-{number}", number), figures=one)
        for number, one in enumerate(figures, 2**62)
    ]
    by_rule = sorted(runs, key=lambda one: (order_of(board, one.figures), one.number))
    assert [row.run for row in whole(boards_of(runs), board, "human")] == by_rule


@pytest.mark.parametrize(
    ("board", "better", "worse"),
    [
        (FIRST, {}, {"home": 51, "elapsed_ms": 1, "moves": 1}),
        (FIRST, {"home": 9}, {"home": 8, "elapsed_ms": 1, "moves": 1}),
        (FIRST, {"elapsed_ms": 1, "moves": 9, "undos": 9}, {"elapsed_ms": 2, "moves": 1}),
        (FIRST, {"moves": 1, "undos": 9}, {"moves": 2}),
        (FIRST, {"undos": 1}, {"undos": 2}),
        (MOVES, {"moves": 1, "elapsed_ms": 9, "undos": 9}, {"moves": 2, "elapsed_ms": 1}),
        (MOVES, {"elapsed_ms": 1, "undos": 9}, {"elapsed_ms": 2}),
    ],
)
def test_better_run_stands_first_though_recorded_later(
    board: str, better: dict[str, int], worse: dict[str, int]
) -> None:
    boards = boards_of([run("ann", 1, **worse), run("bob", 2, **better)])
    assert [(row.rank, row.run.player) for row in whole(boards, board, "human")] == [
        (1, "bob"),
        (2, "ann"),
    ]


def test_runs_that_tie_share_a_rank_and_stand_as_they_were_recorded() -> None:
    runs = [
        run(f"p{number}", number, moves=9 if number in (2, 3) else number) for number in range(5)
    ]
    ranks = [(row.rank, row.run.number) for row in whole(boards_of(runs[::-1]), MOVES, "human")]
    assert ranks == [(1, 0), (2, 1), (3, 4), (4, 2), (4, 3)]


def test_figures_beyond_their_field_are_taken_for_the_greatest_that_it_holds() -> None:
    vast = run("ann", 1, elapsed_ms=2**70, moves=2**40, undos=2**40, ended=-1, home=-300)
    boards = boards_of([vast, run("bob", 2)])
    assert [row.run.player for row in whole(boards, FIRST, "human")] == ["bob", "ann"]
    held = whole(boards, FIRST, "human")[1].run.figures
    assert held == Figures(52 - 255, 2**64 - 1, 2**32 - 1, 2**32 - 1, 1, 0)


# -- What counts -----------------------------------------------------------------------------------


def test_equal_run_never_replaces_an_earlier_one() -> None:
    """Scenario 13."""
    boards = boards_of([run("ann", 1), run("bob", 2), run("ann", 3, attempt=2, undos=0)])
    assert [row.run.number for row in whole(boards, MOVES, "human")] == [1, 2]
    assert boards.add(run("ann", 4, attempt=3, undos=7)) == frozenset()


def test_best_whole_run_counts_and_not_the_best_of_each_figure() -> None:
    """Scenario 8."""
    quick, short = run("ann", 1, moves=99, elapsed_ms=1), run("ann", 2, attempt=2, moves=80)
    shorter = run("ann", 3, attempt=3, moves=79, elapsed_ms=500_000, undos=4)
    boards = boards_of([quick, short, shorter])
    assert whole(boards, MOVES, "human") == [Row(1, shorter)]
    assert whole(boards, FIRST, "human") == [Row(1, quick)]


def test_same_run_played_again_and_again_changes_nothing() -> None:
    boards = boards_of([run("bob", 1, moves=99), run("ann", 2), run("cy", 3, moves=101)])
    before = [whole(boards, *side) for side in SIDES]
    for number in range(4, 200):
        assert not boards.add(run("ann", number, attempt=number))
    assert [whole(boards, *side) for side in SIDES] == before


def test_run_recorded_later_with_an_earlier_end_stands_behind_its_equal() -> None:
    boards = boards_of([run("ann", 1, ended=1_000), run("bob", 2, ended=3)])
    assert [row.run.player for row in whole(boards, FIRST, "human")] == ["ann", "bob"]
    assert not boards.add(run("ann", 3, attempt=2, ended=1))


@pytest.mark.parametrize(
    ("figures", "boards"),
    [
        ({"attempt": 1}, {FIRST, MOVES}),
        ({"attempt": 1, "home": 51}, {FIRST}),
        ({"attempt": 1, "ended": CLOSES + 9}, {FIRST, MOVES}),
        ({"attempt": 2}, {MOVES}),
        ({"attempt": 2, "home": 51}, set()),
        ({"attempt": 2, "ended": CLOSES - 1}, {MOVES}),
        ({"attempt": 2, "ended": CLOSES}, set()),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_run_changes_the_boards_where_it_counts(
    figures: dict[str, int], boards: set[str], kind: str
) -> None:
    made = Boards(CHALLENGE, CLOSES)
    one = run("ann", 1, kind, **figures)
    assert made.add(one) == {(board, kind) for board in boards}
    assert {side for side in SIDES if whole(made, *side) == [Row(1, one)]} == {
        (board, kind) for board in boards
    }
    assert made.rows == len(boards)
    assert made.add(one) == frozenset()


def test_people_and_bots_stand_apart() -> None:
    boards = boards_of([run("ann", 1), run("hal", 2, "bot", moves=50)])
    assert [row.run.player for row in whole(boards, MOVES, "human")] == ["ann"]
    assert boards.page(MOVES, "human", limit=1, around="hal", me="hal") == boards.page(
        MOVES, "human", limit=1
    )
    own = boards.page(MOVES, "bot", limit=1, me="hal").me
    assert own is not None
    assert (own.rank, own.run.player) == (1, "hal")


# -- Handles ---------------------------------------------------------------------------------------


def test_rename_shows_on_every_board_and_outlives_later_runs() -> None:
    boards = boards_of([run("ann", 1), run("bob", 2)])
    assert boards.rename("ann", "Anna")
    boards.add(run("ann", 3, attempt=2, moves=50))
    handles = [row.run.handle for side in SIDES for row in whole(boards, *side)]
    assert handles == ["Anna", "Bob", "Anna", "Bob"]


def test_rename_that_changes_nothing_says_so() -> None:
    boards = boards_of([run("ann", 1)])
    assert not boards.rename("ann", "Ann")
    assert not boards.rename("nobody", "Ann")
    assert boards.rename("ann", None)
    assert not boards.rename("ann", None)
    assert whole(boards, FIRST, "human") == [Row(1, replace(run("ann", 1), handle=None))]
