import pytest

from cellmates.engine import PACK, BadCard, card_text, parse_card, parse_pile, pile_text


def test_pack_is_in_the_classic_order() -> None:
    assert pile_text(PACK).startswith("AC AD AH AS 2C 2D")
    assert pile_text(PACK).endswith("KC KD KH KS")


def test_card_text_round_trips() -> None:
    assert [parse_card(card_text(card)) for card in PACK] == list(PACK)
    assert parse_pile(pile_text(PACK)) == PACK


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("TX", "unknown suit"),
        ("1S", "unknown rank"),
        ("10S", "not a card"),
        ("", "not a card"),
        ("ts", "not a card"),
        ("TS\n", "not a card"),
    ],
)
def test_wrong_card_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(BadCard, match=says):
        parse_card(text)
