"""Where a game is shown: as pictures and sentences for people, or as JSON for programs."""

import json
import sys
from dataclasses import asdict
from typing import Protocol

from rich.console import Console
from rich.text import Text

from .errors import AttemptOver, ClientError, Conflict, ServerError
from .game import EXPIRED, PLAYING
from .picture import picture, printable, status_line, time_text
from .results import Moved, View
from .sentences import sentence


class Screen(Protocol):
    """What a game in progress needs to say."""

    def show(self, view: View) -> None:
        """The board, and how the game stands."""

    def made(self, typed: str, moved: Moved, view: View) -> None:
        """An action was made; ``view`` is the game after it."""

    def hinted(self, move: str | None) -> None:
        """A hint, or that there is none."""

    def refused(self, error: ClientError, view: View) -> None:
        """The server said no; ``view`` is the game as it stands."""

    def left(self, view: View) -> None:
        """The player leaves, or the game is over."""

    def say(self, text: str) -> None:
        """Something for people."""

    def ask(self, text: str) -> None:
        """A question, which the next line answers."""


def screen(*, as_json: bool, is_interactive: bool) -> Screen:
    """Screen on standard output; ``is_interactive`` where somebody types what is done."""
    return _JsonScreen() if as_json else _PeopleScreen(is_interactive=is_interactive)


class _PeopleScreen:
    """For people. Who types sees the board after each action; a pipe gets a line for each."""

    def __init__(self, *, is_interactive: bool) -> None:
        self._is_interactive = is_interactive
        self._console = Console(
            file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=True
        )
        self._symbols = self._console.is_terminal and self._console.encoding.startswith("utf")

    def show(self, view: View) -> None:
        self._print(picture(view, symbols=self._symbols))
        self._print(Text(status_line(view)))
        if words := _how_it_is(view):
            self._print(Text(words, "bold"))

    def made(self, typed: str, moved: Moved, view: View) -> None:
        auto = f" ({' '.join(moved.auto)} went along)" if moved.auto else ""
        said = "" if typed == moved.move else f"{typed}: "
        if not self._is_interactive or said or auto:
            self.say(f"{said}{moved.move}{auto}")
        if self._is_interactive:
            self.show(view)

    def hinted(self, move: str | None) -> None:
        self.say(f"hint: {move}" if move else "There is no hint for this position.")

    def refused(self, error: ClientError, view: View) -> None:
        self.say(sentence(error))
        if isinstance(error, Conflict):
            self.show(view)

    def left(self, view: View) -> None:
        if not self._is_interactive:
            self.show(view)
        if view.status == PLAYING:
            self.say(f"Game {view.game} stays open: play --game {view.game} goes on with it.")
        if view.status == PLAYING and view.ranked:
            self.say("Its clock runs on meanwhile.")
        elif view.ranked:
            self.say(f"board {view.challenge} shows where you stand.")

    def say(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text(printable(line)))

    def ask(self, text: str) -> None:
        if self._is_interactive:
            self._console.print(Text(printable(text)), end="")
            self._console.file.flush()

    def _print(self, text: Text) -> None:
        self._console.print(text)
        self._console.file.flush()


class _JsonScreen:
    """For programs: a line of JSON for the game at the beginning and end and for each answer."""

    def show(self, view: View) -> None:
        _write(view_json(view))

    def made(self, typed: str, moved: Moved, view: View) -> None:
        told = {name: value for name, value in asdict(moved).items() if name != "view"}
        _write(told | {"undo_left": view.undo_left})

    def hinted(self, move: str | None) -> None:
        _write({"hint": move})

    def refused(self, error: ClientError, view: View) -> None:
        _write({"error": error_json(error)})

    def left(self, view: View) -> None:
        self.show(view)

    def say(self, text: str) -> None:
        pass

    def ask(self, text: str) -> None:
        pass


def view_json(view: View) -> dict[str, object]:
    """A game as JSON has it, with the names of docs/protocol.md."""
    return {name: value for name, value in asdict(view).items() if name != "entries"}


def error_json(error: ClientError) -> dict[str, object]:
    """An error as JSON has it."""
    if not isinstance(error, ServerError):
        context = dict(error.context) if isinstance(error, AttemptOver) else {}
        return {"code": None, "message": str(error), "context": context}
    return {"code": error.code, "message": error.message, "context": dict(error.context)}


def _write(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _how_it_is(view: View) -> str:
    """What is worth saying of a game that is over or cannot go on."""
    if view.status == "won":
        return f"Won, in {time_text(view.elapsed_ms)}."
    if view.status == EXPIRED:
        return "The time for this attempt is over."
    if view.status != PLAYING:
        return f"The game is over: {printable(view.status)}."
    # The Eight Off app never announces a loss; FreeCell's page does, and offers undo.
    if view.stuck and view.ruleset == "freecell":
        return "No moves left: undo, or resign."
    return ""
