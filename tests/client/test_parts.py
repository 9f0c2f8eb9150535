"""The small parts of the client: what needs no server and no terminal."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from cellmates.engine import RULESETS, Deal, Game, LegalMoves, Reason
from cellmates.protocol import CloseCode, ErrorCode
from client.address import BadAddress, websocket_url
from client.board import OutOfStep, carried
from client.connection import CLOSINGS
from client.errors import CannotConnect, Conflict, NoAnswer, ServerError, WrongFrame
from client.pace import BackOff, Pace
from client.results import Entry, PlayerCreated, View
from client.sentences import CODES, REASONS, sentence
from client.shape import read
from client.typed import HELP, Make, NotUnderstood, Tap, Word, parse_line

from .record import Record

# -- What the server knows is known here too -------------------------------------------------------


def test_every_close_code_of_the_server_has_its_advice() -> None:
    assert {int(code) for code in CloseCode} <= set(CLOSINGS)


def test_every_error_of_the_server_has_its_sentence() -> None:
    assert {str(code) for code in ErrorCode} <= set(CODES) | {"illegal-move"}


def test_every_reason_of_the_engine_has_its_sentence() -> None:
    assert {str(reason) for reason in Reason} == set(REASONS)


# -- Addresses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("ws://127.0.0.1:8410/ws", "ws://127.0.0.1:8410/ws"),
        ("wss://Example.org", "wss://example.org/ws"),
        ("http://127.0.0.1:8410", "ws://127.0.0.1:8410/ws"),
        ("https://example.org/", "wss://example.org/ws"),
        ("https://example.org/cards/ws", "wss://example.org/cards/ws"),
        ("localhost:8410", "ws://localhost:8410/ws"),
        ("[::1]:8410", "ws://[::1]:8410/ws"),
    ],
)
def test_address_may_be_written_in_many_ways(text: str, url: str) -> None:
    assert websocket_url(text) == url
    assert websocket_url(url) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ws://",
        "ftp://example.org",
        "ws://example.org:x/ws",
        "ws://example.org:0/ws",
        "ws://example.org:99999",
        "ws://[::1",
        "https://ann:secret@example.org",
        "https://example.org/ws?token=secret",
        "https://example.org/ws#secret",
        "ws://exa\x1b[2Jmple.org",
    ],
)
def test_what_is_no_address_is_told_and_not_repeated(text: str) -> None:
    with pytest.raises(BadAddress, match="write one like") as raised:
        websocket_url(text)
    assert "secret" not in str(raised.value)


# -- Waiting ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "chance", "retry_after_ms", "wait_s"),
    [
        (0, 1.0, None, 0.25),
        (1, 1.0, None, 0.5),
        (3, 0.5, None, 1.0),
        (3, 0.0, None, 0.0),
        (9, 1.0, None, 10.0),
        (10_000, 1.0, None, 10.0),
        (0, 0.0, 1500, 1.5),
        (1, 0.5, 1500, 1.75),
    ],
)
def test_back_off_is_exponential_with_full_jitter(
    failures: int, chance: float, retry_after_ms: int | None, wait_s: float
) -> None:
    assert BackOff().wait_s(failures, chance, retry_after_ms) == wait_s


def test_pace_lets_a_burst_through_and_then_so_many_a_second() -> None:
    pace = Pace(burst=3, per_s=10)
    assert [round(pace.wait_s(100.0), 3) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    assert pace.wait_s(200.0) == 0


def test_pace_is_kept_over_any_stretch_of_time() -> None:
    pace, now, sent = Pace(burst=4, per_s=20), 0.0, []
    chance = random.Random(1)
    for _ in range(300):
        now += chance.random() / 30
        sent.append(now + pace.wait_s(now))
    for begin in range(len(sent)):
        for end in range(begin, len(sent)):
            assert end - begin + 1 <= 4 + 20 * (sent[end] - sent[begin]) + 1e-6


def test_no_limit_is_no_wait() -> None:
    pace = Pace(burst=0, per_s=0)
    assert [pace.wait_s(1.0) for _ in range(3)] == [0, 0, 0]


# -- Shapes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thing:
    number: int
    text: str | None
    many: tuple[Entry, ...]
    by_name: Mapping[str, int]
    flag: bool = False
    anything: object = None


GOOD = {"number": 1, "text": None, "many": [[1, "3a", 5, "ff"]], "by_name": {"C": 2}}


def test_map_is_read_with_all_that_is_in_it() -> None:
    thing = read(Thing, GOOD | {"anything": [{}], "later": 1})
    assert thing == Thing(1, None, (Entry(1, "3a", 5, "ff"),), {"C": 2}, anything=[{}])


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"number": "1"}, "Thing.number"),
        ({"number": True}, "Thing.number"),
        ({"number": 1.0}, "Thing.number"),
        ({"number": None}, "Thing.number"),
        ({"text": 1}, "Thing.text"),
        ({"many": None}, "Thing.many"),
        ({"many": [[1, "3a", 5]]}, "Thing.many.hash"),
        ({"many": ["3a"]}, "Thing.many"),
        ({"by_name": []}, "Thing.by_name"),
        ({"by_name": {"C": None}}, "Thing.by_name.C"),
        ({"flag": 1}, "Thing.flag"),
    ],
)
def test_field_of_the_wrong_kind_is_named(wrong: dict[str, object], where: str) -> None:
    with pytest.raises(WrongFrame, match=f"^{where} from the server"):
        read(Thing, GOOD | wrong)


def test_missing_field_is_named() -> None:
    with pytest.raises(WrongFrame, match=r"^Thing\.by_name from the server is missing"):
        read(Thing, {name: value for name, value in GOOD.items() if name != "by_name"})


def test_no_repr_shows_a_token() -> None:
    created = {"player": {"id": "p", "handle": "ann", "kind": "bot"}, "token": "secret"}
    assert "secret" not in repr(read(PlayerCreated, created))


# -- Boards ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ruleset", RULESETS)
def test_cards_are_carried_as_the_engine_carries_them(ruleset: str) -> None:
    chance = random.Random(ruleset)
    for number in range(1, 13):
        record = Record("g", "p", Game.start(RULESETS[ruleset], Deal.numbered(number)), "")
        for _ in range(60):
            moves = [*LegalMoves(record.game.ruleset, record.game.position)]
            if not moves or record.game.status != "playing":
                break
            before = read(View, record.view())
            # Groups and moves home are rare among all moves.
            moves += [move for move in moves if move.count or move.destination == 20] * 5
            record.act(chance.choice(moves))
            moved, after = record.moved(), read(View, record.view())
            board = carried(before, (moved["move"], *moved["auto"]))
            assert board == (after.columns, after.cells, after.home)


@pytest.mark.parametrize("move", ["a1", "C1", "9h", "1k", "21", "21v3", "xx", "", "1"])
def test_move_that_does_not_fit_the_board_is_told(move: str) -> None:
    record = Record("g", "p", Game.start(RULESETS["freecell"], Deal.numbered(1)), "")
    with pytest.raises(OutOfStep):
        carried(read(View, record.view()), [move])


def test_group_goes_into_an_empty_column_as_counted() -> None:
    record = Record("g", "p", Game.start(RULESETS["freecell"], Deal.numbered(1)), "")
    view = read(View, record.view() | {"columns": [["JS"], ["8S", "7H", "6S"], []]})
    assert carried(view, ["23v2"]).columns == (("JS",), ("8S",), ("7H", "6S"))
    assert carried(view, ["13", "31"]).columns == (("JS",), ("8S", "7H", "6S"), ())


# -- Sentences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            ServerError("illegal-move", "", {"reason": "group-too-long", "limit": 2, "length": 3}),
            "That is 3 cards, and only 2 may move together now.",
        ),
        (ServerError("illegal-move", "no", {"reason": "group-too-long", "limit": None}), "No."),
        (ServerError("illegal-move", "of later", {"reason": "of-later"}), "Of later."),
        (ServerError("illegal-move", "", {"reason": "cell-full"}), "That cell is full."),
        (ServerError("game-over", "", {"status": "won"}), "The game is over: it was won."),
        (ServerError("bad-request", "no", {}), "No."),
        (ServerError("of-later"), "Of-later."),
        (Conflict("2 was not next", 1, None), "2 was not next."),
        (
            Conflict("x", 1, "6a"),
            "Another of your connections moved first; this is how the game stands now.",
        ),
        (NoAnswer("no answer within 30 s"), "No answer within 30 s."),
    ],
)
def test_refusal_is_said_in_words(error: ServerError, said: str) -> None:
    assert sentence(error) == said


def test_no_server_is_said_with_what_to_do() -> None:
    assert sentence(CannotConnect("there is no server at x")) == (
        "there is no server at x\nstart one with 'make serve', or name another with --server"
    )


# -- What is typed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("", []),
        ("  \t", []),
        ("3a", [Make("3a")]),
        ("26v3 S5 undo", [Make("26v3"), Make("S5"), Word.UNDO]),
        ("t 3", [Tap("3", 1, 0)]),
        ("tt a", [Tap("a", 2, 0)]),
        ("t 3 2", [Tap("3", 1, 2)]),
        ("q", [Word.QUIT]),
        ("exit", [Word.QUIT]),
        ("?", [Word.HELP]),
        *[(str(word), [word]) for word in Word],
    ],
)
def test_line_is_understood(line: str, typed: list[object]) -> None:
    assert parse_line(line) == typed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("hlep", "'hlep' is not a move"),
        ("3a xx", "'xx' is not a move"),
        ("3a t 3", "'t' is not a move"),
        ("t", "a tap is a place"),
        ("t 3 x", "a tap is a place"),
        ("t 3 ²", "a tap is a place"),
        ("t 3 -1", "a tap is a place"),
        ("t 3 999999999999999999", "a tap is a place"),
        ("t 3 1 1", "a tap is a place"),
        ("t 9", "'9' is not a place"),
        ("t 33", "'33' is not a place"),
        ("UNDO", "'UNDO' is not a move"),
    ],
)
def test_line_that_says_nothing_is_told(line: str, said: str) -> None:
    with pytest.raises(NotUnderstood, match=said):
        parse_line(line)


def test_tap_is_written_as_it_was_typed() -> None:
    for text in ("t 3", "tt a", "t 3 2"):
        [tap] = parse_line(text)
        assert str(tap) == text


def test_every_word_is_in_the_help() -> None:
    explained = {line.split()[0] for line in HELP.splitlines()[1:]}
    assert {str(word) for word in Word} - {"help"} <= explained
