"""Which runs are marked for their timing."""

from itertools import accumulate

import pytest

from server.timing import FEWEST, timing_of

HUMAN = [900, 2400, 700, 5200, 1100] * 8


@pytest.mark.parametrize(
    ("waits", "marks"),
    [
        (HUMAN, ()),
        ([100, 20, 300, 90, 120] * 8, ("fast",)),
        ([500, 501, 499, 500] * 10, ("steady",)),
        ([10] * 40, ("fast", "steady")),
        ([0] * 40, ("fast", "steady")),
        ([149] * 21 + [4000] * 19, ("fast",)),
        ([150] * 21 + [4000] * 19, ()),
    ],
)
def test_marks(waits: list[int], marks: tuple[str, ...]) -> None:
    timing = timing_of(list(accumulate(waits)))
    assert timing is not None
    assert timing.marks == marks


def test_median_and_spread_are_those_of_the_waits() -> None:
    timing = timing_of(list(accumulate([100, 300] * 10)))
    assert timing is not None
    assert (timing.median_ms, timing.spread) == (200, 0.5)


def test_few_actions_show_nothing() -> None:
    assert timing_of([10 * number for number in range(1, FEWEST)]) is None
    assert timing_of([10 * number for number in range(1, FEWEST + 1)]) is not None
