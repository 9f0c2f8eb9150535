import pytest

from cellmates.engine import PLACES, Act, BadMove, Move, parse_action, parse_place

TEXTS = ["3a", "26", "ah", "6h", "26v3", "26vd", "26v1", "S5", "Hb", "ab", "k8", "11", "Ch"]


@pytest.mark.parametrize("text", TEXTS)
def test_move_text_round_trips(text: str) -> None:
    assert str(Move.parse(text)) == text
    assert eval(repr(Move.parse(text)), {"Move": Move}) == Move.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0a",
        "9h",
        "3i",
        "h3",
        "hh",
        "1h ",
        " 1h",
        "1h\n",
        "٣a",
        "3A",
        "3S",
        "1",
        "123",
        "26v",
        "26v0",
        "26ve",
        "26vD",
        "26v10",
        "2av2",
        "a2v2",
        "S2v2",
        "26V3",
        "undo",
        "x" * 5000,
    ],
)
def test_wrong_form_is_a_bad_move(text: str) -> None:
    with pytest.raises(BadMove, match="is not a move: write source and destination") as caught:
        Move.parse(text)
    assert caught.value.reason == "bad-move"
    assert len(str(caught.value)) < 250


def test_actions_are_moves_undo_and_resign() -> None:
    assert parse_action("undo") is Act.UNDO
    assert parse_action("resign") is Act.RESIGN
    assert parse_action("3a") == Move.parse("3a")
    with pytest.raises(BadMove):
        parse_action("UNDO")


def test_places_are_one_letter_each() -> None:
    assert [parse_place(letter) for letter in PLACES] == list(range(len(PLACES)))
    for text in ("", "12", "i", "9"):
        with pytest.raises(BadMove, match="is not a place"):
            parse_place(text)
