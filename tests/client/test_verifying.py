"""Verifying: an honest day holds, and each lie is found by the check that is meant for it."""

from dataclasses import replace

import pytest

from cellmates.daily import BadDay
from client.results import Previous
from client.verifying import Announced, CannotVerify, neighbours, verify_challenge
from client.verifying_runs import Runs

from .days import (
    AFTER,
    BEFORE,
    CANDIDATES,
    CLOSES,
    DAY,
    DEADLINE,
    EIGHT_OFF,
    FREECELL,
    Day,
    announced,
    committed,
    findings,
    honest,
    named,
)
from .lies import LIES
from .planting import Lie, of_entry

CHECKS = """
challenge-id told planner seed commitment chain candidate solution par
board-total board-games board-won board-order board-ranks
run-replay run-header run-attempt run-autoplay run-player run-started run-hashes run-moves
run-times run-result run-elapsed run-row run-before-close
one-row both-boards winners
""".split()
TELLING_MS = 10 * 60 * 1000


@pytest.mark.parametrize("challenge", CANDIDATES)
def test_honest_day_holds(challenge: str) -> None:
    found = findings(honest(), challenge)
    assert [finding.check for finding in found] == CHECKS
    assert all(finding.holds and finding.challenge == challenge for finding in found)


@pytest.mark.parametrize(("lie", "check"), [pytest.param(*lie, id=name) for name, *lie in LIES])
def test_lie_is_found_by_its_check(lie: Lie, check: str) -> None:
    day = honest()
    lie(day)
    found = [finding for challenge in CANDIDATES for finding in findings(day, challenge)]
    lies = [finding.check for finding in found if not finding.holds]
    assert lies[:1] == [check]


def test_every_check_that_can_fail_has_a_lie() -> None:
    assert {check for _, _, check in LIES} == {*CHECKS} - {"planner"}


def test_honest_days_are_alike_whatever_was_planted_before() -> None:
    for _, lie, _ in LIES:
        lie(honest())
    assert [finding.holds for finding in findings(honest(), EIGHT_OFF)] == [True] * len(CHECKS)


# -- What is said ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "game", "seq", "says"),
    [
        ("a challenge listed twice", None, None, "it is listed 2 times"),
        ("par too short", None, None, "par is 88, and has to be 89"),
        ("illegal solution", None, None, "move 2, 27, is against the rules: "),
        ("ranks 8, 9 for a tie", "cyn", None, "rank on first/human is 9, and has to be 8"),
        ("a hash changed", "ada", 4, "the hash is not that of the entry"),
        ("the result's hash changed", "ada", None, "the hash of the result is not the last one"),
        ("a move changed", "ada", 1, "1h is against the rules: "),
        ("a time before the one before", "ada", 6, "it came in at 4499, before the one before"),
        ("a move after the grace", "dan", 4, "it came in at 25200001, after the end of all"),
        ("two rows for one player", "bob", None, "Bob has more than one row on first"),
        ("a winner missing on moves", "ada", None, "it won, and its player has no run on moves"),
        ("an equal run in a winner's place", "hal", None, "hal-2, which is no better, is on"),
    ],
)
def test_lie_is_told_with_its_place(
    name: str, game: str | None, seq: int | None, says: str
) -> None:
    [lie] = [lie for called, lie, _ in LIES if called == name]
    day = honest()
    lie(day)
    found = findings(day, EIGHT_OFF)[-1]
    assert (found.challenge, found.holds) == (EIGHT_OFF, False)
    assert (found.game, found.seq) == (game, seq)
    assert found.says.startswith(says)


def test_what_takes_long_is_told() -> None:
    day, watched = honest(), list[str]()
    told = Announced(DAY, day.challenge(EIGHT_OFF), day.listed, day.now)
    assert all(finding.holds for finding in verify_challenge(told, watched.append))
    assert watched == ["candidate 0 of 1", "candidate 1 of 1"]


# -- What is no lie --------------------------------------------------------------------------------


def _first_words(day: Day) -> str:
    """Why the day cannot be verified."""
    with pytest.raises(CannotVerify) as caught:
        findings(day, EIGHT_OFF)
    return " ".join(str(caught.value).split()[1:4])


@pytest.mark.parametrize("is_told", [True, False])
def test_day_that_goes_on_cannot_be_verified(is_told: bool) -> None:
    day = honest()
    day.now = CLOSES - 1
    if not is_told:
        day.put(EIGHT_OFF, replace(day.challenge(EIGHT_OFF), deal=None, proof=None, par=None))
    assert _first_words(day) == "is not over:"


@pytest.mark.parametrize("now", [CLOSES, DEADLINE + TELLING_MS - 1])
def test_day_that_is_still_played_cannot_be_verified(now: int) -> None:
    day = honest()
    day.now = now
    assert findings(day, EIGHT_OFF)[-1].holds
    day.put(EIGHT_OFF, replace(day.challenge(EIGHT_OFF), proof=None))
    assert _first_words(day) == "is closed, and"


def test_secret_is_a_lie_once_nobody_can_play() -> None:
    day = honest()
    day.now = DEADLINE + TELLING_MS
    day.put(EIGHT_OFF, replace(day.challenge(EIGHT_OFF), proof=None))
    assert not findings(day, EIGHT_OFF)[-1].holds


@pytest.mark.parametrize("changes", [{"planner": "solver-0/1"}, {"ruleset_version": 2}])
def test_other_versions_cannot_be_verified(changes: dict[str, str | int]) -> None:
    day = honest()
    day.put(EIGHT_OFF, replace(day.challenge(EIGHT_OFF), **changes))  # type: ignore[arg-type]
    assert _first_words(day) == "was planned by"


# -- The chain where there are gaps ----------------------------------------------------------------

EARLIER = "2026-11-20"


def _after(previous: Previous | None, earlier: str = EARLIER) -> Day:
    """An honest day whose challenge names another as the one before; the day before has none."""
    day = honest()
    day.listed |= {BEFORE: (), AFTER: ()}
    others = tuple(announced(earlier, ruleset) for ruleset in ("eight-off-4", "freecell"))
    day.listed.setdefault(earlier, others)
    day.put(EIGHT_OFF, committed(replace(day.challenge(EIGHT_OFF), previous=previous)))
    return day


def test_chain_may_begin() -> None:
    chain = findings(_after(None), EIGHT_OFF)[CHECKS.index("chain")]
    assert (chain.holds, chain.says) == (
        True,
        "the first of its ruleset; there is none after it yet",
    )


def test_chain_may_pass_over_days() -> None:
    named_one = named(announced(EARLIER, "eight-off-4"))
    chain = findings(_after(named_one), EIGHT_OFF)[CHECKS.index("chain")]
    assert (chain.holds, chain.says) == (
        True,
        "after 2026-11-20-eight-off-4; there is none after it yet",
    )


@pytest.mark.parametrize(
    ("day", "ruleset"), [(EARLIER, "freecell"), ("2026-12-24", "eight-off-4"), (DAY, "eight-off-4")]
)
def test_chain_goes_back_in_the_ruleset(day: str, ruleset: str) -> None:
    found = findings(_after(named(announced(day, ruleset)), day), EIGHT_OFF)[-1]
    assert (found.check, found.holds) == ("chain", False)
    assert found.says.endswith("as the one before it, which cannot be")


@pytest.mark.parametrize("text", ["x", "2026-02-30-eight-off-4", "2026-11-20-whist"])
def test_chain_names_challenges(text: str) -> None:
    found = findings(_after(Previous(text, "00")), EIGHT_OFF)[-1]
    assert (found.check, found.holds) == ("chain", False)


def test_neighbours_are_the_days_beside_and_those_that_are_named() -> None:
    own = announced(DAY, "eight-off-4")
    texts = ["2026-11-20-freecell", "2026-11-30-freecell", "nonsense"]
    others = [replace(own, previous=Previous(text, "00")) for text in texts]
    assert neighbours(DAY, []) == {BEFORE, AFTER}
    assert neighbours(DAY, [own, *others]) == {BEFORE, AFTER, EARLIER}


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2026-02-30"])
def test_day_at_the_end_of_time_has_no_neighbours(day: str) -> None:
    with pytest.raises(BadDay):
        neighbours(day, [])


# -- Runs at the edge ------------------------------------------------------------------------------


def test_move_at_the_end_of_the_grace_is_no_lie() -> None:
    day = honest()
    of_entry("dan", -1, at_ms=DEADLINE - day.replays["dan"].header.started)(day)
    assert findings(day, EIGHT_OFF)[-1].holds


# -- Boards that are short -------------------------------------------------------------------------


def test_day_that_nobody_played_holds() -> None:
    day = honest()
    day.boards[FREECELL] = [replace(board, rows=(), total=0) for board in day.boards[FREECELL]]
    found = findings(day, FREECELL)
    assert [finding.check for finding in found] == CHECKS
    assert all(finding.holds for finding in found)


def test_each_replay_is_needed_once() -> None:
    day = honest()
    games = Runs(day.challenge(FREECELL), day.boards[FREECELL]).games
    assert sorted(games) == ["ian", "ian-2", "joy"]
