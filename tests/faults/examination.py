"""What is there in the end: every acknowledged entry, and nothing that nobody made."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Self

from server.game import BrokenGame, LiveGame
from server.records import GameRecord
from server.store import Store

from .figures import Figures
from .players import Hand, Played, Player, Score, missing


class Examination:
    """Compares what is in the database with what players were told."""

    def __init__(self, store: Store, score: Score, hands: Iterable[Hand]) -> None:
        self._store = store
        self._score = score
        self._under_way = [hand.claim.played.id for hand in hands if hand.claim is not None]
        self._ended: dict[str, set[str]] = {}
        self.games = self.entries = self.results = 0

    @classmethod
    async def of(cls, url: str, score: Score, hands: Sequence[Hand]) -> Self:
        """Look at everything; what is wrong goes to the score."""
        store = await Store.open(url)
        try:
            examination = cls(store, score, hands)
            for player in {hand.player.id: hand.player for hand in hands}.values():
                await examination._look_at(player)
            await examination._look_at_results()
        finally:
            await store.close()
        return examination

    async def _look_at(self, player: Player) -> None:
        records = await self._store.games_of(player.id, status=None, before=None, limit=1_000_000)
        there = {record.id: record for record in records}
        self._score.lost |= player.games.keys() - there.keys()
        for record in records:
            self.games += 1
            if record.challenge is not None:
                ended = self._ended.setdefault(record.challenge, set())
                if record.summary.status != "playing":
                    ended.add(record.id)
            await self._look_into(record, player.games.get(record.id) or Played(record.id))

    async def _look_into(self, record: GameRecord, played: Played) -> None:
        entries = await self._store.entries(record.id)
        self.entries += len(entries)
        try:
            live = LiveGame(record, entries)  # gapless, legal and chained
            if (live.seq, live.hash) != (record.summary.seq, record.summary.hash):
                self._score.lost.add(f"{record.id}: the summary is not that of its entries")
        except BrokenGame as error:
            self._score.lost.add(str(error))
        kept = {entry.seq: (entry.action, entry.hash) for entry in entries}
        self._score.lost |= missing(played, played.acknowledged, kept)
        unknown = kept.keys() - played.acknowledged.keys()
        if len(unknown) > self._under_way.count(record.id):
            self._score.doubled.add(f"{record.id}: nobody was told of {sorted(unknown)}")

    async def _look_at_results(self) -> None:
        """One result for each attempt that has ended, and none for others."""
        for challenge, ended in self._ended.items():
            runs = [run.game for run in await self._store.runs(challenge, None, 1_000_000)]
            self.results += len(runs)
            self._score.lost |= {f"result of {game}" for game in ended - set(runs)}
            self._score.doubled |= {f"result of {game}" for game in set(runs) - ended}
            if len(set(runs)) != len(runs):
                self._score.doubled.add(f"{challenge}: two results of one game")


def figures(
    fault: str, tried: int, score: Score, seen: Examination, recovery_ms: float | None = None
) -> Figures:
    """What it has cost."""
    for what in itertools.islice(sorted(score.lost | score.doubled), 5):
        print(f"{fault}: {what}")
    return Figures(
        fault,
        tried,
        len(score.lost),
        len(score.doubled),
        recovery_ms,
        {
            "acknowledged": score.acknowledged,
            "answers broken off": score.broken_off,
            "resends of what was committed": score.repeated,
            "conflicts": score.conflicts,
            "games": seen.games,
            "entries": seen.entries,
            "results": seen.results,
        },
    )


def kind_of(url: str) -> str:
    """Which database it is."""
    return "SQLite" if url.startswith("sqlite") else "Postgres"
