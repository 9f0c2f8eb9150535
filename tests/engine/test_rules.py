from dataclasses import replace

import pytest

from cellmates.engine import (
    RULESETS,
    Autoplay,
    BadMove,
    Build,
    Deal,
    Game,
    IllegalMove,
    LegalMoves,
    Move,
    Position,
    Ruleset,
    is_stuck,
    parse_pile,
    play,
)

FREECELL = RULESETS["freecell"]
EIGHT_OFF = RULESETS["eight-off"]
CLASSIC = RULESETS["eight-off-classic"]
FOUR_CELLS = RULESETS["eight-off-4"]
BAKERS_GAME = replace(
    FREECELL, name="bakers-game", build=Build.SAME_SUIT, autoplay=Autoplay.OFF, version=1
)
RUN = "9S 8H 7S 6H 5S 4H 3S 2H"
UNDER = "TD 9C 8D 7C 6D 5C 4D 3C"  # what each card of it may be put on


def board(*columns: str, cells: str = "- - - -", home: str = "0 0 0 0") -> Position:
    """Small board: columns that are not named are empty."""
    return Position.of([*columns, *[""] * (8 - len(columns))], cells, home)


def refusal(ruleset: Ruleset, position: Position, text: str) -> IllegalMove:
    with pytest.raises(IllegalMove) as caught:
        play(ruleset, position, Move.parse(text), Autoplay.OFF)
    return caught.value


def after(ruleset: Ruleset, position: Position, text: str) -> Position:
    return play(ruleset, position, Move.parse(text), Autoplay.OFF).position


FILLED = "KC KC KC KC"  # whatever fills a cell


@pytest.mark.parametrize(
    ("free", "empty", "onto", "into_empty"),
    [
        (0, 0, 1, 0),
        (1, 0, 2, 0),
        (3, 0, 4, 0),
        (2, 1, 6, 3),
        (0, 1, 2, 1),
        (0, 2, 4, 2),
        (0, 3, 8, 4),
    ],
)
def test_group_limit_is_counted_before_the_lift_and_without_the_destination(
    free: int, empty: int, onto: int, into_empty: int
) -> None:
    """Scenario 21: (1 + free) · (1 + empty) is wrong from two empty columns on."""
    cells = " ".join(["-"] * free + ["KC"] * (4 - free))
    others = [f"{card}C" for card in "KQJT98"[: 6 - empty]]
    run = RUN.split()
    lengths = range(1, len(run) + 1)
    accepted = [
        Move.parse("12")
        in LegalMoves(FREECELL, board(" ".join(["2C", *run[-n:]]), under, *others, cells=cells))
        for n, under in zip(lengths, reversed(UNDER.split()), strict=True)
    ]
    assert sum(accepted) == onto
    position = board(f"2C {RUN}", "TC", *others, cells=cells)
    texts = ["18", *(f"18v{length}" for length in lengths[1:])]
    moves = LegalMoves(FREECELL, position)
    assert sum(Move.parse(text) in moves for text in texts if empty) == into_empty


def test_column_that_the_lift_would_empty_is_not_empty_yet() -> None:
    full = [f"{card}C" for card in "KQJT98"]
    position = board("5S 4H", "6D", *full, cells="KC KC KC KC")
    error = refusal(FREECELL, position, "12")
    assert (error.reason, error.limit, error.length) == ("group-too-long", 1, 2)


def test_king_run_of_four_into_the_only_empty_column_with_two_free_cells_is_refused() -> None:
    full = [f"{card}C" for card in "AQJT98"]
    cells = "KC KC KC KC KC KC - -"
    four = board("2C KH QH JH TH", *full, cells=cells)
    error = refusal(EIGHT_OFF, four, "18v4")
    assert (error.reason, error.limit, error.length) == ("group-too-long", 3, 4)
    assert "4 cards are too many: 3 may move" in str(error)
    three = board("2C KH QH JH", *full, cells=cells)
    assert after(EIGHT_OFF, three, "18v3").columns[7] == three.columns[0][1:]


def test_classic_eight_off_counts_no_empty_columns() -> None:
    position = board("2C 9H 8H 7H 6H", "TH", cells="- - KC KC KC KC KC KC")
    assert Move.parse("12") in LegalMoves(EIGHT_OFF, position)
    assert refusal(CLASSIC, position, "12").limit == 3


@pytest.mark.parametrize(
    ("ruleset", "position", "text", "reason"),
    [
        (FREECELL, board("AS"), "11", "same-place"),
        (FREECELL, board("AS"), "aa", "same-place"),
        (EIGHT_OFF, board("AS", home="1 0 0 0"), "Ch", "same-place"),
        (FREECELL, board("AS"), "2a", "no-card"),
        (FREECELL, board("AS"), "a1", "no-card"),
        (EIGHT_OFF, board("AS"), "C1", "no-card"),
        (FREECELL, board("2H AS"), "13v3", "no-card"),
        (FREECELL, board("AS", "2D", cells="KC - - -"), "1a", "cell-full"),
        (FREECELL, board(cells="KC KD - -"), "ab", "cell-full"),
        (FREECELL, board("2S"), "1h", "foundation-order"),
        (FREECELL, board(cells="2S - - -"), "ah", "foundation-order"),
        (FREECELL, board("4S", "5C"), "12", "does-not-fit"),
        (FREECELL, board("4S", "6H"), "12", "does-not-fit"),
        (FREECELL, board("6H", "4S"), "12", "does-not-fit"),
        (FREECELL, board("5H 4S", "5D"), "12v2", "does-not-fit"),
        (FREECELL, board("4S", "5D"), "12v2", "no-card"),
        (FREECELL, board("5C", cells="4S - - -"), "a1", "does-not-fit"),
        (EIGHT_OFF, board("4S", "5H"), "12", "does-not-fit"),
        (EIGHT_OFF, board("4H", home="0 0 0 3"), "S1", "does-not-fit"),
        (FREECELL, board("5H 2C 3S", "6C"), "12", "not-in-sequence"),
        (FREECELL, board("5H 3S"), "12v2", "not-in-sequence"),
        (EIGHT_OFF, board("5H"), "12", "kings-only"),
        (EIGHT_OFF, board("6H 5H"), "12v2", "kings-only"),
        (EIGHT_OFF, board(cells="5H - - - - - - -"), "a2", "kings-only"),
        (EIGHT_OFF, board("5D", home="0 0 1 0"), "H3", "kings-only"),
        (FREECELL, board(home="1 0 0 0"), "C1", "no-take-back"),
    ],
)
def test_refusal_has_its_reason(
    ruleset: Ruleset, position: Position, text: str, reason: str
) -> None:
    assert refusal(ruleset, position, text).reason == reason
    assert Move.parse(text) not in LegalMoves(ruleset, position)


@pytest.mark.parametrize("text", ["1e", "ea", "e1", "1k"])
def test_place_that_the_ruleset_lacks_is_a_bad_move(text: str) -> None:
    with pytest.raises(BadMove, match=r"freecell has no place [ek]: its columns are 12345678"):
        play(FREECELL, board("AS"), Move.parse(text), Autoplay.OFF)
    assert Move.parse(text) not in LegalMoves(FREECELL, board("AS"))


def test_columns_are_those_of_the_ruleset() -> None:
    narrow = replace(FREECELL, name="narrow", columns=4, rest="")
    layout = Deal.numbered(1).layout(narrow)
    with pytest.raises(BadMove, match="narrow has no place 5: its columns are 1234"):
        play(narrow, layout, Move.parse("15"), Autoplay.OFF)


def test_number_behind_v_is_optional_onto_a_card_and_kept_only_where_it_is_needed() -> None:
    position = board("5H 4S", "6C", cells="- - - -")
    for said, canonical in (("12", "12"), ("12v2", "12"), ("13v2", "13v2"), ("13v1", "13")):
        played = play(FREECELL, position, Move.parse(said), Autoplay.OFF)
        assert str(played.move) == canonical
    assert Move.parse("12v2") not in LegalMoves(FREECELL, position)


def test_card_goes_from_cell_to_cell() -> None:
    assert after(FREECELL, board("AS", cells="KC - - -"), "ad").cells == (
        b"",
        b"",
        b"",
        parse_pile("KC"),
    )


def test_take_back_goes_to_a_free_cell_or_a_column_that_takes_it() -> None:
    position = board("5S", "AC", cells="- - - - - - - -", home="0 0 0 4")
    assert after(EIGHT_OFF, position, "S1").home == (0, 0, 0, 3)
    assert (
        after(EIGHT_OFF, position, "Sk").cells[7] == after(EIGHT_OFF, position, "S1").columns[0][1:]
    )
    king = board("5S", home="0 0 0 13", cells="- - - - - - - -")
    assert after(EIGHT_OFF, king, "S2").columns[1] == parse_pile("KS")


def test_safe_cards_go_home_by_themselves_columns_first() -> None:
    position = board("3S AS", "2S 2H", cells="AH - - -")
    played = play(FREECELL, position, Move.parse("1b"), Autoplay.SAFE)
    assert [str(move) for move in played.auto] == ["ah", "2h", "bh", "2h"]


@pytest.mark.parametrize(
    ("home", "goes"), [("2 2 1 2", False), ("2 1 2 2", False), ("2 2 2 2", True)]
)
def test_a_three_goes_by_itself_only_when_both_twos_of_the_other_colour_are_home(
    home: str, goes: bool
) -> None:
    position = board("3S", "KD", home=home)
    played = play(FREECELL, position, Move.parse("2a"), Autoplay.SAFE)
    assert ("1h" in [str(move) for move in played.auto]) is goes


@pytest.mark.parametrize(("home", "goes"), [("5 1 1 3", False), ("3 1 1 5", True)])
def test_red_waits_for_black_and_never_for_its_own_colour(home: str, goes: bool) -> None:
    clubs, _, hearts, spades = home.split()
    position = board("4D", "KD", home=f"{max(clubs, '3')} 3 {hearts} {spades if goes else '2'}")
    played = play(FREECELL, position, Move.parse("2a"), Autoplay.SAFE)
    assert ("1h" in [str(move) for move in played.auto]) is goes


def test_no_automatic_move_after_a_take_back() -> None:
    """Scenario 25: a card that was taken back is not sent home at once."""
    both = replace(EIGHT_OFF, name="both", autoplay=Autoplay.SAFE)
    position = board("5S", cells="AC - - - - - - -", home="0 0 0 2")
    played = play(both, position, Move.parse("Sb"), Autoplay.SAFE)
    assert played.auto == ()
    assert [str(m) for m in play(both, played.position, Move.parse("1c"), Autoplay.SAFE).auto] == [
        "ah",
        "bh",
    ]


@pytest.mark.parametrize(
    ("ruleset", "position", "stuck"),
    [
        (FREECELL, board(*["2S"] * 8, cells=FILLED), True),
        (FREECELL, board(*["2S"] * 8, cells="KC KC KC -"), False),
        (FREECELL, board(*["2S"] * 7, cells=FILLED), False),
        (FREECELL, board(*["2S"] * 7, "3H", cells=FILLED), False),
        (FREECELL, board(*["2S"] * 8, cells="KC KC KC AC"), False),
        (FREECELL, board(home="13 13 13 13"), False),
        (EIGHT_OFF, board(home="13 13 13 13", cells="- - - - - - - -"), False),
        (FOUR_CELLS, board(*["5H"] * 7, cells=FILLED), False),
        (FOUR_CELLS, board(*["5H"] * 7, cells="QC QC QC QC"), True),
        (FOUR_CELLS, board(*["5H"] * 7, cells="QC QC QC QC", home="0 0 0 13"), True),
        (FOUR_CELLS, board(*["6H"] * 7, "6S", cells=FILLED, home="0 0 0 3"), True),
        (FOUR_CELLS, board(*["6H"] * 7, "6S", cells=FILLED, home="0 0 0 5"), False),
    ],
)
def test_stuck_means_that_no_move_is_left(
    ruleset: Ruleset, position: Position, stuck: bool
) -> None:
    """Scenario 26. A King that could only be taken back into an empty column helps nobody."""
    assert is_stuck(ruleset, position) is stuck


def test_take_back_counts_against_stuck_only_if_another_card_may_then_be_placed() -> None:
    both = replace(FOUR_CELLS, name="both", build=Build.ALTERNATING)
    helps = board(*["7S"] * 7, "8D 5C", cells="5D KC KC KC", home="7 0 6 0")
    assert not any(move.source < 16 for move in LegalMoves(both, helps))
    assert not is_stuck(both, helps)
    in_vain = board(*["7S"] * 7, "8D 9C", cells="KC KC KC KC", home="7 0 6 0")
    assert any(move.source >= 16 for move in LegalMoves(both, in_vain))
    assert is_stuck(both, in_vain)


def test_bakers_game_is_one_more_row() -> None:
    layout = Deal.numbered(1).layout(BAKERS_GAME)
    assert layout == Deal.numbered(1).layout(FREECELL)
    position = board("5H", "6H", "4S", cells="KC - - -")
    legal = {str(move) for move in LegalMoves(BAKERS_GAME, position)}
    assert "12" in legal
    assert "14" in legal
    assert "31" not in legal
    assert refusal(BAKERS_GAME, position, "31").reason == "does-not-fit"
    game = Game.start(BAKERS_GAME, Deal.numbered(1))
    assert game.autoplay is Autoplay.OFF
    assert game.play(Move.parse("1a")).moves == 1


def test_ruleset_repr_rebuilds_it() -> None:
    names = {kind.__name__: kind for kind in (Ruleset, *map(type, values_of(CLASSIC)))}
    for ruleset in (*RULESETS.values(), BAKERS_GAME):
        assert eval(repr(ruleset), names) == ruleset


def values_of(ruleset: Ruleset) -> list[object]:
    return [getattr(ruleset, name) for name in ruleset.__dataclass_fields__]


def test_legal_moves_can_be_counted_iterated_and_asked() -> None:
    position = Deal.numbered(1).layout(FREECELL)
    moves = LegalMoves(FREECELL, position)
    assert len(moves) == len(set(moves)) == len(list(moves))
    assert all(move in moves for move in moves)
    assert moves
    assert not LegalMoves(FREECELL, board(*["2S"] * 8, cells=FILLED))


def test_position_repr_rebuilds_it() -> None:
    position = Deal.numbered(1).layout(RULESETS["eight-off"]).after(0, 4)
    assert eval(repr(position), {"Position": Position}) == position
