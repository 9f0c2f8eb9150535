"""Runs for the boards' benchmarks, and a database that holds them. Nothing is measured here."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from random import Random

from cellmates.daily import Figures
from cellmates.engine import PACK
from server.records import ChallengeRecord, GameRecord, Run, Summary
from server.store import upgrade

CHALLENGE = "2027-01-15-freecell"
CLOSES = 1_800_057_600_000
RECORD = ChallengeRecord(
    id=CHALLENGE,
    day=CHALLENGE[:10],
    ruleset="freecell",
    ruleset_version=1,
    planner="",
    opens=CLOSES - 86_400_000,
    closes=CLOSES,
    commitment="",
    previous=None,
    sealed="",
)

_AT_ONCE = 10_000
# Base64 of sixteen random bytes, as the server's ids are.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def runs(count: int, start: int = 1) -> Iterator[Run]:
    """First attempts of as many people, seven in ten of them won, always the same ones."""
    chance = Random(start)
    for number in range(start, start + count):
        won = chance.random() < 0.7
        yield Run(
            number=number,
            game="".join(chance.choices(_LETTERS, k=22)),
            challenge=CHALLENGE,
            player="".join(chance.choices(_LETTERS, k=22)),
            kind="human",
            handle=f"player-{number}",
            figures=Figures(
                home=len(PACK) if won else chance.randrange(len(PACK)),
                elapsed_ms=chance.randrange(60_000, 6_000_000),
                moves=chance.randrange(60, 300),
                undos=chance.randrange(20),
                attempt=1,
                ended=CLOSES - chance.randrange(86_400_000),
            ),
        )


def in_parts(all_runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Runs in lists that are short beside a board."""
    rest = iter(all_runs)
    while part := list(islice(rest, _AT_ONCE)):
        yield part


# -- In a database ---------------------------------------------------------------------------------

_PLAYER = "INSERT INTO player (id, handle, handle_key, kind, created) VALUES (?, ?, ?, ?, 0)"
_GAME = """
INSERT INTO game (
    id, player, ruleset, ruleset_version, deal, autoplay, challenge, attempt, started, status,
    seq, home, moves, undos, score, elapsed_ms, hash, ended
) VALUES (?, ?, 'freecell', 1, '1', 'safe', ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_RESULT = """
INSERT INTO result (
    number, game, challenge, player, attempt, home, moves, undos, elapsed_ms, ended
) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
"""


async def plant_runs(file: Path, all_runs: Iterable[Run]) -> None:
    """Make a database of SQLite, with runs, their games and players as the server keeps them.

    The games have no entries: boards do not read them.
    """
    await upgrade(f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as base:
        base.execute("PRAGMA synchronous = OFF")
        base.execute("PRAGMA cache_size = -400000")  # KiB
        for part in in_parts(all_runs):
            with base:
                base.executemany(_PLAYER, [_player_row(run) for run in part])
                base.executemany(_GAME, [_game_row(run) for run in part])
                base.executemany(_RESULT, [_result_row(run) for run in part])


def game_of(run: Run) -> GameRecord:
    """The game of a run before its only entry, which `summary_of` ends."""
    started = run.figures.ended - run.figures.elapsed_ms
    nothing_yet = Summary("playing", 0, 0, 0, 0, 0, 0, "", None)
    return GameRecord(
        run.game, run.player, "freecell", 1, "1", "safe", CHALLENGE, 1, started, nothing_yet
    )


def summary_of(run: Run, digest: str) -> Summary:
    """Where the game of a run stands at its end, after one entry of that hash."""
    told = run.figures
    status = "won" if told.is_won else "resigned"
    return Summary(
        *(status, 1, told.home, told.moves, told.undos, told.home),
        *(told.elapsed_ms, digest, told.ended),
    )


def _player_row(run: Run) -> Sequence[object]:
    return run.player, run.handle, run.handle, run.kind


def _game_row(run: Run) -> Sequence[object]:
    game, end = game_of(run), summary_of(run, "0" * 64)
    return (
        *(game.id, game.player, game.challenge, game.started, end.status, end.seq),
        *(end.home, end.moves, end.undos, end.score, end.elapsed_ms, end.hash, end.ended),
    )


def _result_row(run: Run) -> Sequence[object]:
    told = run.figures
    return (
        *(run.number, run.game, run.challenge, run.player),
        *(told.home, told.moves, told.undos, told.elapsed_ms, told.ended),
    )
