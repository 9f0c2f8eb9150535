"""Holds docs/rules.md to the engine: its rulesets, its deals, and what it says can be won.

And every page of docs to the files and headings that it links to.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cellmates.engine import (
    LAST_NUMBER,
    LAST_RANDOM,
    PACK,
    RULESETS,
    Autoplay,
    BadDeal,
    Build,
    Deal,
    EmptyColumn,
    Ruleset,
    Scoring,
    card_text,
)
from cellmates.engine.game import POINTS_A_CARD
from cellmates.engine.moves import CELLS
from cellmates.solver import Verdict, solve
from server.games import IMPOSSIBLE as NEVER_DRAWN
from tests.golden import golden

from .rules_page import DOCS, NAMED, PAGE, SAID, after, bare, number, spaced, table, tables


def test_rows_are_as_long_as_their_headings() -> None:
    assert [row for rows in tables() for row in rows if len(row) != len(rows[0])] == []


# -- Links -----------------------------------------------------------------------------------------

# What a page says of another's section, as: ([daily.md](daily.md), section 7
SECTION = re.compile(r"\]\((\w+\.md)\), section (\d+)")


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert [link for link in links if not (DOCS / link.partition("#")[0]).exists()] == []
    for name, section in SECTION.findall(text):
        assert f"\n## {section}. " in (DOCS / name).read_text(encoding="utf-8"), (name, section)


# -- The rulesets ----------------------------------------------------------------------------------

BUILDS = {Build.ALTERNATING: "down, alternating colours", Build.SAME_SUIT: "down, same suit"}
ON_EMPTY = {
    EmptyColumn.ANY: "any card or run",
    EmptyColumn.KINGS: "a king, alone or heading its run",
}
AUTOMATIC = {Autoplay.SAFE: "safe ones; may be switched off", Autoplay.OFF: "none"}
SCORES = {
    Scoring.CARDS_HOME: "1 for each card that is home",
    Scoring.FIRST_ARRIVAL: f"{POINTS_A_CARD} for each card's first arrival home",
}
LIMITS: dict[str, Callable[[int, int], int]] = {
    "(free cells + 1) × 2^(empty columns)": lambda free, empty: (free + 1) * 2**empty,
    "free cells + 1": lambda free, empty: free + 1,
}


def columns_at_the_start(ruleset: Ruleset) -> str:
    lengths = [len(column) for column in Deal.numbered(1).layout(ruleset).columns]
    return ", ".join(
        f"{lengths.count(length)} of {length}" for length in sorted({*lengths}, reverse=True)
    )


def cells(ruleset: Ruleset) -> str:
    filled = sum(place in CELLS for place in ruleset.rest)
    named = {0: "all empty", ruleset.cells: "all filled"}
    return f"{ruleset.cells}, {named.get(filled, f'{filled} filled')}"


def undo(ruleset: Ruleset) -> str:
    return "any number" if ruleset.undo_limit is None else f"the last {ruleset.undo_limit}"


def group_limit(ruleset: Ruleset) -> str:
    [said] = [
        said
        for said, limit in LIMITS.items()
        if all(
            limit(free, empty) == ruleset.group_limit(free, empty)
            for free in range(ruleset.cells + 1)
            for empty in range(ruleset.columns + 1)
        )
    ]
    return said


ROWS: dict[str, Callable[[Ruleset], str]] = {
    "columns at the start": columns_at_the_start,
    "cells": cells,
    "build on a column": lambda ruleset: BUILDS[ruleset.build],
    "an empty column takes": lambda ruleset: ON_EMPTY[ruleset.empty_column],
    "group limit": group_limit,
    "take back from home": lambda ruleset: "yes" if ruleset.take_back else "no",
    "automatic moves": lambda ruleset: AUTOMATIC[ruleset.autoplay],
    "undo": undo,
    "score": lambda ruleset: SCORES[ruleset.scoring],
    "deal named by": lambda ruleset: "number or code" if ruleset.codes else "number",
}


def ruleset_table() -> list[list[str]]:
    return table("", *(f"`{name}`" for name in RULESETS))


def test_ruleset_table_has_every_ruleset_and_every_row() -> None:
    assert [row[0] for row in ruleset_table()] == ["source", *ROWS]
    assert {len(row) for row in ruleset_table()} == {1 + len(RULESETS)}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", RULESETS)
def test_ruleset_table_says_what_the_engine_plays(name: str, row: str) -> None:
    [said] = [said for heading, *said in ruleset_table() if heading == row]
    assert said[list(RULESETS).index(name)] == ROWS[row](RULESETS[name])


def test_text_repeats_the_undo_limit_and_the_points() -> None:
    limits = {ruleset.undo_limit for ruleset in RULESETS.values()} - {None}
    assert {int(found) for found in re.findall(r"last (\d+) actions", SAID)} == limits
    assert f"a card earns {POINTS_A_CARD} points" in SAID
    assert f"{POINTS_A_CARD * len(PACK)} in all" in SAID


# -- Deals -----------------------------------------------------------------------------------------


def test_ranges_of_numbers() -> None:
    assert f"a number from 1 to {spaced(LAST_NUMBER)}." in SAID
    assert f"at random is from 1 to {spaced(LAST_RANDOM)}, and never {NEVER_DRAWN}," in SAID


def evaluate(expression: str, **names: int) -> int:
    """Value of a formula of the page, which is written in Python's signs."""
    return int(eval(expression, {"__builtins__": {}}, names))


def range_of(numbers: str) -> str:
    """A range such as 2^31 to 2^32 as a formula that asks whether ``deal`` is in it."""
    signs = {"\N{MINUS SIGN}": "-", "^": "**", " to ": " <= deal <= "}
    for told, meant in signs.items():
        numbers = numbers.replace(told, meant)
    return numbers


def shuffled(deal: int) -> str:
    """Cards in the order in which the page's formula deals them."""
    [(_, begin, draw)] = [
        row
        for row in table("numbers", "`x` begins as", "`r`")
        if evaluate(range_of(row[0]), deal=deal)
    ]
    [step] = re.findall("new `x = ([^`]+)`", PAGE)
    [pick] = re.findall("deal the one at `([^`]+)`", PAGE)
    pack = [card_text(card) for card in PACK]
    x = evaluate(bare(begin), n=deal)
    dealt = []
    while pack:
        x = evaluate(step, x=x)
        index = evaluate(pick, r=evaluate(bare(draw), x=x), left=len(pack))
        last = pack.pop()
        dealt.append(last if index == len(pack) else pack[index])
        pack[index : index + 1] = [last] if index < len(pack) else []
    return " ".join(dealt)


@pytest.mark.parametrize(
    "deal", [1, 617, 2**31 - 1, 2**31, 2**31 + 7, 2**32 - 1, 2**32, 2**32 + 7, 2**33 - 1]
)
def test_shuffle_as_told_deals_the_cards(deal: int) -> None:
    assert shuffled(deal) == " ".join(map(card_text, Deal.numbered(deal).order))


def test_pack_is_told_in_its_order() -> None:
    pack = [card_text(card) for card in PACK]
    assert f"order {' '.join(pack[:5])} … {' '.join(pack[-2:])}" in SAID


@pytest.mark.parametrize("ruleset", RULESETS.values(), ids=RULESETS)
def test_first_row_of_deal_1(ruleset: Ruleset) -> None:
    [row] = re.findall("the first row is `([^`]+)`", SAID)
    position = Deal.numbered(1).layout(ruleset)
    assert row.split() == [card_text(column[0]) for column in position.columns]
    first, card = re.findall(r"(\d+) is drawn first, which is the ([a-z ]+),", SAID)[0]
    assert (card, row[:2]) == ("jack of diamonds", card_text(PACK[int(first)]))


def test_last_four_cards_go_where_it_is_told() -> None:
    full, two = re.findall(r"to cells `([a-h ]+)`(?: and onto columns `([1-8 ]+)`)?", SAID)
    assert f"Eight Off deals {len(PACK) - 4}, and the last four" in SAID
    rests = {name: ruleset.rest for name, ruleset in RULESETS.items() if name != "freecell"}
    told = {name: "".join(two if name == "eight-off-2" else full) for name in rests}
    assert {name: rest.replace(" ", "") for name, rest in told.items()} == rests


def test_codes_name_the_deals_they_are_told_to_name() -> None:
    [named] = re.findall(r"is number (\d+) with eight cells", SAID)
    codes = re.findall(r"`(EO1-C(\d)-A[A-Z]{6})`", PAGE)
    assert {int(cells) for _, cells in codes} == {8, 4, 2}
    for code, cells in codes:
        [ruleset] = [row for row in RULESETS.values() if row.codes and row.cells == int(cells)]
        assert Deal.parse(ruleset, code) == Deal.numbered(int(named))
        assert Deal.numbered(int(named)).code(ruleset) == code


def test_last_code() -> None:
    ruleset = RULESETS["eight-off"]
    [(last, code)] = re.findall("reach up to ([0-9 ]+), `([^`]+)`", SAID)
    assert Deal.numbered(number(last)).code(ruleset) == code
    assert Deal.numbered(number(last) + 1).code(ruleset) is None


def test_a_deal_named_by_its_cards() -> None:
    [(deal, cards, length)] = re.findall(
        r"deal (\d+) is `(cards:\w+)…`, and so on for (\d+) characters", SAID
    )
    order = Deal.numbered(int(deal)).order
    assert str(Deal.of_order(order)).startswith(cards)
    assert len(str(Deal.of_order(order)).removeprefix("cards:")) == int(length)
    with pytest.raises(BadDeal):
        Deal.parse(RULESETS["freecell"], cards)


# -- Groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", table("free cells", "empty columns"), ids=" ".join)
def test_worked_group_limits(row: list[str]) -> None:
    free, empty = int(row[0]), int(row[1])
    doubling = RULESETS["freecell"].group_limit
    into = str(doubling(free, empty - 1)) if empty else "–"
    classic = RULESETS["eight-off-classic"].group_limit(free, empty)
    assert row[2:] == [str(doubling(free, empty)), into, str(classic)]


def test_group_formulas_in_the_text_are_those_of_the_table() -> None:
    doubling, single = LIMITS
    assert f"> {doubling}; in `eight-off-classic` just {single}." in PAGE


def test_kings_with_cards_on_them() -> None:
    # One king and two cards are three, which is the limit; one more is refused.
    assert "with two free cells and one empty column a king with two cards on it may go" in SAID
    assert "a king with three cards on it may not" in SAID
    assert RULESETS["eight-off"].group_limit(2, 0) == 3


# -- What can be won -------------------------------------------------------------------------------

[IMPOSSIBLE] = re.findall(r"^    ((?:\d+ ?)+)$", PAGE, re.MULTILINE)
[BAD_NAMES] = re.findall("Three others have a bad name and can be won: (.+?), which are lost", SAID)
[FRIENDLY] = re.findall("The first numbers are friendlier. (.+?) are the first", SAID)


# Those of 1 to 10 000 that are lost; all others were won.
LOST = {
    "eight-off": ("644 2344 3183 3540 4191 5344 5727 6611 7568 7636 7999 8489 9718").split(),
    "eight-off-classic": (
        "465 644 2344 3183 3540 3827 4191 5344 5727 6611 6724 7568 7636 7999 8489 9718"
    ).split(),
}


def verdict(ruleset: str, deal: str) -> Verdict:
    return solve(RULESETS[ruleset], after(ruleset, deal).position).verdict


def test_there_are_eight_impossible_deals_and_three_with_a_bad_name() -> None:
    assert "Of the first million deals eight are impossible" in SAID
    deals = [int(deal) for deal in IMPOSSIBLE.split()]
    assert (len(set(deals)), deals) == (8, sorted(deals))
    assert {*re.findall(r"\d+", BAD_NAMES)} == {"739671", "1941", "98714"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("deal", IMPOSSIBLE.split())
def test_impossible_deal_is_lost(deal: str) -> None:
    assert verdict("freecell", deal) is Verdict.LOST


@pytest.mark.exhaustive
@pytest.mark.parametrize("deal", re.findall(r"\d+", BAD_NAMES))
def test_deal_with_a_bad_name_can_be_won(deal: str) -> None:
    assert verdict("freecell", deal) is Verdict.WON


@pytest.mark.exhaustive
@pytest.mark.parametrize("ruleset", LOST)
def test_lost_deals_of_eight_cells_are_lost(ruleset: str) -> None:
    for deal in LOST[ruleset]:
        assert verdict(ruleset, deal) is Verdict.LOST, deal


def test_lost_deals_of_eight_cells_are_counted_and_the_first_are_named() -> None:
    counts = {bare(name): int(count) for name, _, count in table("ruleset", "can be won")}
    named = NAMED.findall(FRIENDLY)
    assert "Up to 2000 only" in FRIENDLY
    for ruleset, lost in LOST.items():
        assert counts[ruleset] == 10_000 - len(lost)
        first = [deal for deal in lost if int(deal) <= 2000]
        assert [deal for name, deal in named if name == ruleset] == first


@pytest.mark.parametrize(
    "deal", [deal for name, deal in NAMED.findall(FRIENDLY) if name == "eight-off-2"]
)
def test_deal_of_two_cells_that_is_named_can_be_won(deal: str) -> None:
    assert verdict("eight-off-2", deal) is Verdict.WON


def test_first_deals_of_two_cells_that_can_be_won() -> None:
    first = [int(deal) for ruleset, deal in NAMED.findall(FRIENDLY) if ruleset == "eight-off-2"]
    assert len(first) == 3
    assert first == golden("eight_off_winnable")["winnable"]["cells=2 group=doubling"][:3]


def test_shares_are_those_of_the_counts() -> None:
    rows = table("ruleset", "can be won", "of 10 000")
    assert {bare(row[0]) for row in rows} == {*RULESETS} - {"freecell"}
    shares = {bare(name): f"{int(count) / 100:.2f} %" for name, _, count in rows}
    assert shares == {bare(name): share for name, share, _ in rows}
    counts = {bare(name): int(count) for name, _, count in rows}
    [(four, two)] = re.findall(
        r"one deal in (\d+) with four cells, and one in (\d+) with two", SAID
    )
    assert round(10_000 / counts["eight-off-4"]) == int(four)
    assert round(10_000 / counts["eight-off-2"], -2) == int(two)


def test_shares_of_the_first_2000_are_those_of_the_deals_named() -> None:
    named = [ruleset for ruleset, _ in NAMED.findall(FRIENDLY)]
    lost = [named.count(ruleset) for ruleset in ("eight-off", "eight-off-classic")]
    shares = re.findall(r"[\d.]+ %", FRIENDLY)
    assert shares == [f"{100 - 100 * count / 2000:.2f} %" for count in lost]
