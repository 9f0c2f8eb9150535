"""What a peer sends becomes a typed message or a refusal, and nothing else."""

import json
from typing import Any

import msgpack
import msgspec
import pytest

from cellmates.protocol import (
    LAST_INTEGER,
    REQUESTS,
    BoardGet,
    Encoding,
    ErrorCode,
    GameMove,
    GamesMine,
    GameTap,
    Ping,
    PlayerDelete,
    Request,
    decode_request,
)

from .frames import (
    JSON,
    MESSAGES,
    MSGPACK,
    both,
    is_refused,
    listed,
    packed,
    pairs,
    refusal,
    request,
    text,
    written,
)

BAD_REQUEST, UNKNOWN_TYPE = ErrorCode.BAD_REQUEST, ErrorCode.UNKNOWN_TYPE


# -- What is read ----------------------------------------------------------------------------------


def test_there_is_a_message_of_every_kind_to_try() -> None:
    assert MESSAGES.keys() == REQUESTS.keys()


@both
@pytest.mark.parametrize("t", MESSAGES)
def test_message_is_read_whole(encoding: Encoding, t: str) -> None:
    asked = decode_request(encoding, written(encoding, request(t, 7, **MESSAGES[t])))
    assert (asked.id, type(asked.body)) == (7, REQUESTS[t].request)
    assert MESSAGES[t].items() <= msgspec.to_builtins(asked.body).items()


@both
def test_hand_written_move_is_read(encoding: Encoding) -> None:
    frames = {
        JSON: b'{"t":"game.move","id":17,"d":{"game":"g","seq":41,"move":"26v3"}}',
        MSGPACK: b"\x83\xa1t\xa9game.move\xa2id\x11\xa1d"
        b"\x83\xa4game\xa1g\xa3seq\x29\xa4move\xa426v3",
    }
    assert decode_request(encoding, frames[encoding]) == Request(17, GameMove("g", 41, "26v3"))


def test_json_is_read_from_text_and_from_bytes() -> None:
    frame = '{"t": "player.delete", "id": 0, "d": {"confirm": "Zoë 🃏"}}'
    expected = Request(0, PlayerDelete("Zoë 🃏"))
    assert decode_request(JSON, frame) == decode_request(JSON, frame.encode()) == expected


@both
def test_order_of_keys_does_not_matter(encoding: Encoding) -> None:
    turned = {"d": {"move": "3a", "seq": 1, "game": "g"}, "id": 2, "t": "game.move"}
    asked = decode_request(encoding, written(encoding, turned))
    assert asked == Request(2, GameMove("g", 1, "3a"))


@both
@pytest.mark.parametrize("t", ["ping", "player.token", "games.mine", "daily.list"])
def test_d_may_be_missing_where_all_in_it_may(encoding: Encoding, t: str) -> None:
    asked = decode_request(encoding, written(encoding, {"t": t, "id": 1}))
    assert asked == Request(1, REQUESTS[t].request())  # type: ignore[arg-type]


@both
def test_field_that_may_be_null_is_then_as_if_left_out(encoding: Encoding) -> None:
    told = request("games.mine", 1, status=None, cursor=None, limit=None)
    assert decode_request(encoding, written(encoding, told)) == Request(1, GamesMine())


@both
def test_tap_is_one_on_the_open_card_where_nothing_else_is_said(encoding: Encoding) -> None:
    told = request("game.tap", 1, **{"game": "g", "from": "6"})
    expected = Request(1, GameTap("g", "6", depth=0, taps=1))
    assert decode_request(encoding, written(encoding, told)) == expected


@both
@pytest.mark.parametrize("number", [0, 1, 255, 256, 2**31, 2**32, LAST_INTEGER])
def test_number_may_be_any_unsigned_integer_up_to_2_53(encoding: Encoding, number: int) -> None:
    asked = decode_request(encoding, written(encoding, request("ping", number)))
    assert asked == Request(number, Ping())


@pytest.mark.parametrize(
    "size", ["cc 07", "cd 0007", "ce 00000007", "cf 0000000000000007", "d0 07"]
)
def test_integer_may_be_longer_than_it_needs_to_be(size: str) -> None:
    assert decode_request(MSGPACK, packed("ping", number=bytes.fromhex(size))).id == 7


@both
def test_deal_named_by_its_cards_fits(encoding: Encoding) -> None:
    deal = "cards:" + "TD" * 52
    told = request("game.start", 1, ruleset="freecell", deal=deal)
    asked = decode_request(encoding, written(encoding, told))
    assert msgspec.to_builtins(asked.body)["deal"] == deal


# -- Requests that are refused ---------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    "t",
    listed(["", "no.such", "ok", "error", "game.event", "GAME.MOVE", "ping\0", "é", "x" * 9999]),
)
def test_unknown_name_is_an_unknown_type(encoding: Encoding, t: str) -> None:
    assert is_refused(encoding, written(encoding, request(t, 7, game=1)), UNKNOWN_TYPE)
    assert is_refused(encoding, written(encoding, {"t": t, "id": 7}), UNKNOWN_TYPE)


@both
@pytest.mark.parametrize("t", listed([None, 1, 1.5, True, [], {}, ["ping"]]))
def test_name_that_is_no_text_is_a_bad_request(encoding: Encoding, t: object) -> None:
    assert is_refused(encoding, written(encoding, request(t)), BAD_REQUEST, "t")


@both
def test_missing_name_is_a_bad_request(encoding: Encoding) -> None:
    assert is_refused(encoding, written(encoding, {"id": 7, "d": {}}), BAD_REQUEST, "t")


@pytest.mark.parametrize("t", listed([b"\xc4\x04ping", b"\xd4\x01p", b"\xd6\xff\x00\x00\x00\x00"]))
def test_name_that_is_binary_or_an_extension_is_a_bad_request(t: bytes) -> None:
    assert is_refused(MSGPACK, pairs((text("t"), t), (text("id"), b"\x07")), BAD_REQUEST, "t")


def test_two_names_are_a_bad_request() -> None:
    for frame in ('{"t":"ping","t":"hello","id":7}', '{"t":"no.such","t":"ping","id":7}'):
        assert is_refused(JSON, frame, BAD_REQUEST, "t")


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("game.move", {"seq": 1, "move": "3a"}, "d.game", "is missing"),
    ("game.move", {"game": "g", "move": "3a"}, "d.seq", "is missing"),
    ("hello", {"proto": 1}, "d.client", "is missing"),
    ("hello", {"proto": 1, "client": {"name": "b"}}, "d.client.version", "is missing"),
    ("hello", {"proto": 1, "client": "b"}, "d.client", "expected object, got str"),
    ("hello", {"proto": "1", "client": {}}, "d.proto", "expected int, got str"),
    ("game.move", {"game": "g", "seq": "1"}, "d.seq", "expected int, got str"),
    ("game.move", {"game": "g", "seq": 1.0}, "d.seq", "expected int, got float"),
    ("game.move", {"game": "g", "seq": True}, "d.seq", "expected int, got bool"),
    ("game.move", {"game": "g", "seq": None}, "d.seq", "expected int, got null"),
    ("game.move", {"game": "g", "seq": -1}, "d.seq", "expected int >= 0"),
    ("game.move", {"game": "g", "seq": 2**53 + 1}, "d.seq", "expected int <= 9007199254740992"),
    ("game.move", {"game": "g", "seq": 2**63}, "d.seq", "expected int <= 9007199254740992"),
    ("game.move", {"game": "g", "seq": 2**64 - 1}, "d.seq", "expected int <= 9007199254740992"),
    ("game.move", {"game": "g", "seq": -(2**63)}, "d.seq", "expected int >= 0"),
    ("hello", {"proto": 2**53 + 1, "client": {}}, "d.proto", "expected int <= 9007199254740992"),
    ("hello", {"proto": -(2**53) - 1}, "d.proto", "expected int >= -9007199254740992"),
    ("game.move", {"game": 5}, "d.game", "expected str, got int"),
    ("game.move", {"game": []}, "d.game", "expected str, got array"),
    ("game.move", {"game": {}}, "d.game", "expected str, got object"),
    ("game.hint", {"game": "g" * 65}, "d.game", "expected str of length <= 64"),
    ("game.hint", {"game": "g" * 100_000}, "d.game", "expected str of length <= 64"),
    ("game.move", {"game": "g", "seq": 1, "move": "3" * 21}, "d.move",
     "expected str of length <= 20"),
    ("game.tap", {"game": "g", "from": "3" * 21}, "d.from", "expected str of length <= 20"),
    ("game.start", {"ruleset": "f", "deal": "x" * 129}, "d.deal", "expected str of length <= 128"),
    ("game.start", {"ruleset": "f", "deal": 617}, "d.deal", "expected str | null, got int"),
    ("game.start", {"ruleset": "f", "autoplay": "on"}, "d.autoplay", "expected one of: safe, off"),
    ("hello", {"proto": 1, "client": {"name": "b" * 101}}, "d.client.name",
     "expected str of length <= 100"),
    ("hello", {"proto": 1, "client": {"name": "", "version": ""}, "token": "t" * 129}, "d.token",
     "expected str of length <= 128"),
    ("replay.get", {"game": "g", "cursor": "c" * 257}, "d.cursor", "expected str of length <= 256"),
    ("player.create", {"handle": "Ada", "kind": "cat"}, "d.kind", "expected one of: human, bot"),
    ("player.create", {"handle": "Ada", "kind": 1}, "d.kind", "expected str, got int"),
    ("game.tap", {"game": "g", "from": "1", "taps": 3}, "d.taps", "expected one of: 1, 2"),
    ("game.tap", {"game": "g", "from": "1", "taps": True}, "d.taps", "expected int, got bool"),
    ("game.tap", {"game": "g", "from": "1", "depth": None}, "d.depth", "expected int, got null"),
    ("games.mine", {"limit": 0}, "d.limit", "expected int >= 1"),
    ("games.mine", {"limit": 101}, "d.limit", "expected int <= 100"),
    ("board.get", {"challenge": "c", "board": "first", "kind": "bot", "around": "you"}, "d.around",
     "expected one of: me"),
    ("board.get", {"challenge": "c", "board": "first", "kind": "bot", "around": "me",
     "cursor": "c"}, "d", "cursor and around exclude each other"),
]  # fmt: skip


@both
@pytest.mark.parametrize(
    ("t", "d", "field", "why"), WRONG, ids=[f"{n}-{wrong[2]}" for n, wrong in enumerate(WRONG)]
)
def test_wrong_field_is_a_bad_request_that_names_it(
    encoding: Encoding, t: str, d: dict[str, Any], field: str, why: str
) -> None:
    error = refusal(encoding, written(encoding, {"t": t, "id": 7, "d": d}))
    assert (error.code, error.re) == (BAD_REQUEST, 7)
    assert error.context == {"field": field, "why": why}
    assert error.message == f"{field}: {why}"


@both
@pytest.mark.parametrize(
    "date", ["", "2026-1-1", "2026-12-01\n", "٢٠٢٦-12-01", "2026-12-011", "today"]
)
def test_date_of_another_form_is_a_bad_request(encoding: Encoding, date: str) -> None:
    told = request("daily.list", 7, date=date)
    assert is_refused(encoding, written(encoding, told), BAD_REQUEST, "d.date")


@both
@pytest.mark.parametrize("d", listed([None, 1, "x", [], [1], True]))
@pytest.mark.parametrize("t", ["ping", "game.move"])
def test_d_that_is_no_map_is_a_bad_request(encoding: Encoding, t: str, d: object) -> None:
    assert is_refused(encoding, written(encoding, {"t": t, "id": 7, "d": d}), BAD_REQUEST, "d")


@both
@pytest.mark.parametrize(
    "t", [t for t in MESSAGES if t not in ("ping", "player.token", "games.mine", "daily.list")]
)
def test_missing_d_is_a_bad_request(encoding: Encoding, t: str) -> None:
    assert is_refused(encoding, written(encoding, {"t": t, "id": 7}), BAD_REQUEST, "d")


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (b"\xc4\x01g", "expected str, got bytes"),
        (b"\xc7\x01\x05g", "expected str, got ext"),
        (b"\xd6\xff\x00\x00\x00\x00", "expected str, got ext"),
        (b"\xca\x7f\xc0\x00\x00", "expected str, got float"),
        (b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00", "expected str, got float"),
        (b"\xcf" + b"\xff" * 8, "expected str, got int"),
    ],
    ids=lambda part: part.hex() if isinstance(part, bytes) else None,
)
def test_what_messagepack_should_not_hold_is_a_bad_request_in_a_field(
    game: bytes, why: str
) -> None:
    error = refusal(MSGPACK, packed("game.hint", (text("d"), pairs((text("game"), game)))))
    assert (error.re, error.context) == (7, {"field": "d.game", "why": why})


def test_key_that_is_no_text_is_a_bad_request_inside_of_d() -> None:
    error = refusal(MSGPACK, packed("game.hint", (text("d"), pairs((b"\x05", b"\x05")))))
    assert (error.re, error.context) == (7, {"field": "d", "why": "a key: expected str, got int"})


@pytest.mark.parametrize(
    "digits", listed(["9" * 5000, "-" + "9" * 5000, "1e400", "9" * 5000 + ".5"])
)
def test_number_out_of_all_ranges_is_a_bad_request(digits: str) -> None:
    frame = '{"t":"game.undo","id":7,"d":{"game":"g","seq":' + digits + "}}"
    assert is_refused(JSON, frame, BAD_REQUEST, "d.seq")


# -- NUL -------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("t", "d", "field"),
    [
        ("game.hint", {"game": "\0"}, "d.game"),
        ("game.tap", {"game": "g", "from": "6\0"}, "d.from"),
        ("player.create", {"handle": "Ada\0", "kind": "bot"}, "d.handle"),
        ("hello", {"proto": 1, "client": {"name": "b", "version": "1\0"}}, "d.client.version"),
        ("hello", {"proto": 1, "client": {"name": "b", "version": "1"}, "token": "\0"}, "d.token"),
    ],
)
def test_nul_in_a_text_is_a_bad_request(
    encoding: Encoding, t: str, d: dict[str, Any], field: str
) -> None:
    assert is_refused(encoding, written(encoding, {"t": t, "id": 7, "d": d}), BAD_REQUEST, field)


def test_zero_is_no_nul() -> None:
    told = request("game.open", 256, game="g", since=0)
    assert decode_request(MSGPACK, msgpack.packb(told)).id == 256


def test_escapes_in_json_that_are_no_nul_are_read() -> None:
    frame = r'{"t":"player.delete","id":1,"d":{"confirm":"\u00410\n\\u0000"}}'
    assert decode_request(JSON, frame) == Request(1, PlayerDelete("A0\n\\u0000"))


# -- Keys twice ------------------------------------------------------------------------------------


def test_of_two_equal_keys_the_last_counts() -> None:
    frame = '{"t":"game.hint","id":1,"id":7,"d":{"game":1},"d":{"game":"a","game":"b"}}'
    assert is_refused(JSON, frame, BAD_REQUEST, "d.game")
    frame = frame.replace('{"game":1}', '{"game":"x"}')
    asked = decode_request(JSON, frame)
    assert (asked.id, msgspec.to_builtins(asked.body)) == (7, {"game": "b"})
    hint = packed(
        "game.hint",
        (text("id"), b"\x08"),
        (text("d"), pairs((text("game"), text("a")), (text("game"), text("b")))),
    )
    asked = decode_request(MSGPACK, hint)
    assert (asked.id, msgspec.to_builtins(asked.body)) == (8, {"game": "b"})


# -- Nothing is told back --------------------------------------------------------------------------

SECRET = "tell-nobody"


@both
@pytest.mark.parametrize(
    "told",
    listed(
        [
            request(SECRET),
            request("hello", 7, token=SECRET, proto=1),
            request("hello", 7, proto=SECRET),
            request("player.create", 7, handle="h", kind=SECRET),
            request("player.create", 7, handle="h", kind=f"` - at `$.{SECRET}`"),
            request("game.hint", 7, game=SECRET * 100),
            request("game.hint", 7, game={SECRET: SECRET}),
            request("daily.list", 7, date=SECRET),
            request("ping", SECRET),
            {"t": "ping", "id": 7, "d": [SECRET]},
        ]
    ),
)
def test_refusal_quotes_nothing_of_what_was_sent(encoding: Encoding, told: object) -> None:
    error = refusal(encoding, written(encoding, told))
    assert SECRET not in f"{error} {error!r} {error.message} {error.context}"
    assert error.__suppress_context__


def test_reason_is_found_behind_a_word_that_looks_like_one() -> None:
    sent = "x' - at `$.d.handle`\n - at `key` in `$.t`"
    error = refusal(JSON, json.dumps(request("player.create", 7, handle="h", kind=sent)))
    assert error.context == {"field": "d.kind", "why": "expected one of: human, bot"}


def test_board_is_asked_for_by_cursor_or_around_oneself() -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        BoardGet("c", "first", "bot", cursor="c", around="me")
