"""Streaks are days in a row."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.daily import DAY_MS, BadDay, Streaks, day_after, day_of, streaks

from . import naive

TODAY = 20_788  # days since 1970: 2026-12-01


def day(number: int) -> str:
    return day_of(number * DAY_MS)


@given(st.sets(st.integers(TODAY - 12, TODAY)))
def test_streaks_are_those_counted_back_from_each_day(won: set[int]) -> None:
    found = streaks(map(day, won), day(TODAY))
    assert (found.current, found.best) == naive.streaks(won, TODAY)


@given(st.lists(st.integers(TODAY - 5, TODAY)))
def test_order_and_repetition_of_days_do_not_matter(won: list[int]) -> None:
    once = streaks(map(day, sorted({*won})), day(TODAY))
    assert streaks(map(day, won), day(TODAY)) == once
    assert streaks(map(day, reversed(won)), day(TODAY)) == once


@pytest.mark.parametrize(
    ("won", "expected"),
    [
        ([], Streaks(0, 0)),
        ([0], Streaks(1, 1)),
        ([1], Streaks(1, 1)),
        ([2], Streaks(0, 1)),
        ([1, 2, 3], Streaks(3, 3)),
        ([0, 2, 3], Streaks(1, 2)),
        ([2, 3, 4], Streaks(0, 3)),
        ([0, 1, 5, 6, 7], Streaks(2, 3)),
    ],
)
def test_streaks_of_wins_so_many_days_ago(won: list[int], expected: Streaks) -> None:
    assert streaks([day(TODAY - ago) for ago in won], day(TODAY)) == expected


@pytest.mark.parametrize("first", ["2028-02-01", "2026-12-15", "2100-02-20"])
def test_streak_grows_day_by_day_over_leap_days_and_year_ends(first: str) -> None:
    won: list[str] = []
    for number in range(40):
        won.append(day_after(first, number))
        assert streaks(won, won[-1]) == Streaks(number + 1, number + 1)


def test_days_may_come_one_by_one() -> None:
    assert streaks(iter(["2026-12-01", "2026-11-30"]), "2026-12-01") == Streaks(2, 2)


@pytest.mark.parametrize(("won", "today"), [(["2026-02-30"], "2026-12-01"), (["2026-12-01"], "x")])
def test_what_is_no_day_is_refused(won: list[str], today: str) -> None:
    with pytest.raises(BadDay):
        streaks(won, today)
