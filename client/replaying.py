"""A replay, checked here: its hash chain by hashlib, its moves and its result by the engine."""

import hashlib
from dataclasses import dataclass

from cellmates.engine import (
    RULESETS,
    Autoplay,
    BadAutoplay,
    BadDeal,
    Deal,
    Game,
    Refusal,
    board_text,
    parse_action,
)

from .results import Replay


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of a replay has shown.

    ``broken_at`` is the seq of the first entry whose hash is wrong, 0 for the hash of the result,
    and None where the chain holds. ``doubt`` says in words why the moves do not lead to the result,
    or why that could not be found out. ``board`` is the board after the last move that was made.
    """

    broken_at: int | None
    doubt: str | None
    board: str | None


def check(replay: Replay) -> Checked:
    """Hash chain and moves of a replay, with nothing taken on trust."""
    board, doubt = _played(replay)
    return Checked(_broken_at(replay), doubt, board)


def _broken_at(replay: Replay) -> int | None:
    """Where the chain does not hold; written from docs/protocol.md, with no code of the server."""
    header = replay.header
    begun = ("cellmates/1", header.ruleset, str(header.ruleset_version), header.deal)
    last = _sha256("\n".join((*begun, header.autoplay)))
    for number, entry in enumerate(replay.entries, 1):
        last = _sha256(f"{last}\n{entry.seq} {entry.action} {entry.at_ms}")
        if entry.seq != number or entry.hash != last:
            return number
    return None if replay.result.hash == last else 0


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _played(replay: Replay) -> tuple[str | None, str | None]:
    """Board after the moves, as far as they can be made, and what is wrong with them."""
    header = replay.header
    ruleset = RULESETS.get(header.ruleset)
    if ruleset is None or ruleset.version != header.ruleset_version:
        return None, f"{header.ruleset} {header.ruleset_version} is not known to this client"
    try:
        deal = Deal.parse(ruleset, header.deal)
        game = Game.start(ruleset, deal, Autoplay(header.autoplay))
    except (BadDeal, BadAutoplay, ValueError) as error:
        return None, f"the game cannot be dealt: {error}"
    doubt = None
    for entry in replay.entries:
        try:
            game = game.play(parse_action(entry.action))
        except Refusal as refusal:
            doubt = f"entry {entry.seq}, {entry.action}, is against the rules: {refusal}"
            break
    return board_text(game.position), doubt or _difference(replay, game)


def _difference(replay: Replay, game: Game) -> str | None:
    """First figure of the result that is not the engine's."""
    result = replay.result
    pairs: list[tuple[str, object, object]] = [
        ("seq", result.seq, game.seq),
        ("score", result.score, game.score),
        ("home", result.home, game.cards_home),
        ("moves", result.moves, game.moves),
        ("undos", result.undos, game.undos),
    ]
    if result.status != "expired":  # which is the clock's doing
        pairs.append(("status", result.status, game.status.value))
    for name, told, found in pairs:
        if told != found:
            return f"the server says {name} {told}, and the moves lead to {found}"
    return None
