"""Kill -9 in the middle of play: nothing acknowledged is lost, doubled or out of line."""

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from cellmates.engine import RULESETS, Act, Action, Deal, Game, LegalMoves

from .running import RunningServer, running_server
from .stranger import Body, Stranger

pytestmark = pytest.mark.asyncio

KEY = "A" * 43 + "="
KILLS = 20
PLAYERS = 6
ENOUGH_S = 120.0
GONE = (OSError, WebSocketException, TimeoutError, EOFError)


@dataclass
class Score:
    """What all players together have seen."""

    acknowledged: int = 0
    repeated: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False


class Persistent:
    """Plays at random for ever; after a broken connection it sends its last action again."""

    def __init__(self, server: RunningServer, number: int, score: Score) -> None:
        self._server = server
        self._chance = random.Random(number)
        self._score = score
        self._name = f"player-{number}"
        self._ruleset = list(RULESETS)[number % len(RULESETS)]
        self.state = Game.start(RULESETS[self._ruleset], Deal.numbered(number + 1))
        self.acknowledged: list[tuple[int, str, str]] = []
        self.game = ""
        self.token = ""

    async def join(self) -> None:
        stranger = await Stranger.connect(self._server.url)
        await stranger.hello()
        made = await stranger.ask("player.create", handle=self._name, kind="bot")
        self.token = made["token"]
        view = await stranger.ask("game.start", ruleset=self._ruleset, deal=str(self.state.deal))
        self.game = view["game"]
        await stranger.close()

    async def play(self) -> None:
        action = self._next()
        while not self._score.is_over:
            with suppress(*GONE):
                stranger = await Stranger.connect(self._server.url, open_timeout=5)
                try:
                    await stranger.hello(self.token)
                    while not self._score.is_over:
                        await self._make(stranger, action)
                        action = self._next()
                finally:
                    stranger.socket.transport.abort()
            await asyncio.sleep(0.01)

    async def _make(self, stranger: Stranger, action: Action) -> None:
        seq = self.state.seq + 1
        if action is Act.UNDO:
            told = await stranger.ask("game.undo", game=self.game, seq=seq)
        else:
            told = await stranger.ask("game.move", game=self.game, seq=seq, move=str(action))
        self.state = self.state.play(action)
        assert (told["seq"], told["moves"]) == (seq, self.state.moves)
        self.acknowledged.append((seq, told["move"], told["hash"]))
        self._score.acknowledged += 1
        self._score.repeated += told["repeated"]
        self._score.news.set()

    def _next(self) -> Action:
        moves: list[Action] = [*LegalMoves(self.state.ruleset, self.state.position)]
        undo: list[Action] = [Act.UNDO] if self.state.undoable else []
        choices = [*moves, *undo]
        return choices[self._chance.randrange(len(choices))]


async def acknowledgements(score: Score, more: int) -> None:
    """Wait until so many more actions were acknowledged."""
    goal = score.acknowledged + more
    async with asyncio.timeout(ENOUGH_S):
        while score.acknowledged < goal:
            score.news.clear()
            await score.news.wait()


async def test_kill_9_in_the_middle_of_play_loses_and_doubles_nothing(
    database_url: str, tmp_path: Path
) -> None:
    chance, score = random.Random(9), Score()
    with running_server(tmp_path, database_url=database_url, secret_key=KEY) as server:
        players = [Persistent(server, number, score) for number in range(PLAYERS)]
        for player in players:
            await player.join()
        async with asyncio.TaskGroup() as tasks:
            for player in players:
                tasks.create_task(player.play())
            for _ in range(KILLS):
                await acknowledgements(score, chance.randrange(1, 60))
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
            await acknowledgements(score, 30)
            score.is_over = True
        for player in players:
            await check(server, player)


async def check(server: RunningServer, player: Persistent) -> None:
    """What was acknowledged is there, in line; behind it at most the action under way."""
    stranger = await Stranger.connect(server.url)
    await stranger.hello(player.token)
    entries: list[tuple[int, str, str]] = []
    cursor: Body = {}
    while True:
        page = await stranger.ask("replay.get", game=player.game, **cursor)
        entries += [(seq, action, hash_) for seq, action, _, hash_ in page["entries"]]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert [seq for seq, _, _ in entries] == list(range(1, len(entries) + 1))
    assert entries[: len(player.acknowledged)] == player.acknowledged
    assert len(entries) <= len(player.acknowledged) + 1
    assert len(player.acknowledged) > KILLS / 2
    await stranger.close()
