"""Refusals in words: a table from the server's codes and reasons to sentences."""

from collections.abc import Mapping

from .errors import CannotConnect, ClientError, Conflict, ServerError

# Why a move is illegal (docs/rules.md), by the reason in the error's context.
REASONS = {
    "no-card": "There are not that many cards there.",
    "cell-full": "That cell is full.",
    "not-in-sequence": "Those cards are not in sequence, so they do not move together.",
    "does-not-fit": "That does not fit there.",
    "kings-only": "Only a King, or a run that a King heads, may go into an empty column.",
    "group-too-long": "That is {length} cards, and only {limit} may move together now.",
    "foundation-order": "That card is not the next of its suit to go home.",
    "no-take-back": "Cards that are home stay there in this game.",
    "same-place": "That is where the card is already.",
    "game-over": "The game is over.",
}

# The other refusals, by the error's code; {…} is filled from the context.
CODES = {
    "bad-frame": "The server could not read this client's request.",
    "unknown-type": "This server does not know that request: it may be older than this client.",
    "bad-request": "The server will not have that: {why}.",
    "hello-first": "The server was not greeted: this client is at fault.",
    "unsupported-proto": "The server speaks another version of the protocol.",
    "bad-token": "The token is not valid, or not any more.",
    "token-needed": "That takes a player: play a game first, or give a token.",
    "forbidden": "That is not allowed here.",
    "not-found": "There is no such game, player or challenge.",
    "bad-move": "That is not a move in this game.",
    "nothing-to-undo": "There is nothing to undo.",
    "conflict": "Another of your connections moved first; this is how the game stands now.",
    "game-over": "The game is over: it was {status}.",
    "handle-taken": "Somebody has that handle already, or one that looks like it.",
    "handle-invalid": "That is no handle: {why}.",
    "challenge-closed": "That challenge is closed.",
    "challenge-not-open": "That challenge is not open yet.",
    "not-yet": "That may not be told yet.",
    "bad-cursor": "The server does not know where to go on in the list.",
    "too-many-games": "You have too many unfinished games: finish one of them, or resign it.",
    "rate-limited": "That was too much at once: wait a little.",
    "draining": "The server is about to restart: try again in a moment.",
    "internal": "The server failed at that. It is not your fault; try again.",
}


def sentence(error: ClientError) -> str:
    """What went wrong, for people."""
    if isinstance(error, CannotConnect):
        start = "start one with 'make serve', or name another with --server"
        return f"{error}\n{start}"
    if not isinstance(error, ServerError):
        return _as_sentence(str(error))
    words = CODES.get(error.code)
    if error.code == "illegal-move":
        words = REASONS.get(str(error.context.get("reason")))
    if isinstance(error, Conflict) and error.recorded is None:
        words = None
    filled = None if words is None else _filled(words, error.context)
    return filled or _as_sentence(error.message or error.code)


def _filled(words: str, context: Mapping[str, object]) -> str | None:
    """Words with their gaps filled; None where the context lacks what they ask for."""
    try:
        return words.format_map({name: said for name, said in context.items() if said is not None})
    except KeyError:
        return None


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
