"""Days are UTC's, whatever the machine's zone: from an instant to a challenge, and back."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.daily import (
    DAILIES,
    DAY_MS,
    GRACE_MS,
    BadDay,
    challenge_id,
    closes_at,
    day_after,
    day_of,
    deadline_of,
    is_challenge_id,
    opens_at,
    parse_challenge_id,
)
from cellmates.engine import RULESETS

from . import naive

FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999  # of the years 1 and 9999
# Zones that are far off, with summer time on either half of the earth, one of half an hour.
ZONES = ["UTC0", "<+14>-14", "EST5EDT,M3.2.0,M11.1.0", "LHST-10:30LHDT-11,M10.1.0,M4.1.0"]

instants = st.integers(FIRST, LAST)


@pytest.fixture(autouse=True, scope="module", params=ZONES)
def zone(request: pytest.FixtureRequest) -> Iterator[str]:
    """The machine's time zone, each in turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def test_zone_of_the_machine_is_another(zone: str) -> None:
    offset = time.localtime(1796083200).tm_gmtoff
    assert offset == [0, 50_400, -18_000, 39_600][ZONES.index(zone)]


@given(instants)
def test_day_of_an_instant_is_the_one_counted_out(instant: int) -> None:
    assert day_of(instant) == naive.day_of(instant)


@given(instants)
def test_day_begins_before_its_instants_and_ends_after_them(instant: int) -> None:
    day = day_of(instant)
    assert opens_at(day) <= instant < closes_at(day)
    assert day_of(opens_at(day)) == day_of(closes_at(day) - 1) == day


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        (0, "1970-01-01"),
        (-1, "1969-12-31"),
        (-DAY_MS, "1969-12-31"),
        (-DAY_MS - 1, "1969-12-30"),
        (FIRST, "0001-01-01"),
        (LAST, "9999-12-31"),
        (951_782_399_999, "2000-02-28"),
        (951_782_400_000, "2000-02-29"),
        (951_868_800_000, "2000-03-01"),
        (4_107_542_400_000, "2100-03-01"),
        (4_107_542_399_999, "2100-02-28"),
        (1_798_761_599_999, "2026-12-31"),
        (1_798_761_600_000, "2027-01-01"),
        # Summer time begins and ends in New York, and on Lord Howe Island.
        (1_772_953_200_000, "2026-03-08"),
        (1_793_509_200_000, "2026-11-01"),
        (1_775_313_000_000, "2026-04-04"),
        (1_791_041_400_000, "2026-10-03"),
    ],
)
def test_day_of(instant: int, day: str) -> None:
    assert day_of(instant) == day


@pytest.mark.parametrize("instant", [FIRST - 1, LAST + 1, -(2**63), 2**63, 10**30, -(10**30)])
def test_instant_in_no_year_of_four_digits_has_no_day(instant: int) -> None:
    with pytest.raises(BadDay, match=f"^{instant} is in no year"):
        day_of(instant)


@pytest.mark.parametrize(
    "text",
    [
        "", "today", "2026-02-30", "2026-02-29", "2100-02-29", "2026-13-01", "2026-00-01",
        "2026-1-1", "20261201", "2026-W49-2", "2026-335", "0000-01-01", "10000-01-01",
        " 2026-12-01", "2026-12-01 ", "2026-12-01\n", "2026-12-01T00:00", "-2026-12-01",
        "2026/12/01", "٢٠٢٦-12-01", "2026-12-01-freecell", "2026-12-0\ud800",
    ],
)  # fmt: skip
def test_what_is_no_day_or_written_in_another_way_is_refused(text: str) -> None:
    for reads in (opens_at, closes_at, day_after):
        with pytest.raises(BadDay, match="is no day: write YYYY-MM-DD"):
            reads(text)


def test_refusal_quotes_only_the_beginning() -> None:
    with pytest.raises(BadDay) as caught:
        opens_at("x" * 1000)
    assert str(caught.value) == f"'{'x' * 20}' is no day: write YYYY-MM-DD"


def test_times_of_a_challenge() -> None:
    opens = opens_at("2026-12-01")
    assert opens == 1_796_083_200_000
    assert closes_at("2026-12-01") - opens == DAY_MS == 24 * naive.HOUR
    assert deadline_of(closes_at("2026-12-01")) - closes_at("2026-12-01") == GRACE_MS
    assert GRACE_MS == 6 * naive.HOUR


@given(instants, st.integers(-800_000, 800_000))
def test_days_later_are_so_many_midnights_later(instant: int, days: int) -> None:
    day, later = day_of(instant), instant + days * DAY_MS
    if FIRST <= later <= LAST:
        assert day_after(day, days) == naive.day_of(later)
        assert day_after(day_after(day, days), -days) == day
    else:
        with pytest.raises(BadDay):
            day_after(day, days)


def test_day_after_is_the_next_one() -> None:
    assert day_after("2028-02-28") == "2028-02-29"
    assert day_after("2026-12-31") == "2027-01-01"
    assert day_after("2028-03-01", -1) == "2028-02-29"
    assert day_after("2026-12-01", 0) == "2026-12-01"
    with pytest.raises(BadDay):
        day_after("9999-12-31")
    with pytest.raises(BadDay):
        day_after("0001-01-01", -1)


# -- Challenges ------------------------------------------------------------------------------------


def test_every_ruleset_has_a_daily() -> None:
    assert {*DAILIES} == {*RULESETS}
    assert len(DAILIES) == len(RULESETS)


@given(instants, st.sampled_from(DAILIES))
def test_challenge_says_its_day_and_ruleset(instant: int, ruleset: str) -> None:
    challenge = challenge_id(day_of(instant), ruleset)
    assert parse_challenge_id(challenge) == (day_of(instant), ruleset)
    assert challenge == f"{naive.day_of(instant)}-{ruleset}"
    assert is_challenge_id(challenge)


@pytest.mark.parametrize(
    "text",
    [
        "", "freecell", "2026-12-01", "2026-12-01-", "2026-12-01-chess", "2026-12-01_freecell",
        "2026-12-01freecell", "2026-12-01--freecell", "2026-12-01-FreeCell", "2026-12-01-freecell ",
        " 2026-12-01-freecell", "2026-12-01-freecell\n", "2026-12-01-freecell-1",
    ],
)  # fmt: skip
def test_what_names_no_challenge_is_refused(text: str) -> None:
    with pytest.raises(BadDay, match="is no challenge: write YYYY-MM-DD-RULESET"):
        parse_challenge_id(text)
    assert not is_challenge_id(text)


@pytest.mark.parametrize("day", ["2026-02-30", "2026-1-001", "abcd-ef-gh", "2026-W49-2"])
def test_challenge_of_a_day_that_is_none_is_refused(day: str) -> None:
    with pytest.raises(BadDay, match="is no day: write YYYY-MM-DD"):
        parse_challenge_id(f"{day}-freecell")
    assert not is_challenge_id(f"{day}-freecell")


def test_refusal_of_a_challenge_quotes_only_the_beginning() -> None:
    with pytest.raises(BadDay) as caught:
        parse_challenge_id("x" * 1000)
    assert str(caught.value).startswith(f"'{'x' * 40}' is no challenge")
