"""The client's side of the conversation, on bytes written by hand from docs/protocol.md."""

import ast
from pathlib import Path

import pytest

from client import connection
from client.connection import (
    CLOSINGS,
    Again,
    Answer,
    Complaint,
    Connection,
    Encoding,
    Event,
    Request,
    closing,
)
from client.errors import ServerError, WrongFrame, WrongRequest

PING = b"\x83\xa1t\xa4ping\xa2id\x01\xa1d\x80"
OK = b"\x83\xa1t\xa2ok\xa2re\x01\xa1d\x81\xa4time\x05"


@pytest.fixture
def talk() -> Connection:
    return Connection(Encoding.JSON)


def asked(talk: Connection, *types: str) -> list[Request]:
    return [talk.request(type_, {}) for type_ in types]


# -- Requests --------------------------------------------------------------------------------------


def test_subprotocols_are_those_of_version_1() -> None:
    assert Encoding.MSGPACK.subprotocol == "cellmates.v1.msgpack"
    assert Encoding.JSON.subprotocol == "cellmates.v1.json"


def test_request_is_one_map() -> None:
    assert Connection(Encoding.MSGPACK).request("ping", {}).frame == PING
    assert Connection(Encoding.JSON).request("ping", {}).frame == '{"t":"ping","id":1,"d":{}}'


def test_text_is_utf_8_in_both() -> None:
    assert "é".encode() in Connection(Encoding.MSGPACK).request("x", {"é": 1}).frame
    assert "é" in Connection(Encoding.JSON).request("x", {"é": 1}).frame


def test_hello_says_who_and_what(talk: Connection) -> None:
    assert talk.hello("bot", "0.3", "abc").frame == (
        '{"t":"hello","id":1,"d":{"proto":1,"client":{"name":"bot","version":"0.3"},"token":"abc"}}'
    )


def test_guest_says_no_token_at_all(talk: Connection) -> None:
    frame = talk.hello("bot", "0.3").frame
    assert isinstance(frame, str)
    assert "token" not in frame


def test_each_request_has_its_own_id(talk: Connection) -> None:
    assert [request.id for request in asked(talk, "ping", "ping", "ping")] == [1, 2, 3]


def test_frame_of_4096_bytes_is_sent_and_a_longer_one_is_not(talk: Connection) -> None:
    spare = 4096 - len(Connection(Encoding.JSON).request("x", {"a": ""}).frame)
    talk.request("x", {"a": "é" * (spare // 2)})
    with pytest.raises(WrongRequest, match="4096 may be sent"):
        talk.request("x", {"a": "é" * (spare // 2) + "aa"})
    assert [*talk.unanswered] == [1]


@pytest.mark.parametrize("encoding", Encoding)
@pytest.mark.parametrize("value", ["\ud800", {1, 2}, object()])
def test_what_has_no_form_is_refused(encoding: Encoding, value: object) -> None:
    talk = Connection(encoding)
    if value == "\ud800" and encoding is Encoding.JSON:
        value = float("nan")
    with pytest.raises(WrongRequest):
        talk.request("x", {"a": value})
    assert not talk.unanswered


def test_number_beyond_64_bits_is_refused() -> None:
    with pytest.raises(WrongRequest):
        Connection(Encoding.MSGPACK).request("x", {"a": 2**64})


def test_no_repr_shows_what_was_said() -> None:
    talk = Connection(Encoding.JSON)
    hello = talk.hello("bot", "1", "secret")
    reply = talk.receive('{"t":"ok","re":1,"d":{"token":"secret"}}')
    assert "secret" not in repr(hello) + repr(reply) + repr(talk)


# -- Replies ---------------------------------------------------------------------------------------


def test_reply_goes_to_its_request() -> None:
    talk = Connection(Encoding.MSGPACK)
    request = talk.request("ping", {})
    assert talk.receive(OK) == Answer(request, {"time": 5})
    assert not talk.unanswered


def test_reply_goes_to_its_id_whatever_comes_between(talk: Connection) -> None:
    first, second = asked(talk, "game.move", "ping")
    event = talk.receive('{"t":"game.event","d":{"re":1}}')
    assert event == Event("game.event", {"re": 1})
    assert talk.receive('{"t":"ok","re":2,"d":{}}') == Answer(second, {})
    assert [*talk.unanswered.values()] == [first]
    assert talk.receive('{"t":"ok","re":1,"d":{}}') == Answer(first, {})


def test_error_is_raised_by_the_result(talk: Connection) -> None:
    asked(talk, "game.move")
    answer = talk.receive(
        '{"t":"error","re":1,"d":{"code":"rate-limited","message":"slow down",'
        '"context":{"key":"moves"},"retry_after_ms":250}}'
    )
    assert isinstance(answer, Answer)
    with pytest.raises(ServerError, match="rate-limited: slow down") as raised:
        answer.result()
    error = raised.value
    assert (error.code, error.message, error.retry_after_ms) == ("rate-limited", "slow down", 250)
    assert error.context == {"key": "moves"}


def test_error_needs_only_its_code(talk: Connection) -> None:
    asked(talk, "ping")
    answer = talk.receive('{"t":"error","re":1,"d":{"code":"of-later","context":null}}')
    assert isinstance(answer, Answer)
    assert answer.error is not None
    assert (answer.error.code, answer.error.context) == ("of-later", {})


def test_frame_that_could_not_be_read_is_the_oldest_unanswered(talk: Connection) -> None:
    first, second = asked(talk, "ping", "ping")
    answer = talk.receive('{"t":"error","re":null,"d":{"code":"bad-frame","message":""}}')
    assert isinstance(answer, Answer)
    assert answer.request == first
    assert [*talk.unanswered.values()] == [second]


def test_error_that_answers_nothing_is_a_complaint(talk: Connection) -> None:
    asked(talk, "ping")
    said = talk.receive('{"t":"error","re":null,"d":{"code":"draining","message":""}}')
    assert isinstance(said, Complaint)
    assert said.error.code == "draining"
    assert len(talk.unanswered) == 1


def test_event_of_later_is_an_event_all_the_same(talk: Connection) -> None:
    assert talk.receive('{"t":"new.thing","d":{"a":[1]},"x":0}') == Event("new.thing", {"a": [1]})


# -- Wrong frames ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{",
        "[]",
        "1",
        "null",
        '{"t":1,"d":{}}',
        '{"d":{}}',
        '{"t":"ok","re":1,"d":[]}',
        '{"t":"ok","re":1,"d":null}',
        '{"t":"ok","re":2,"d":{}}',
        '{"t":"ok","re":null,"d":{}}',
        '{"t":"ok","d":{}}',
        '{"t":"ok","re":true,"d":{}}',
        '{"t":"ok","re":1.0,"d":{}}',
        '{"t":"ok","re":"1","d":{}}',
        '{"t":"ok","re":[1],"d":{}}',
        '{"t":"ok","re":1,"d":{"a":NaN}}',
        '{"t":"ok","re":1,"d":{"a":-Infinity}}',
        '{"t":"error","re":1,"d":{}}',
        '{"t":"error","re":1,"d":{"code":1}}',
        '{"t":"error","re":1,"d":{"code":"x","message":1}}',
        '{"t":"error","re":1,"d":{"code":"x","context":[]}}',
        '{"t":"error","re":1,"d":{"code":"x","retry_after_ms":"1"}}',
        '{"t":"error","re":1,"d":{"code":"x","retry_after_ms":-1}}',
        '{"t":"error","re":1,"d":{"code":"x","retry_after_ms":true}}',
        "[" * 60_000,
        b"\x80",
    ],
)
def test_wrong_text_is_told(frame: str | bytes, talk: Connection) -> None:
    asked(talk, "ping")
    with pytest.raises(WrongFrame):
        talk.receive(frame)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        b"\x91\xc0",
        OK + b"\x00",
        OK[:-1],
        b"\x83\xa1t\xa2ok\xa2re\x01\xa1d\x81\xa4time\xd4\x01\x00",  # an extension type
        b"\x83\xa1t\xa2ok\xa2re\x01\xa1d\x81\xa4time\xa1\xff",  # not UTF-8
        b"\x83\xa1t\xa2ok\xa2re\x01\xa1d\x81\x01\x01",  # a key that is no text
        b"\x83\xc4\x01t\xc4\x02ok\xa2re\x01\xa1d\x80",  # binary
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\x91" * 60_000,
        '{"t":"ok","re":1,"d":{}}',
    ],
)
def test_wrong_bytes_are_told(frame: str | bytes) -> None:
    talk = Connection(Encoding.MSGPACK)
    asked(talk, "ping")
    with pytest.raises(WrongFrame):
        talk.receive(frame)


def test_second_answer_is_wrong(talk: Connection) -> None:
    asked(talk, "ping")
    talk.receive('{"t":"ok","re":1,"d":{}}')
    with pytest.raises(WrongFrame, match="or twice"):
        talk.receive('{"t":"ok","re":1,"d":{}}')


# -- Close codes -----------------------------------------------------------------------------------

# docs/protocol.md, section 8; 1005, 1006 and 1014 are the WebSocket's own.
ADVICE = {
    1000: Again.NO,
    1001: Again.AFTER_RETRY,
    1005: Again.BACK_OFF,
    1006: Again.BACK_OFF,
    1009: Again.NO,
    1011: Again.BACK_OFF,
    1012: Again.AFTER_RETRY,
    1013: Again.BACK_OFF,
    1014: Again.BACK_OFF,
    4400: Again.NO,
    4401: Again.NO,
    4406: Again.NO,
    4408: Again.BACK_OFF,
    4429: Again.AFTER_RETRY,
}


def test_close_codes_are_those_of_the_protocol() -> None:
    assert {code: told.again for code, told in CLOSINGS.items()} == ADVICE


@pytest.mark.parametrize("code", [1002, 1003, 1007, 1008, 3000, 4000, 4499])
def test_unknown_close_code_is_not_argued_with(code: int) -> None:
    again, meaning = closing(code)
    assert again is Again.NO
    assert str(code) in meaning


def test_a_stranger_can_write_this_module() -> None:
    source = Path(connection.__file__).read_text(encoding="utf-8")
    names = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                names |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                names.add("." * node.level + (node.module or ""))
    assert names == {
        "json", "msgpack", "collections.abc", "dataclasses", "enum", "types", "typing", ".errors"
    }  # fmt: skip
