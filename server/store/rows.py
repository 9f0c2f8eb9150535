"""Records of the journal to rows, and rows back to records. No SQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row as AnyResult

from cellmates.daily import Figures, Link

from ..records import Attempt, ChallengeRecord, Entry, GameRecord, Run, Summary, Told
from .statements import CHALLENGE, GAME, RUN, SUMMARY
from .writer import Row, Rows

AnyRow = AnyResult[*tuple[Any, ...]]

# -- To rows ---------------------------------------------------------------------------------------


def game_row(record: GameRecord) -> Row:
    """Row of a new game.

    Raises:
        ValueError: of challenge and attempt one is missing.
    """
    if (record.challenge is None) != (record.attempt is None):
        raise ValueError("an attempt without challenge, or the other way round")
    row = {name: getattr(record, name) for name in GAME}
    return row | {name: getattr(record.summary, name) for name in SUMMARY}


def rows_of_entry(game: str, entry: Entry, after: Summary, attempt: Attempt | None) -> Rows:
    """Rows of an entry, which ends ``attempt`` where one is given.

    Raises:
        ValueError: ``after`` is the summary after another entry, or ends an attempt without a time.
    """
    if (after.seq, after.hash) != (entry.seq, entry.hash):
        raise ValueError("the summary is of another entry")
    row = {
        "game": game,
        "seq": entry.seq,
        "action": entry.action,
        "at_ms": entry.at_ms,
        "hash": entry.hash,
    }
    if attempt is None:
        return [row], [_summary_row(game, after)], []
    closing = _closing_row(game, after, "end")
    return [row, closing], [_summary_row(game, after)], [_run_row(game, after, attempt)]


def rows_of_expiry(game: str, after: Summary, attempt: Attempt) -> Rows:
    """Rows of an attempt that ends without an entry.

    Raises:
        ValueError: ``after`` has no time of the end.
    """
    closing = _closing_row(game, after, "expire")
    return [closing], [_summary_row(game, after)], [_run_row(game, after, attempt)]


def _summary_row(game: str, after: Summary) -> Row:
    return {
        "the_game": game,
        "new_status": after.status,
        "new_seq": after.seq,
        "new_home": after.home,
        "new_moves": after.moves,
        "new_undos": after.undos,
        "new_score": after.score,
        "new_elapsed_ms": after.elapsed_ms,
        "new_hash": after.hash,
        "new_ended": after.ended,
    }


def _closing_row(game: str, after: Summary, action: str) -> Row:
    """What stands behind the last entry: without a hash it is none, but has its seq."""
    return {
        "game": game,
        "seq": after.seq + 1,
        "action": action,
        "at_ms": after.elapsed_ms,
        "hash": "",
    }


def _run_row(game: str, after: Summary, attempt: Attempt) -> Row:
    if after.ended is None:
        raise ValueError("an attempt ends without a time")
    return {
        "game": game,
        "challenge": attempt.challenge,
        "player": attempt.player,
        "attempt": attempt.number,
        "home": after.home,
        "moves": after.moves,
        "undos": after.undos,
        "elapsed_ms": after.elapsed_ms,
        "ended": after.ended,
    }


def challenge_row(record: ChallengeRecord) -> Row:
    """Row of a new challenge, which is not told yet."""
    previous = record.previous
    return {
        "new_id": record.id,
        "new_day": record.day,
        "new_ruleset": record.ruleset,
        "new_ruleset_version": record.ruleset_version,
        "new_planner": record.planner,
        "new_opens": record.opens,
        "new_closes": record.closes,
        "new_commitment": record.commitment,
        "new_previous_challenge": previous.challenge if previous else None,
        "new_previous_commitment": previous.commitment if previous else None,
        "new_sealed": record.sealed,
    }


def told_row(challenge: str, told: Told) -> Row:
    """Row of what may be known of a challenge."""
    return {
        "the_challenge": challenge,
        "new_seed": told.seed,
        "new_candidate": told.candidate,
        "new_deal": told.deal,
        "new_par": told.par,
        "new_solution": " ".join(told.solution),
    }


# -- And back --------------------------------------------------------------------------------------


def games_of_rows(rows: Sequence[AnyRow]) -> list[GameRecord]:
    """Games from rows that have the columns of ``GAME`` and ``SUMMARY``."""
    end = len(GAME)
    return [
        GameRecord(**dict(zip(GAME, row[:end], strict=True)), summary=Summary(*row[end:]))
        for row in rows
    ]


def challenges_of_rows(rows: Sequence[AnyRow]) -> list[ChallengeRecord]:
    """Challenges from rows that have the columns of ``CHALLENGE`` and ``TOLD``."""
    return [_challenge(row) for row in rows]


def _challenge(row: AnyRow) -> ChallengeRecord:
    end = len(CHALLENGE)
    fields = dict(zip(CHALLENGE, row[:end], strict=True))
    previous = Link(fields.pop("previous_challenge"), fields.pop("previous_commitment"))
    return ChallengeRecord(
        **fields,
        previous=previous if previous.challenge else None,
        told=_told(*row[end:]),
    )


def _told(seed: str | None, candidate: int, deal: str, par: int, solution: str) -> Told | None:
    return Told(seed, candidate, deal, par, tuple(solution.split())) if seed else None


def runs_of_rows(rows: Sequence[AnyRow]) -> list[Run]:
    """Runs from rows that have the columns of ``RUN`` and those of their figures."""
    end = len(RUN)
    return [
        Run(**dict(zip(RUN, row[:end], strict=True)), figures=Figures(*row[end:])) for row in rows
    ]
