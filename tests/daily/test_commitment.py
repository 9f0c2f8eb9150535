"""A commitment is the hash that docs/daily.md says, and whatever it binds changes it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellmates.daily import DAILIES, Link, challenge_id, commitment

from . import naive
from .page import seed_of

BEFORE = Link("2026-11-30-freecell", "ab" * 32)
SEED = seed_of("a seed")


@dataclass(frozen=True)
class Bound:
    """What a commitment binds."""

    challenge: str = "2026-12-01-freecell"
    ruleset_version: int = 1
    planner: str = "solver-1/400000"
    seed: bytes = SEED
    previous: Link | None = BEFORE

    def hash(self) -> str:
        return commitment(
            challenge=self.challenge,
            ruleset_version=self.ruleset_version,
            planner=self.planner,
            seed=self.seed,
            previous=self.previous,
        )


@given(
    st.sampled_from(DAILIES),
    st.dates().map(str),
    st.integers(1, 99),
    st.binary(min_size=32, max_size=32),
    st.none() | st.binary(min_size=32, max_size=32),
)
def test_commitment_is_that_of_the_page(
    ruleset: str, day: str, version: int, seed: bytes, before: bytes | None
) -> None:
    link = Link("2026-11-30-freecell", before.hex()) if before is not None else None
    bound = Bound(challenge_id(day, ruleset), version, "solver-9/1", seed, link)
    told = ("2026-11-30-freecell", before.hex()) if before is not None else ("", "")
    assert bound.hash() == naive.commitment(
        bound.challenge, version, "solver-9/1", seed.hex(), told
    )


CHANGES: list[Callable[[Bound], Bound]] = [
    lambda bound: replace(bound, challenge="2026-12-02-freecell"),
    lambda bound: replace(bound, challenge="2026-12-01-eight-off"),
    lambda bound: replace(bound, ruleset_version=2),
    lambda bound: replace(bound, planner="solver-2/400000"),
    lambda bound: replace(bound, planner="solver-1/400001"),
    lambda bound: replace(bound, seed=seed_of("another")),
    lambda bound: replace(bound, previous=None),
    lambda bound: replace(bound, previous=Link("2026-11-29-freecell", "ab" * 32)),
    lambda bound: replace(bound, previous=Link("2026-11-30-freecell", "ac" * 32)),
]


def test_whatever_is_bound_changes_the_commitment() -> None:
    hashes = {change(Bound()).hash() for change in CHANGES}
    assert len(hashes | {Bound().hash()}) == 1 + len(CHANGES)


def test_commitment_is_hex_in_lower_case() -> None:
    assert len(Bound().hash()) == 64
    assert Bound().hash() == bytes.fromhex(Bound().hash()).hex()


@pytest.mark.parametrize("ruleset", DAILIES)
def test_days_of_a_chain_cannot_be_swapped(ruleset: str) -> None:
    chain: list[Link] = []
    for number, day in enumerate(("2026-12-01", "2026-12-02", "2026-12-03")):
        challenge = challenge_id(day, ruleset)
        before = chain[-1] if chain else None
        seed = seed_of(f"day {number}")
        bound = Bound(challenge, seed=seed, previous=before)
        chain.append(Link(challenge, bound.hash()))
    swapped = Bound(chain[2].challenge, seed=seed_of("day 2"), previous=chain[0]).hash()
    assert swapped != chain[2].commitment
