"""The daily a second time, slow and plain, from docs/daily.md alone, to hold the first against.

Cards are two characters ("TD"), days are ``YYYY-MM-DD``, runs are dictionaries with the names of
the page. Nothing here is shared with ``cellmates.daily``: an error would have to be made twice.

Not here: the solver, and the cards' layout.
"""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "CDHS"
DAY = 86_400_000
HOUR = DAY // 24

Run = dict[str, Any]


# -- Days ------------------------------------------------------------------------------------------


def days_of_year(year: int) -> int:
    """366 in leap years."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 366 if leap else 365


def day_of(instant: int) -> str:
    """Day of an instant, counted year by year and month by month."""
    left, year = instant // DAY, 1970
    while left < 0:
        year -= 1
        left += days_of_year(year)
    while left >= days_of_year(year):
        left -= days_of_year(year)
        year += 1
    february = days_of_year(year) - 337
    month = 1
    for length in (31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31):
        if left < length:
            break
        left -= length
        month += 1
    return f"{year:04}-{month:02}-{left + 1:02}"


# -- Commitment ------------------------------------------------------------------------------------


def commitment(
    challenge: str, version: int, planner: str, seed_hex: str, before: tuple[str, str]
) -> str:
    """SHA-256 of eight lines; ``before`` is id and commitment of the challenge before."""
    year, month, day, ruleset = challenge.split("-", 3)
    assert f"{year}-{month}-{day}-{ruleset}" == challenge
    text = "cellmates/1\n" + challenge + "\n" + ruleset + "\n" + str(version) + "\n"
    text += planner + "\n" + seed_hex + "\n" + before[0] + "\n" + before[1]
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# -- Shuffle ---------------------------------------------------------------------------------------


def key_of(seed: bytes, k: int) -> bytes:
    """Key of a candidate."""
    return hmac.new(seed, b"candidate\n" + str(k).encode(), hashlib.sha256).digest()


def numbers_of(key: bytes) -> Iterator[int]:
    """Numbers of 32 bits that a key gives."""
    i = 0
    while True:
        text = "cellmates/daily/1\n" + str(i)
        digits = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        while digits:
            yield int(digits[:8], 16)
            digits = digits[8:]
        i += 1


def below_of(n: int) -> int:
    """The number from which on numbers are passed over: a multiple of n."""
    return 2**32 // n * n


def shuffled(numbers: Iterator[int]) -> list[str]:
    """The pack in dealing order."""
    pack = [rank + suit for rank in RANKS for suit in SUITS]
    for n in range(52, 1, -1):
        number = next(numbers)
        while number >= below_of(n):
            number = next(numbers)
        p = number % n
        card = pack[p]
        pack[p] = pack[n - 1]
        pack[n - 1] = card
    return pack


def deal(seed: bytes, k: int) -> str:
    """Name of a candidate."""
    return "cards:" + "".join(shuffled(numbers_of(key_of(seed, k))))


def picks_of(order: list[str]) -> list[int]:
    """The p for n = 52, 51 … 2 that shuffle the pack into this order."""
    pack = [rank + suit for rank in RANKS for suit in SUITS]
    picks = []
    for n in range(52, 1, -1):
        p = pack.index(order[n - 1])
        pack[p], pack[n - 1] = pack[n - 1], pack[p]
        picks.append(p)
    return picks


# -- Boards ----------------------------------------------------------------------------------------


def is_better(board: str, run: Run, other: Run) -> bool:
    """Whether a run is better than another in what the board's order names."""
    if board == "first" and run["home"] != other["home"]:
        return bool(run["home"] > other["home"])
    names = ["elapsed_ms", "moves", "undos"] if board == "first" else ["moves", "elapsed_ms"]
    for name in names:
        if run[name] != other[name]:
            return bool(run[name] < other[name])
    return False


def is_on(board: str, run: Run, closes: int) -> bool:
    """Whether a run is one of those that the board is about."""
    if board == "first":
        return bool(run["attempt"] == 1)
    in_time = run["attempt"] == 1 or run["ended"] < closes
    return bool(run["home"] == 52 and in_time)


def board_of(board: str, runs: list[Run], closes: int) -> list[tuple[int, Run]]:
    """Rows of a board, as rank and run. ``runs`` are in the order in which they were recorded."""
    best: dict[str, Run] = {}
    for run in runs:
        if is_on(board, run, closes):
            had = best.get(run["player"])
            if had is None or is_better(board, run, had):
                best[run["player"]] = run
    left = [run for run in runs if any(run is kept for kept in best.values())]
    rows: list[tuple[int, Run]] = []
    while left:
        top = left[0]
        for run in left:
            if is_better(board, run, top):
                top = run
        left = [run for run in left if run is not top]
        rows.append((1 + sum(is_better(board, other, top) for other in best.values()), top))
    return rows


# -- Streaks ---------------------------------------------------------------------------------------


def streaks(won: set[int], today: int) -> tuple[int, int]:
    """The streak that lasts and the best, of days that are numbers here."""

    def back_from(day: int) -> int:
        length = 0
        while day - length in won:
            length += 1
        return length

    lasting = back_from(today) if today in won else back_from(today - 1)
    return lasting, max((back_from(day) for day in won), default=0)
