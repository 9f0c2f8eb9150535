"""Which message has which name, and which reply answers which request."""

from typing import NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import fields

from .events import BoardChanged, Draining, GameEvent, GameExpired
from .parts import GameView
from .replies import (
    BoardPage,
    DailyChallenges,
    Done,
    GameList,
    Hinted,
    Moved,
    PlayerCreated,
    PlayerReply,
    PlayerShown,
    Pong,
    Replay,
    Tapped,
    TokenReply,
    Welcome,
)
from .requests import (
    BoardGet,
    BoardUnwatch,
    BoardWatch,
    DailyList,
    DailyStart,
    GameHint,
    GameMove,
    GameOpen,
    GameResign,
    GamesMine,
    GameStart,
    GameTap,
    GameUndo,
    Hello,
    Ping,
    PlayerCreate,
    PlayerDelete,
    PlayerGet,
    PlayerRename,
    PlayerToken,
    ReplayGet,
)

RequestBody: TypeAlias = (
    Hello
    | PlayerCreate
    | PlayerRename
    | PlayerToken
    | PlayerDelete
    | PlayerGet
    | GameStart
    | GameOpen
    | GameMove
    | GameUndo
    | GameHint
    | GameTap
    | GameResign
    | GamesMine
    | DailyList
    | DailyStart
    | BoardGet
    | BoardWatch
    | BoardUnwatch
    | ReplayGet
    | Ping
)
ReplyBody: TypeAlias = (
    Welcome
    | PlayerCreated
    | PlayerReply
    | TokenReply
    | Done
    | PlayerShown
    | GameView
    | Moved
    | Hinted
    | Tapped
    | GameList
    | DailyChallenges
    | BoardPage
    | Replay
    | Pong
)
EventBody: TypeAlias = GameEvent | GameExpired | BoardChanged | Draining


class Exchange(NamedTuple):
    """The body of a request and that of the ``ok`` which answers it."""

    request: type[Struct]
    reply: type[Struct]


REQUESTS = {
    "hello": Exchange(Hello, Welcome),
    "player.create": Exchange(PlayerCreate, PlayerCreated),
    "player.rename": Exchange(PlayerRename, PlayerReply),
    "player.token": Exchange(PlayerToken, TokenReply),
    "player.delete": Exchange(PlayerDelete, Done),
    "player.get": Exchange(PlayerGet, PlayerShown),
    "game.start": Exchange(GameStart, GameView),
    "game.open": Exchange(GameOpen, GameView),
    "game.move": Exchange(GameMove, Moved),
    "game.undo": Exchange(GameUndo, Moved),
    "game.hint": Exchange(GameHint, Hinted),
    "game.tap": Exchange(GameTap, Tapped),
    "game.resign": Exchange(GameResign, Moved),
    "games.mine": Exchange(GamesMine, GameList),
    "daily.list": Exchange(DailyList, DailyChallenges),
    "daily.start": Exchange(DailyStart, GameView),
    "board.get": Exchange(BoardGet, BoardPage),
    "board.watch": Exchange(BoardWatch, Done),
    "board.unwatch": Exchange(BoardUnwatch, Done),
    "replay.get": Exchange(ReplayGet, Replay),
    "ping": Exchange(Ping, Pong),
}

EVENTS: dict[str, type[EventBody]] = {
    "game.event": GameEvent,
    "game.expired": GameExpired,
    "board.changed": BoardChanged,
    "server.draining": Draining,
}


def may_be_left_out(request: type[Struct]) -> bool:
    """Whether a request may come without its ``d``: every field in it may be left out."""
    return not any(field.required for field in fields(request))
