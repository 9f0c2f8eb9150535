"""What all messages have in common, and what the package stands on."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import cellmates.protocol
from cellmates.protocol import (
    CONTEXTS,
    EVENTS,
    REQUESTS,
    CloseCode,
    Encoding,
    ErrorCode,
    EventBody,
    ProtocolError,
    ReplyBody,
    RequestBody,
)

from . import page

MODULES = sorted((page.ROOT / "cellmates" / "protocol").glob("*.py"))
BODIES = page.bodies()


@pytest.mark.parametrize("heading", BODIES)
def test_message_is_frozen_and_ignores_what_it_does_not_know(heading: str) -> None:
    config = BODIES[heading].__struct_config__
    assert config.frozen
    assert not config.forbid_unknown_fields


@pytest.mark.parametrize("heading", BODIES)
def test_message_says_what_it_is(heading: str) -> None:
    speaker = "Client: " if heading[1:-1] in REQUESTS else "Server: "
    said = (BODIES[heading].__doc__ or "").strip()
    assert said.endswith((".", "?"))
    assert ("`" in heading) <= said.startswith(speaker)


def test_tables_hold_every_body() -> None:
    exchanges = REQUESTS.values()
    assert {exchange.request for exchange in exchanges} == {*get_args(RequestBody)}
    assert {exchange.reply for exchange in exchanges} == {*get_args(ReplyBody)}
    assert {*EVENTS.values()} == {*get_args(EventBody)}
    assert len({exchange.request for exchange in exchanges}) == len(REQUESTS)


def test_every_name_is_public_that_others_need() -> None:
    public = {*cellmates.protocol.__all__}
    assert {body.__name__ for body in BODIES.values()} <= public
    assert all(hasattr(cellmates.protocol, name) for name in public)


def test_subprotocol_names_its_encoding() -> None:
    assert [encoding.subprotocol for encoding in Encoding] == [*Encoding]
    assert Encoding("cellmates.v1.json") is Encoding.JSON


def test_close_codes_are_websocket_s_own_or_private_ones() -> None:
    assert all(1000 <= code <= 1013 or 4000 <= code <= 4999 for code in CloseCode)


def test_contexts_are_those_of_error_codes() -> None:
    assert CONTEXTS.keys() < {*ErrorCode}


def test_refusal_without_context_has_an_empty_one() -> None:
    error = ProtocolError(ErrorCode.BAD_FRAME, "why")
    assert (str(error), error.context, error.re) == ("why", {}, None)


# What there is of the standard library here reaches nowhere: no files, no clock, no chance.
FOUNDATIONS = {"collections", "enum", "msgspec", "re", "typing"}


def imported(source: str) -> Iterator[str]:
    """Top names of what a module imports from outside of its package."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            outside = node.level != 1
            yield from [(node.module or "").partition(".")[0]] if outside else []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_stands_on_msgspec_and_little_else(path: Path) -> None:
    assert {*imported(path.read_text(encoding="utf-8"))} <= FOUNDATIONS


def test_planted_imports_are_found() -> None:
    source = "import os.path, re\nfrom ..engine import Deal\nfrom .limits import Count\n"
    assert [*imported(source + "from time import time")] == ["os", "re", "engine", "time"]
