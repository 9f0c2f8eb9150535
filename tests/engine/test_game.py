from dataclasses import replace

import pytest

from cellmates.engine import (
    RULESETS,
    Act,
    Autoplay,
    BadAutoplay,
    BadMove,
    Build,
    Deal,
    EmptyColumn,
    Game,
    Group,
    IllegalMove,
    Move,
    NothingToUndo,
    Position,
    Ruleset,
    Scoring,
    Status,
    Taps,
    parse_action,
    parse_pile,
)
from tests.golden import golden

FREECELL = RULESETS["freecell"]
EIGHT_OFF = RULESETS["eight-off"]
LINES = {key: line for key, line in golden("solutions").items() if key != "note"}


def played(game: Game, actions: str) -> Game:
    for text in actions.split():
        game = game.play(parse_action(text))
    return game


def start(ruleset: Ruleset, number: int = 1, autoplay: Autoplay | None = None) -> Game:
    return Game.start(ruleset, Deal.numbered(number), autoplay)


def board(*columns: str, cells: str, home: str = "0 0 0 0") -> Position:
    return Position.of([*columns, *[""] * (8 - len(columns))], cells, home)


@pytest.mark.parametrize("key", LINES)
def test_winning_line_replays_to_a_win(key: str) -> None:
    name, _, number = key.partition(" #")
    line = LINES[key]
    game = played(start(RULESETS[name], int(number), Autoplay.OFF), line)
    assert game.status is Status.WON
    assert game.cards_home == 52
    assert game.moves == game.seq == len(line.split())
    assert game.score == (520 if RULESETS[name].scoring is Scoring.FIRST_ARRIVAL else 52)


def test_game_counts_automatic_moves_and_one_undo_brings_all_back() -> None:
    """Scenario 23: a group or a move with its automatic moves is one action."""
    game = Game.start(FREECELL, board("2S 3D 9S", "KC 2D AD", cells="- - - -"))
    after = played(game, "1a")
    assert [str(move) for move in after.auto] == ["2h", "2h"]
    assert (after.moves, after.seq, after.cards_home) == (3, 1, 2)
    back = played(after, "undo")
    assert back.state == game.state
    assert (back.seq, back.undos, back.moves, back.auto) == (2, 1, 0, ())


def test_autoplay_may_be_off() -> None:
    game = Game.start(FREECELL, board("2S AS", cells="- - - -"), Autoplay.OFF)
    assert played(game, "1a").auto == ()


@pytest.mark.parametrize("name", [name for name in RULESETS if name != "freecell"])
def test_automatic_moves_cannot_be_had_where_there_are_none(name: str) -> None:
    with pytest.raises(BadAutoplay, match=f"{name} has no automatic moves"):
        start(RULESETS[name], 1, Autoplay.SAFE)


def test_refused_actions_change_nothing() -> None:
    game = played(start(FREECELL), "6a")
    before = repr(game)
    for text, error in (("6h", IllegalMove), ("1e", BadMove)):
        with pytest.raises(error):
            game.play(Move.parse(text))
    assert repr(game) == before
    assert game.state == played(start(FREECELL), "6a").state


def test_nothing_can_be_undone_at_the_start() -> None:
    with pytest.raises(NothingToUndo, match="no action left to undo") as caught:
        played(start(FREECELL), "undo")
    assert caught.value.reason == "nothing-to-undo"
    with pytest.raises(NothingToUndo):
        played(start(FREECELL), "6a undo undo")


@pytest.mark.parametrize("action", ["6a", "undo", "resign"])
def test_game_that_is_over_takes_no_action(action: str) -> None:
    resigned = played(start(FREECELL), "6a resign")
    assert resigned.status is Status.RESIGNED
    assert resigned.moves == 1
    with pytest.raises(IllegalMove, match="the game is over: resigned") as caught:
        played(resigned, action)
    assert caught.value.reason == "game-over"


def test_win_counts_at_the_52nd_card() -> None:
    almost = Position.of(["KS", *[""] * 7], "- - - -", "13 13 13 12")
    game = Game.start(FREECELL, almost)
    assert game.status is Status.PLAYING
    won = played(game, "1h")
    assert won.status is Status.WON
    assert Game.start(FREECELL, won.position).status is Status.WON


def test_undo_limit_is_the_last_hundred_actions() -> None:
    game = start(EIGHT_OFF)
    assert game.undo_left == 0
    shuffle = "ae ea " * 60
    game = played(game, shuffle)
    assert game.undo_left == 100
    for left in range(99, -1, -1):
        game = game.play(Act.UNDO)
        assert game.undo_left == left
    assert (game.moves, game.undos) == (20, 100)
    with pytest.raises(NothingToUndo):
        game.play(Act.UNDO)
    assert played(game, "ae undo").undo_left == 0


def test_freecell_undoes_any_number() -> None:
    game = played(start(FREECELL, 1, Autoplay.OFF), "6a ab ba " + "ab ba " * 80)
    for _ in range(game.seq):
        game = game.play(Act.UNDO)
    assert game.undo_left is None
    assert game.moves == 0
    assert game.state == start(FREECELL).state


def test_first_arrival_pays_once() -> None:
    """Scenario 22: the score cannot be farmed by sending the same card home again and again."""
    position = board("KC AS", cells="- - - - - - - -")
    game = Game.start(EIGHT_OFF, position)
    loop = played(game, "1h Sa ah Sa ah Sa ah")
    assert loop.score == 10
    assert played(loop, "Sa").score == 10
    assert played(game, "1h undo").score == 0
    assert played(game, "1h Sa ah undo undo undo").score == 0
    assert played(game, "1h undo 1h").score == 10


def test_card_taken_back_takes_its_point_along_where_cards_home_count() -> None:
    classic = RULESETS["eight-off-classic"]
    game = Game.start(classic, board("KC AS", cells="- - - - - - - -"))
    assert played(game, "1h").score == 1
    assert played(game, "1h Sa").score == 0
    assert played(game, "1h Sa ah").score == 1


def test_cards_that_are_home_in_a_given_position_have_arrived() -> None:
    position = board("KC AS", cells="- - - - - - - -", home="1 0 0 0")
    game = Game.start(EIGHT_OFF, position)
    assert game.score == 10
    assert played(game, "Ca ah").score == 10


def test_game_equals_another_with_the_same_actions() -> None:
    game = played(start(FREECELL), "6a 6b")
    assert game == played(start(FREECELL), "6a 6b")
    assert hash(game) == hash(played(start(FREECELL), "6a 6b"))
    assert game != played(start(FREECELL), "6b 6a")
    assert game != played(start(FREECELL, 2), "6a 6b")
    assert game != "6a 6b"


def test_game_repr_rebuilds_it() -> None:
    names = {
        kind.__name__: kind
        for kind in (
            Autoplay,
            Build,
            Deal,
            EmptyColumn,
            Game,
            Group,
            Position,
            Ruleset,
            Scoring,
            Taps,
        )
    } | {"parse_action": parse_action, "parse_pile": parse_pile}
    deals: list[Deal | Position] = [
        Deal.numbered(1),
        Deal.of_order(Deal.numbered(1).order),
        Deal.numbered(1).layout(FREECELL),
    ]
    for deal in deals:
        game = played(Game.start(FREECELL, deal, Autoplay.OFF), "6a undo 6b 6c")
        again = eval(repr(game), names)
        assert again == game
        assert again.state == game.state


def test_line_leaves_out_what_was_undone() -> None:
    game = played(start(FREECELL), "6a 6b undo 1b")
    assert [position.free_cells for position in game.line()] == [2, 3, 4]
    assert [str(action) for action in game.actions] == ["6a", "6b", "undo", "1b"]
    assert str(game.action) == "1b"
    assert start(FREECELL).action is None


def test_canonical_action_is_kept() -> None:
    game = Game.start(FREECELL, board("6H 5S", "7C", "KD", cells="- - - -"))
    assert str(played(game, "12v2").action) == "12"
    assert str(played(game, "14v1").action) == "14"


def test_very_long_games_can_be_made_and_let_go() -> None:
    game = Game.start(EIGHT_OFF, Deal.numbered(1))
    there, back = Move.parse("ae"), Move.parse("ea")
    for _ in range(20_000):
        game = game.play(there).play(back)
    assert game.seq == len(game.actions) == 40_000
    assert Game.replay(EIGHT_OFF, game.deal, game.autoplay, game.actions).state == game.state


def test_is_stuck_is_information() -> None:
    full = replace(FREECELL, name="full", cells=1)
    position = Position.of(["2S 4S", *["2H 4S"] * 7], "-")
    game = Game.start(full, position)
    assert not game.is_stuck
    assert played(game, "1a").is_stuck
    assert played(game, "1a").status is Status.PLAYING
    assert not played(game, "1a undo").is_stuck


def test_earlier_states_of_a_game_can_be_looked_at() -> None:
    game = played(start(FREECELL), "6a 6b undo 1b")
    assert [game.at(seq).seq for seq in range(5)] == [0, 1, 2, 3, 4]
    assert game.at(3).state == game.at(1).state
    assert game.at(2).state == played(start(FREECELL), "6a 6b").state
    for seq in (-1, 5):
        with pytest.raises(IndexError, match="the game has 4 actions"):
            game.at(seq)
