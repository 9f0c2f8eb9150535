import pytest

from cellmates.engine import RULESETS, BadBoard, Deal, Position, board_text, parse_board

FREECELL = RULESETS["freecell"]
EIGHT_OFF = RULESETS["eight-off"]
BOARD = """\
Foundations: H-0 C-2 D-A S-0
Freecells: - 6S - 9H
: JD KD 2S 4C 3S 6D
: 2D KC KS 5C TD 8S 9C
: 9S 9D TS 4S 8D 2H
: JC 5S QD QH TH QS 6H
: 5D JS 4H 8H 6C
: 7H QC AS 3D
: 7C KH AH 4D JH 8C
: 5H 3H 3C 7S 7D TC
"""


@pytest.mark.parametrize("name", RULESETS)
def test_board_text_round_trips(name: str) -> None:
    layout = Deal.numbered(617).layout(RULESETS[name])
    assert parse_board(RULESETS[name], board_text(layout)) == layout


def test_board_in_the_middle_of_a_game_round_trips() -> None:
    position = parse_board(FREECELL, BOARD)
    assert position.home == (2, 1, 0, 0)
    assert board_text(position) == BOARD


def test_won_board_round_trips() -> None:
    won = Position((b"",) * 8, (b"",) * 4, (13, 13, 13, 13))
    assert parse_board(FREECELL, board_text(won)) == won


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ("\n: ", "\n"),
        ("Freecells:", "FC:"),
        ("Foundations:", "Founds:"),
        ("T", "10"),
        ("Freecells: - 6S - 9H", "Freecells:      6S      9H"),
        ("Freecells: - 6S - 9H", "freecells: - 6S - 9H"),
        ("H-0 C-2 D-A S-0", "C-2 D-A"),
        ("\n", "\r\n"),
        ("\n:", "\n\n:"),
    ],
)
def test_other_ways_to_write_the_same_board(change: str, to: str) -> None:
    assert parse_board(FREECELL, BOARD.replace(change, to)) == parse_board(FREECELL, BOARD)


def test_lines_of_foundations_and_cells_may_be_left_out() -> None:
    columns = board_text(Deal.numbered(1).layout(FREECELL)).split("\n", 2)[2]
    assert parse_board(FREECELL, columns) == Deal.numbered(1).layout(FREECELL)


def test_cells_that_fc_solve_prints_blank_at_the_end_are_empty() -> None:
    text = BOARD.replace("Freecells: - 6S - 9H", "Freecells:  6S  9H        ")
    assert parse_board(FREECELL, text).cells == (b"\x17", b"\x22", b"", b"")


@pytest.mark.parametrize(
    ("change", "to", "says"),
    [
        ("6D\n", "\n", "line 10: the board ends and these cards are missing: 6D"),
        ("6D\n", "JD\n", "line 3: JD stands twice, first in line 3"),
        (" 2H\n", " 9H\n", "line 5: 9H stands twice, first in line 2"),
        ("5H 3H", "AC 3H", "line 10: AC stands twice, first in line 1"),
        ("- 6S - 9H", "- 6S - 9H -", "line 2: too many cells: 5 are named, freecell has 4"),
        ("6D\n", "6X\n", "line 3: '6X' has an unknown suit"),
        ("6D\n", "1D\n", "line 3: '1D' has an unknown rank"),
        ("6D\n", "hello\n", "line 3: 'hello' is not a card"),
        ("H-0", "H-X", "line 1: 'H-X' is not a foundation"),
        ("H-0", "X-0", "line 1: 'X-0' is not a foundation"),
        ("H-0", "-0", "line 1: '-0' is not a foundation"),
        ("H-0", "CD-0", "line 1: 'CD-0' is not a foundation"),
        ("H-0", "H", "line 1: 'H' is not a foundation"),
        (": 5H", ":\n: 5H", "line 11: too many columns: freecell has 8"),
        (": 5H 3H 3C 7S 7D TC\n", "", "line 9: the board ends after 7 columns; freecell has 8"),
        (": 5H", "Freecells: -\n: 5H", "line 10: the cells stand twice"),
        (": 5H", "Foundations: H-0\n: 5H", "line 10: the foundations stand twice"),
    ],
)
def test_wrong_board_names_the_line(change: str, to: str, says: str) -> None:
    with pytest.raises(BadBoard) as caught:
        parse_board(FREECELL, BOARD.replace(change, to, 1))
    assert says in str(caught.value)
    assert says.startswith(f"line {caught.value.line}:")


def test_empty_text_is_no_board() -> None:
    with pytest.raises(BadBoard, match="line 1: the board ends after 0 columns; eight-off has 8"):
        parse_board(EIGHT_OFF, "")
