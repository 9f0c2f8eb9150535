"""How players and games look on the wire. No I/O."""

from typing import cast

from msgspec import UNSET, UnsetType

from cellmates.daily import streaks
from cellmates.engine import Game, card_text
from cellmates.protocol import (
    Attempt,
    BoardChanged,
    BoardPage,
    BoardRow,
    Challenge,
    GameRef,
    GameSummary,
    GameView,
    Home,
    Moved,
    Player,
    Previous,
    Proof,
    ReplayHeader,
    ReplayResult,
    Stats,
    WireEntry,
)
from cellmates.protocol.limits import Autoplay, Board, Kind, Status

from .boards import Page, Row
from .dailies import Seen
from .game import RANKED, LiveGame, Made
from .players import DELETED_PLAYER
from .records import Entry, GameRecord, PlayerRecord, Result, Told

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


def stats(results: list[Result], days_won: list[tuple[str, str]], today: str) -> dict[str, Stats]:
    """A player's figures by ruleset; ``days_won`` are rulesets and days of won dailies."""
    told = {}
    for result in results:
        days = [day for ruleset, day in days_won if ruleset == result.ruleset]
        streak = streaks(days, today)
        told[result.ruleset] = Stats(
            played=result.played,
            won=result.won,
            best_elapsed_ms=result.best_ms,
            fewest_moves=result.fewest_moves,
            streak=streak.current,
            best_streak=streak.best,
        )
    return told


def challenge(seen: Seen) -> Challenge:
    """A challenge as somebody may see it."""
    record, attempt, told = seen.record, seen.attempt, seen.told
    previous = record.previous
    return Challenge(
        challenge=record.id,
        ruleset=record.ruleset,
        ruleset_version=record.ruleset_version,
        opens=record.opens,
        closes=record.closes,
        commitment=record.commitment,
        planner=record.planner,
        previous=Previous(previous.challenge, previous.commitment) if previous else None,
        attempt=Attempt(attempt.id, _status(attempt.summary.status)) if attempt else None,
        deal=UNSET if told is None else told.deal,
        proof=UNSET if told is None else _proof(told),
        par=UNSET if told is None else told.par,
    )


def _proof(told: Told) -> Proof:
    return Proof(told.seed, told.candidate, told.solution)


def board_page(page: Page) -> BoardPage:
    """A page of a board."""
    return BoardPage(
        rows=[board_row(row) for row in page.rows],
        total=page.total,
        me=board_row(page.me) if page.me else None,
        next=page.next,
        prev=page.prev,
    )


def board_changed(board: tuple[str, str, str], page: Page) -> BoardChanged:
    """The top of a board, which is named by challenge, board and kind."""
    challenge_id, name, kind = board
    return BoardChanged(
        challenge_id,
        cast("Board", name),
        cast("Kind", kind),
        [board_row(row) for row in page.rows],
        page.total,
    )


def board_row(row: Row) -> BoardRow:
    """One run on a board."""
    figures = row.run.figures
    return BoardRow(
        rank=row.rank,
        handle=row.run.handle or DELETED_PLAYER,
        home=figures.home,
        won=figures.is_won,
        elapsed_ms=figures.elapsed_ms,
        moves=figures.moves,
        undos=figures.undos,
        game=row.run.game,
    )


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
        challenge=record.challenge,
        attempt=record.attempt,
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
    return record.challenge is not None and record.attempt == RANKED


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
