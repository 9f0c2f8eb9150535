"""Boards as people see them, and replays that are not taken on trust."""

from dataclasses import replace

import pytest

from cellmates.engine import RULESETS, Deal, Game, board_text, first_hash, next_hash, parse_action
from client.picture import picture, printable, status_line, time_text
from client.replaying import check
from client.results import Entry, Replay, ReplayHeader, ReplayResult, View
from client.shape import read

from .record import STARTED, Record


def record(ruleset: str = "freecell", deal: int = 1, line: str = "") -> Record:
    game = Game.start(RULESETS[ruleset], Deal.numbered(deal))
    made = Record("g", "p", game, first_hash(ruleset, 1, str(deal), str(game.autoplay)))
    for action in line.split():
        made.act(parse_action(action))
    return made


def view(line: str = "", ruleset: str = "freecell") -> View:
    return read(View, record(ruleset, 1, line).view())


# -- Pictures --------------------------------------------------------------------------------------


def test_picture_has_every_card_in_its_place() -> None:
    assert picture(view("6a 6b 1c"), symbols=False).plain == (
        "   a   b   c   d      C   D   H   S\n"
        "  3D   -  6S   -     2C   -   -  AS\n"
        "\n"
        "   1   2   3   4   5   6   7   8\n"
        "  JD  2D  9H  JC  5D  7H  7C  5H\n"
        "  KD  KC  9S  5S  AD  QC  KH  3H\n"
        "  2S  KS  9D  QD  JS      AH  3C\n"
        "  4C  5C  TS  QH  4H      4D  7S\n"
        "  3S  TD  4S  TH  8H      JH  7D\n"
        "  6D  8S  8D  QS  6C      8C  TC\n"
        "      9C  2H  6H"
    )


def test_eight_cells_are_beside_the_foundations() -> None:
    lines = picture(view(ruleset="eight-off"), symbols=True).plain.splitlines()
    assert lines[0] == "   a   b   c   d   e   f   g   k      C   D   H   S"
    assert lines[1].split()[4:] == ["-"] * 8
    assert set(lines[1].split()[0][1:]) <= set("♣♦♥♠")


def test_red_suits_are_red_and_black_ones_are_not() -> None:
    drawn = picture(view(), symbols=True)
    styles = {drawn.plain[span.start : span.end]: str(span.style) for span in drawn.spans}
    assert styles["J♦"] == styles["2♥"] == "bold red"
    assert styles["J♣"] == styles["K♠"] == "bold"


def test_board_without_columns_or_cells_is_drawn_all_the_same() -> None:
    empty = replace(view(), columns=(), cells=(), home={})
    assert picture(empty, symbols=False).plain.split() == [*"CDHS", "-", "-", "-", "-"]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "freecell 1 | 0 moves | 0 undos | score 0 | 0:00"),
        (
            {"moves": 1, "undos": 1, "undo_left": 3, "elapsed_ms": 61_999},
            "freecell 1 | 1 move | 1 undo (3 left) | score 0 | 1:01",
        ),
        ({"status": "won", "score": 52}, "freecell 1 | 0 moves | 0 undos | score 52 | 0:00 | won"),
        (
            {"deal": "cards:" + "JD" * 52},
            "freecell cards:JDJDJDJDJDJDJDJDJD... | 0 moves | 0 undos | score 0 | 0:00",
        ),
        ({"ruleset": "of-later"}, "of-later 1 | 0 moves | 0 undos | score 0 | 0:00"),
    ],
)
def test_status_line(changes: dict[str, object], line: str) -> None:
    assert status_line(read(View, record().view() | changes)) == line


@pytest.mark.parametrize(
    ("elapsed_ms", "text", "exact"),
    [
        (0, "0:00", "0:00.000"),
        (59_999, "0:59", "0:59.999"),
        (60_000, "1:00", "1:00.000"),
        (3_599_999, "59:59", "59:59.999"),
        (3_600_000, "1:00:00", "1:00:00.000"),
        (90_061_001, "25:01:01", "25:01:01.001"),
    ],
)
def test_times(elapsed_ms: int, text: str, exact: str) -> None:
    assert (time_text(elapsed_ms), time_text(elapsed_ms, exact=True)) == (text, exact)


def test_what_does_not_print_is_a_question_mark() -> None:
    assert printable("aé♦\x1b[2J\x9b\n\t\x00\u202e\ud800") == "aé♦?[2J??????"


# -- Replays ---------------------------------------------------------------------------------------


def replay(line: str) -> Replay:
    made = record(line=line)
    told = made.figures() | {"home": made.game.cards_home}
    return Replay(
        ReplayHeader("freecell", 1, "1", "safe", None, STARTED),
        tuple(Entry(*entry) for entry in made.entries),
        read(ReplayResult, told),
    )


GOOD = replay("6a 6b undo 1c 1d")


def test_good_replay_holds() -> None:
    checked = check(GOOD)
    assert (checked.broken_at, checked.doubt) == (None, None)
    assert checked.board == board_text(record(line="6a 6b undo 1c 1d").game.position)


def test_replay_of_a_game_without_entries_holds() -> None:
    assert check(replay("")).broken_at is None


def with_entry(at: int, **changes: object) -> Replay:
    entries = list(GOOD.entries)
    entries[at] = replace(entries[at], **changes)  # type: ignore[arg-type]
    return replace(GOOD, entries=tuple(entries))


@pytest.mark.parametrize(
    ("tampered", "broken_at"),
    [
        (with_entry(0, at_ms=1), 1),
        (with_entry(2, action="1a"), 3),
        (with_entry(4, hash="0" * 64), 5),
        (with_entry(4, seq=6), 5),
        (with_entry(1, hash=GOOD.entries[1].hash.upper()), 2),
        (replace(GOOD, entries=GOOD.entries[1:]), 1),
        (replace(GOOD, entries=GOOD.entries[:-1]), 0),
        (replace(GOOD, header=replace(GOOD.header, deal="2")), 1),
        (replace(GOOD, header=replace(GOOD.header, autoplay="off")), 1),
        (replace(GOOD, header=replace(GOOD.header, ruleset_version=2)), 1),
        (replace(GOOD, result=replace(GOOD.result, hash="0" * 64)), 0),
    ],
)
def test_whatever_was_changed_breaks_the_chain(tampered: Replay, broken_at: int) -> None:
    assert check(tampered).broken_at == broken_at


def test_entries_are_numbered_without_a_gap() -> None:
    entries, last = [], first_hash("freecell", 1, "1", "safe")
    for seq, action in ((1, "6a"), (3, "1c")):
        last = next_hash(last, seq, action, 0)
        entries.append(Entry(seq, action, 0, last))
    result = replace(GOOD.result, hash=last)
    assert check(replace(GOOD, entries=tuple(entries), result=result)).broken_at == 2


@pytest.mark.parametrize(
    ("told", "doubt"),
    [
        ({"score": 9}, "the server says score 9, and the moves lead to 0"),
        ({"status": "won"}, "the server says status won, and the moves lead to playing"),
        ({"moves": 9}, "the server says moves 9, and the moves lead to 3"),
        ({"undos": 0}, "the server says undos 0, and the moves lead to 1"),
        ({"home": 1}, "the server says home 1, and the moves lead to 0"),
        ({"seq": 4}, "the server says seq 4, and the moves lead to 5"),
    ],
)
def test_result_that_the_moves_do_not_lead_to_is_doubted(
    told: dict[str, object], doubt: str
) -> None:
    result = replace(GOOD.result, **told)  # type: ignore[arg-type]
    assert check(replace(GOOD, result=result)).doubt == doubt


def test_expired_game_is_the_clocks_doing() -> None:
    assert check(replace(GOOD, result=replace(GOOD.result, status="expired"))).doubt is None


def test_move_against_the_rules_is_named_with_the_board_before_it() -> None:
    checked = check(with_entry(3, action="1a"))
    assert checked.doubt == "entry 4, 1a, is against the rules: cell a holds 3D"
    assert checked.board == board_text(record(line="6a").game.position)


@pytest.mark.parametrize(
    ("header", "doubt"),
    [
        ({"ruleset": "whist"}, "whist 1 is not known to this client"),
        ({"ruleset_version": 2}, "freecell 2 is not known to this client"),
        ({"deal": "x"}, "the game cannot be dealt: 'x' names no deal"),
        ({"autoplay": "x"}, "the game cannot be dealt: 'x' is not a valid Autoplay"),
    ],
)
def test_game_that_cannot_be_replayed_here_is_told(header: dict[str, object], doubt: str) -> None:
    checked = check(replace(GOOD, header=replace(GOOD.header, **header)))  # type: ignore[arg-type]
    assert checked.board is None
    assert checked.doubt is not None
    assert checked.doubt.startswith(doubt)
