"""An honest day, made with engine, solver and ``cellmates.daily``, to plant lies in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256

from cellmates.daily import (
    BOARDS,
    PLANNER,
    Figures,
    Link,
    candidate,
    challenge_id,
    closes_at,
    commitment,
    competition_ranks,
    counts,
    day_after,
    deadline_of,
    opens_at,
    order_of,
)
from cellmates.engine import (
    RULESETS,
    Autoplay,
    Deal,
    Game,
    first_hash,
    hint,
    next_hash,
    parse_action,
)
from cellmates.solver import solve, solve_short
from client.results import (
    BoardRow,
    Challenge,
    Entry,
    Player,
    Previous,
    Proof,
    Replay,
    ReplayHeader,
    ReplayResult,
)
from client.verifying import Announced, Finding, verify_challenge
from client.verifying_runs import KINDS, Board, Runs, verify_boards

DAY = "2026-12-01"
BEFORE, AFTER = day_after(DAY, -1), day_after(DAY)
OPENS, CLOSES = opens_at(DAY), closes_at(DAY)
DEADLINE = deadline_of(CLOSES)
# Candidate 0 of its seed is lost at once in Eight Off with four cells, and 1 is soon won.
EIGHT_OFF, FREECELL = challenge_id(DAY, "eight-off-4"), challenge_id(DAY, "freecell")
CANDIDATES = {EIGHT_OFF: 1, FREECELL: 0}
SEED = sha256(b"test11").digest()

HOUR = 60 * 60 * 1000


@dataclass
class Day:
    """What the server says of a day, and of those around it; boards by challenge."""

    listed: dict[str, tuple[Challenge, ...]]
    boards: dict[str, list[Board]]
    replays: dict[str, Replay]
    now: int = DEADLINE + HOUR

    def copy(self) -> "Day":
        boards = {challenge: [*boards] for challenge, boards in self.boards.items()}
        return Day({**self.listed}, boards, {**self.replays}, self.now)

    def challenge(self, challenge: str, day: str = DAY) -> Challenge:
        return next(other for other in self.listed[day] if other.challenge == challenge)

    def put(self, challenge: str, changed: Challenge, day: str = DAY) -> None:
        """Put another challenge in the place of one."""
        self.listed[day] = tuple(
            changed if other.challenge == challenge else other for other in self.listed[day]
        )


def findings(day: Day, challenge: str) -> list[Finding]:
    """All that is found about a challenge, up to the first lie."""
    at = [*CANDIDATES].index(challenge)
    told = Announced(DAY, day.listed[DAY][at], day.listed, day.now)
    found = [*verify_challenge(told, lambda _: None)]
    if found[-1].holds:
        found += verify_boards(challenge, day.boards[challenge])
    if found[-1].holds:
        runs = Runs(told.challenge, day.boards[challenge])
        lies = (runs.take(game, day.replays.get(game)) for game in runs.games)
        lie = next((lie for lie in lies if lie is not None), None)
        found += runs.findings() if lie is None else [lie]
    return found


# -- Challenges ------------------------------------------------------------------------------------


def announced(
    day: str, ruleset: str, previous: Previous | None = None, *, seed: bytes = SEED
) -> Challenge:
    """A challenge that is not told yet."""
    version, own = RULESETS[ruleset].version, challenge_id(day, ruleset)
    link = None if previous is None else Link(previous.challenge, previous.commitment)
    bound = commitment(
        challenge=own, ruleset_version=version, planner=PLANNER, seed=seed, previous=link
    )
    opens, closes = opens_at(day), closes_at(day)
    return Challenge(own, ruleset, version, opens, closes, bound, PLANNER, previous, None)


def named(challenge: Challenge) -> Previous:
    return Previous(challenge.challenge, challenge.commitment)


def told(challenge: Challenge, number: int, *, seed: bytes = SEED) -> Challenge:
    """A challenge with a candidate as its deal, and a line that wins it."""
    deal = candidate(seed, number)
    won = solve(RULESETS[challenge.ruleset], deal.layout(RULESETS[challenge.ruleset]))
    proof = Proof(seed.hex(), number, tuple(map(str, won.moves)))
    return replace(challenge, deal=str(deal), proof=proof, par=won.length)


def committed(challenge: Challenge) -> Challenge:
    """A challenge with the commitment that its other fields lead to."""
    assert challenge.proof is not None
    seed = bytes.fromhex(challenge.proof.seed)
    again = announced(DAY, challenge.ruleset, challenge.previous, seed=seed)
    return replace(challenge, commitment=again.commitment)


# -- Runs ------------------------------------------------------------------------------------------


def rewritten(replay: Replay, entries: Iterable[Entry]) -> Replay:
    """A replay with other entries, and hashes that fit them; the result is another's but for it."""
    header = replay.header
    last = first_hash(header.ruleset, header.ruleset_version, header.deal, header.autoplay)
    chained = []
    for entry in entries:
        last = next_hash(last, entry.seq, entry.action, entry.at_ms)
        chained.append(replace(entry, hash=last))
    return replace(replay, entries=tuple(chained), result=replace(replay.result, hash=last))


def played(header: ReplayHeader, actions: Iterable[str], step_ms: int) -> Replay:
    """A game in which each action comes so long after the one before; expired if not over."""
    game = _start(header)
    entries: list[Entry] = []
    for action in actions:
        game = game.play(parse_action(action))
        entries.append(Entry(game.seq, action, step_ms * game.seq, ""))
    is_over = game.status.value != "playing"
    result = ReplayResult(
        status=game.status.value if is_over else "expired",
        score=game.score,
        home=game.cards_home,
        moves=game.moves,
        undos=game.undos,
        elapsed_ms=entries[-1].at_ms if is_over else DEADLINE - header.started,
        hash="",
        seq=game.seq,
    )
    return rewritten(Replay(header, (), result), entries)


def _start(header: ReplayHeader) -> Game:
    ruleset = RULESETS[header.ruleset]
    return Game.start(ruleset, Deal.parse(ruleset, header.deal), Autoplay(header.autoplay))


@dataclass(frozen=True)
class Seat:
    """Who plays what, when they begin, and how fast they are; ``handle`` is None if deleted."""

    game: str
    handle: str | None
    started: int
    step_ms: int
    attempt: int = 1
    kind: str = "human"
    autoplay: str | None = None


def sat(challenge: Challenge, seat: Seat, actions: Iterable[str]) -> Replay:
    """What somebody played."""
    assert challenge.deal is not None
    player = None if seat.handle is None else Player(f"p-{seat.handle}", seat.handle, seat.kind)
    header = ReplayHeader(
        challenge.ruleset,
        challenge.ruleset_version,
        challenge.deal,
        seat.autoplay or RULESETS[challenge.ruleset].autoplay.value,
        player,
        seat.started,
        challenge.challenge,
        seat.attempt,
    )
    return played(header, actions, seat.step_ms)


def winning(challenge: Challenge, *, short: bool = False, autoplay: str | None = None) -> list[str]:
    """Moves that win; with ``short`` fewer."""
    assert challenge.deal is not None
    ruleset = RULESETS[challenge.ruleset]
    layout = Deal.parse(ruleset, challenge.deal).layout(ruleset)
    by = Autoplay(autoplay) if autoplay else None
    won = solve_short(ruleset, layout, by, budget=4_000) if short else solve(ruleset, layout, by)
    return [str(move) for move in won.moves]


def wandering(challenge: Challenge, count: int) -> list[str]:
    """So many moves that win nothing."""
    assert challenge.deal is not None
    ruleset = RULESETS[challenge.ruleset]
    game, moves = Game.start(ruleset, Deal.parse(ruleset, challenge.deal)), []
    for _ in range(count):
        move = hint(game)
        assert move is not None
        moves.append(str(move))
        game = game.play(move)
    return moves


# -- Boards ----------------------------------------------------------------------------------------


def row_of(game: str, replay: Replay, rank: int = 0) -> BoardRow:
    player, result = replay.header.player, replay.result
    return BoardRow(
        rank,
        player.handle if player else "deleted player",
        result.home,
        result.status == "won",
        result.elapsed_ms,
        result.moves,
        result.undos,
        game,
    )


def figures_of(replay: Replay) -> Figures:
    result, header = replay.result, replay.header
    ended = header.started + result.elapsed_ms
    assert header.attempt is not None
    return Figures(
        result.home, result.elapsed_ms, result.moves, result.undos, header.attempt, ended
    )


def ranked(board: Board) -> Board:
    """A board with its rows in order, and their ranks by their own figures."""
    rows = sorted(board.rows, key=lambda row: _order(board.board, row))
    ranks = competition_ranks([_order(board.board, row) for row in rows])
    placed = tuple(replace(row, rank=rank) for row, rank in zip(rows, ranks, strict=True))
    return Board(board.board, board.kind, placed, len(placed))


def _order(board: str, row: BoardRow) -> tuple[int, ...]:
    return order_of(board, Figures(row.home, row.elapsed_ms, row.moves, row.undos, 1, 0))


def boards_of(runs: Sequence[tuple[Seat, Replay]]) -> list[Board]:
    """The four boards of runs, in the order in which they were recorded."""
    return [ranked(_board(board, kind, runs)) for board in BOARDS for kind in KINDS]


def _board(board: str, kind: str, runs: Sequence[tuple[Seat, Replay]]) -> Board:
    best: dict[object, tuple[tuple[int, ...], BoardRow]] = {}
    for seat, replay in runs:
        figures = figures_of(replay)
        if seat.kind != kind or not counts(board, figures, CLOSES):
            continue
        who, order = seat.handle or seat.game, order_of(board, figures)
        if who not in best or order < best[who][0]:
            best[who] = order, row_of(seat.game, replay)
    return Board(board, kind, tuple(row for _, row in best.values()), len(best))


# -- The day ---------------------------------------------------------------------------------------


def honest() -> Day:
    """A day on which all is as it should be, of the test's own."""
    return _honest().copy()


@cache
def _honest() -> Day:
    listed: dict[str, tuple[Challenge, ...]] = {BEFORE: (), DAY: (), AFTER: ()}
    for challenge, number in CANDIDATES.items():
        ruleset = challenge[len(DAY) + 1 :]
        before = announced(BEFORE, ruleset, seed=bytes(32))
        own = told(announced(DAY, ruleset, named(before)), number)
        after = announced(AFTER, ruleset, named(own), seed=bytes(32))
        for date, other in ((BEFORE, before), (DAY, own), (AFTER, after)):
            listed[date] += (other,)
    day = Day(listed, {}, {})
    for challenge, runs in (
        (EIGHT_OFF, _eight_off(day.challenge(EIGHT_OFF))),
        (FREECELL, _freecell(day.challenge(FREECELL))),
    ):
        day.boards[challenge] = boards_of(runs)
        day.replays |= {seat.game: replay for seat, replay in runs}
    return day


def _eight_off(own: Challenge) -> list[tuple[Seat, Replay]]:
    won, short = winning(own), winning(own, short=True)
    some = wandering(own, 4)
    resigned = [*some[:3], "undo", "resign"]
    seats: list[tuple[Seat, list[str]]] = [
        (Seat("ada", "Ada", OPENS, 900), won),
        (Seat("bob", "Bob", OPENS + HOUR, 2_000), resigned),
        (Seat("cyn", "Cyn", OPENS + 2 * HOUR, 2_000), resigned),
        (Seat("dan", "Dan", CLOSES - HOUR, 3_000), some),
        (Seat("eve", "Eve", CLOSES - 1, 1_000), [*short[:1], "undo", *short]),
        (Seat("fay", "Fay", OPENS + 5, 1_500), won),
        (Seat("fay-2", "Fay", OPENS + HOUR, 1_000, attempt=2), ["resign"]),
        (Seat("fay-3", "Fay", OPENS + 2 * HOUR, 5_000, attempt=3), short),
        (Seat("gone-1", None, OPENS, 800), won),
        (Seat("gone-2", None, OPENS, 4_000), won),
        (Seat("gone-3", None, OPENS + HOUR, 700, attempt=2), short),
        (Seat("gone-4", None, OPENS, 0), ["resign"]),
        (Seat("hal", "Hal", OPENS, 1), won),
        (Seat("hal-2", "Hal", OPENS + HOUR, 1, attempt=2), won),
    ]
    seats += [
        (Seat("robo", "Robo", OPENS, 10, kind="bot"), short),
        (Seat("tik", "Tik", OPENS, 10, kind="bot"), [*some, "resign"]),
        (Seat("scrap-1", None, OPENS, 20, kind="bot"), won),
        (Seat("scrap-2", None, OPENS, 20, attempt=2, kind="bot"), won),
    ]
    return [(seat, sat(own, seat, actions)) for seat, actions in seats]


def _freecell(own: Challenge) -> list[tuple[Seat, Replay]]:
    by_hand = winning(own, autoplay="off")
    seats = [
        (Seat("ian", "Ian", OPENS, 1_000), winning(own)),
        (Seat("ian-2", "Ian", OPENS + HOUR, 5, attempt=2, autoplay="off"), by_hand),
        (Seat("joy", "Joy", OPENS, 1_000), [*wandering(own, 2), "resign"]),
    ]
    return [(seat, sat(own, seat, actions)) for seat, actions in seats]
