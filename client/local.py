"""Commands that need no server: look at a deal, solve it, replay a line of moves."""

import argparse
import json
import sys
import textwrap
from pathlib import Path

from cellmates.engine import (
    RULESETS,
    SUITS,
    Autoplay,
    BadAutoplay,
    BadBoard,
    BadDeal,
    Deal,
    Game,
    IllegalMove,
    Position,
    Refusal,
    Ruleset,
    board_text,
    parse_action,
    parse_board,
    pile_text,
)
from cellmates.solver import solve

from .progress import progress

_LINE_WIDTH = 78

View = dict[str, object]


class WrongInput(Exception):
    """What the user gave cannot be used; the message says what is wrong and what is right."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``deal``, ``solve`` and ``replay-line`` to the command line."""
    for name, run, says in (
        ("deal", _deal, "print the board of a deal"),
        ("solve", _solve, "find out whether a deal or a board can be won, and how"),
        (
            "replay-line",
            _replay_line,
            "play the moves on standard input ('undo' takes one back) and print the board",
        ),
    ):
        command = commands.add_parser(name, help=says, description=says)
        command.add_argument("ruleset", metavar="RULESET", help=", ".join(RULESETS))
        command.add_argument(
            "deal",
            metavar="DEAL",
            help="number, EO1-… code, cards:…, or @FILE with a board as fc-solve writes it",
        )
        command.add_argument("--json", action="store_true", help="print JSON")
        command.add_argument("--autoplay", metavar="safe|off", help="automatic moves")
        command.set_defaults(run=run)


def _deal(arguments: argparse.Namespace) -> int:
    game = _game(arguments)
    _print(arguments, _view(arguments, game), board_text(game.position))
    return 0


def _solve(arguments: argparse.Namespace) -> int:
    game = _game(arguments)
    with progress() as say:
        watch = None if say is None else lambda nodes: say(f"{nodes:,} positions searched")
        solution = solve(game.ruleset, game.position, game.autoplay, progress=watch)
    moves = [str(move) for move in solution.moves]
    view = _view(arguments, game) | {
        "verdict": solution.verdict.value,
        "moves": moves,
        "nodes": solution.nodes,
    }
    line = textwrap.fill(" ".join(moves), _LINE_WIDTH)
    text = f"{board_text(game.position)}verdict: {solution.verdict}\n{line}"
    _print(arguments, view, text.rstrip() + "\n")
    return 0


def _replay_line(arguments: argparse.Namespace) -> int:
    game = _game(arguments)
    for number, text in enumerate(sys.stdin.read().split(), 1):
        try:
            game = game.play(parse_action(text))
        except Refusal as refusal:
            error: View = {"number": number, "move": text, "reason": str(refusal.reason)}
            if isinstance(refusal, IllegalMove) and refusal.limit is not None:
                error |= {"limit": refusal.limit, "length": refusal.length}
            said = f"move {number}, {text[:12]}, is refused: {refusal.reason} ({refusal})\n"
            _print(arguments, _view(arguments, game) | {"error": error}, said)
            return 1
    _print(arguments, _view(arguments, game), board_text(game.position))
    return 0


def _game(arguments: argparse.Namespace) -> Game:
    """Game that the arguments name, before its first action.

    Raises:
        WrongInput: they name none.
    """
    ruleset = RULESETS.get(arguments.ruleset)
    if ruleset is None:
        raise WrongInput(
            f"there is no ruleset {arguments.ruleset[:20]!r}: choose one of {', '.join(RULESETS)}"
        )
    if arguments.autoplay not in (None, *Autoplay):
        raise WrongInput(f"autoplay is safe or off, not {arguments.autoplay[:20]!r}")
    autoplay = None if arguments.autoplay is None else Autoplay(arguments.autoplay)
    try:
        return Game.start(ruleset, _start(ruleset, arguments.deal), autoplay)
    except (BadAutoplay, BadBoard, BadDeal) as error:
        raise WrongInput(str(error)) from None


def _start(ruleset: Ruleset, text: str) -> Deal | Position:
    if not text.startswith("@"):
        return Deal.parse(ruleset, text)
    try:
        board = Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongInput(f"cannot read the board in {text[1:]}: {error}") from None
    return parse_board(ruleset, board)


def _view(arguments: argparse.Namespace, game: Game) -> View:
    position = game.position
    return {
        "ruleset": game.ruleset.name,
        "deal": str(game.deal) if isinstance(game.deal, Deal) else arguments.deal,
        "columns": [pile_text(column).split() for column in position.columns],
        "cells": [pile_text(cell) or None for cell in position.cells],
        "home": dict(zip(SUITS, position.home, strict=True)),
        "score": game.score,
        "status": game.status.value,
    }


def _print(arguments: argparse.Namespace, view: View, text: str) -> None:
    sys.stdout.write(json.dumps(view) + "\n" if arguments.json else text)
