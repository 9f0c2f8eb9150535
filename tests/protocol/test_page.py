"""Holds docs/protocol.md to the code: every message, field, code and limit, and every example."""

import json
import re
from collections.abc import Iterable
from typing import Any

import msgpack
import msgspec
import pytest
from msgspec import Struct

from cellmates.engine import RULESETS, Autoplay, Deal, Game, card_text, parse_action
from cellmates.protocol import (
    CLIENT_FRAME_BYTES,
    CONTEXTS,
    EVENTS,
    PROTO,
    REQUESTS,
    SERVER_FRAME_BYTES,
    CloseCode,
    Encoding,
    ErrorCode,
    Refused,
    Request,
    decode_request,
)

from . import page

BODIES = page.bodies()
PROSE = {"Exactly once", "The chain of hashes"}


def table(section: str, *headings: str) -> list[list[str]]:
    """Body of the one table of a section with these headings."""
    [rows] = [rows for rows in page.tables(page.sections()[section]) if rows[0] == list(headings)]
    return rows[1:]


def words(cell: str) -> list[str]:
    """What stands in a cell between backticks."""
    return re.findall("`([^`]+)`", cell)


# -- Messages and fields ---------------------------------------------------------------------------


def test_sections_are_those_of_the_contract() -> None:
    numbered = [title for title in page.sections() if title[0].isdigit()]
    assert [title.split(".")[0] for title in numbered] == [str(n) for n in range(1, 11)]


def test_messages_of_the_page_are_those_of_the_code() -> None:
    titles = [title[1:-1] for title in page.sections() if title.startswith("`")]
    assert titles == [*REQUESTS, *EVENTS]


def test_every_heading_is_a_section_a_message_or_what_messages_are_made_of() -> None:
    titles = {title for title in page.sections() if not title[0].isdigit()}
    assert titles == {*BODIES} | PROSE


@pytest.mark.parametrize("heading", BODIES)
def test_fields_of_the_page_are_those_of_the_code(heading: str) -> None:
    assert page.fields_on_page(heading) == page.fields_of(BODIES[heading])


@pytest.mark.parametrize("heading", BODIES)
def test_every_field_has_its_meaning(heading: str) -> None:
    rows = [row for rows in page.tables(page.sections()[heading]) for row in rows[1:]]
    assert all(row[-1] for row in rows)


@pytest.mark.parametrize("name", REQUESTS)
def test_answer_of_a_request_is_that_of_the_code(name: str) -> None:
    answers = re.findall(
        r"^Answer: \[(\w+)\]\(#(\w+)\)", page.sections()[f"`{name}`"], re.MULTILINE
    )
    reply = page.heading_of(REQUESTS[name].reply)
    assert answers == [(reply, reply.lower())]


def test_links_lead_to_headings() -> None:
    def anchor(title: str) -> str:
        return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")

    anchors = {anchor(title) for title in page.sections()}
    assert {*re.findall(r"\]\(#([^)]+)\)", page.TEXT)} <= anchors


# -- Codes and limits ------------------------------------------------------------------------------


def test_error_codes_and_contexts_are_those_of_the_code() -> None:
    rows = table("Refused", "code", "context", "")
    told = {words(code)[0]: tuple(words(context)) for code, context, _ in rows}
    assert told == {code.value: CONTEXTS.get(code, ()) for code in ErrorCode}
    assert [*told] == [code.value for code in ErrorCode]


def test_close_codes_are_those_of_the_code() -> None:
    rows = table("8. Closing", "code", "meaning", "connect again?")
    assert [(int(code), advice) for code, _, advice in rows] == [
        (code.value, code.reconnect.value) for code in CloseCode
    ]


def test_subprotocols_are_those_of_the_code() -> None:
    rows = table("1. Frames", "subprotocol", "one message is")
    assert [words(name)[0] for name, _ in rows] == [encoding.subprotocol for encoding in Encoding]


def test_sizes_of_frames_are_those_of_the_code() -> None:
    rows = table("1. Frames", "", "bytes")
    assert [int(size) for _, size in rows] == [CLIENT_FRAME_BYTES, SERVER_FRAME_BYTES]


def test_version_of_the_page_is_that_of_the_code() -> None:
    assert page.TEXT.startswith(f"# The wire, version {PROTO}\n")


# -- Examples --------------------------------------------------------------------------------------

ANSWERS = page.answers()
ERRORS = [frame for frame in page.examples() if frame["t"] == "error"]
TOLD = [frame for frame in page.examples() if frame["t"] in EVENTS]


def numbered(frames: Iterable[Any]) -> list[Any]:
    """Frames as parameters, each with its place among them and what it is."""
    return [pytest.param(frame, id=f"{n}-{frame['t']}") for n, frame in enumerate(frames)]


def read(body: type[Struct], d: dict[str, Any]) -> Struct:
    """A body as a class, which must keep every part of it."""
    made = msgspec.convert(d, body)
    assert msgspec.to_builtins(made) == d
    return made


def test_every_example_is_of_a_kind_that_is_checked_below() -> None:
    checked = len(page.requests()) + len(ANSWERS) + len(ERRORS) + len(TOLD)
    assert checked == len(page.examples()) > 0


def test_every_message_has_an_example() -> None:
    assert {frame["t"] for frame in page.requests().values()} == {*REQUESTS}
    assert {name for _, name in ANSWERS} == {*REQUESTS}
    assert {frame["t"] for frame in TOLD} == {*EVENTS}


@pytest.mark.parametrize("frame", numbered(page.requests().values()))
def test_example_of_a_request_is_decoded(frame: dict[str, Any]) -> None:
    body: Any = msgspec.convert(frame.get("d", {}), REQUESTS[frame["t"]].request)
    asked = Request(frame["id"], body)
    assert decode_request(Encoding.JSON, json.dumps(frame)) == asked
    assert decode_request(Encoding.MSGPACK, msgpack.packb(frame)) == asked


@pytest.mark.parametrize("frame", numbered(page.requests().values()))
def test_example_of_a_request_says_nothing_that_is_not_read(frame: dict[str, Any]) -> None:
    known = {field.encode_name for field in msgspec.structs.fields(REQUESTS[frame["t"]].request)}
    assert frame.keys() <= {"t", "id", "d"}
    assert frame.get("d", {}).keys() <= known


@pytest.mark.parametrize("frame", numbered(frame for frame, _ in ANSWERS))
def test_example_of_an_answer_is_of_its_class(frame: dict[str, Any]) -> None:
    assert frame.keys() == {"t", "re", "d"}
    asked = page.requests()[frame["re"]]
    read(REQUESTS[asked["t"]].reply, frame["d"])


@pytest.mark.parametrize("frame", numbered(ERRORS))
def test_example_of_an_error_is_of_its_class(frame: dict[str, Any]) -> None:
    assert frame.keys() == {"t", "re", "d"}
    refused = msgspec.convert(frame["d"], Refused)
    assert refused.context.keys() <= {*CONTEXTS.get(refused.code, ())}
    assert bool(refused.context) == (refused.code in CONTEXTS)
    assert (frame["re"] is None) == (refused.code is ErrorCode.BAD_FRAME)


@pytest.mark.parametrize("frame", numbered(TOLD))
def test_example_of_an_event_is_of_its_class(frame: dict[str, Any]) -> None:
    assert frame.keys() == {"t", "d"}
    read(EVENTS[frame["t"]], frame["d"])


def test_bytes_given_are_the_first_example_in_messagepack() -> None:
    [given] = re.findall(r"^```\n([0-9a-f \n]+)^```$", page.TEXT, re.MULTILINE)
    assert msgpack.unpackb(bytes.fromhex(given)) == page.examples()[0]
    assert "In MessagePack the first frame of section 2 is these bytes" in " ".join(
        page.TEXT.split()
    )


# -- The game of the examples ----------------------------------------------------------------------

[REPLAYED] = [frame["d"] for frame, name in ANSWERS if name == "replay.get"]
[GAME] = [
    page.requests()[frame["re"]]["d"]["game"] for frame, name in ANSWERS if name == "replay.get"
]
MOVED = [
    frame["d"]
    for frame, name in ANSWERS
    if name in ("game.move", "game.undo", "game.resign")
    and page.requests()[frame["re"]]["d"]["game"] == GAME
]


def views(told: object) -> list[dict[str, Any]]:
    """Views of the game anywhere in an example."""
    if not isinstance(told, dict):
        return []
    if "columns" in told:
        return [told] if told["game"] == GAME else []
    return [view for value in told.values() for view in views(value)]


VIEWS = [view for frame in page.examples() for view in views(frame)]


def played(seq: int) -> Game:
    header = REPLAYED["header"]
    ruleset = RULESETS[header["ruleset"]]
    actions = [parse_action(action) for _, action, _, _ in REPLAYED["entries"][:seq]]
    deal = Deal.parse(ruleset, header["deal"])
    return Game.replay(ruleset, deal, Autoplay(header["autoplay"]), actions)


def chain() -> list[str]:
    """Hashes of the game by the page's own program, that of the start first."""
    [program] = re.findall(r"^```python\n(.*?)^```$", page.TEXT, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    hashes = [names["start"]]
    for seq, action, at_ms, _ in REPLAYED["entries"]:
        hashes.append(names["next_hash"](hashes[-1], seq, action, at_ms))
    return hashes


def test_program_of_the_page_starts_from_the_game_of_the_examples() -> None:
    header = REPLAYED["header"]
    named = [str(header[name]) for name in ("ruleset", "ruleset_version", "deal", "autoplay")]
    assert json.dumps(["cellmates/1", *named]) in page.TEXT


def test_hashes_of_the_page_are_those_of_its_own_program() -> None:
    rows = table("The chain of hashes", "", "hash")
    assert [words(hash_)[0] for _, hash_ in rows] == chain()
    said = [" ".join(map(str, entry[:3])) for entry in REPLAYED["entries"]]
    assert [words(entry)[0] for entry, _ in rows[1:]] == said
    assert [entry[3] for entry in REPLAYED["entries"]] == chain()[1:]


def test_result_of_the_replay_is_that_of_the_game() -> None:
    result, last = REPLAYED["result"], REPLAYED["entries"][-1]
    game = played(result["seq"])
    assert [result["seq"], result["elapsed_ms"], result["hash"]] == [last[0], *last[2:]]
    assert (result["status"], result["score"]) == (game.status, game.score)
    assert (result["home"], result["moves"]) == (game.cards_home, game.moves)
    assert result["undos"] == game.undos


def test_there_are_views_and_answers_of_the_game() -> None:
    assert {view["seq"] for view in VIEWS} > {0}
    assert {moved["seq"] for moved in MOVED} == {1, 2, 4}


@pytest.mark.parametrize("view", [pytest.param(view, id=str(n)) for n, view in enumerate(VIEWS)])
def test_view_in_an_example_is_true(view: dict[str, Any]) -> None:
    game = played(view["seq"])
    assert view["hash"] == chain()[game.seq]
    assert view["columns"] == [[*map(card_text, pile)] for pile in game.position.columns]
    assert view["cells"] == [card_text(pile[0]) if pile else None for pile in game.position.cells]
    assert [view["home"][suit] for suit in "CDHS"] == [*game.position.home]
    assert (view["score"], view["moves"], view["undos"]) == (game.score, game.moves, game.undos)
    assert (view["undo_left"], view["stuck"]) == (game.undo_left, game.is_stuck)
    assert view["status"] == game.status
    told = view.get("entries", [])
    assert told == REPLAYED["entries"][view["seq"] - len(told) : view["seq"]]


@pytest.mark.parametrize("moved", [pytest.param(moved, id=str(n)) for n, moved in enumerate(MOVED)])
def test_answer_to_an_action_in_an_example_is_true(moved: dict[str, Any]) -> None:
    game = played(moved["seq"])
    entry = [moved[name] for name in ("seq", "move", "elapsed_ms", "hash")]
    assert entry == REPLAYED["entries"][moved["seq"] - 1]
    assert moved["auto"] == [str(move) for move in game.auto]
    assert (moved["score"], moved["moves"], moved["undos"]) == (game.score, game.moves, game.undos)
    assert (moved["status"], moved["stuck"]) == (game.status, game.is_stuck)
    assert ("view" in moved) == (moved["move"] == "undo")
