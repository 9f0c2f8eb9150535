"""What is kept, as frozen values: games with their entries, players, challenges and their runs."""

import msgspec

from cellmates.daily import Figures, Link


class Entry(msgspec.Struct, frozen=True):
    """One recorded action; ``at_ms`` counts from the start of its game, ``hash`` is hex."""

    seq: int
    action: str
    at_ms: int
    hash: str


class Summary(msgspec.Struct, frozen=True):
    """Where a game stands after its last entry; ``ended`` is in ms since the epoch, once it is."""

    status: str
    seq: int
    home: int
    moves: int
    undos: int
    score: int
    elapsed_ms: int
    hash: str
    ended: int | None


class GameRecord(msgspec.Struct, frozen=True):
    """A game without its entries; ``started`` is in ms since the epoch.

    ``challenge`` and ``attempt`` are given or missing together.
    """

    id: str
    player: str
    ruleset: str
    ruleset_version: int
    deal: str
    autoplay: str
    challenge: str | None
    attempt: int | None
    started: int
    summary: Summary


class PlayerRecord(msgspec.Struct, frozen=True):
    """Somebody who plays, and is not deleted; ``created`` is in ms since the epoch."""

    id: str
    handle: str
    kind: str
    created: int


class Result(msgspec.Struct, frozen=True):
    """What a player has reached under one ruleset; the bests are of games won, or None.

    ``played`` counts every game begun, so that no loss can be hidden by leaving it.
    """

    ruleset: str
    played: int
    won: int
    best_ms: int | None
    fewest_moves: int | None


class Told(msgspec.Struct, frozen=True):
    """What is secret about a challenge until it is told.

    ``seed`` is hex, ``deal`` the deal's canonical text; ``par`` is the length of ``solution`` with
    its automatic moves.
    """

    seed: str
    candidate: int
    deal: str
    par: int
    solution: tuple[str, ...]


class ChallengeRecord(msgspec.Struct, frozen=True):
    """A day's deal in one ruleset; ``opens`` and ``closes`` are in ms since the epoch.

    ``previous`` is the challenge before in this ruleset. ``sealed`` holds the secrets under the
    server's key. ``told`` is None until everybody may know them.
    """

    id: str
    day: str
    ruleset: str
    ruleset_version: int
    planner: str
    opens: int
    closes: int
    commitment: str
    previous: Link | None
    sealed: str
    told: Told | None = None


class Attempt(msgspec.Struct, frozen=True):
    """Which attempt at which challenge a game is, and whose; 1 is the ranked one."""

    challenge: str
    player: str
    number: int


class Run(msgspec.Struct, frozen=True):
    """An attempt that has ended. ``number`` counts all runs in the order they were recorded.

    ``handle`` is None where the player is deleted.
    """

    number: int
    game: str
    challenge: str
    player: str
    kind: str
    handle: str | None
    figures: Figures
