import random

import pytest
from pysol_cards.cards import CardRenderer
from pysol_cards.deal_game import Game as PysolDeal
from pysol_cards.random_base import RandomBase

from cellmates.engine import (
    LAST_NUMBER,
    PACK,
    RULESETS,
    BadDeal,
    Deal,
    Position,
    board_text,
    pile_text,
)
from tests.golden import golden

FREECELL = RULESETS["freecell"]
LAYOUTS = golden("deals")
CELLS = {"C8": ("eight-off", "eight-off-classic"), "C4": ("eight-off-4",), "C2": ("eight-off-2",)}


@pytest.mark.parametrize("number", LAYOUTS["ms"])
def test_layout_agrees_with_two_independent_programs(number: str) -> None:
    layout = Deal.parse(FREECELL, number).layout(FREECELL)
    assert [pile_text(column) for column in layout.columns] == LAYOUTS["ms"][number]
    assert layout.cells == (b"",) * 4


@pytest.mark.parametrize(
    ("key", "name"),
    [(key, name) for key in LAYOUTS["eight_off_ms_order"] for name in CELLS[key[-2:]]],
)
def test_eight_off_layout_agrees(key: str, name: str) -> None:
    number = key.partition("/")[0]
    board = board_text(Deal.parse(RULESETS[name], number).layout(RULESETS[name]))
    _, cells, *columns = board.splitlines()
    assert [cells, *(column.removeprefix(": ") for column in columns)] == (
        LAYOUTS["eight_off_ms_order"][key]
    )


def _pysol_columns(number: int) -> list[str]:
    deal = PysolDeal("freecell", number, RandomBase.DEALS_MS)
    board = deal.calc_layout_string(CardRenderer(True))
    return [line.removeprefix(": ").strip() for line in board.splitlines()]


def test_two_thousand_random_numbers_agree_with_pysol_cards() -> None:
    draw = random.Random(2026)
    spans = ((1, 2**31), (2**31, 2**32), (2**32, LAST_NUMBER + 1), (1, 32_001))
    for _ in range(500):
        for low, high in spans:
            number = draw.randrange(low, high)
            columns = Deal.numbered(number).layout(FREECELL).columns
            assert [pile_text(column) for column in columns] == _pysol_columns(number), number


@pytest.mark.parametrize("name", RULESETS)
def test_layout_holds_the_whole_pack_and_comes_back_as_a_deal(name: str) -> None:
    deal = Deal.numbered(617)
    layout = deal.layout(RULESETS[name])
    assert sorted(b"".join(layout.columns + layout.cells)) == list(PACK)
    assert Deal.of_layout(RULESETS[name], layout) == Deal.of_order(deal.order)


@pytest.mark.parametrize("text", ["1", "32000", "8589934591", str(Deal.of_order(PACK))])
def test_deal_text_round_trips(text: str) -> None:
    deal = Deal.parse(FREECELL, text)
    assert str(deal) == text
    assert Deal.parse(FREECELL, str(deal)) == deal


def test_leading_zeros_name_the_same_deal() -> None:
    assert str(Deal.parse(FREECELL, "0000000130")) == "130"


@pytest.mark.parametrize(
    ("name", "code", "number"),
    [
        ("eight-off", "EO1-C8-AAAAAFA", 130),
        ("eight-off-4", "EO1-C4-AAAAAAB", 1),
        ("eight-off-2", "EO1-C2-ZZZZZZZ", 26**7 - 1),
    ],
)
def test_code_names_its_number(name: str, code: str, number: int) -> None:
    deal = Deal.parse(RULESETS[name], code)
    assert deal == Deal.numbered(number)
    assert deal.code(RULESETS[name]) == code


def test_deals_without_a_code_say_so() -> None:
    app = RULESETS["eight-off"]
    assert Deal.numbered(1).code(FREECELL) is None
    assert Deal.numbered(26**7).code(app) is None
    assert Deal.of_order(PACK).code(app) is None


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("freecell", "0", "1 to 8589934591"),
        ("freecell", "8589934592", "1 to 8589934591"),
        ("freecell", "-1", "names no deal"),
        ("freecell", "\u0661", "names no deal"),
        ("freecell", "", "names no deal"),
        ("freecell", "99999999999", "names no deal"),
        ("freecell", "1.0", "names no deal"),
        ("eight-off", "xyz", "EO1-C8-AAAAAFA"),
        ("freecell", "EO1-C4-AAAAAFA", "by number, not by code"),
        ("eight-off-classic", "EO1-C8-AAAAAFA", "by number, not by code"),
        ("eight-off", "EO1-C4-AAAAAFA", "is for 4 cells; eight-off has 8"),
        ("eight-off", "EO1-C8-AAAAAAA", "1 to 8589934591"),
        ("eight-off", "EO1-C8-AAAAFA", "not a code"),
        ("eight-off", "EO2-C8-AAAAAFA", "not a code"),
        ("eight-off", "EO1-C8-aaaaafa", "not a code"),
        ("freecell", "cards:JD2D", "104 characters, not 4"),
        ("freecell", "cards:" + "JD" * 52, "missing here: AC AD"),
        ("freecell", "cards:" + "XX" * 52, "'XX' is not a card"),
    ],
)
def test_wrong_deal_says_what_is_right(name: str, text: str, says: str) -> None:
    with pytest.raises(BadDeal, match=says):
        Deal.parse(RULESETS[name], text)


def test_order_with_a_53rd_card_is_no_deal() -> None:
    with pytest.raises(BadDeal, match="missing here: none"):
        Deal.of_order(PACK + b"\x00")


@pytest.mark.parametrize(
    "position",
    [
        Deal.numbered(1).layout(FREECELL).after(0, 8),
        Position((b"",) * 8, (b"",) * 4, (13, 13, 13, 13)),
        Position((PACK, *(b"",) * 7), (b"",) * 4, (0, 0, 0, 0)),
    ],
)
def test_position_in_the_middle_is_no_deal(position: Position) -> None:
    with pytest.raises(BadDeal, match="not the start of a game of freecell"):
        Deal.of_layout(FREECELL, position)
