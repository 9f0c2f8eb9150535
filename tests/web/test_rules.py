"""The page's rules, held to the engine: every verdict, reason, canonical form and result."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from random import Random

import pytest

from cellmates.engine import (
    PLACES,
    RULESETS,
    Autoplay,
    BadMove,
    IllegalMove,
    LegalMoves,
    Move,
    Position,
    Reason,
    Ruleset,
    board_text,
    is_stuck,
    parse_place,
    play,
    tap,
)
from tests.web.node import Asked, Question, hold
from tests.web.positions import of_game, planted, positions, shown

EACH = 400  # positions of each ruleset
COUNTS = "123456789abcd"
COLUMNS, CELLS, FOUNDATIONS = "12345678", "abcdefgk", "CDHS"
TO_CELL = {column + cell for column in COLUMNS for cell in CELLS}
PAIRS = [source + destination for source in PLACES for destination in PLACES]
GROUPS = [
    f"{source}{destination}v{count}"
    for source in COLUMNS
    for destination in COLUMNS
    for count in COUNTS
]
WRONG_FORMS = [
    *["", " ", "3", "3aa", " 3a", "3a ", "3a\n", "26v", "26v0", "26ve", "26v10", "26V3", "26vA"],
    *["26v3\n", "3av1", "a1v2", "ahv1", "S5v1", "undo", "resign", "9h", "0h", "3i", "3A", "3-"],
    *["\uff13a", "3\u0430", "26v\u0663", "constructor", "__proto__"],
]


@cache
def sample() -> list[tuple[Ruleset, Position]]:
    return list(positions(Random(6), EACH))


def verdict(ruleset: Ruleset, position: Position, text: str, autoplay: Autoplay) -> object:
    try:
        played = play(ruleset, position, Move.parse(text), autoplay)
    except BadMove:
        return {"refused": "BadMove", "reason": "bad-move"}
    except IllegalMove as refusal:
        return why_not(refusal.reason, refusal.limit, refusal.length)
    return {
        "position": shown(played.position),
        "move": str(played.move),
        "auto": [str(move) for move in played.auto],
    }


def why_not(reason: Reason, limit: int | None = None, length: int | None = None) -> object:
    refusal: dict[str, object] = {"refused": "IllegalMove", "reason": reason.value}
    return refusal if limit is None else {**refusal, "limit": limit, "length": length}


def about(ask: str, ruleset: Ruleset, position: Position, **rest: object) -> Question:
    return {"ask": ask, "ruleset": ruleset.name, "position": shown(position), **rest}


def plays(
    ruleset: Ruleset, position: Position, moves: list[str], autoplay: Autoplay
) -> tuple[Question, list[object]]:
    question = about("plays", ruleset, position, moves=moves, autoplay=autoplay.value)
    return question, [verdict(ruleset, position, text, autoplay) for text in moves]


def runs_to(destination: str, ruleset: Ruleset, position: Position) -> list[str]:
    """Moves of whole runs to a column."""
    lengths = [ruleset.run_length(column) for column in position.columns]
    return [
        f"{source}{destination}v{length:x}"
        for source, length in zip(COLUMNS, lengths, strict=True)
        if length > 1
    ]


@cache
def some_plays() -> list[tuple[Question, list[object]]]:
    chance = Random(7)
    asked = []
    for ruleset, position in sample():
        legal = [str(move) for move in LegalMoves(ruleset, position)]
        moves = chance.sample(legal, min(6, len(legal)))
        moves += chance.sample(PAIRS, 9) + chance.sample(GROUPS, 3)
        moves += runs_to(chance.choice(COLUMNS), ruleset, position)
        asked.append(plays(ruleset, position, moves, chance.choice([*Autoplay])))
    return asked


def test_rulesets_are_the_engines_row_by_row() -> None:
    kept = [field.name for field in fields(Ruleset) if field.init]
    rows = {
        name: {field: getattr(ruleset, field) for field in kept}
        for name, ruleset in RULESETS.items()
    }
    hold([({"ask": "rulesets"}, json.loads(json.dumps(rows)))])


def test_moves_have_the_engines_verdicts_reasons_and_results() -> None:
    asked = some_plays()
    assert len(asked) >= 2000
    hold(asked)


def test_the_sample_shows_every_reason_and_long_automatic_moves() -> None:
    seen: Counter[str] = Counter()
    for _, verdicts in some_plays():
        for one in verdicts:
            assert isinstance(one, dict)
            seen[one.get("reason", f"auto {min(len(one.get('auto', [])), 4)}")] += 1
    reasons = {reason.value for reason in Reason} - {Reason.GAME_OVER.value} | {"bad-move"}
    assert set(seen) == reasons | {f"auto {count}" for count in range(5)}
    assert min(seen.values()) >= 20, seen


def test_every_pair_of_places_every_count_and_wrong_forms() -> None:
    chance = Random(8)
    texts = PAIRS + GROUPS + WRONG_FORMS
    hold(
        plays(ruleset, position, texts, chance.choice([*Autoplay]))
        for ruleset, position in sample()[::61]
    )


def test_legal_moves_runs_board_text_and_being_stuck() -> None:
    asked: list[Asked] = []
    for ruleset, position in sample():
        text = board_text(position)
        expected = {
            "legal": [str(move) for move in LegalMoves(ruleset, position)],
            "stuck": is_stuck(ruleset, position),
            "won": position.is_won,
            "runs": [ruleset.run_length(column) for column in position.columns],
            "text": text,
            "parsed": shown(position),
        }
        asked.append((about("board", ruleset, position), expected))
    hold(asked)


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_boards_without_moves_are_stuck_unless_they_are_won(ruleset: Ruleset) -> None:
    chance = Random(9)
    boards: list[Position] = []
    for game in range(25):
        last = [planted(chance, ruleset), *of_game(chance, ruleset)][-1] if game else won(ruleset)
        boards += filled(chance, ruleset, last)
    expected = [is_stuck(ruleset, position) for position in boards]
    assert {True, False} == set(expected)
    hold(
        (about("stuck", ruleset, position), stuck)
        for position, stuck in zip(boards, expected, strict=True)
    )


def test_a_take_back_of_a_king_alone_is_no_way_out() -> None:
    asked: list[Asked] = []
    for ruleset in [ruleset for ruleset in RULESETS.values() if ruleset.take_back]:
        cells = " ".join("JS 2D 3C 7S 7D 3S 5S 2C".split()[: ruleset.cells])
        columns = ["6C", "9C", "JC", "4D", "", "9D", "JD", "9S"]
        position = Position.of(columns, cells, "0 0 13 0")
        assert [str(move) for move in LegalMoves(ruleset, position)] == ["H5"]
        asked.append((about("stuck", ruleset, position), True))
        assert is_stuck(ruleset, position)
    hold(asked)


def won(ruleset: Ruleset) -> Position:
    return Position((b"",) * ruleset.columns, (b"",) * ruleset.cells, (13, 13, 13, 13))


def filled(chance: Random, ruleset: Ruleset, position: Position) -> Iterable[Position]:
    """The position, and those that moves into cells alone lead to: in the end there are none."""
    yield position
    while parking := [move for move in LegalMoves(ruleset, position) if str(move) in TO_CELL]:
        move = chance.choice(parking)
        position = position.after(move.source, move.destination)
        yield position


def lifted(ruleset: Ruleset, position: Position, move: Move) -> int:
    """Number of cards that a legal move takes from its place."""
    if str(move)[0] not in COLUMNS:
        return 1
    after = play(ruleset, position, move, Autoplay.OFF).position
    return len(position.columns[move.source]) - len(after.columns[move.source])


def spots(ruleset: Ruleset, position: Position) -> list[tuple[str, int]]:
    """Each card that may be touched: its place and the number of cards on it, and one too many."""
    columns = [(COLUMNS[at], len(column)) for at, column in enumerate(position.columns)]
    return [
        *((place, depth) for place, height in columns for depth in range(height + 1)),
        *((place, depth) for place in CELLS[: ruleset.cells] for depth in (0, 1)),
        *((place, depth) for place in FOUNDATIONS for depth in (0, 1)),
    ]


def unliftable(ruleset: Ruleset, position: Position, place: str, depth: int) -> object:
    if place in FOUNDATIONS and not ruleset.take_back:
        return why_not(Reason.NO_TAKE_BACK)
    pile, length = position.pile(parse_place(place)), depth + 1
    if len(pile) < length:
        return why_not(Reason.NO_CARD)
    if ruleset.run_length(pile) < length:
        return why_not(Reason.NOT_IN_SEQUENCE)
    limit = ruleset.group_limit(position.free_cells, position.empty_columns)
    return why_not(Reason.GROUP_TOO_LONG, limit, length) if length > limit else None


def test_targets_of_a_drag_are_all_legal_drops_and_no_others() -> None:
    asked: list[Asked] = []
    for ruleset, position in sample()[::6]:
        drops: dict[tuple[str, int], list[list[str]]] = {}
        for move in LegalMoves(ruleset, position):
            text, depth = str(move), lifted(ruleset, position, move) - 1
            drops.setdefault((text[0], depth), []).append([text[1], text])
        at = spots(ruleset, position)
        expected = [[drops.get(spot, []), unliftable(ruleset, position, *spot)] for spot in at]
        assert not any(targets and refusal for targets, refusal in expected)
        asked.append((about("drops", ruleset, position, at=[[*spot] for spot in at]), expected))
    hold(asked)


def test_a_drop_is_said_with_its_number_of_cards() -> None:
    table = [
        (("2", 0, "6"), "26v1"),
        (("2", 2, "6"), "26v3"),
        (("2", 12, "6"), "26vd"),
        (("2", 13, "6"), None),
        (("2", 0, "a"), "2a"),
        (("2", 1, "a"), None),
        (("2", 1, "h"), None),
        (("2", 0, "h"), "2h"),
        (("2", 2, "2"), "22"),
        (("a", 0, "3"), "a3"),
        (("S", 0, "3"), "S3"),
        (("S", 0, "h"), "Sh"),
    ]
    drops, texts = [drop for drop, _ in table], [text for _, text in table]
    hold([({"ask": "dropTexts", "drops": drops}, texts)])


def test_taps_choose_the_engines_move() -> None:
    chance = Random(10)
    asked: list[Asked] = []
    for number, (ruleset, position) in enumerate(sample()):
        at = spots(ruleset, position)
        touched = at if number % 50 == 0 else [spot for spot in at if spot[1] < 3]
        taps = [(place, depth, count) for place, depth in touched for count in (1, 2)]
        if number % 50:
            taps = chance.sample(taps, 4)
        moves = [
            tap(ruleset, position, parse_place(place), depth, count) for place, depth, count in taps
        ]
        expected = [move and str(move) for move in moves]
        asked.append((about("taps", ruleset, position, taps=[[*one] for one in taps]), expected))
    hold(asked)
