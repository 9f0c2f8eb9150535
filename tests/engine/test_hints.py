import pytest

from cellmates.engine import RULESETS, Act, Autoplay, Deal, Game, LegalMoves, Position, Status, hint

MANY = 400  # actions, more than hints ever need


@pytest.mark.parametrize("name", RULESETS)
@pytest.mark.parametrize("number", [1, pytest.param(617, marks=pytest.mark.exhaustive)])
def test_following_hints_comes_to_an_end_and_each_is_accepted(name: str, number: int) -> None:
    """Scenario 27, and no hint sends a card back and forth: no board comes twice on the line."""
    game = Game.start(RULESETS[name], Deal.numbered(number))
    boards = set()
    while game.seq < MANY and (move := hint(game)) is not None:
        assert move in LegalMoves(game.ruleset, game.position)
        game = game.play(move)
        board = frozenset(game.position.columns), frozenset(game.position.cells)
        assert board not in boards
        boards.add(board)
    assert boards or game.is_stuck
    assert game.seq < MANY


@pytest.mark.exhaustive
def test_hints_alone_win_an_easy_deal() -> None:
    game = Game.start(RULESETS["freecell"], Deal.numbered(2))
    while game.seq < MANY and (move := hint(game)) is not None:
        game = game.play(move)
    assert game.status is Status.WON


def test_no_hint_where_no_move_is() -> None:
    position = Position.of(["2S"] * 8, "KC KC KC KC")
    assert hint(Game.start(RULESETS["freecell"], position)) is None


def test_no_hint_after_the_game() -> None:
    won = Position.of([""] * 8, "- - - - - - - -", "13 13 13 13")
    assert hint(Game.start(RULESETS["eight-off"], won)) is None
    resigned = Game.start(RULESETS["freecell"], Deal.numbered(1)).play(Act.RESIGN)
    assert hint(resigned) is None


def test_take_backs_are_never_offered() -> None:
    position = Position.of(["5H"] * 7 + [""], "QC QC QC QC", "0 0 0 13")
    game = Game.start(RULESETS["eight-off-4"], position)
    assert len(LegalMoves(game.ruleset, game.position)) == 1
    assert hint(game) is None


def test_only_move_that_leads_back_is_no_hint() -> None:
    position = Position.of(["2S", *["2S"] * 7], "KC KC KC -")
    game = Game.start(RULESETS["freecell"], position, Autoplay.OFF)
    first = hint(game)
    assert first is not None
    after = game.play(first)
    again = hint(after)
    assert again is None or after.play(again).position != position
