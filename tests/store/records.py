"""Players, games with their entries, and challenges with their attempts, to keep."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from cellmates.daily import Link, challenge_id, closes_at, opens_at
from cellmates.engine import first_hash, next_hash
from server.journal import Journal
from server.records import Attempt, ChallengeRecord, Entry, GameRecord, PlayerRecord, Summary, Told

NOW = 1_800_000_009_000

PLAYER = PlayerRecord("p1", "Annie", "human", 1_800_000_000_000)
OTHER = PlayerRecord("p2", "Bo", "bot", 1_800_000_000_001)

START = first_hash("freecell", 1, "11982", "safe")


def a_game(game: str = "g1", **fields: str | int | None) -> GameRecord:
    """A game without entries, Annie's unless ``fields`` say otherwise; of the summary too."""
    summary = Summary("playing", 0, 0, 0, 0, 0, 0, START, None)
    of_summary = {name: fields.pop(name) for name in Summary.__struct_fields__ if name in fields}
    record = GameRecord(
        id=game,
        player=PLAYER.id,
        ruleset="freecell",
        ruleset_version=1,
        deal="11982",
        autoplay="safe",
        challenge=None,
        attempt=None,
        started=1_800_000_000_000,
        summary=replace(summary, **of_summary),
    )
    return replace(record, **fields)


def entries(count: int, action: str = "26v3") -> list[Entry]:
    """The first entries of a game, in a chain."""
    made: list[Entry] = []
    for seq in range(1, count + 1):
        before = made[-1].hash if made else START
        made.append(Entry(seq, action, seq * 100, next_hash(before, seq, action, seq * 100)))
    return made


def after(entry: Entry, **fields: str | int | None) -> Summary:
    """Where a game stands after an entry."""
    summary = Summary(
        status="playing",
        seq=entry.seq,
        home=entry.seq // 2,
        moves=entry.seq,
        undos=0,
        score=entry.seq // 2,
        elapsed_ms=entry.at_ms,
        hash=entry.hash,
        ended=None,
    )
    return replace(summary, **fields)


async def start_games(journal: Journal, count: int) -> list[str]:
    """Keep games of Annie's, and return their ids."""
    games = [f"g{number:02}" for number in range(count)]
    await asyncio.gather(*(journal.create_game(a_game(game)) for game in games))
    return games


def append(journal: Journal, game: str, entry: Entry) -> Coroutine[Any, Any, None]:
    """Keep an entry, with where the game stands after it."""
    return journal.append(game, entry, after(entry))


# -- Challenges and attempts -----------------------------------------------------------------------

DAY = "2026-12-01-freecell"
TOLD = Told("5eed", 7, "cards:JD2D9H", 81, ("26v3", "1a", "ah"))


def a_challenge(
    day: str = "2026-12-01", ruleset: str = "freecell", **fields: object
) -> ChallengeRecord:
    """A challenge that is not told yet."""
    record = ChallengeRecord(
        id=challenge_id(day, ruleset),
        day=day,
        ruleset=ruleset,
        ruleset_version=1,
        planner="solver-1/2",
        opens=opens_at(day),
        closes=closes_at(day),
        commitment=f"commitment of {day}",
        previous=Link(f"before {day}", "its commitment"),
        sealed="under a key",
    )
    return replace(record, **fields)


def an_attempt(game: str = "g1", number: int = 1, **fields: str | int | None) -> GameRecord:
    """A game that is an attempt of Annie's at the challenge ``DAY``."""
    given: dict[str, str | int | None] = {"challenge": DAY, "attempt": number}
    return a_game(game, **(given | fields))


def attempt_of(record: GameRecord) -> Attempt:
    """Which attempt a game is."""
    assert record.challenge is not None
    assert record.attempt is not None
    return Attempt(record.challenge, record.player, record.attempt)


def won(entry: Entry, **fields: str | int | None) -> Summary:
    """Where a game stands after the entry that wins it."""
    given: dict[str, str | int | None] = {"status": "won", "home": 52, "ended": NOW}
    return after(entry, **(given | fields))


async def finish(journal: Journal, record: GameRecord, **fields: str | int | None) -> None:
    """Begin an attempt and end it with its first entry, as won unless ``fields`` say otherwise."""
    [one] = entries(1)
    await journal.create_game(record)
    await journal.append(record.id, one, won(one, **fields), attempt_of(record))
