"""What a player types, as things to do. No I/O."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from cellmates.engine import BadMove, Move, parse_place

from .errors import ClientError


class Word(StrEnum):
    """Words that are not moves."""

    UNDO = "undo"
    HINT = "hint"
    RESIGN = "resign"
    BOARD = "board"
    HELP = "help"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class Make:
    """Make a move."""

    move: str


@dataclass(frozen=True, slots=True)
class Tap:
    """Tap a card once or twice; ``depth`` cards lie on it."""

    place: str
    taps: int
    depth: int

    def __str__(self) -> str:
        return f"{'t' * self.taps} {self.place}" + (f" {self.depth}" if self.depth else "")


Typed: TypeAlias = Make | Tap | Word

_TAPS = {"t": 1, "tt": 2}
_SHORT = {"?": Word.HELP, "q": Word.QUIT, "exit": Word.QUIT}

HELP = """\
Columns are 1-8, cells a b c d e f g k, home is h.
  3a        move from column 3 to cell a; several moves may stand on one line
  26v3      move 3 cards into an empty column; onto a card the number follows
  S5        take the top Spade back from home, where the game allows that
  t 3       tap the open card of column 3; tt taps twice
  t 3 2     tap the card on which 2 others lie
  undo      take the last action back
  hint      a move worth making
  board     show the board
  resign    give the game up
  quit      leave; the game stays open
"""


class NotUnderstood(ClientError):
    """The line says nothing that can be done; the message says what would."""


def parse_line(line: str) -> list[Typed]:
    """What a line asks for, in order; nothing for a blank one.

    Raises:
        NotUnderstood: a word in it is neither a move nor a command.
    """
    words = line.split()
    if words and words[0] in _TAPS:
        return [_tap(words)]
    return [_word(word) for word in words]


def _word(word: str) -> Typed:
    if word in _SHORT:
        return _SHORT[word]
    if word in [*Word]:
        return Word(word)
    try:
        return Make(str(Move.parse(word)))
    except BadMove as error:
        raise NotUnderstood(f"{error}. Or type help.") from None


def _tap(words: list[str]) -> Tap:
    place = words[1] if len(words) > 1 else ""
    depth = words[2] if len(words) > 2 else "0"
    if len(words) > 3 or not place or not (depth.isascii() and depth.isdigit()) or len(depth) > 2:
        raise NotUnderstood("a tap is a place, and how many cards lie on the card: t 3 or tt 3 2")
    try:
        parse_place(place)
    except BadMove as error:
        raise NotUnderstood(str(error)) from None
    return Tap(place, _TAPS[words[0]], int(depth))
