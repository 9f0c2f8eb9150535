"""What holds for any game, shown with random games and held to the naive implementation."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cellmates.engine import (
    PACK,
    PLACES,
    RULESETS,
    Act,
    Action,
    Autoplay,
    Build,
    Deal,
    Game,
    LegalMoves,
    Move,
    Position,
    Refusal,
    Ruleset,
    Scoring,
    Status,
    board_text,
    hint,
    is_stuck,
    parse_action,
    parse_board,
    parse_place,
    pile_text,
    play,
    tap,
)
from tests import naive
from tests.golden import golden

UNKNOWN_TO_NAIVE = replace(
    RULESETS["freecell"],
    name="bakers-game-with-take-back",
    build=Build.SAME_SUIT,
    take_back=True,
    undo_limit=3,
    scoring=Scoring.FIRST_ARRIVAL,
)
ROWS = (*RULESETS.values(), UNKNOWN_TO_NAIVE)
WON = [
    Game.replay(
        RULESETS[key.partition(" #")[0]],
        Deal.numbered(int(key.partition(" #")[2])),
        Autoplay.OFF,
        map(parse_action, line.split()),
    )
    for key, line in golden("solutions").items()
    if key != "note"
]
MOVES = [
    Move(source, destination, count)
    for source in range(len(PLACES) - 1)
    for destination in [*range(16), len(PLACES) - 1]
    for count in ((None, 1, 2, 3) if source < 8 and destination < 8 else (None,))
]
GAMES = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def games(draw: st.DrawFn, rulesets: tuple[Ruleset, ...] = ROWS, longest: int = 60) -> Game:
    """Game after some legal actions, from its deal or from the middle of a line that wins."""
    ruleset = draw(st.sampled_from(rulesets))
    if draw(st.booleans()):
        number = draw(st.integers(1, 2**33 - 1))
        autoplay = draw(st.sampled_from(sorted({ruleset.autoplay, Autoplay.OFF})))
        game = Game.start(ruleset, Deal.numbered(number), autoplay)
    else:
        game = draw(st.sampled_from(WON).filter(lambda won: won.ruleset in rulesets))
        played = draw(st.integers(0, game.seq))
        game = Game.replay(game.ruleset, game.deal, game.autoplay, game.actions[:played])
    for choice in draw(st.lists(st.integers(0, 2**16), max_size=longest)):
        game = played_one(game, choice)
    return game


def played_one(game: Game, choice: int) -> Game:
    """Game after one of its legal actions; itself where it has none."""
    actions = choices(game)
    return game.play(actions[choice % len(actions)]) if actions else game


def choices(game: Game) -> list[Action]:
    """Legal actions; moves home and onto cards stand more often, so that games get somewhere."""
    if game.status is not Status.PLAYING:
        return []
    moves = list(LegalMoves(game.ruleset, game.position))
    liked = [
        move
        for move in moves
        if move.source < 16 and (move.destination == 20 or move.destination < 8)
    ]
    undo: list[Action] = [Act.UNDO] if game.undoable else []
    return [*moves, *liked * 4, *undo]


def refusal(act: Callable[[], object]) -> str | None:
    """Reason for which something is refused, or None."""
    try:
        act()
    except Refusal as refused:
        return refused.reason
    return None


def as_naive(position: Position) -> naive.State:
    return naive.State(
        columns=[pile_text(column).split() for column in position.columns],
        cells=[pile_text(cell) or None for cell in position.cells],
        home=dict(zip("CDHS", position.home, strict=True)),
    )


def all_cards(position: Position) -> list[int]:
    home = [rank * 4 + suit for suit in range(4) for rank in range(position.home[suit])]
    return sorted([*b"".join(position.columns + position.cells), *home])


@GAMES
@given(games())
def test_there_are_always_52_different_cards(game: Game) -> None:
    """Scenario 24: undo lost cards."""
    assert all_cards(game.position) == list(PACK)


@GAMES
@given(games(), st.integers(0, 2**16))
def test_undo_restores_exactly(game: Game, choice: int) -> None:
    moves = list(LegalMoves(game.ruleset, game.position))
    if game.status is not Status.PLAYING or not moves:
        return
    back = game.play(moves[choice % len(moves)]).play(Act.UNDO)
    assert back.state == game.state
    assert back.score == game.score
    assert back.undos == game.undos + 1
    assert list(back.line()) == list(game.line())


@GAMES
@given(games())
def test_state_equals_replay(game: Game) -> None:
    texts = [str(action) for action in game.actions]
    again = Game.replay(game.ruleset, game.deal, game.autoplay, map(parse_action, texts))
    assert again == game
    for name in ("state", "status", "undos", "undoable", "seq", "auto", "score"):
        assert getattr(again, name) == getattr(game, name)


@GAMES
@given(games(longest=30), st.lists(st.sampled_from(MOVES), min_size=5, max_size=40))
def test_refusals_change_nothing_and_only_listed_moves_are_accepted(
    game: Game, moves: list[Move]
) -> None:
    before = repr(game.position), game.actions
    legal = set(LegalMoves(game.ruleset, game.position)) if game.status is Status.PLAYING else set()
    for move in moves:
        if refusal(partial(game.play, move)) is None:
            assert game.play(move).action in legal
        else:
            assert move not in legal
    assert (repr(game.position), game.actions) == before


@GAMES
@given(games(tuple(RULESETS.values()), longest=40), st.lists(st.sampled_from(MOVES), max_size=60))
def test_engine_and_naive_implementation_agree_on_legality(game: Game, moves: list[Move]) -> None:
    name, state = game.ruleset.name, as_naive(game.position)
    assert {str(move) for move in LegalMoves(game.ruleset, game.position)} == naive.legal(
        name, state
    )
    for move in moves:
        said = refusal(partial(play, game.ruleset, game.position, move, game.autoplay))
        assert said == naive.refusal(name, state, str(move)), str(move)


@GAMES
@given(games(tuple(RULESETS.values()), longest=40), st.integers(0, 2**16))
def test_engine_and_naive_implementation_make_the_same_moves(game: Game, choice: int) -> None:
    name, state = game.ruleset.name, as_naive(game.position)
    assert is_stuck(game.ruleset, game.position) is naive.stuck(name, state)
    moves = list(LegalMoves(game.ruleset, game.position))
    if not moves:
        return
    move = moves[choice % len(moves)]
    played = play(game.ruleset, game.position, move, game.autoplay)
    after, auto = naive.play(name, state, str(move), autoplay=game.autoplay is Autoplay.SAFE)
    assert as_naive(played.position) == after
    assert [str(move) for move in played.auto] == auto


@settings(GAMES, max_examples=40)
@given(games(longest=30))
def test_hint_is_legal_and_leads_to_a_new_board(game: Game) -> None:
    move = hint(game)
    if move is None:
        return
    assert move in LegalMoves(game.ruleset, game.position)
    after = game.play(move).position
    key = frozenset(after.columns), frozenset(after.cells)
    assert key not in {
        (frozenset(position.columns), frozenset(position.cells)) for position in game.line()
    }


@GAMES
@given(games(), st.sampled_from(PLACES), st.integers(0, 7), st.integers(1, 2))
def test_tap_is_legal(game: Game, place: str, depth: int, taps: int) -> None:
    move = tap(game.ruleset, game.position, parse_place(place), depth, taps)
    assert move is None or move in LegalMoves(game.ruleset, game.position)


@GAMES
@given(games(), st.lists(st.integers(0, 2**16), max_size=30))
def test_score_cannot_be_farmed(game: Game, choices_made: list[int]) -> None:
    """Scenario 22: the score follows from which cards have been home, not from how often."""
    for choice in choices_made:
        game = played_one(game, choice)
        if game.ruleset.scoring is Scoring.CARDS_HOME:
            assert game.score == sum(game.position.home)
        else:
            been_home = {
                rank * 4 + suit
                for position in game.line()
                for suit in range(4)
                for rank in range(position.home[suit])
            }
            assert game.score == 10 * len(been_home)


@GAMES
@given(games())
def test_canonical_texts_round_trip(game: Game) -> None:
    for action in game.actions:
        assert parse_action(str(action)) == action
    assert parse_board(game.ruleset, board_text(game.position)) == game.position


@given(st.text(max_size=8))
def test_any_text_is_a_move_or_a_bad_move(text: str) -> None:
    if refusal(partial(Move.parse, text)) is None:
        assert str(Move.parse(text)) == text
    else:
        assert refusal(partial(Move.parse, text)) == "bad-move"


def test_games_of_these_tests_reach_far() -> None:
    """Nearly won boards, empty columns and full cells are among them."""
    seen = {"nearly won": 0, "empty column": 0, "full cells": 0, "undo": 0, "take-back": 0}

    @settings(GAMES, database=None)
    @given(games())
    def look(game: Game) -> None:
        seen["nearly won"] += game.cards_home >= 40
        seen["empty column"] += game.position.empty_columns > 0
        seen["full cells"] += game.position.free_cells == 0
        seen["undo"] += Act.UNDO in game.actions
        seen["take-back"] += any(str(action)[0] in "CDHS" for action in game.actions)

    look()
    assert min(seen.values()) >= 3, seen
