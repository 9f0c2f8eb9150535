"""How players and games look on the wire. No I/O."""

from typing import cast

from msgspec import UNSET, UnsetType

from cellmates.engine import Game, card_text
from cellmates.protocol import (
    GameRef,
    GameSummary,
    GameView,
    Home,
    Moved,
    Player,
    ReplayHeader,
    ReplayResult,
    Stats,
    WireEntry,
)
from cellmates.protocol.limits import Autoplay, Kind, Status

from .game import LiveGame, Made
from .journal import Entry, GameRecord, PlayerRecord, Result

# With hash and the longest action an entry takes up to 110 bytes, so these fit a server's frame.
MOST_ENTRIES = 400


def game_view(live: LiveGame, elapsed_ms: int, *, since: int | None = None) -> GameView:
    """A game as its player sees it; with ``since`` the entries after it too, all or none."""
    told: list[WireEntry] | UnsetType | None = UNSET
    if since is not None:
        entries = live.entries_after(since)
        told = [wire_entry(entry) for entry in entries] if len(entries) <= MOST_ENTRIES else None
    record, state = live.record, live.state
    return _view(record, state, live.status, live.hash, elapsed_ms, told)


def moved(live: LiveGame, made: Made, *, with_view: bool) -> Moved:
    """Reply to an action."""
    entry, state = made.entry, made.state
    return Moved(
        seq=entry.seq,
        move=entry.action,
        auto=[str(move) for move in state.auto],
        score=state.score,
        moves=state.moves,
        undos=state.undos,
        status=_status(made.status),
        stuck=state.is_stuck,
        elapsed_ms=entry.at_ms,
        hash=entry.hash,
        repeated=made.repeated,
        view=view_after(live, made) if with_view else UNSET,
    )


def view_after(live: LiveGame, made: Made) -> GameView:
    """A game as it was after an action."""
    entry = made.entry
    return _view(live.record, made.state, made.status, entry.hash, entry.at_ms, UNSET)


def wire_entry(entry: Entry) -> WireEntry:
    """An entry as an array."""
    return WireEntry(entry.seq, entry.action, entry.at_ms, entry.hash)


def wire_player(player: PlayerRecord) -> Player:
    """A player without anything private."""
    return Player(player.id, player.handle, cast("Kind", player.kind))


def stats(results: list[Result]) -> dict[str, Stats]:
    """A player's figures by ruleset."""
    return {
        result.ruleset: Stats(
            played=result.played,
            won=result.won,
            best_elapsed_ms=result.best_ms,
            fewest_moves=result.fewest_moves,
            streak=0,
            best_streak=0,
        )
        for result in results
    }


def game_ref(record: GameRecord) -> GameRef:
    """A game and where it stands."""
    return GameRef(record.id, record.summary.seq, _status(record.summary.status))


def game_summary(record: GameRecord, elapsed_ms: int) -> GameSummary:
    """A game in a list."""
    summary = record.summary
    return GameSummary(
        game=record.id,
        ruleset=record.ruleset,
        deal=record.deal,
        challenge=record.challenge,
        ranked=is_ranked(record),
        seq=summary.seq,
        status=_status(summary.status),
        score=summary.score,
        moves=summary.moves,
        undos=summary.undos,
        started=record.started,
        elapsed_ms=elapsed_ms,
    )


def replay_header(record: GameRecord, player: PlayerRecord | None) -> ReplayHeader:
    """What a game is, before its first entry."""
    return ReplayHeader(
        ruleset=record.ruleset,
        ruleset_version=record.ruleset_version,
        deal=record.deal,
        autoplay=cast("Autoplay", record.autoplay),
        player=None if player is None else wire_player(player),
        started=record.started,
    )


def replay_result(record: GameRecord) -> ReplayResult:
    """How a game stands after its last entry."""
    summary = record.summary
    return ReplayResult(
        status=_status(summary.status),
        score=summary.score,
        home=summary.home,
        moves=summary.moves,
        undos=summary.undos,
        elapsed_ms=summary.elapsed_ms,
        hash=summary.hash,
        seq=summary.seq,
    )


def is_ranked(record: GameRecord) -> bool:
    """Whether a game is its player's ranked attempt at a challenge."""
    return record.challenge is not None and record.attempt == 1


def _status(text: str) -> Status:
    """A status as storage has it, which has taken none but these."""
    return cast("Status", text)


def _view(
    record: GameRecord,
    state: Game,
    status: str,
    hash_: str,
    elapsed_ms: int,
    entries: list[WireEntry] | UnsetType | None,
) -> GameView:
    position = state.position
    return GameView(
        game=record.id,
        ruleset=record.ruleset,
        ruleset_version=record.ruleset_version,
        deal=record.deal,
        challenge=record.challenge,
        ranked=is_ranked(record),
        attempt=record.attempt,
        autoplay=cast("Autoplay", record.autoplay),
        seq=state.seq,
        columns=[[card_text(card) for card in column] for column in position.columns],
        cells=[card_text(cell[0]) if cell else None for cell in position.cells],
        home=Home(*position.home),
        score=state.score,
        moves=state.moves,
        undos=state.undos,
        undo_left=state.undo_left,
        status=_status(status),
        stuck=state.is_stuck,
        started=record.started,
        elapsed_ms=elapsed_ms,
        hash=hash_,
        entries=entries,
    )
