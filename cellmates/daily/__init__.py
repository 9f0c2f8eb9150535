"""The daily: which deal a day has, how that was fixed beforehand, and how runs rank. No I/O.

Server and verifier both stand on this room, so that anyone can check what the server says.
"""

from .commitment import Link, commitment
from .days import (
    DAILIES,
    DAY_MS,
    GRACE_MS,
    BadDay,
    challenge_id,
    closes_at,
    day_after,
    day_of,
    deadline_of,
    is_challenge_id,
    opens_at,
    parse_challenge_id,
)
from .draw import SEED_BYTES, candidate
from .order import (
    BOARDS,
    FIRST,
    MOVES,
    Figures,
    competition_ranks,
    counts,
    order_of,
)
from .planning import PLANNER, Planned, plan
from .streaks import Streaks, streaks

__all__ = [
    "BOARDS",
    "DAILIES",
    "DAY_MS",
    "FIRST",
    "GRACE_MS",
    "MOVES",
    "PLANNER",
    "SEED_BYTES",
    "BadDay",
    "Figures",
    "Link",
    "Planned",
    "Streaks",
    "candidate",
    "challenge_id",
    "closes_at",
    "commitment",
    "competition_ranks",
    "counts",
    "day_after",
    "day_of",
    "deadline_of",
    "is_challenge_id",
    "opens_at",
    "order_of",
    "parse_challenge_id",
    "plan",
    "streaks",
]
