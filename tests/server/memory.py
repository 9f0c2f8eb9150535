"""A real journal that keeps everything in memory, with faults to order."""

import asyncio
from dataclasses import dataclass, field, replace

from server.journal import (
    Entry,
    GameRecord,
    GameTaken,
    HandleTaken,
    Missing,
    PlayerRecord,
    Result,
    SeqTaken,
    StorageError,
    Summary,
)


@dataclass
class ManualClock:
    """Clocks that stand still until a test moves them."""

    now: int = 1_800_000_000_000
    monotonic: int = 5_000_000

    def now_ms(self) -> int:
        return self.now

    def monotonic_ms(self) -> int:
        return self.monotonic

    def pass_ms(self, span: int) -> None:
        self.now += span
        self.monotonic += span


@dataclass
class MemoryJournal:
    """``fail_before`` and ``fail_after`` make the next write fail without or with its effect."""

    games: dict[str, GameRecord] = field(default_factory=dict)
    rows: dict[str, list[Entry]] = field(default_factory=dict)
    players: dict[str, PlayerRecord] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    fail_before: bool = False
    fail_after: bool = False
    is_away: bool = False
    seq_is_taken: bool = False
    reads: int = 0
    gate: asyncio.Event | None = None

    async def create_game(self, record: GameRecord) -> None:
        await self._before()
        if record.id in self.games:
            raise GameTaken
        if record.player not in self.players:
            raise Missing
        self.games[record.id] = record
        self.rows[record.id] = []
        self._after()

    async def append(self, game: str, entry: Entry, after: Summary) -> None:
        await self._before()
        if game not in self.games:
            raise Missing
        if self.seq_is_taken or entry.seq <= len(self.rows[game]):
            raise SeqTaken
        self.rows[game].append(entry)
        self.games[game] = replace(self.games[game], summary=after)
        self._after()

    async def game(self, game: str) -> GameRecord | None:
        self._read()
        return self.games.get(game)

    async def entries(self, game: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        self._read()
        found = [entry for entry in self.rows.get(game, []) if entry.seq > after]
        return found[:limit]

    async def games_of(
        self, player: str, *, status: str | None, before: tuple[int, str] | None, limit: int
    ) -> list[GameRecord]:
        self._read()
        mine = [
            game
            for game in self.games.values()
            if game.player == player
            and status in (None, game.summary.status)
            and (before is None or (game.started, game.id) < before)
        ]
        return sorted(mine, key=lambda game: (game.started, game.id), reverse=True)[:limit]

    async def create_player(self, player: PlayerRecord, handle_key: str, token_hash: str) -> None:
        await self._before()
        if handle_key in self.keys:
            raise HandleTaken
        self.players[player.id] = player
        self.keys[handle_key] = player.id
        self.tokens[token_hash] = player.id
        self._after()

    async def player_by_token(self, token_hash: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(self.tokens.get(token_hash, ""))

    async def player_by_key(self, handle_key: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(self.keys.get(handle_key, ""))

    async def player(self, player: str) -> PlayerRecord | None:
        self._read()
        return self.players.get(player)

    async def rename_player(self, player: str, handle: str, handle_key: str) -> None:
        await self._before()
        if self.keys.get(handle_key, player) != player:
            raise HandleTaken
        self.keys = {key: owner for key, owner in self.keys.items() if owner != player}
        self.keys[handle_key] = player
        self.players[player] = replace(self.players[player], handle=handle)
        self._after()

    async def set_token(self, player: str, token_hash: str) -> None:
        await self._before()
        self.tokens = {token: owner for token, owner in self.tokens.items() if owner != player}
        self.tokens[token_hash] = player
        self._after()

    async def delete_player(self, player: str) -> None:
        await self._before()
        self.keys = {key: owner for key, owner in self.keys.items() if owner != player}
        self.tokens = {token: owner for token, owner in self.tokens.items() if owner != player}
        del self.players[player]
        self._after()

    async def results_of(self, player: str) -> list[Result]:
        self._read()
        mine = [game for game in self.games.values() if game.player == player]
        results = []
        for ruleset in sorted({game.ruleset for game in mine}):
            played = [game.summary for game in mine if game.ruleset == ruleset]
            won = [summary for summary in played if summary.status == "won"]
            results.append(
                Result(
                    ruleset,
                    len(played),
                    len(won),
                    min((summary.elapsed_ms for summary in won), default=None),
                    min((summary.moves for summary in won), default=None),
                )
            )
        return results

    async def check(self) -> None:
        self._read()

    def _read(self) -> None:
        self.reads += 1
        if self.is_away:
            raise StorageError("away")

    async def _before(self) -> None:
        if self.gate is not None:
            await self.gate.wait()
        if self.is_away or self.fail_before:
            self.fail_before = False
            raise StorageError("away")

    def _after(self) -> None:
        if self.fail_after:
            self.fail_after = False
            raise StorageError("the answer was lost")
