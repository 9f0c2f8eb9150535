"""docs/rules.md as the tests read it: its tables, its sentences, and the deals it names."""

import re
from collections.abc import Iterator
from pathlib import Path

from cellmates.engine import RULESETS, Deal, Game, parse_action

DOCS = Path(__file__).parent.parent / "docs"
PAGE = (DOCS / "rules.md").read_text(encoding="utf-8")
# Without the tables, and on one line: a sentence may be broken anywhere.
SAID = " ".join(re.sub(r"^\|.*", "", PAGE, flags=re.MULTILINE).split())

# A deal is named so: `freecell` 1. An example is a deal with moves: `freecell` 1: `3a ab`.
NAMED = re.compile(r"`([a-z0-9-]+)` (\d+)")
EXAMPLE = re.compile(rf"{NAMED.pattern}: `([^`]+)`")


def tables() -> Iterator[list[list[str]]]:
    """Tables of the page: rows of cells, the headings first."""
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()]
        del rows[1]  # the line between headings and body
        yield rows


def table(*headings: str) -> list[list[str]]:
    """Body of the one table whose headings begin so."""
    [rows] = [rows for rows in tables() if rows[0][: len(headings)] == list(headings)]
    return rows[1:]


def bare(cell: str) -> str:
    """What is between a cell's backticks."""
    match = re.fullmatch("`([^`]+)`", cell)
    assert match, cell
    return match[1]


def number(text: str) -> int:
    """A number written with spaces between its thousands."""
    return int(text.replace(" ", ""))


def spaced(value: int) -> str:
    """That number as it is written."""
    return f"{value:,}".replace(",", " ")


def after(ruleset: str, deal: str, moves: str = "") -> Game:
    """Game of an example, all of its moves made."""
    start = Game.start(RULESETS[ruleset], Deal.numbered(int(deal)))
    return Game.replay(start.ruleset, start.deal, start.autoplay, map(parse_action, moves.split()))
