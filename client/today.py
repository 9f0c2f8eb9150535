"""Which challenge somebody means, and how an attempt at one went, in words."""

from collections.abc import Iterable

from cellmates.daily import BadDay, parse_challenge_id

from .client import Client
from .errors import AttemptOver, Unavailable
from .picture import counted, time_text
from .results import Challenge, View

OWN_DEAL = "a daily has a deal of its own: leave --ruleset and --deal out"


async def todays(client: Client, ruleset: str) -> Challenge:
    """Today's challenge in a ruleset, by the server's clock.

    Raises:
        Unavailable: there is none.
        ClientError: as by every request.
    """
    challenges = await client.dailies()
    for challenge in challenges:
        if challenge.ruleset == ruleset:
            return challenge
    raise Unavailable(f"there is no daily of {ruleset[:20]!r} today{_but(challenges)}")


def ruleset_of(deal: str | None) -> str | None:
    """Ruleset of a deal that is named by its challenge; None for any other deal."""
    try:
        return parse_challenge_id(deal or "")[1]
    except BadDay:
        return None


def result_text(view: View) -> str:
    """How a game ended, such as ``won in 4:07, 94 moves, 2 undos``."""
    home = "" if view.status == "won" else f", {sum(view.home.values())} cards home"
    link = "in" if view.status == "won" else "after"
    figures = f"{counted(view.moves, 'move')}, {counted(view.undos, 'undo')}"
    return f"{view.status} {link} {time_text(view.elapsed_ms)}{home}, {figures}"


def attempt_over(view: View) -> AttemptOver:
    """Error for who would play a ranked attempt that has ended as the view says."""
    challenge = view.challenge
    said = (
        f"your attempt at {challenge} is over: {result_text(view)}. For practice, "
        f"play --ruleset {view.ruleset} --deal {challenge} deals it again"
    )
    names = ("challenge", "game", "status", "score", "moves", "undos", "elapsed_ms")
    return AttemptOver(said, {name: getattr(view, name) for name in names})


def _but(challenges: Iterable[Challenge]) -> str:
    """Of what there is one."""
    rulesets = ", ".join(challenge.ruleset for challenge in challenges)
    return f"; there is one of {rulesets}" if rulesets else ""
