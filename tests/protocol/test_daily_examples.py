"""The dailies in docs/protocol.md are true: every hash, deal, proof and time of its examples."""

import re
from hashlib import sha256
from typing import Any

import pytest

from cellmates.daily import (
    BOARDS,
    PLANNER,
    Link,
    candidate,
    challenge_id,
    closes_at,
    commitment,
    day_after,
    deadline_of,
    opens_at,
    parse_challenge_id,
    plan,
)
from cellmates.engine import RULESETS, Autoplay, Deal, Game, Status, card_text, parse_action
from server.api import CSV_ROWS
from server.daily_handlers import MOST_WATCHED, PAGE
from server.live_boards import TOP

from . import page

SAID = " ".join(page.TEXT.split())
FIRST_DAY = "2026-11-29"

ANSWERS = page.answers()
CHALLENGES: dict[str, dict[str, Any]] = {
    told["challenge"]: told
    for frame, name in ANSWERS
    if name == "daily.list"
    for told in frame["d"]["challenges"]
}
PROVED = {name: told for name, told in CHALLENGES.items() if "proof" in told}
VIEWS: list[dict[str, Any]] = [
    frame["d"]
    for frame, name in ANSWERS
    if name in ("daily.start", "game.start") and frame["d"]["challenge"]
]
EXPIRED = [frame["d"] for frame in page.examples() if frame["t"] == "game.expired"]

challenges = pytest.mark.parametrize("challenge", CHALLENGES)
views = pytest.mark.parametrize("view", VIEWS, ids=lambda view: view["challenge"])


def seed_of(challenge: str) -> bytes:
    """Seed of an example, as the page says."""
    return sha256(challenge.encode()).digest()


def link(challenge: str) -> Link:
    """A challenge's commitment, and so all those before it."""
    day, ruleset = parse_challenge_id(challenge)
    made = commitment(
        challenge=challenge,
        ruleset_version=RULESETS[ruleset].version,
        planner=PLANNER,
        seed=seed_of(challenge),
        previous=None if day == FIRST_DAY else link(challenge_id(day_after(day, -1), ruleset)),
    )
    return Link(challenge, made)


def test_page_says_how_the_examples_were_made() -> None:
    assert "but the SHA-256 of the challenge's id" in SAID
    assert f"and {FIRST_DAY} is the first day" in SAID


def test_there_are_examples_of_all_that_may_be_told() -> None:
    assert len(CHALLENGES) > len(PROVED) > 0
    assert {view["attempt"] for view in VIEWS} == {1, 2}
    assert EXPIRED


@challenges
def test_challenge_is_that_of_its_id(challenge: str) -> None:
    told = CHALLENGES[challenge]
    day, ruleset = parse_challenge_id(challenge)
    assert (told["opens"], told["closes"]) == (opens_at(day), closes_at(day))
    assert told["ruleset"] == ruleset
    assert told["ruleset_version"] == RULESETS[ruleset].version
    assert told["planner"] == PLANNER


@challenges
def test_commitment_is_that_of_the_seed_and_the_chain(challenge: str) -> None:
    told, (day, ruleset) = CHALLENGES[challenge], parse_challenge_id(challenge)
    before = link(challenge_id(day_after(day, -1), ruleset))
    assert told["commitment"] == link(challenge).commitment
    assert told["previous"] == {
        "challenge": before.challenge,
        "commitment": before.commitment,
    }


@challenges
def test_deal_proof_and_par_are_told_together(challenge: str) -> None:
    told = CHALLENGES[challenge].keys() & {"deal", "proof", "par"}
    assert len(told) in (0, 3)


@pytest.mark.parametrize("challenge", PROVED)
def test_proof_is_true(challenge: str) -> None:
    told, ruleset = PROVED[challenge], RULESETS[PROVED[challenge]["ruleset"]]
    proof, deal = told["proof"], Deal.parse(ruleset, told["deal"])
    assert proof["seed"] == seed_of(challenge).hex()
    assert candidate(seed_of(challenge), proof["candidate"]) == deal
    start = Game.start(ruleset, deal)
    game = Game.replay(ruleset, deal, start.autoplay, map(parse_action, proof["solution"]))
    assert (game.status, game.moves) == (Status.WON, told["par"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("challenge", PROVED)
def test_proof_is_the_planner_s(challenge: str) -> None:
    told = PROVED[challenge]
    planned = plan(RULESETS[told["ruleset"]], seed_of(challenge))
    assert [*planned.solution] == told["proof"]["solution"]
    assert (planned.candidate, planned.par) == (told["proof"]["candidate"], told["par"])


@views
def test_view_of_an_attempt_shows_the_deal_of_its_challenge(view: dict[str, Any]) -> None:
    day, name = parse_challenge_id(view["challenge"])
    ruleset, deal = RULESETS[name], candidate(seed_of(view["challenge"]), 0)
    position = deal.layout(ruleset)
    assert view["deal"] == str(deal)
    assert view["columns"] == [[*map(card_text, column)] for column in position.columns]
    assert view["autoplay"] == Autoplay.SAFE == ruleset.autoplay
    named = ("cellmates/1", name, str(ruleset.version), str(deal), view["autoplay"])
    assert view["hash"] == sha256("\n".join(named).encode()).hexdigest()
    assert view["ranked"] == (view["attempt"] == 1)
    assert view["ranked"] <= (opens_at(day) <= view["started"] < closes_at(day))


def test_attempt_expires_when_the_grace_is_over() -> None:
    [ranked] = [view for view in VIEWS if view["ranked"]]
    deadline = deadline_of(closes_at(parse_challenge_id(ranked["challenge"])[0]))
    assert [{"game": ranked["game"], "elapsed_ms": deadline - ranked["started"]}] == EXPIRED
    told = {int(hours) for hours in re.findall(r"(\d+) hours after (?:the|its)", SAID)}
    assert told == {(deadline - closes_at("2026-12-01")) // 3_600_000}


def test_boards_are_those_of_the_code() -> None:
    [rows] = [
        rows
        for rows in page.tables(page.sections()["`board.get`"])
        if rows[0] == ["board", "runs", "order"]
    ]
    assert [row[0] for row in rows[1:]] == [f"`{board}`" for board in BOARDS]


def test_numbers_of_rows_and_boards_are_those_of_the_server() -> None:
    assert f"rows a page, {PAGE} without it" in SAID
    assert f"may watch {MOST_WATCHED} boards" in SAID
    assert f"its first rows, {TOP} at most" in SAID
    assert f"The first {TOP} rows" in SAID
    assert f"up to {CSV_ROWS:,} rows".replace(",", " ") in SAID
