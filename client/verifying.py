"""A challenge, checked here: that its deal was fixed beforehand, and how, and that it can be won.

Evidence in, findings out; after the first lie there are no more. It fetches nothing, and believes
nothing that can be computed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from cellmates.daily import (
    DAILIES,
    PLANNER,
    SEED_BYTES,
    BadDay,
    Link,
    candidate,
    challenge_id,
    closes_at,
    commitment,
    day_after,
    deadline_of,
    opens_at,
    parse_challenge_id,
)
from cellmates.engine import RULESETS, Game, Move, Refusal, Status
from cellmates.solver import Verdict, solve

from .results import Challenge, Previous, Proof

Watch: TypeAlias = Callable[[str], None]

_SEED = re.compile(rf"[0-9a-f]{{{2 * SEED_BYTES}}}")
# What a server may take, once the last attempt has expired, to tell what was secret.
_TELLING_MS = 10 * 60 * 1000


class CannotVerify(Exception):
    """There is nothing to be checked yet, or not by this version. Nothing is a lie."""


class Wrong(Exception):
    """A check does not hold; the message says what is wrong."""

    def __init__(self, says: str, game: str | None = None, seq: int | None = None) -> None:
        super().__init__(says)
        self.game = game
        self.seq = seq


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check has shown. Where it does not hold, ``game`` and ``seq`` say of which entry."""

    check: str
    challenge: str
    holds: bool
    says: str
    game: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """What the server says of a challenge of ``day``, by itself and beside others.

    ``listed`` holds the challenges of days: of this one, and of those that ``neighbours`` names.
    ``now`` is the time by the server's clock, in ms since the epoch.
    """

    day: str
    challenge: Challenge
    listed: Mapping[str, tuple[Challenge, ...]]
    now: int


def neighbours(day: str, challenges: Iterable[Challenge]) -> frozenset[str]:
    """Days whose challenges are needed to check these ones of a day.

    Raises:
        BadDay: there is no day before this one, or none after it.
    """
    days = {day_after(day, -1), day_after(day)}
    for challenge in challenges:
        if challenge.previous is not None and (named := _day_named(challenge.previous.challenge)):
            days.add(named)
    return frozenset(days)


def verify_challenge(told: Announced, watch: Watch) -> Iterator[Finding]:
    """Findings about a challenge and its deal; ``watch`` is told what takes long.

    Raises:
        CannotVerify: it may not be told yet, or another version planned it.
    """
    checks = ((name, partial(check, told, watch)) for name, check in _CHECKS)
    return until_wrong(told.challenge.challenge, checks)


def until_wrong(
    challenge: str, checks: Iterable[tuple[str, Callable[[], str]]]
) -> Iterator[Finding]:
    """Findings of checks with their names, until one does not hold."""
    for name, check in checks:
        try:
            says = check()
        except Wrong as wrong:
            yield lie(name, challenge, wrong)
            return
        yield Finding(name, challenge, True, says)


def lie(name: str, challenge: str, wrong: Wrong) -> Finding:
    """Finding of a check that does not hold."""
    return Finding(name, challenge, False, str(wrong), wrong.game, wrong.seq)


def agree(pairs: Iterable[tuple[str, object, object]], game: str | None = None) -> None:
    """Hold what was told against what it has to be: name, told, found.

    Raises:
        Wrong: they differ; the message names the first that do.
    """
    for name, told, has_to_be in pairs:
        if told != has_to_be:
            raise Wrong(f"{name} is {told}, and has to be {has_to_be}", game)


# -- The checks, in the order in which they are made -----------------------------------------------


def _challenge_id(told: Announced, _: Watch) -> str:
    own = told.challenge
    if own.ruleset not in DAILIES:
        raise Wrong(f"{own.ruleset} has no dailies")
    agree(
        (
            ("id", own.challenge, challenge_id(told.day, own.ruleset)),
            ("opens", own.opens, opens_at(told.day)),
            ("closes", own.closes, closes_at(told.day)),
        )
    )
    times = sum(other.challenge == own.challenge for other in told.listed[told.day])
    if times != 1:
        raise Wrong(f"it is listed {times} times")
    return f"{told.day} in UTC, {own.ruleset}"


def _told(told: Announced, _: Watch) -> str:
    own = told.challenge
    if told.now < own.closes:
        raise CannotVerify(f"{own.challenge} is not over: there is nothing to check yet")
    if own.deal is not None and own.proof is not None and own.par is not None:
        return "deal, proof and par are public"
    if told.now < deadline_of(own.closes) + _TELLING_MS:
        raise CannotVerify(
            f"{own.challenge} is closed, and still being played: its proof is told when the last "
            "attempt has ended, at most six hours after the close"
        )
    raise Wrong("deal, proof or par are kept secret, and nobody can be playing any more")


def _planner(told: Announced, _: Watch) -> str:
    own = told.challenge
    version = RULESETS[own.ruleset].version
    if (own.planner, own.ruleset_version) != (PLANNER, version):
        raise CannotVerify(
            f"{own.challenge} was planned by {own.planner} for version {own.ruleset_version} of "
            f"its rules, and this program has {PLANNER} and {version}: it cannot be repeated here"
        )
    return f"{own.planner}, version {version} of the rules"


def _seed(told: Announced, _: Watch) -> str:
    seed = _proof(told).seed
    if not _SEED.fullmatch(seed):
        raise Wrong(f"{seed} is no seed of {SEED_BYTES} bytes in lower-case hex")
    return seed


def _commitment(told: Announced, _: Watch) -> str:
    own = told.challenge
    named = own.previous
    previous = None if named is None else Link(named.challenge, named.commitment)
    computed = commitment(
        challenge=own.challenge,
        ruleset_version=own.ruleset_version,
        planner=own.planner,
        seed=bytes.fromhex(_proof(told).seed),
        previous=previous,
    )
    agree((("commitment", own.commitment, computed),))
    return computed


def _chain(told: Announced, _: Watch) -> str:
    own = told.challenge
    before = _neighbour(told, -1)
    named = own.previous.challenge if own.previous else None
    if before is not None and named != before.challenge:
        raise Wrong(f"it names {named} as the one before it, and that is {before.challenge}")
    if own.previous is not None:
        _named(told, own.previous)
    after = _neighbour(told, 1)
    if after is not None and after.previous != Previous(own.challenge, own.commitment):
        raise Wrong(f"{after.challenge} does not name it, with its commitment, as the one before")
    behind = "the one after names it" if after else "there is none after it yet"
    return f"after {named}; {behind}" if named else f"the first of its ruleset; {behind}"


def _named(told: Announced, previous: Previous) -> None:
    """Hold the challenge that is named as the one before against what is listed.

    Raises:
        Wrong: it is none of this ruleset's before, or another one.
    """
    day = _day_named(previous.challenge)
    if (
        day is None
        or day >= told.day
        or previous.challenge != challenge_id(day, told.challenge.ruleset)
    ):
        raise Wrong(f"it names {previous.challenge} as the one before it, which cannot be")
    listed = _listed(told, day, previous.challenge)
    if listed is None:
        raise Wrong(f"it names {previous.challenge} as the one before it, which is not listed")
    name = f"the commitment that it names for {previous.challenge}"
    agree(((name, previous.commitment, listed.commitment),))


def _candidate(told: Announced, watch: Watch) -> str:
    own, proof = told.challenge, _proof(told)
    ruleset, seed, number = RULESETS[own.ruleset], bytes.fromhex(proof.seed), proof.candidate
    if number < 0:
        raise Wrong(f"there is no candidate {number}")
    agree((("deal", own.deal, str(candidate(seed, number))),))
    for earlier in range(number + 1):
        watch(f"candidate {earlier} of {number}")
        verdict = solve(ruleset, candidate(seed, earlier).layout(ruleset)).verdict
        if verdict is Verdict.WON and earlier < number:
            raise Wrong(f"candidate {number} is not the first that can be won: {earlier} can")
        if verdict is not Verdict.WON and earlier == number:
            raise Wrong(f"the solver does not win candidate {number}: it is {verdict}")
    return f"{number} is the first that the solver wins"


def _solution(told: Announced, _: Watch) -> str:
    game = _solved(told)
    if game.status is not Status.WON:
        raise Wrong(f"it leaves {game.cards_home} cards home, and does not win")
    return f"wins in {game.seq} moves, leaving out automatic ones"


def _par(told: Announced, _: Watch) -> str:
    moves = _solved(told).moves
    agree((("par", told.challenge.par, moves),))
    return f"{moves} moves"


_CHECKS: tuple[tuple[str, Callable[[Announced, Watch], str]], ...] = (
    ("challenge-id", _challenge_id),
    ("told", _told),
    ("planner", _planner),
    ("seed", _seed),
    ("commitment", _commitment),
    ("chain", _chain),
    ("candidate", _candidate),
    ("solution", _solution),
    ("par", _par),
)


# -- What they look up -----------------------------------------------------------------------------


def _proof(told: Announced) -> Proof:
    proof = told.challenge.proof
    assert proof is not None, "the check before says that it is told"
    return proof


def _solved(told: Announced) -> Game:
    """Game after the solution, under the ruleset's own autoplay.

    Raises:
        Wrong: a move of it is against the rules.
    """
    proof = _proof(told)
    deal = candidate(bytes.fromhex(proof.seed), proof.candidate)
    game = Game.start(RULESETS[told.challenge.ruleset], deal)
    for number, text in enumerate(proof.solution, 1):
        try:
            game = game.play(Move.parse(text))
        except Refusal as refusal:
            raise Wrong(f"move {number}, {text}, is against the rules: {refusal}") from None
    return game


def _neighbour(told: Announced, days: int) -> Challenge | None:
    """Challenge of the same ruleset so many days after, or before."""
    day = day_after(told.day, days)
    return _listed(told, day, challenge_id(day, told.challenge.ruleset))


def _listed(told: Announced, day: str, challenge: str) -> Challenge | None:
    return next((other for other in told.listed[day] if other.challenge == challenge), None)


def _day_named(challenge: str) -> str | None:
    """Day of a challenge; None where the text is no challenge's id."""
    try:
        return parse_challenge_id(challenge)[0]
    except BadDay:
        return None
