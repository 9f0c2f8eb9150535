import pytest

from cellmates.engine import RULESETS, Position, Ruleset, parse_place, tap

FREECELL = RULESETS["freecell"]
EIGHT_OFF = RULESETS["eight-off"]


def board(*columns: str, cells: str, home: str = "0 0 0 0") -> Position:
    return Position.of([*columns, *[""] * (8 - len(columns))], cells, home)


FOUR_FREE = "- - - -"
EIGHT_FREE = "- - - - - - - -"


@pytest.mark.parametrize(
    ("position", "place", "depth", "move"),
    [
        (board("2H AS", "2D", cells=FOUR_FREE), "1", 0, "1h"),
        (board("2H 3S", "4D", "KC 4H", cells=FOUR_FREE), "1", 0, "13"),
        (board("2H 3S", "4C", cells="KD - - -"), "1", 0, "1b"),
        (board("2H 3S", "4C", cells="KD KD KD KD"), "1", 0, "13"),
        (board(*["KS"] * 8, cells="2D - - -"), "a", 0, None),
        (board(*["KS"] * 7, cells="2D - - -"), "a", 0, "a8"),
        (board(*["KS"] * 8, cells="2D KC KC KC"), "a", 0, None),
        (board("KC 5H 4S", "6C", cells=FOUR_FREE), "1", 1, "12"),
        (board("KC 5H 4S", cells=FOUR_FREE), "1", 1, "12v2"),
        (board("KC 5H 4S", cells=FOUR_FREE), "1", 2, None),
        (board("2H", cells=FOUR_FREE), "2", 0, None),
        (board("2H", cells=FOUR_FREE, home="1 0 0 0"), "C", 0, None),
        (board("2H", cells=FOUR_FREE), "h", 0, None),
    ],
)
def test_one_tap_does_all_in_freecell(
    position: Position, place: str, depth: int, move: str | None
) -> None:
    """Home, else a column, else a cell, else an empty column; a second tap changes nothing."""
    for taps in (1, 2):
        found = tap(FREECELL, position, parse_place(place), depth, taps)
        assert (str(found) if found else None) == move


@pytest.mark.parametrize(
    ("ruleset", "position", "place", "depth", "one", "two"),
    [
        (EIGHT_OFF, board("2H AS", cells=EIGHT_FREE), "1", 0, "1h", "1h"),
        (EIGHT_OFF, board("2H 3S", "4S", cells=EIGHT_FREE), "1", 0, None, "12"),
        (EIGHT_OFF, board("2H KS", cells=EIGHT_FREE), "1", 0, None, "12"),
        (EIGHT_OFF, board("2H QS", cells=EIGHT_FREE), "1", 0, None, "1a"),
        (EIGHT_OFF, board("2H KS QS", cells=EIGHT_FREE), "1", 1, None, "12v2"),
        (EIGHT_OFF, board("2H 5S 4S", "6S", cells=EIGHT_FREE), "1", 1, None, "12"),
        (EIGHT_OFF, board("2H", cells="QS - - - - - - -"), "a", 0, None, None),
        (EIGHT_OFF, board("2H", cells=EIGHT_FREE, home="0 0 0 1"), "S", 0, None, None),
    ],
)
def test_one_tap_only_sends_home_in_eight_off_and_two_do_the_rest(
    ruleset: Ruleset, position: Position, place: str, depth: int, one: str | None, two: str | None
) -> None:
    for taps, move in ((1, one), (2, two)):
        found = tap(ruleset, position, parse_place(place), depth, taps)
        assert (str(found) if found else None) == move
