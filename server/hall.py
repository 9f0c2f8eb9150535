"""Who is connected, who is whom, and who follows what. No I/O."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol, TypeVar

from cellmates.protocol import BoardChanged, CloseCode, EventBody, GameEvent, GameExpired

from .daily_handlers import BoardKey
from .handlers import Audience, Talker
from .records import PlayerRecord

Key = TypeVar("Key")


class Member(Talker, Protocol):
    """A connection, as the hall sees it. The hall keeps what it follows and watches."""

    token_hash: str | None
    followed: set[str]
    watched: set[BoardKey]

    def say(self, event: EventBody) -> None:
        """Send an event."""

    def close(self, code: CloseCode, reason: str) -> None:
        """Say goodbye."""

    def drain(self) -> None:
        """From now on answer nothing new."""


class Watched(Protocol):
    """The boards, as the hall sees them."""

    def watch(self, challenge: str, board: str, kind: str) -> None:
        """One more watches a board."""

    def unwatch(self, challenge: str, board: str, kind: str) -> None:
        """One less does."""

    def renamed(self, player: str, handle: str | None) -> None:
        """A player has another handle, or with None is deleted."""


class Hall(Audience):
    """Who is connected, who is whom, and who follows which game."""

    def __init__(self, boards: Watched) -> None:
        """``boards`` learns which boards are watched."""
        self._boards = boards
        self.conversations: set[Member] = set()
        self._of_player: defaultdict[str, set[Member]] = defaultdict(set)
        self._of_game: defaultdict[str, set[Member]] = defaultdict(set)
        self._of_board: defaultdict[BoardKey, set[Member]] = defaultdict(set)

    @property
    def watchers(self) -> int:
        """Number of boards that are watched, each counted by connection."""
        return sum(len(watching) for watching in self._of_board.values())

    def enter(self, conversation: Member) -> None:
        """A connection is there."""
        self.conversations.add(conversation)

    def leave(self, conversation: Member) -> None:
        """A connection is gone, and all that it followed."""
        self.conversations.discard(conversation)
        self.identify(conversation, None)
        for board in tuple(conversation.watched):
            self.unwatch(conversation, board)

    def identify(self, conversation: Member, player: PlayerRecord | None) -> None:
        """A connection is another player's now, or nobody's: what it followed is forgotten."""
        if conversation.player is not None:
            _remove(self._of_player, conversation.player.id, conversation)
        for game in conversation.followed:
            _remove(self._of_game, game, conversation)
        conversation.followed.clear()
        conversation.player = player
        if player is not None:
            self._of_player[player.id].add(conversation)

    def follow(self, conversation: Member, game: str) -> None:
        """A connection wants to know what others do in a game."""
        conversation.followed.add(game)
        self._of_game[game].add(conversation)

    def is_followed(self, game: str, *, but: Talker) -> bool:
        """Whether somebody else than ``but`` follows a game."""
        following = self._of_game.get(game, ())
        return len(following) > (but in following)

    def tell(self, game: str, event: GameEvent | GameExpired, *, but: Talker | None = None) -> None:
        """Send an event to the connections that follow a game."""
        for conversation in self._of_game.get(game, ()):
            if conversation is not but:
                conversation.say(event)

    def watch(self, conversation: Member, board: BoardKey) -> None:
        """A connection wants to know when a board changes."""
        if board not in conversation.watched:
            conversation.watched.add(board)
            self._of_board[board].add(conversation)
            self._boards.watch(*board)

    def unwatch(self, conversation: Member, board: BoardKey) -> None:
        """It wants to know no longer."""
        if board in conversation.watched:
            conversation.watched.discard(board)
            _remove(self._of_board, board, conversation)
            self._boards.unwatch(*board)

    def board_changed(self, board: BoardKey, event: BoardChanged) -> None:
        """Send those who watch a board what its top is now."""
        for conversation in self._of_board.get(board, ()):
            conversation.say(event)

    def renamed(self, player: PlayerRecord) -> None:
        """Tell a player's connections, and the boards, what the player is called now."""
        self._boards.renamed(player.id, player.handle)
        for conversation in self._of_player.get(player.id, ()):
            conversation.player = player

    def deleted(self, player: PlayerRecord) -> None:
        """Tell the boards that a player has no handle any more."""
        self._boards.renamed(player.id, None)

    def check_tokens(self, hashes: Mapping[str, str | None]) -> None:
        """Close the connections of players who have other tokens now than those they came with.

        ``hashes`` are those of the tokens by player; None where there is none any more.
        """
        for player, digest in hashes.items():
            for conversation in tuple(self._of_player.get(player, ())):
                if conversation.token_hash != digest:
                    conversation.close(CloseCode.BAD_TOKEN, "this token works no longer")


def _remove(index: defaultdict[Key, set[Member]], key: Key, gone: Member) -> None:
    index[key].discard(gone)
    if not index[key]:
        del index[key]
