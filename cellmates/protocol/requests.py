"""What a client may ask: the ``d`` of each request. What may be left out may be null too."""

from typing import Literal

from msgspec import Struct, field

from .limits import (
    Autoplay,
    Board,
    Count,
    Cursor,
    Date,
    DealText,
    Integer,
    Kind,
    LongName,
    MoveText,
    Name,
    Rows,
    Status,
    Token,
)


# Nothing in a request can lead back to itself, so the cycle collector need not look (`gc=False`).
class ClientInfo(Struct, frozen=True, gc=False):
    """What program the client is; for the server's records only."""

    name: LongName
    version: LongName


class Hello(Struct, frozen=True, gc=False):
    """Client: the greeting, first on every connection. Without a token a guest's."""

    proto: Integer
    client: ClientInfo
    token: Token | None = None


class PlayerCreate(Struct, frozen=True, gc=False):
    """Client: make me a player of this name, and this connection that player's."""

    handle: Name
    kind: Kind


class PlayerRename(Struct, frozen=True, gc=False):
    """Client: from now on I am called so."""

    handle: Name


class PlayerToken(Struct, frozen=True, gc=False):
    """Client: give me a new token; the old one and its connections stop working."""


class PlayerDelete(Struct, frozen=True, gc=False):
    """Client: forget me. ``confirm`` is my own handle."""

    confirm: Name


class PlayerGet(Struct, frozen=True, gc=False):
    """Client: who is this, and how do they play?"""

    handle: Name


class GameStart(Struct, frozen=True, gc=False):
    """Client: deal me a game. Without ``deal`` a random one."""

    ruleset: Name
    deal: DealText | None = None
    autoplay: Autoplay | None = None


class GameOpen(Struct, frozen=True, gc=False):
    """Client: show me a game of mine, and the entries after ``since``."""

    game: Name
    since: Count | None = None


class GameMove(Struct, frozen=True, gc=False):
    """Client: this move becomes number ``seq`` of the game."""

    game: Name
    seq: Count
    move: MoveText


class GameUndo(Struct, frozen=True, gc=False):
    """Client: taking the last action back becomes number ``seq``."""

    game: Name
    seq: Count


class GameHint(Struct, frozen=True, gc=False):
    """Client: what would you move?"""

    game: Name


class GameTap(Struct, frozen=True, gc=False):
    """Client: where would a tap on the card at this place, ``depth`` cards down, send it?"""

    game: Name
    from_: MoveText = field(name="from")
    depth: Count = 0
    taps: Literal[1, 2] = 1


class GameResign(Struct, frozen=True, gc=False):
    """Client: giving up becomes number ``seq``."""

    game: Name
    seq: Count


class GamesMine(Struct, frozen=True, gc=False):
    """Client: list my games, the newest first."""

    status: Status | None = None
    cursor: Cursor | None = None
    limit: Rows | None = None


class DailyList(Struct, frozen=True, gc=False):
    """Client: which challenges are there on this day, or today in UTC?"""

    date: Date | None = None


class DailyStart(Struct, frozen=True, gc=False):
    """Client: my attempt at this challenge begins. Sent again, the same game."""

    challenge: Name


class BoardGet(Struct, frozen=True, gc=False):
    """Client: show me a page of a board, at a cursor or around myself."""

    challenge: Name
    board: Board
    kind: Kind
    limit: Rows | None = None
    cursor: Cursor | None = None
    around: Literal["me"] | None = None

    def __post_init__(self) -> None:
        if self.cursor is not None and self.around is not None:
            raise ValueError("cursor and around exclude each other")


class BoardWatch(Struct, frozen=True, gc=False):
    """Client: tell me when the top of this board changes."""

    challenge: Name
    board: Board
    kind: Kind


class BoardUnwatch(Struct, frozen=True, gc=False):
    """Client: no longer tell me."""

    challenge: Name
    board: Board
    kind: Kind


class ReplayGet(Struct, frozen=True, gc=False):
    """Client: what was done in this game, entry by entry?"""

    game: Name
    cursor: Cursor | None = None


class Ping(Struct, frozen=True, gc=False):
    """Client: are you there, and what time is it?"""
