"""Runs rank as docs/daily.md says, in one order that is total and stable."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.daily import BOARDS, FIRST, MOVES, Figures, competition_ranks, counts, order_of

from . import naive

CLOSES = 1_796_169_600_000
NAMES = ("home", "elapsed_ms", "moves", "undos", "attempt", "ended")

boards = pytest.mark.parametrize("board", BOARDS)
# Few values each, so that many runs are equal in one thing or in all.
runs = st.builds(
    Figures,
    home=st.sampled_from([0, 31, 51, 52]),
    elapsed_ms=st.integers(0, 3),
    moves=st.integers(0, 3),
    undos=st.integers(0, 2),
    attempt=st.integers(1, 3),
    ended=st.integers(CLOSES - 2, CLOSES + 2),
)


def told(run: Figures) -> dict[str, Any]:
    """A run as the naive implementation has it."""
    return {name: getattr(run, name) for name in NAMES}


def board_of(board: str, players: list[tuple[str, Figures]]) -> list[tuple[int, int]]:
    """Ranks and places in ``players`` of a board's rows, by the functions under test."""
    best: dict[str, tuple[tuple[int, ...], int]] = {}
    for number, (player, run) in enumerate(players):
        if counts(board, run, CLOSES):
            best[player] = min(best.get(player, (order_of(board, run), number)),
                               (order_of(board, run), number))  # fmt: skip
    rows = sorted(best.values())
    ranks = competition_ranks([order for order, _ in rows])
    return [*zip(ranks, (number for _, number in rows), strict=True)]


def test_there_are_two_boards() -> None:
    assert BOARDS == (FIRST, MOVES) == ("first", "moves")


@boards
@given(one=runs, other=runs)
def test_smaller_order_is_the_better_run(board: str, one: Figures, other: Figures) -> None:
    is_less = order_of(board, one) < order_of(board, other)
    assert is_less == naive.is_better(board, told(one), told(other))


@boards
@given(one=runs, other=runs)
def test_any_two_runs_are_in_order_or_equal(board: str, one: Figures, other: Figures) -> None:
    first, second = order_of(board, one), order_of(board, other)
    assert [first < second, first == second, first > second].count(True) == 1


def test_won_run_stands_before_all_others_on_first() -> None:
    slowest = Figures(52, 10**12, 10**6, 10**6, 1, CLOSES)
    quickest = Figures(51, 0, 0, 0, 1, 0)
    assert order_of(FIRST, slowest) < order_of(FIRST, quickest)


@boards
@given(run=runs)
def test_run_counts_as_the_page_says(board: str, run: Figures) -> None:
    assert counts(board, run, CLOSES) == naive.is_on(board, told(run), CLOSES)


@pytest.mark.parametrize(
    ("attempt", "home", "ended", "on"),
    [
        (1, 52, CLOSES - 1, {FIRST, MOVES}),
        (1, 52, CLOSES, {FIRST, MOVES}),
        (1, 52, CLOSES + 21_600_000, {FIRST, MOVES}),
        (1, 51, CLOSES - 1, {FIRST}),
        (1, 0, CLOSES + 1, {FIRST}),
        (2, 52, CLOSES - 1, {MOVES}),
        (2, 52, CLOSES, set()),
        (2, 51, CLOSES - 1, set()),
        (99, 52, 0, {MOVES}),
    ],
)
def test_boards_that_a_run_is_on(attempt: int, home: int, ended: int, on: set[str]) -> None:
    run = Figures(home, 1, 1, 1, attempt, ended)
    assert {board for board in BOARDS if counts(board, run, CLOSES)} == on


@pytest.mark.parametrize(("home", "is_won"), [(0, False), (51, False), (52, True)])
def test_run_is_won_with_all_cards_home(home: int, is_won: bool) -> None:
    assert Figures(home, 0, 0, 0, 1, 0).is_won is is_won


@boards
@given(players=st.lists(st.tuples(st.sampled_from("ABCDE"), runs), max_size=12))
def test_board_is_that_of_the_page(board: str, players: list[tuple[str, Figures]]) -> None:
    # A player has one first attempt, so another run of theirs is a later one.
    had: set[str] = set()
    for number, (player, run) in enumerate(players):
        attempt = run.attempt if player not in had else max(run.attempt, 2)
        had |= {player} if attempt == 1 else set()
        figures = Figures(run.home, run.elapsed_ms, run.moves, run.undos, attempt, run.ended)
        players[number] = player, figures
    recorded = [told(run) | {"player": player, "n": n} for n, (player, run) in enumerate(players)]
    rows = naive.board_of(board, recorded, CLOSES)
    assert board_of(board, players) == [(rank, run["n"]) for rank, run in rows]


# -- Ranks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("orders", "ranks"),
    [
        ([], []),
        ([7], [1]),
        ([1, 2, 3], [1, 2, 3]),
        ([1, 2, 2, 4], [1, 2, 2, 4]),
        ([1, 1, 1, 9], [1, 1, 1, 4]),
        ([1, 1, 5, 5, 6], [1, 1, 3, 3, 5]),
    ],
)
def test_ranks(orders: list[int], ranks: list[int]) -> None:
    assert competition_ranks([(order,) for order in orders]) == ranks


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=30).map(sorted))
def test_rank_is_one_and_the_number_of_better_ones(orders: list[tuple[int, ...]]) -> None:
    ranks = competition_ranks(orders)
    assert ranks == [1 + sum(other < order for other in orders) for order in orders]
    assert all(one <= other for one, other in pairwise(ranks))
