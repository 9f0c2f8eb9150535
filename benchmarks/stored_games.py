"""Games for the benchmark of what is stored: long ones, and many that have ended.

Nothing is measured here.
"""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from msgspec.structs import replace
from sqlalchemy import insert, text

from cellmates.engine import RULESETS, Action, Deal, Game, parse_action
from cellmates.solver import solve
from server.game import Decision, LiveGame, hash_at_start, summary_of
from server.records import Entry, GameRecord, PlayerRecord
from server.store import Store
from server.store.tables import entry as entry_table
from server.store.tables import game as game_table
from server.store.tables import player as player_table

RULESET = RULESETS["eight-off"]
DEAL = Deal.numbered(1)
PLAYER = PlayerRecord("player", "player", "bot", 0)
STARTED = 1_800_000_000_000
AT_ONCE = 2_000  # games; Postgres is given no time for many more
GAMES_OF_A_PLAYER = 100


def new_id() -> str:
    """An id as the server's are."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True)
class LongGame:
    """A game where it stands, its entries, and the action that comes next."""

    record: GameRecord
    entries: Sequence[Entry]
    next: Action


def long_game(entries: int) -> LongGame:
    """A game that is nearly won, undone to its start, played again, and so on."""
    state = Game.start(RULESET, DEAL)
    line = [str(move) for move in solve(RULESET, state.position, state.autoplay).moves][:-1]
    actions = map(parse_action, cycle(line + ["undo"] * len(line)))
    live = LiveGame(_record_of(state), [])
    for seq, action in enumerate(islice(actions, entries), 1):
        decision = live.decide(action, seq, 2_000 * seq)
        if not isinstance(decision, Decision):
            raise AssertionError("nothing was made before")
        live.apply(decision)
    record = replace(live.record, summary=live.summary)
    return LongGame(record, live.entries_after(0), next(actions))


def _record_of(state: Game) -> GameRecord:
    record = GameRecord(
        id=new_id(),
        player=PLAYER.id,
        ruleset=RULESET.name,
        ruleset_version=RULESET.version,
        deal=str(DEAL),
        autoplay=state.autoplay,
        challenge=None,
        attempt=None,
        started=STARTED,
        summary=summary_of(state, None, STARTED),
    )
    return replace(record, summary=replace(record.summary, hash=hash_at_start(record)))


async def plant_long_games(store: Store, game: LongGame, number: int) -> list[str]:
    """Keep ``PLAYER``, with so many copies of a game, and return their ids."""
    await store.create_player(PLAYER, PLAYER.handle, "token")
    records = [replace(game.record, id=new_id()) for _ in range(number)]
    await asyncio.gather(*map(store.create_game, records))
    for record in records:
        rows = [
            {"game": record.id, "seq": each.seq, "action": each.action}
            | {"at_ms": each.at_ms, "hash": each.hash}
            for each in game.entries
        ]
        async with store.engines.write.begin() as connection:
            await connection.execute(insert(entry_table), rows)
    return [record.id for record in records]


# The entries of games are made by the database, which does so faster than they could be sent.
_ENTRIES = text("""
WITH RECURSIVE number (seq) AS (
    SELECT 1 UNION ALL SELECT seq + 1 FROM number WHERE seq < :entries
)
INSERT INTO entry (game, seq, action, at_ms, hash)
SELECT game.id, number.seq, 'ae', 2000 * number.seq, game.hash
FROM game CROSS JOIN number WHERE game.started = :started
""")


async def plant_stored_games(store: Store, number: int, entries: int) -> None:
    """Keep games that have ended, with as many entries each, and those who have played them."""
    for start in range(0, number, AT_ONCE):
        started = STARTED + start
        these = range(start, min(number, start + AT_ONCE))
        rows = [_ended_row(at, entries, started) for at in these]
        players = [{"id": player, "kind": "bot"} for player in {row["player"] for row in rows}]
        async with store.engines.write.begin() as connection:
            await connection.execute(insert(player_table), players)
            await connection.execute(insert(game_table), rows)
            await connection.execute(_ENTRIES, {"entries": entries, "started": started})


def _ended_row(at: int, entries: int, started: int) -> dict[str, str | int]:
    return {
        "id": new_id(),
        "player": f"player-{at // GAMES_OF_A_PLAYER}",
        "ruleset": RULESET.name,
        "ruleset_version": RULESET.version,
        "deal": str(1 + at),
        "autoplay": "safe",
        "started": started,
        "status": "resigned",
        "seq": entries,
        "home": 0,
        "moves": entries,
        "undos": 0,
        "score": 0,
        "elapsed_ms": 2_000 * entries,
        "hash": secrets.token_hex(32),
        "ended": started + 2_000 * entries,
    }
