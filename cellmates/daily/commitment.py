"""What a server is bound by before a day: a hash of the seed, chained to the day before's."""

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Link:
    """A challenge and its commitment, as the next one of its ruleset names it."""

    challenge: str
    commitment: str


def commitment(
    *, challenge: str, ruleset_version: int, planner: str, seed: bytes, previous: Link | None
) -> str:
    """Lower-case hex SHA-256 over eight lines joined by line feeds.

    They are ``cellmates/1``, the challenge's id, its ruleset, the ruleset's version, the planner's
    version, the seed in hex, and id and commitment of the challenge before in this ruleset, both
    empty for the first.
    """
    ruleset = challenge[len("YYYY-MM-DD-") :]
    before = (previous.challenge, previous.commitment) if previous else ("", "")
    lines = ("cellmates/1", challenge, ruleset, str(ruleset_version), planner, seed.hex(), *before)
    return sha256("\n".join(lines).encode()).hexdigest()
