"""The page's deals, boards, carried moves and examples, held to the engine."""

from itertools import product
from random import Random
from typing import cast

from cellmates.engine import (
    LAST_NUMBER,
    RULESETS,
    BadBoard,
    BadDeal,
    Deal,
    IllegalMove,
    LegalMoves,
    Move,
    Position,
    Ruleset,
    board_text,
    parse_board,
    play,
)
from tests.web.node import Asked, Question, answers, hold
from tests.web.positions import of_game, planted, shown

NUMBERS = [*range(1, 201), 11982, 32000, 617, 999_999_999]
EDGES = [at + step for at in (2**31, 2**32, 26**7, 2**33) for step in range(-3, 4)]
LATER = [2**31 + 12345, 3_000_000_000, 2**32 + 12345, 6_000_000_000, 8_589_000_000]
PACK = "cards:" + "".join(
    rank + suit for rank, suit in zip("A23456789TJQK" * 4, "CDHS" * 13, strict=True)
)
NO_DEALS = [
    *["0", "00", "", "-1", "1.0", "1e3", " 1", "1\n", "00000000001", "\u0661", "x", "EO", "cards:"],
    *["EO2-C8-AAAAAFA", "EO1-C8-AAAAAFA\n", "EO1-C8-AAAAAF", "EO1-C8-aaaaafa", "EO1-C8-AAAAAAA"],
    *[PACK[:-2], PACK + "AS", PACK[:-2] + "AC", PACK[:-2] + "XX", PACK[:-1], PACK[6:]],
    *[PACK.lower(), PACK[:-2] + "\U0001f0a1"],
]
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
OTHER_WAYS = [
    *[("\n: ", "\n"), ("Freecells:", "FC:"), ("Foundations:", "Founds:"), ("T", "10")],
    *[("\n", "\r\n"), ("\n:", "\n\n:"), ("H-0 C-2 D-A S-0", "C-2 D-A"), ("Founda", "fOUNDA")],
    *[("- 6S - 9H", "     6S      9H"), ("- 6S - 9H", "   6S      9H  "), ("C-2", "C-2 C-2")],
    *[(": - 6S", ":- 6S"), (" 2S", "\t2S"), ("2 D-A", "2\x0bD-A"), (": JD", ":JD"), ("\n", "\x85")],
]
WRONG_WAYS = [
    *[("6D\n", "\n"), ("6D\n", "JD\n"), (" 2H\n", " 9H\n"), ("5H 3H", "AC 3H"), ("6D\n", "6X\n")],
    *[("- 6S - 9H", "- 6S - 9H -"), ("6D\n", "1D\n"), ("6D\n", "hello\n"), ("H-0", "H-X")],
    *[("H-0", "X-0"), ("H-0", "-0"), ("H-0", "CD-0"), ("H-0", "H-"), ("H-0", "H--0"), ("H-0", "H")],
    *[(": 5H", "FC: 5H"), (": 5H", "Founds: 5H"), (": 5H", ":\n: 5H"), (": JD", ":: JD")],
    *[("C-2", "C-3"), ("C-2", "C-A"), ("6S", "6s"), (BOARD, ""), (BOARD, "\n\n"), (BOARD, "x")],
    *[("Freecells", "Cells"), ("Freecells:", "Freecells"), ("- 6S -", "-- 6S -"), ("C-2", "C-02")],
]
BAD_DEAL = {"refused": "BadDeal"}
OUT_OF_STEP = {"refused": "OutOfStep"}


def deal_of(ruleset: Ruleset, text: str) -> object:
    try:
        deal = Deal.parse(ruleset, text)
    except BadDeal:
        return BAD_DEAL
    layout = deal.layout(ruleset)
    again = str(Deal.of_layout(ruleset, layout))
    return {"position": shown(layout), "code": deal.code(ruleset), "again": again}


def test_deals_by_number_code_and_cards_in_every_ruleset() -> None:
    chance = Random(11)
    random = [chance.randint(1, LAST_NUMBER) for _ in range(60)]
    codes = [
        f"EO1-C{cells}-{letters}"
        for cells in range(10)
        for letters in ("AAAAAFA", "ZZZZZZZ", "AAAAAAB", "MXRQPAB")
    ]
    numbers = [*map(str, NUMBERS + EDGES + LATER + random), "007", "0000000130"]
    hold(
        ({"ask": "deal", "ruleset": ruleset.name, "deal": text}, deal_of(ruleset, text))
        for ruleset in RULESETS.values()
        for text in [*numbers, *codes, PACK, *NO_DEALS]
    )


def test_only_a_start_is_a_deal() -> None:
    chance = Random(12)
    asked: list[Asked] = []
    for ruleset in RULESETS.values():
        for other in RULESETS.values():
            layout = Deal.numbered(chance.randint(1, 32_000)).layout(other)
            for position in (layout, *list(of_game(chance, other))[:3]):
                question: Question = {"ask": "dealOf", "ruleset": ruleset.name}
                question["position"] = shown(position)
                asked.append((question, start_of(ruleset, position)))
    hold(asked)


def start_of(ruleset: Ruleset, position: Position) -> object:
    if len(position.cells) != ruleset.cells:
        return BAD_DEAL  # the engine is never asked about a board of another ruleset
    try:
        return str(Deal.of_layout(ruleset, position))
    except BadDeal:
        return BAD_DEAL


def parsed(ruleset: Ruleset, text: str) -> object:
    try:
        return shown(parse_board(ruleset, text))
    except BadBoard as error:
        return {"refused": "BadBoard", "line": error.line}


def test_pasted_boards_are_read_and_refused_as_the_engine_does() -> None:
    texts = [BOARD, *(BOARD.replace(was, now) for was, now in OTHER_WAYS + WRONG_WAYS)]
    texts += [BOARD.replace(was, now, 1) for was, now in OTHER_WAYS + WRONG_WAYS]
    texts += [board_text(Deal.numbered(5).layout(ruleset)) for ruleset in RULESETS.values()]
    hold(
        ({"ask": "parsed", "ruleset": ruleset.name, "text": text}, parsed(ruleset, text))
        for ruleset in RULESETS.values()
        for text in texts
    )


def test_what_is_wrong_with_a_deal_or_a_board_is_said_in_words() -> None:
    freecell: Question = {"ask": "why", "ruleset": "freecell"}
    eight_off: Question = {"ask": "why", "ruleset": "eight-off"}
    start = shown(Deal.numbered(1).layout(RULESETS["eight-off"]))
    questions: list[Question] = [
        *({**ruleset, "deal": text} for text in NO_DEALS for ruleset in (freecell, eight_off)),
        {**eight_off, "deal": "EO1-C4-AAAAAFA"},
        {**freecell, "position": start},
        *({**freecell, "text": BOARD.replace(was, now)} for was, now in WRONG_WAYS),
    ]
    said = [cast(dict[str, str], one) for one in answers("rules_runner.mjs", questions) if one]
    assert {one["why"] for one in said} == {
        *["no-deal", "out-of-range", "no-code", "without-codes", "other-cells", "not-52"],
        *["no-card", "cards-twice", "not-a-start", "few-columns", "many-columns", "many-cells"],
        *["missing", "foundations-twice", "cells-twice", "no-foundation", "twice"],
    }
    for one in said:
        assert one["words"].endswith("."), one
        assert "{" not in one["words"], one


def test_recorded_moves_are_carried_without_asking_the_rules() -> None:
    chance = Random(13)
    asked: list[Asked] = []
    for game, ruleset in product(range(12), RULESETS.values()):
        layout = Deal.numbered(game + 1).layout(ruleset)
        first = planted(chance, ruleset) if game % 2 else layout
        moves, last = record(chance, ruleset, first)
        question: Question = {"ask": "carried", "position": shown(first), "moves": moves}
        asked.append((question, shown(last)))
    hold(asked)


def record(chance: Random, ruleset: Ruleset, position: Position) -> tuple[list[str], Position]:
    """Moves of a game played at random, automatic ones too, and where they lead."""
    moves: list[str] = []
    for _ in range(60):
        legal = list(LegalMoves(ruleset, position))
        if not legal:
            break
        played = play(ruleset, position, chance.choice(legal), ruleset.autoplay)
        moves += [str(move) for move in (played.move, *played.auto)]
        position = played.position
    return moves, position


def test_a_recorded_move_that_does_not_fit_the_board_is_out_of_step() -> None:
    position = shown(Position.of(["KC 6S", "7H 8S", *[""] * 6], "- - - -"))
    moves = ["a1", "S1", "19", "1e", "13v9", "undo", "", "81", "18v0", "1S", "21"]
    hold(
        ({"ask": "carried", "position": position, "moves": ["1a", "a1", move]}, OUT_OF_STEP)
        for move in moves
    )


def test_examples_of_the_rules_page_are_what_the_rules_say() -> None:
    (shown_here,) = answers("rules_runner.mjs", [{"ask": "examples"}])
    examples = cast(dict[str, list[dict[str, object]]], shown_here)
    assert set(examples) == set(RULESETS)
    asked: list[Asked] = []
    for name, rows in examples.items():
        assert 4 <= len(rows) <= 6
        assert {row["verdict"] == "legal" for row in rows} == {True, False}
        keys = [key for row in rows for key in (row["titleKey"], row["textKey"])]
        asked.append(({"ask": "texts", "keys": keys}, [True] * len(keys)))
        for row in rows:
            position = position_of(cast(dict[str, object], row["position"]))
            assert shown(position) == row["position"]
            result = verdict(RULESETS[name], position, cast(str, row["move"]))
            assert row["verdict"] == (result if isinstance(result, str) else "legal"), row
            question = {"ask": "verdict", "ruleset": name, **row}
            asked.append((question, result))
    hold(asked)


def position_of(board: dict[str, object]) -> Position:
    """Position of an example; a card is there at most once."""
    columns = cast(list[list[str]], board["columns"])
    cells = cast(list[str | None], board["cells"])
    home = cast(dict[str, int], board["home"])
    cards = [card for pile in (*columns, filter(None, cells)) for card in pile if card]
    cards += [rank + suit for suit, count in home.items() for rank in "A23456789TJQK"[:count]]
    assert len(cards) == len(set(cards))
    return Position.of(
        (" ".join(column) for column in columns),
        " ".join(card or "-" for card in cells),
        " ".join(str(home[suit]) for suit in "CDHS"),
    )


def verdict(ruleset: Ruleset, position: Position, move: str) -> object:
    try:
        return shown(play(ruleset, position, Move.parse(move), ruleset.autoplay).position)
    except IllegalMove as refusal:
        return refusal.reason.value
