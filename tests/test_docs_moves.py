"""Holds docs/rules.md to the engine in what it says of moves: their form, refusals, examples."""

import re
from itertools import chain

import pytest

from cellmates.engine import (
    PLACES,
    RANKS,
    SUITS,
    Act,
    BadMove,
    IllegalMove,
    Move,
    NothingToUndo,
    Reason,
    Refusal,
    parse_action,
    parse_place,
    tap,
)
from cellmates.engine.moves import CELLS, COLUMNS, FOUNDATIONS

from .rules_page import EXAMPLE, NAMED, SAID, after, bare, table, tables

# -- Cards, places and moves -----------------------------------------------------------------------


def test_ranks_and_suits() -> None:
    assert f"`{' '.join(RANKS)}`" in SAID
    assert re.findall(r"`([CDHS])` (clubs|diamonds|hearts|spades)", SAID) == [
        ("C", "clubs"), ("D", "diamonds"), ("H", "hearts"), ("S", "spades"),
    ]  # fmt: skip
    assert SUITS == "CDHS"


def test_places() -> None:
    told = [bare(row[0]).split() for row in table("place", "is")]
    assert told == [list(COLUMNS), list(CELLS), ["h"], list(FOUNDATIONS)]
    assert sorted(chain(*told)) == sorted(PLACES)


@pytest.mark.parametrize("text", [bare(row[0]) for row in table("move", "is")])
def test_move_that_is_shown_has_the_form_of_a_move(text: str) -> None:
    assert str(Move.parse(text)) == text


def test_counts_go_as_far_as_a_suit() -> None:
    assert "2 to 9, then `a` for ten, `b`, `c`, and `d` for a whole suit" in SAID
    assert Move.parse("26va").count == 10
    assert Move.parse("26vd").count == len(RANKS)
    with pytest.raises(BadMove):
        Move.parse("26ve")


def test_words_besides_moves() -> None:
    [words] = re.findall(r"there are two words, ([^.]+)\.", SAID)
    assert re.findall("`([a-z]+)`", words) == [*Act]


# -- Refusals --------------------------------------------------------------------------------------

REFUSALS = table("reason", "what it means", "example")
REFUSED = [
    (bare(reason), *example)
    for reason, _, examples in REFUSALS
    for example in EXAMPLE.findall(examples)
]


def test_every_reason_is_told_once_and_no_other() -> None:
    reasons = [bare(row[0]) for row in REFUSALS]
    assert sorted(reasons) == sorted([*Reason, BadMove.reason, NothingToUndo.reason])


def test_every_reason_has_an_example() -> None:
    assert {reason for reason, *_ in REFUSED} == {bare(row[0]) for row in REFUSALS}


@pytest.mark.parametrize(("reason", "ruleset", "deal", "moves"), REFUSED)
def test_last_move_of_an_example_is_refused_for_that_reason(
    reason: str, ruleset: str, deal: str, moves: str
) -> None:
    *made, refused = moves.split()
    game = after(ruleset, deal, " ".join(made))
    with pytest.raises(Refusal) as caught:
        game.play(parse_action(refused))
    assert caught.value.reason == reason


def test_refused_group_tells_length_and_limit() -> None:
    [(_, meaning, example)] = [row for row in REFUSALS if bare(row[0]) == Reason.GROUP_TOO_LONG]
    [(ruleset, deal, moves)] = EXAMPLE.findall(example)
    *made, refused = moves.split()
    with pytest.raises(IllegalMove) as caught:
        after(ruleset, deal, " ".join(made)).play(parse_action(refused))
    assert re.findall(r"(\d+) cards, limit (\d+)", meaning) == [
        (str(caught.value.length), str(caught.value.limit))
    ]


# -- The other examples ----------------------------------------------------------------------------

PLAYED = sorted({*EXAMPLE.findall(SAID)})


def test_there_are_examples_outside_the_tables() -> None:
    assert PLAYED


@pytest.mark.parametrize(("ruleset", "deal", "moves"), PLAYED)
def test_example_outside_the_tables_can_be_played(ruleset: str, deal: str, moves: str) -> None:
    assert after(ruleset, deal, moves).seq == len(moves.split())


def test_run_goes_into_a_column_that_was_emptied() -> None:
    [(ruleset, deal, moves)] = re.findall(
        f"{EXAMPLE.pattern} empties column 6 and moves two cards into it", SAID
    )
    game = after(ruleset, deal, moves)
    assert isinstance(game.action, Move)
    assert (PLACES[game.action.destination], game.action.count) == ("6", 2)


def test_record_leaves_out_a_number_that_the_ranks_say() -> None:
    [(ruleset, deal, moves, written)] = re.findall(
        f"{EXAMPLE.pattern} is written down as `([^`]+)`", SAID
    )
    assert str(after(ruleset, deal, moves).action) == written


def test_automatic_moves_are_those_told() -> None:
    [(ruleset, deal, move, sets_off)] = re.findall(f"{EXAMPLE.pattern} sets off `([^`]+)`", SAID)
    game = after(ruleset, deal, move)
    assert [str(auto) for auto in game.auto] == sets_off.split()
    # The move itself and three more.
    assert f"In the example from deal {deal} above, one `undo` brings back all four" in SAID
    assert len(game.auto) == 3
    assert game.play(Act.UNDO).position == after(ruleset, deal).position


def test_scores_after_each_action() -> None:
    [deal] = re.findall(r"a first arrival again\. For example, deal (\d+):", SAID)
    names = [
        bare(heading) for rows in tables() if rows[0][0] == "action" for heading in rows[0][1:]
    ]
    assert names == ["eight-off", "eight-off-classic"]
    games = [after(name, deal) for name in names]
    for action, *scores in table("action"):
        games = [game.play(parse_action(bare(action))) for game in games]
        assert [game.score for game in games] == [int(score) for score in scores], action


def test_deal_that_is_told_to_be_stuck_is_stuck() -> None:
    [(ruleset, deal)] = re.findall(f"{NAMED.pattern} is stuck before the first move", SAID)
    assert after(ruleset, deal).is_stuck


@pytest.mark.parametrize(
    "row", table("deal", "tapped in", "cards on it", "one tap", "double tap"), ids=" ".join
)
def test_tap_does_what_is_told(row: list[str]) -> None:
    named, place, depth, *told = row
    [(ruleset, deal)] = NAMED.findall(named)
    game = after(ruleset, deal)
    moves = [
        tap(game.ruleset, game.position, parse_place(bare(place)), int(depth), taps)
        for taps in (1, 2)
    ]
    assert [f"`{move}`" if move else "nothing" for move in moves] == told
