"""A game as the fake server has it: the engine's, with the hash chain of docs/protocol.md."""

from dataclasses import dataclass, field
from typing import Any

from cellmates.engine import SUITS, Action, Game, next_hash, pile_text

Map = dict[str, Any]
STARTED = 1_700_000_000_000


class Refused(Exception):
    """The error that answers a request."""

    def __init__(self, code: str, retry_after_ms: int | None = None, **context: object) -> None:
        super().__init__(code)
        self.body: Map = {"code": code, "message": f"this is {code}", "context": context}
        if retry_after_ms is not None:
            self.body["retry_after_ms"] = retry_after_ms


@dataclass
class Record:
    """A game, and what its hash chain needs."""

    id: str
    player: str
    game: Game
    hash: str
    entries: list[list[Any]] = field(default_factory=list)
    challenge: str | None = None
    attempt: int | None = None
    expired_ms: int | None = None

    def act(self, action: Action) -> None:
        """Play and record an action, a second after the last."""
        game = self.game.play(action)
        seq, at_ms = game.seq, 1000 * game.seq
        self.hash = next_hash(self.hash, seq, str(game.action), at_ms)
        self.entries.append([seq, str(game.action), at_ms, self.hash])
        self.game = game

    def expire(self) -> Map:
        """Let the clock end the game; the event that tells so."""
        self.expired_ms = 108_000_000
        return {
            "t": "game.expired",
            "d": {"game": self.id, "elapsed_ms": self.expired_ms, "later": 1},
        }

    @property
    def status(self) -> str:
        return str(self.game.status) if self.expired_ms is None else "expired"

    def view(self, since: int | None = None) -> Map:
        game, position = self.game, self.game.position
        view: Map = {
            "game": self.id,
            "ruleset": game.ruleset.name,
            "ruleset_version": game.ruleset.version,
            "deal": str(game.deal),
            "challenge": self.challenge,
            "ranked": self.attempt == 1,
            "attempt": self.attempt,
            "autoplay": str(game.autoplay),
            "columns": [pile_text(column).split() for column in position.columns],
            "cells": [pile_text(cell) or None for cell in position.cells],
            "home": dict(zip(SUITS, position.home, strict=True)),
            "undo_left": game.undo_left,
            "started": STARTED,
            **self.figures(),
        }
        return view if since is None else view | {"entries": self.entries[since:]}

    def figures(self) -> Map:
        game = self.game
        return {
            "seq": game.seq,
            "score": game.score,
            "moves": game.moves,
            "undos": game.undos,
            "status": self.status,
            "stuck": game.is_stuck,
            "elapsed_ms": 1000 * game.seq if self.expired_ms is None else self.expired_ms,
            "hash": self.hash,
        }

    def moved(self, *, repeated: bool = False) -> Map:
        """Reply to the last action."""
        moved = {
            "move": str(self.game.action),
            "auto": [str(move) for move in self.game.auto],
            "repeated": repeated,
            **self.figures(),
        }
        return moved | {"view": self.view()} if moved["move"] == "undo" else moved
