"""Days, in UTC and nothing else: from an instant to the challenges of its day, and back.

Instants are milliseconds since the epoch, which counts no leap seconds, so every day has as many.
"""

from datetime import date, timedelta

DAILIES = ("freecell", "eight-off", "eight-off-4", "eight-off-2", "eight-off-classic")
DAY_MS = 24 * 60 * 60 * 1000
GRACE_MS = 6 * 60 * 60 * 1000

_EPOCH = date(1970, 1, 1)


class BadDay(ValueError):
    """The text names no day, or no challenge."""


def day_of(instant_ms: int) -> str:
    """Day of an instant, as ``YYYY-MM-DD``.

    Raises:
        BadDay: the instant is before the year 1 or after 9999.
    """
    try:
        return (_EPOCH + timedelta(days=instant_ms // DAY_MS)).isoformat()
    except OverflowError:
        raise BadDay(f"{instant_ms} is in no year that has four digits") from None


def opens_at(day: str) -> int:
    """Instant at which a day begins and its challenges open.

    Raises:
        BadDay: the text is no day, or not written as ``YYYY-MM-DD``.
    """
    try:
        day_date = date.fromisoformat(day)
    except ValueError:
        day_date = None
    if day_date is None or day_date.isoformat() != day:
        raise BadDay(f"{day[:20]!r} is no day: write YYYY-MM-DD")
    return (day_date - _EPOCH).days * DAY_MS


def closes_at(day: str) -> int:
    """Instant from which no attempt at the challenges of a day may begin any more."""
    return opens_at(day) + DAY_MS


def deadline_of(closes: int) -> int:
    """Instant at which attempts end that are still under way, for a challenge that has closed."""
    return closes + GRACE_MS


def day_after(day: str, days: int = 1) -> str:
    """Day so many days later, or earlier where ``days`` is negative.

    Raises:
        BadDay: ``day`` is none, or there is no such day.
    """
    return day_of(opens_at(day) + days * DAY_MS)


def challenge_id(day: str, ruleset: str) -> str:
    """Id of the challenge of a day in a ruleset."""
    return f"{day}-{ruleset}"


def parse_challenge_id(text: str) -> tuple[str, str]:
    """Day and ruleset of a challenge.

    Raises:
        BadDay: the text is no challenge's id.
    """
    day, ruleset = text[:10], text[11:]
    if ruleset not in DAILIES or text != challenge_id(day, ruleset):
        raise BadDay(f"{text[:40]!r} is no challenge: write YYYY-MM-DD-RULESET")
    opens_at(day)
    return day, ruleset


def is_challenge_id(text: str) -> bool:
    """Whether a text is the id of a challenge that there may be."""
    try:
        parse_challenge_id(text)
    except BadDay:
        return False
    return True
