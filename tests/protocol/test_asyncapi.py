"""Holds docs/asyncapi.json to the code and to docs/protocol.md."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cellmates.protocol import (
    CONTEXTS,
    EVENTS,
    PROTO,
    REQUESTS,
    CloseCode,
    ErrorCode,
    Refused,
    asyncapi,
    asyncapi_text,
)

from . import page
from .write_asyncapi import FILE

DOCUMENT = json.loads(FILE.read_bytes())
CHANNEL = DOCUMENT["channels"]["wire"]
MESSAGES = DOCUMENT["components"]["messages"]
SCHEMAS = DOCUMENT["components"]["schemas"]
BODIES = {body.__name__: heading for heading, body in page.bodies().items()}


def test_file_is_what_the_code_says() -> None:
    anew = "make it anew: python -m tests.protocol.write_asyncapi"
    assert FILE.read_bytes() == asyncapi_text(), anew
    assert asyncapi() == DOCUMENT


def test_document_is_of_asyncapi_3_and_of_this_protocol() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert DOCUMENT["info"]["version"] == str(PROTO)
    assert CHANNEL["address"] == "/ws"


def references(part: Any) -> Iterator[str]:  # noqa: ANN401 - JSON as it is
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


@pytest.mark.parametrize("reference", sorted({*references(DOCUMENT)}))
def test_reference_leads_somewhere(reference: str) -> None:
    found = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    assert found


def test_nothing_is_in_the_document_that_nothing_refers_to() -> None:
    used = {*references(DOCUMENT)}
    assert {f"#/components/messages/{name}" for name in MESSAGES} <= used
    assert {f"#/components/schemas/{name}" for name in SCHEMAS} <= used


def test_messages_are_those_of_the_code() -> None:
    answers = [f"{name}.ok" for name in REQUESTS]
    assert {*MESSAGES} == {*REQUESTS, *answers, "error", *EVENTS}
    assert {*CHANNEL["messages"]} == {*MESSAGES}


def body_of(name: str) -> str:
    """Class of a message's ``d``."""
    reference: str = MESSAGES[name]["payload"]["properties"]["d"]["$ref"]
    return reference.rpartition("/")[2]


@pytest.mark.parametrize("name", REQUESTS)
def test_request_and_its_answers_are_those_of_the_code(name: str) -> None:
    operation = DOCUMENT["operations"][name]
    assert operation["action"] == "receive"
    assert operation["messages"] == [{"$ref": f"#/channels/wire/messages/{name}"}]
    assert operation["reply"]["messages"] == [
        {"$ref": f"#/channels/wire/messages/{answer}"} for answer in (f"{name}.ok", "error")
    ]
    assert body_of(name) == REQUESTS[name].request.__name__
    assert body_of(f"{name}.ok") == REQUESTS[name].reply.__name__


@pytest.mark.parametrize("name", EVENTS)
def test_event_is_that_of_the_code(name: str) -> None:
    assert DOCUMENT["operations"][name]["action"] == "send"
    assert body_of(name) == EVENTS[name].__name__


def test_there_are_no_other_operations() -> None:
    assert {*DOCUMENT["operations"]} == {*REQUESTS, *EVENTS}


@pytest.mark.parametrize("name", MESSAGES)
def test_envelope_is_that_of_the_page(name: str) -> None:
    payload = MESSAGES[name]["payload"]
    t = "ok" if name.endswith(".ok") else name
    assert payload["properties"]["t"] == {"const": t}
    may_be_empty = name in REQUESTS and not SCHEMAS[body_of(name)]["required"]
    number = ["id"] if name in REQUESTS else [] if name in EVENTS else ["re"]
    assert [*payload["properties"]] == ["t", *number, "d"]
    assert payload["required"] == ["t", *number, *([] if may_be_empty else ["d"])]


@pytest.mark.parametrize("name", BODIES)
def test_fields_are_those_of_the_page(name: str) -> None:
    rows = page.fields_on_page(BODIES[name])
    schema = SCHEMAS[name]
    if schema["type"] == "array":
        assert (schema["minItems"], len(schema["items"])) == (len(rows), len(rows))
    else:
        assert [*schema["properties"]] == [row.name for row in rows]
        assert schema["required"] == [row.name for row in rows if not row.may_be_left_out]


def test_schemas_are_those_of_the_page_and_the_error_codes() -> None:
    assert {*SCHEMAS} == {*BODIES, "ErrorCode"}
    assert body_of("error") == Refused.__name__


def test_codes_are_those_of_the_code() -> None:
    assert {*SCHEMAS["ErrorCode"]["enum"]} == {*ErrorCode}
    assert DOCUMENT["x-error-codes"] == {code: [*CONTEXTS.get(code, ())] for code in ErrorCode}
    advice = {str(code.value): code.reconnect.value for code in CloseCode}
    assert CHANNEL["x-close-codes"] == advice
