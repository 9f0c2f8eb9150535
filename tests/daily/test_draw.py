"""A seed gives the deals that docs/daily.md says, and every order of the pack is as likely."""

from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.daily import SEED_BYTES, candidate, draw
from cellmates.engine import PACK, card_text

from . import naive
from .page import seed_of

CARDS = [card_text(card) for card in PACK]
PLACES = range(52, 1, -1)
SEEDS = [bytes(SEED_BYTES), b"\xff" * SEED_BYTES, *(seed_of(f"seed {n}") for n in range(20))]


def drawn(numbers: list[int]) -> list[str]:
    """The deal that is drawn with these numbers, again and again from the first one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draw, "_numbers", lambda _key: cycle(numbers))
        return [card_text(card) for card in candidate(bytes(SEED_BYTES), 0).order]


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.hex()[:8])
def test_candidates_are_those_of_the_page(seed: bytes) -> None:
    for number in (0, 1, 2, 9, 10, 99, 100, 12345):
        assert str(candidate(seed, number)) == naive.deal(seed, number)


@given(st.binary(min_size=SEED_BYTES, max_size=SEED_BYTES), st.integers(0, 10**6))
def test_candidate_of_any_seed_is_that_of_the_page(seed: bytes, number: int) -> None:
    assert str(candidate(seed, number)) == naive.deal(seed, number)


def test_candidates_differ_and_come_again() -> None:
    deals = {str(candidate(seed, number)) for seed in SEEDS for number in range(50)}
    assert len(deals) == 50 * len(SEEDS)
    assert candidate(SEEDS[0], 7) == candidate(SEEDS[0], 7)


def test_candidate_has_no_number_of_a_classic_deal() -> None:
    assert all(candidate(seed, 0).number is None for seed in SEEDS)


# -- Fairness: each order comes of one choice of picks, and each pick of as many numbers -----------


@given(st.permutations(CARDS))
def test_every_order_of_the_pack_is_drawn_by_its_own_picks(order: list[str]) -> None:
    picks = naive.picks_of(order)
    assert all(pick < places for pick, places in zip(picks, PLACES, strict=True))
    assert drawn(picks) == order


@given(st.lists(st.integers(0, 2**32 - 1), min_size=60, max_size=60))
def test_any_numbers_draw_what_the_page_says(numbers: list[int]) -> None:
    assert drawn(numbers) == naive.shuffled(cycle(numbers))


@given(st.lists(st.integers(2**32 - 60, 2**32 - 1), min_size=3, max_size=60))
def test_numbers_from_the_last_multiple_on_are_passed_over(numbers: list[int]) -> None:
    numbers.append(2**32 - 60)  # below every last multiple, so that there is an end
    assert drawn(numbers) == naive.shuffled(cycle(numbers))


@pytest.mark.parametrize("places", PLACES)
def test_each_pick_has_as_many_numbers(places: int) -> None:
    fair = naive.below_of(places)
    assert fair % places == 0
    assert 2**32 - places < fair <= 2**32
    before = [0] * (52 - places)
    rest = [0] * (places - 2)
    kept = drawn([*before, fair - 1, *rest])
    assert kept == drawn([*before, places - 1, *rest])
    assert kept != drawn([*before, 0, *rest])
    for passed_over in range(fair, 2**32):
        assert drawn([*before, passed_over, fair - 1, *rest]) == kept


@pytest.mark.parametrize("places", [32, 16, 8, 4, 2])
def test_no_number_is_passed_over_where_all_can_be_shared_out(places: int) -> None:
    before, rest = [0] * (52 - places), [0] * (places - 2)
    assert naive.below_of(places) == 2**32
    assert drawn([*before, 2**32 - 1, *rest]) == drawn([*before, places - 1, *rest])


def test_numbers_are_used_once_and_in_their_order() -> None:
    key = naive.key_of(SEEDS[5], 3)
    found: Iterator[int] = draw._numbers(key)
    assert [*islice(found, 100)] == [*islice(naive.numbers_of(key), 100)]


def test_no_card_has_a_favourite_place() -> None:
    """Each card is expected 50 times in each place; the seed is fixed, so that luck has no part."""
    seen: Counter[tuple[int, int]] = Counter()
    for number in range(50 * 52):
        seen.update(enumerate(candidate(SEEDS[3], number).order))
    assert len(seen) == 52 * 52
    assert min(seen.values()) > 20
    assert max(seen.values()) < 90
