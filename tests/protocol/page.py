"""Reads docs/protocol.md, and says in its words what the classes say."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, Struct, UnsetType
from msgspec.structs import fields

from cellmates.protocol import EVENTS, REQUESTS, Refused

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")

_HEADING = re.compile(r"^(#{2,4}) (.+)$", re.MULTILINE)
_EXAMPLES = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


class Row(NamedTuple):
    """A field as the page or a class has it."""

    name: str
    may_be_left_out: bool
    type: str


@cache
def sections() -> dict[str, str]:
    """What stands under each heading, up to the next one of any level."""
    pieces = _HEADING.split(TEXT)
    titles = pieces[2::3]
    assert len(titles) == len(set(titles)), "two headings are alike"
    return dict(zip(titles, pieces[3::3], strict=True))


def tables(text: str) -> list[list[list[str]]]:
    """Tables of a section: rows of cells, the headings first."""
    found = []
    for block in _TABLE.findall(text):
        rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()]
        del rows[1]  # the line between headings and body
        found.append(rows)
    return found


def fields_on_page(section: str) -> list[Row]:
    """Fields in the first table of a section; none where there is no table of fields."""
    for headings, *rows in tables(sections()[section]):
        if headings[:2] == ["field", "type"]:
            return [_row(*row[:2]) for row in rows]
    return []


def _row(name: str, kind: str) -> Row:
    match = re.fullmatch(r"`(\w+)`(\??)", name)
    assert match, name
    return Row(match[1], bool(match[2]), kind)


@cache
def examples() -> list[dict[str, Any]]:
    """Every frame that the page gives as JSON, in their order."""
    return [frame for block in _EXAMPLES.findall(TEXT) for frame in _frames(block)]


def requests() -> dict[int, dict[str, Any]]:
    """Requests among the examples, by their numbers, of which no two are alike."""
    found = [frame for frame in examples() if "id" in frame]
    by_number = {frame["id"]: frame for frame in found}
    assert len(found) == len(by_number)
    return by_number


def answers() -> list[tuple[dict[str, Any], str]]:
    """The ``ok`` among the examples, each with the name of the request that it answers."""
    asked = requests()
    return [(frame, asked[frame["re"]]["t"]) for frame in examples() if frame["t"] == "ok"]


# -- Bodies ----------------------------------------------------------------------------------------


def bodies() -> dict[str, type[Struct]]:
    """Every class of the wire by the heading that its table stands under."""
    named = {f"`{name}`": exchange.request for name, exchange in REQUESTS.items()}
    named |= {f"`{name}`": event for name, event in EVENTS.items()}
    roots: list[type[Struct]] = [*(exchange.reply for exchange in REQUESTS.values()), Refused]
    parts = {heading_of(part): part for part in _parts([*named.values(), *roots])}
    return named | {name: part for name, part in parts.items() if part not in named.values()}


def _parts(roots: Iterable[type[Struct]]) -> dict[type[Struct], None]:
    """Classes, and those that their fields are made of."""
    found: dict[type[Struct], None] = {}
    waiting: list[Any] = [*roots]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, Struct):
            if kind not in found:
                found[kind] = None
                waiting += get_type_hints(kind).values()
        else:
            waiting += get_args(kind)
    return found


def _frames(block: str) -> Iterator[dict[str, Any]]:
    decoder, rest = json.JSONDecoder(), block.strip()
    while rest:
        frame, end = decoder.raw_decode(rest)
        yield frame
        rest = rest[end:].lstrip()


# -- Classes in the page's words -------------------------------------------------------------------


def heading_of(body: type) -> str:
    """Heading under which a class that has a table of its own stands."""
    return body.__name__.removeprefix("Wire")


def fields_of(body: type[Struct]) -> list[Row]:
    """Fields of a class as its table should have them."""
    hints = get_type_hints(body, include_extras=True)
    return [
        Row(field.encode_name, not field.required, spelled(hints[field.name]))
        for field in fields(body)
    ]


def spelled(kind: Any) -> str:  # noqa: ANN401 - a type as it was annotated
    """A type in the page's words."""
    if get_origin(kind) is Annotated:
        base, meta = get_args(kind)
        return _bounded(base, meta)
    if get_origin(kind) is Literal:
        words = get_args(kind)
        return " or ".join(f"`{word}`" if isinstance(word, str) else str(word) for word in words)
    if get_origin(kind) in (Union, UnionType):
        parts = [part for part in get_args(kind) if part is not UnsetType]
        return " or ".join(map(spelled, parts))
    if arguments := get_args(kind):  # a list, or a map from texts
        many = "list of" if len(arguments) == 1 else "map of"
        inner = spelled(arguments[-1])
        return f"{many} ({inner})" if " or " in inner else f"{many} {inner}"
    if isinstance(kind, type) and issubclass(kind, Struct):
        return f"[{heading_of(kind)}](#{heading_of(kind).lower()})"
    return _WORDS.get(kind) or f"[{kind.__name__}](#7-errors)"


_WORDS: dict[Any, str] = {
    str: "text",
    int: "integer",
    bool: "true or false",
    object: "anything",
    type(None): "null",
}


def _bounded(base: type, meta: Meta) -> str:
    if meta.pattern is not None:
        return "date"
    if base is str:
        return f"text up to {meta.max_length}"
    if meta.ge == 0:
        return "integer from 0"
    return f"integer {meta.ge} to {meta.le}" if meta.ge == 1 else "integer"
