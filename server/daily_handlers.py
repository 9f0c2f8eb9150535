"""Messages about the daily challenges and their boards: message, act, answer."""

from typing import Protocol, TypeAlias

from cellmates.daily import BadDay
from cellmates.engine import Autoplay
from cellmates.protocol import (
    BoardGet,
    BoardPage,
    BoardUnwatch,
    BoardWatch,
    DailyChallenges,
    DailyList,
    DailyStart,
    Done,
    ErrorCode,
    GameStart,
    GameView,
)

from . import views
from .dailies import Dailies
from .game import RANKED, LiveGame
from .games import Games
from .journal import GameTaken
from .live_boards import LiveBoards
from .records import Attempt, PlayerRecord
from .refusals import Refused

BoardKey: TypeAlias = tuple[str, str, str]
"""Challenge, board and kind."""

PAGE = 50
MOST_WATCHED = 20


class Watcher(Protocol):
    """The connection that asks, as these handlers see it."""

    player: PlayerRecord | None

    def follow(self, game: str) -> None:
        """Tell this connection what others of its player do in a game."""

    def watch(self, board: BoardKey, most: int) -> bool:
        """Tell this connection when a board changes; False where it watches ``most`` already."""

    def unwatch(self, board: BoardKey) -> None:
        """Tell it no longer."""


class DailyHandlers:
    """Answers messages about challenges and boards, on behalf of whoever sent them."""

    def __init__(self, dailies: Dailies, games: Games, boards: LiveBoards) -> None:
        self._dailies = dailies
        self._games = games
        self._boards = boards

    async def list_dailies(self, talker: Watcher, message: DailyList) -> DailyChallenges:
        """Challenges of a day, as the talker may see them."""
        try:
            seen = await self._dailies.of_day(message.date or self._dailies.today, talker.player)
        except BadDay as error:
            raise Refused.bad_request("d.date", str(error)) from None
        return DailyChallenges([views.challenge(one) for one in seen])

    async def start(self, talker: Watcher, player: PlayerRecord, message: DailyStart) -> GameView:
        """Begin the ranked attempt at a challenge, or go on with it."""
        record = await self._dailies.find(message.challenge)
        begun = await self._dailies.attempt(player, record.id)
        if begun is None:
            ruleset, deal = self._dailies.deal_to_start(record)
            attempt = Attempt(record.id, player.id, RANKED)
            try:
                live = await self._games.start(player, ruleset, deal, ruleset.autoplay, attempt)
            except GameTaken:  # another connection has begun it in this moment
                begun = await self._dailies.attempt(player, record.id)
                if begun is None:
                    raise
            else:
                return self._shown(talker, live)
        return self._shown(talker, await self._games.open(player, begun.id))

    async def practise(
        self, talker: Watcher, player: PlayerRecord, message: GameStart, challenge: str
    ) -> GameView:
        """Begin another attempt at a challenge, one that is not ranked."""
        ruleset, deal, number = await self._dailies.deal_to_practise(player, challenge)
        if ruleset.name != message.ruleset:
            raise Refused.bad_request("d.ruleset", f"{challenge} is played in {ruleset.name}")
        autoplay = Autoplay(message.autoplay) if message.autoplay else ruleset.autoplay
        attempt = Attempt(challenge, player.id, number)
        return self._shown(
            talker, await self._games.start(player, ruleset, deal, autoplay, attempt)
        )

    async def board(self, talker: Watcher, message: BoardGet) -> BoardPage:
        """A page of a board."""
        record = await self._dailies.find(message.challenge)
        me = None if talker.player is None else talker.player.id
        page = await self._boards.page(
            record,
            message.board,
            message.kind,
            limit=message.limit or PAGE,
            cursor=message.cursor,
            around=me if message.around else None,
            me=me,
        )
        return views.board_page(page)

    async def watch(self, talker: Watcher, message: BoardWatch) -> Done:
        """Have the talker told when a board changes."""
        record = await self._dailies.find(message.challenge)
        await self._boards.load(record)
        if not talker.watch((record.id, message.board, message.kind), MOST_WATCHED):
            raise Refused(
                ErrorCode.FORBIDDEN, f"a connection may watch {MOST_WATCHED} boards, not more"
            )
        return Done()

    def unwatch(self, talker: Watcher, message: BoardUnwatch) -> Done:
        """Have the talker told no longer; who does not watch the board is answered alike."""
        talker.unwatch((message.challenge, message.board, message.kind))
        return Done()

    def _shown(self, talker: Watcher, live: LiveGame) -> GameView:
        talker.follow(live.record.id)
        return views.game_view(live, self._games.elapsed_ms(live))
