"""Boards and the runs on them, checked here: each run was really played, and stands where it must.

Evidence in, findings out, as in ``verifying``. It believes what the server alone can know: which
runs there were, who played them, and when each of their actions came in.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TypeAlias

from cellmates.daily import FIRST, MOVES, Figures, competition_ranks, deadline_of, order_of
from cellmates.engine import PACK, RULESETS, Autoplay, Deal, Game, Refusal, Status, parse_action

from .replaying import check as check_replay
from .results import BoardRow, Challenge, Player, Replay
from .verifying import Finding, Wrong, agree, lie, until_wrong

KINDS = ("human", "bot")
DELETED = "deleted player"
# Fails, too, where a player was renamed between board and replay.
RENAMED = "run-player"

_EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Board:
    """All rows of a board for people or for bots, and how many the server says there are."""

    board: str
    kind: str
    rows: tuple[BoardRow, ...]
    total: int

    def __str__(self) -> str:
        return f"{self.board}/{self.kind}"


@dataclass(frozen=True)
class Run:
    """A run's replay, the kind of its boards, and its rows on them by the boards' names."""

    challenge: Challenge
    game: str
    kind: str
    rows: Mapping[str, BoardRow]
    replay: Replay

    @cached_property
    def played(self) -> Game:
        """Game after all entries.

        Raises:
            Wrong: one of them is against the rules.
        """
        header = self.replay.header
        ruleset = RULESETS[header.ruleset]
        game = Game.start(ruleset, Deal.parse(ruleset, header.deal), Autoplay(header.autoplay))
        for entry in self.replay.entries:
            try:
                game = game.play(parse_action(entry.action))
            except Refusal as refusal:
                says = f"{entry.action} is against the rules: {refusal}"
                raise Wrong(says, self.game, entry.seq) from None
        return game


class Runs:
    """The runs of a challenge while their replays come in, in any order, each one once.

    The challenge is one in which ``verify_challenge`` found no lie, the boards ones in which
    ``verify_boards`` found none. ``games`` are those whose replays are needed.
    """

    def __init__(self, challenge: Challenge, boards: Sequence[Board]) -> None:
        self._challenge = challenge
        self._rows: dict[str, dict[str, BoardRow]] = {}
        self._kinds: dict[str, str] = {}
        for board in boards:
            for row in board.rows:
                self._rows.setdefault(row.game, {})[board.board] = row
                self._kinds[row.game] = board.kind
        self.games = tuple(self._rows)
        self._taken: list[_Taken] = []
        self._entries = 0

    def take(self, game: str, replay: Replay | None) -> Finding | None:
        """The first lie about a run; None where there is none. ``replay`` is None if kept back."""
        own = self._challenge.challenge
        if replay is None:
            return lie(_REPLAY, own, Wrong("the server does not give its replay", game))
        run = Run(self._challenge, game, self._kinds[game], self._rows[game], replay)
        for name, check in _RUN_CHECKS:
            try:
                check(run)
            except Wrong as wrong:
                return lie(name, own, wrong)
        self._taken.append(_Taken(run.kind, run.rows, replay.header.attempt, replay.header.player))
        self._entries += len(replay.entries)
        return None

    def findings(self) -> Iterator[Finding]:
        """Findings about all runs, once all were taken and none was a lie."""
        own = self._challenge.challenge
        says = f"{len(self._taken)} runs, {self._entries} actions"
        yield Finding(_REPLAY, own, True, says)
        yield from (Finding(name, own, True, says) for name, _ in _RUN_CHECKS)
        checks = ((name, partial(check, self._taken)) for name, check in _TAKEN_CHECKS)
        yield from until_wrong(own, checks)


def verify_boards(challenge: str, boards: Sequence[Board]) -> Iterator[Finding]:
    """Findings about the rows of all boards of a challenge by themselves."""
    checks = ((name, partial(check, boards)) for name, check in _BOARD_CHECKS)
    return until_wrong(challenge, checks)


# -- Boards ----------------------------------------------------------------------------------------


def _totals(boards: Sequence[Board]) -> str:
    for board in boards:
        agree(((f"total of {board}", board.total, len(board.rows)),))
    return ", ".join(f"{board} {board.total}" for board in boards)


def _games(boards: Sequence[Board]) -> str:
    seen: dict[str, list[Board]] = {}
    for board in boards:
        for row in board.rows:
            others = seen.setdefault(row.game, [])
            for other in others:
                if other is board or other.kind != board.kind:
                    raise Wrong(f"it is on {other} and on {board}", row.game)
            others.append(board)
    return "no game is there twice"


def _rows(boards: Sequence[Board]) -> str:
    for board in boards:
        for row in board.rows:
            is_won = row.home == len(PACK)
            agree(((f"won on {board}", row.won, is_won),), row.game)
            if board.board == MOVES and not is_won:
                raise Wrong(f"it is on {board}, and was not won", row.game)
    return "won means that all cards are home"


def _orders(boards: Sequence[Board]) -> str:
    for board in boards:
        for above, below in pairwise(board.rows):
            if _order(board.board, below) < _order(board.board, above):
                raise Wrong(f"it is better than {above.game}, above it on {board}", below.game)
    return "every row is below what is better"


def _ranks(boards: Sequence[Board]) -> str:
    for board in boards:
        ranks = competition_ranks([_order(board.board, row) for row in board.rows])
        for row, rank in zip(board.rows, ranks, strict=True):
            agree(((f"rank on {board}", row.rank, rank),), row.game)
    return "1, 2, 2, 4"


def _order(board: str, row: BoardRow) -> tuple[int, ...]:
    # Which attempt a run is, and when it ended, says whether it is on a board, not where.
    return order_of(board, Figures(row.home, row.elapsed_ms, row.moves, row.undos, 1, 0))


_BOARD_CHECKS: tuple[tuple[str, Callable[[Sequence[Board]], str]], ...] = (
    ("board-total", _totals),
    ("board-games", _games),
    ("board-won", _rows),
    ("board-order", _orders),
    ("board-ranks", _ranks),
)


# -- A run by itself -------------------------------------------------------------------------------


def _header(run: Run) -> None:
    own, header = run.challenge, run.replay.header
    agree(
        (
            ("challenge", header.challenge, own.challenge),
            ("ruleset", header.ruleset, own.ruleset),
            ("ruleset_version", header.ruleset_version, own.ruleset_version),
            ("deal", header.deal, own.deal),
        ),
        run.game,
    )


def _attempt(run: Run) -> None:
    attempt = run.replay.header.attempt
    if attempt is None or attempt < 1:
        raise Wrong(f"it is attempt {attempt}", run.game)
    if FIRST in run.rows:
        agree((("attempt", attempt, 1),), run.game)


def _autoplay(run: Run) -> None:
    header = run.replay.header
    own = RULESETS[header.ruleset].autoplay
    if header.attempt == 1 or header.autoplay != Autoplay.OFF:
        agree((("autoplay", header.autoplay, own.value),), run.game)


def _player(run: Run) -> None:
    player = run.replay.header.player
    handle = DELETED if player is None else player.handle
    for board, row in run.rows.items():
        agree(((f"handle on {board}", row.handle, handle),), run.game)
    if player is not None:
        agree((("kind of the board", run.kind, player.kind),), run.game)


def _started(run: Run) -> None:
    opens, closes, started = run.challenge.opens, run.challenge.closes, run.replay.header.started
    if not opens <= started < closes:
        raise Wrong(f"it was started at {started}, not from {opens} to {closes}", run.game)


def _hashes(run: Run) -> None:
    broken_at = check_replay(run.replay).broken_at
    if broken_at == 0:
        raise Wrong("the hash of the result is not the last one", run.game)
    if broken_at is not None:
        raise Wrong("the hash is not that of the entry", run.game, broken_at)


def _moves(run: Run) -> None:
    _ = run.played


def _times(run: Run) -> None:
    last_ms, most_ms = 0, _deadline_ms(run)
    for entry in run.replay.entries:
        if entry.at_ms < last_ms:
            says = f"it came in at {entry.at_ms}, before the one before it at {last_ms}"
            raise Wrong(says, run.game, entry.seq)
        last_ms = entry.at_ms
        if last_ms > most_ms:
            says = f"it came in at {last_ms}, after the end of all attempts at {most_ms}"
            raise Wrong(says, run.game, entry.seq)


def _result(run: Run) -> None:
    result, game = run.replay.result, run.played
    # A run that was neither won nor resigned can have ended by the clock only.
    status = _EXPIRED if game.status is Status.PLAYING else game.status.value
    agree(
        (
            ("status", result.status, status),
            ("seq", result.seq, game.seq),
            ("score", result.score, game.score),
            ("home", result.home, game.cards_home),
            ("moves", result.moves, game.moves),
            ("undos", result.undos, game.undos),
        ),
        run.game,
    )


def _elapsed(run: Run) -> None:
    result, entries = run.replay.result, run.replay.entries
    has_to_be = _deadline_ms(run) if result.status == _EXPIRED else entries[-1].at_ms
    agree((("elapsed_ms", result.elapsed_ms, has_to_be),), run.game)


def _row(run: Run) -> None:
    result = run.replay.result
    for board, row in run.rows.items():
        agree(
            (
                (f"home on {board}", row.home, result.home),
                (f"elapsed_ms on {board}", row.elapsed_ms, result.elapsed_ms),
                (f"moves on {board}", row.moves, result.moves),
                (f"undos on {board}", row.undos, result.undos),
            ),
            run.game,
        )


def _before_close(run: Run) -> None:
    header = run.replay.header
    ended = header.started + run.replay.result.elapsed_ms
    if header.attempt != 1 and ended >= run.challenge.closes:
        says = (
            f"attempt {header.attempt} ended at {ended}: the day closed at {run.challenge.closes}"
        )
        raise Wrong(says, run.game)


def _deadline_ms(run: Run) -> int:
    """When all attempts end, counted from the start of this one."""
    return deadline_of(run.challenge.closes) - run.replay.header.started


_REPLAY = "run-replay"
_RUN_CHECKS: tuple[tuple[str, Callable[[Run], None]], ...] = (
    ("run-header", _header),
    ("run-attempt", _attempt),
    ("run-autoplay", _autoplay),
    (RENAMED, _player),
    ("run-started", _started),
    ("run-hashes", _hashes),
    ("run-moves", _moves),
    ("run-times", _times),
    ("run-result", _result),
    ("run-elapsed", _elapsed),
    ("run-row", _row),
    ("run-before-close", _before_close),
)


# -- The runs beside each other --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Taken:
    """What is kept of a run that holds; ``player`` is None where deleted."""

    kind: str
    rows: Mapping[str, BoardRow]
    attempt: int | None
    player: Player | None

    @property
    def game(self) -> str:
        return next(iter(self.rows.values())).game


_TakenRuns: TypeAlias = Sequence[_Taken]


def _one_row(runs: _TakenRuns) -> str:
    seen: set[tuple[str, str]] = set()
    for run in runs:
        if run.player is not None:
            for board in run.rows:
                if (board, run.player.id) in seen:
                    says = f"{run.player.handle} has more than one row on {board}"
                    raise Wrong(says, run.game)
                seen.add((board, run.player.id))
    return "no player has two on a board"


def _both_boards(runs: _TakenRuns) -> str:
    # The figures of a run that is on both are those of one replay.
    for run in runs:
        if run.attempt == 1 and FIRST not in run.rows:
            raise Wrong(f"it is a first attempt on {MOVES} and not on {FIRST}", run.game)
    return f"first attempts on {MOVES} are on {FIRST}"


def _winners(runs: _TakenRuns) -> str:
    places: dict[tuple[str, str], list[_Taken]] = {}
    for run in sorted((run for run in runs if MOVES in run.rows), key=_place(MOVES), reverse=True):
        places.setdefault(_who(run), []).append(run)
    won = [run for run in runs if FIRST in run.rows and run.rows[FIRST].won]
    # Deleted players cannot be told apart: the best of them has to have the best place, and so on.
    for run in sorted(won, key=_place(FIRST)):
        best = places.get(_who(run))
        if not best:
            raise Wrong(f"it won, and its player has no run on {MOVES}", run.game)
        _hold_place(run, best.pop())
    return f"who won is on {MOVES} too, with no worse run"


def _hold_place(run: _Taken, best: _Taken) -> None:
    """Hold a first attempt that won against its player's best run.

    Raises:
        Wrong: it is better, or just as good and came before.
    """
    own, other = _place(FIRST)(run), _place(MOVES)(best)
    if own < other:
        raise Wrong(f"it won, and its player's run on {MOVES} is a worse one", run.game)
    if own == other and run.player is not None and best.game != run.game:
        raise Wrong(f"{best.game}, which is no better, is on {MOVES} in its place", run.game)


def _place(board: str) -> Callable[[_Taken], tuple[int, ...]]:
    """What ranks a run on ``moves``, by its row on a board."""
    return lambda run: _order(MOVES, run.rows[board])


def _who(run: _Taken) -> tuple[str, str]:
    return run.kind, "" if run.player is None else run.player.id


_TAKEN_CHECKS: tuple[tuple[str, Callable[[_TakenRuns], str]], ...] = (
    ("one-row", _one_row),
    ("both-boards", _both_boards),
    ("winners", _winners),
)
