"""Counted move trees, computed once by the naive implementation (``python -m tests.naive``)."""

import pytest

from cellmates.engine import RULESETS, Autoplay, Deal, LegalMoves, Position, Ruleset, play
from tests import naive
from tests.golden import golden

COUNTS: dict[str, dict[str, list[int]]] = golden("perft")
LARGE = 100_000  # leaves


def perft(ruleset: Ruleset, position: Position, depth: int) -> int:
    if position.is_won:
        return 0
    moves = LegalMoves(ruleset, position)
    if depth == 1:
        return len(moves)
    return sum(
        perft(ruleset, play(ruleset, position, move, ruleset.autoplay).position, depth - 1)
        for move in moves
    )


@pytest.mark.parametrize(
    ("name", "number", "depth"),
    [
        pytest.param(name, number, depth, marks=[pytest.mark.exhaustive] * (leaves > LARGE))
        for name, deals in COUNTS.items()
        for number, counts in deals.items()
        for depth, leaves in enumerate(counts, 1)
    ],
)
def test_move_tree_has_as_many_leaves_as_the_naive_count(
    name: str, number: str, depth: int
) -> None:
    layout = Deal.parse(RULESETS[name], number).layout(RULESETS[name])
    assert perft(RULESETS[name], layout, depth) == COUNTS[name][number][depth - 1]


@pytest.mark.parametrize("name", RULESETS)
def test_golden_counts_are_those_of_the_naive_implementation(name: str) -> None:
    for number, counts in COUNTS[name].items():
        state = naive.deal(name, int(number))
        autoplay = RULESETS[name].autoplay is Autoplay.SAFE
        assert [naive.perft(name, state, depth, autoplay=autoplay) for depth in (1, 2)] == counts[
            :2
        ]
