"""What the rules engine costs, beside rivals in the same run: ``python -m benchmarks.engine``.

A figure is the median of interleaved rounds, ours and the rival's in turn, so that a machine that
slows down slows both; it is processor time, so that others who wait for the same processor count
little. What a round does on either side is said under the table.
"""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, repeat
from statistics import median
from textwrap import fill
from time import process_time

import chess
from pysol_cards import cards, deal_game, random_base

from benchmarks.report import figure, judged, machine, table
from cellmates.engine import (
    RULESETS,
    Autoplay,
    Deal,
    Game,
    LegalMoves,
    Move,
    Position,
    Ruleset,
    Status,
    first_hash,
    next_hash,
    parse_action,
    pile_text,
    play,
)
from cellmates.solver import solve

ROUNDS = 7
ROUND_SECONDS = 0.15
ACTIONS = 120
DEALS = range(1, 101)
FREECELL, EIGHT_OFF = RULESETS["freecell"], RULESETS["eight-off"]

# Spassky – Fischer, Reykjavik 1972, the 13th game: 148 plies.
CHESS_GAME = """
e4 Nf6 e5 Nd5 d4 d6 Nf3 g6 Bc4 Nb6 Bb3 Bg7 Nbd2 O-O h3 a5 a4 dxe5 dxe5 Na6 O-O Nc5 Qe2 Qe8 Ne4
Nbxa4 Bxa4 Nxa4 Re1 Nb6 Bd2 a4 Bg5 h6 Bh4 Bf5 g4 Be6 Nd4 Bc4 Qd2 Qd7 Rad1 Rfe8 f4 Bd5 Nc5 Qc8 Qc3
e6 Kh2 Nd7 Nd3 c5 Nb5 Qc6 Nd6 Qxd6 exd6 Bxc3 bxc3 f6 g5 hxg5 fxg5 f5 Bg3 Kf7 Ne5+ Nxe5 Bxe5 b5 Rf1
Rh8 Bf6 a3 Rf4 a2 c4 Bxc4 d7 Bd5 Kg3 Ra3+ c3 Rha8 Rh4 e5 Rh7+ Ke6 Re7+ Kd6 Rxe5 Rxc3+ Kf2 Rc2+ Ke1
Kxd7 Rexd5+ Kc6 Rd6+ Kb7 Rd7+ Ka6 R7d2 Rxd2 Kxd2 b4 h4 Kb5 h5 c4 Ra1 gxh5 g6 h4 g7 h3 Be7 Rg8 Bf8
h2 Kc2 Kc6 Rd1 b3+ Kc3 h1=Q Rxh1 Kd5 Kb2 f4 Rd1+ Ke4 Rc1 Kd3 Rd1+ Ke2 Rc1 f3 Bc5 Rxg7 Rxc4 Rd7
Re4+ Kf1 Bd4 f2
"""

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Race:
    """Two acts side by side, each with the number of things that one call of it does.

    ``target`` is in ``unit`` for one thing; ``compared`` says honestly what the two do.
    """

    name: str
    unit: str
    ours: Act
    each: int
    rival: Act
    rival_each: int
    rival_name: str
    compared: str
    target: float | None = None

    def row(self) -> list[str]:
        """Run the rounds; give the table's row."""
        scale = {"µs": 1e6, "ms": 1e3}[self.unit]
        ours, rivals = _rounds(self.ours, self.rival)
        time = scale * median(ours) / self.each
        rival_time = scale * median(rivals) / self.rival_each
        return [
            self.name,
            f"{figure(time)} {self.unit}",
            "" if self.target is None else judged(time, self.target, self.unit),
            f"{figure(rival_time)} {self.unit}",
            f"{rival_time / time:.2f}",
            self.rival_name,
        ]


def _rounds(ours: Act, rival: Act) -> tuple[list[float], list[float]]:
    """Seconds of processor time that a call of each takes, round by round, in turn."""
    calls, rival_calls = _calls_a_round(ours), _calls_a_round(rival)
    rounds = [(_seconds(ours, calls), _seconds(rival, rival_calls)) for _ in range(ROUNDS)]
    return [ours for ours, _ in rounds], [rival for _, rival in rounds]


def _calls_a_round(act: Act) -> int:
    _seconds(act, 1)
    return max(round(ROUND_SECONDS / _seconds(act, 1)), 1)


def _seconds(act: Act, calls: int) -> float:
    gc.collect()
    start = process_time()
    for _ in repeat(None, calls):
        act()
    return (process_time() - start) / calls


# -- Lines to play ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """A winning line as the solver found it: each move's text with the position it is made in."""

    deal: Deal
    moves: list[tuple[Position, str]]

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.moves]


def _winning_line(ruleset: Ruleset, number: int, autoplay: Autoplay) -> Line:
    deal, moves = Deal.numbered(number), []
    game = Game.start(ruleset, deal, autoplay)
    for move in solve(ruleset, game.position, autoplay).moves:
        moves.append((game.position, str(move)))
        game = game.play(move)
    return Line(deal, moves)


def _long_line() -> Line:
    """Line of the first deal that is won in just so many actions, nothing going home by itself."""
    lines = (_winning_line(FREECELL, number, Autoplay.OFF) for number in count(1))
    return next(line for line in lines if len(line.moves) == ACTIONS)


def _chess_line() -> tuple[list[chess.Board], list[str]]:
    """Boards before each ply of the chess game, and the plies as UCI texts."""
    board, boards, texts = chess.Board(), [], []
    for san in CHESS_GAME.split():
        boards.append(board.copy())
        texts.append(board.push_san(san).uci())
    return boards, texts


# -- What is raced ---------------------------------------------------------------------------------


def _races() -> list[Race]:
    boards, plies = _chess_line()
    lines = [_winning_line(FREECELL, number, Autoplay.SAFE) for number in (1, 2, 3)]
    eights = [_winning_line(EIGHT_OFF, number, Autoplay.OFF) for number in (1, 2)]
    long = _long_line()
    return [
        _applying(lines, plies),
        _playing(lines, plies),
        _replaying(long, plies[:ACTIONS]),
        _dealing(),
        _listing(FREECELL, lines, boards),
        _listing(EIGHT_OFF, eights, boards),
        _chaining(long),
    ]


def _push_all(plies: list[str]) -> Act:
    def push_all() -> None:
        board = chess.Board()
        for ply in plies:
            board.push_uci(ply)

    return push_all


def _applying(lines: list[Line], plies: list[str]) -> Race:
    moves = [move for line in lines for move in line.moves]

    def apply() -> None:
        for position, text in moves:
            play(FREECELL, position, Move.parse(text), Autoplay.SAFE)

    return Race(
        name="apply a legal move",
        unit="µs",
        ours=apply,
        each=len(moves),
        rival=_push_all(plies),
        rival_each=len(plies),
        rival_name="python-chess Board.push_uci",
        compared=(
            f"Move.parse and rules.play, automatic moves included, over the {len(moves)} moves of "
            "the winning lines of FreeCell 1-3, each in its own position: text in, new position "
            f"out, the old one untouched. push_uci over the {len(plies)} plies of a master game: "
            "text in, legality checked, one board changed in place with its undo stack."
        ),
        target=5,
    )


def _playing(lines: list[Line], plies: list[str]) -> Race:
    games = [(Game.start(FREECELL, line.deal, Autoplay.SAFE), line.texts) for line in lines]

    def apply() -> None:
        for game, texts in games:
            for text in texts:
                game = game.play(parse_action(text))

    return Race(
        name="the same with history",
        unit="µs",
        ours=apply,
        each=sum(len(texts) for _, texts in games),
        rival=_push_all(plies),
        rival_each=len(plies),
        rival_name="python-chess Board.push_uci",
        compared=(
            "parse_action and Game.play over the same lines, every game kept by the next one, with "
            "score, status and undo; the rival as before."
        ),
    )


def _replaying(line: Line, plies: list[str]) -> Race:
    texts = line.texts

    def replay() -> Game:
        return Game.replay(FREECELL, line.deal, Autoplay.OFF, map(parse_action, texts))

    if replay().status is not Status.WON:
        raise AssertionError("the line does not win")
    return Race(
        name=f"replay {ACTIONS} actions",
        unit="ms",
        ours=replay,
        each=1,
        rival=_push_all(plies),
        rival_each=1,
        rival_name=f"python-chess, {ACTIONS} plies",
        compared=(
            "Game.replay from deal and action texts to the win: the solver's line of FreeCell "
            f"{line.deal}, {ACTIONS} moves with autoplay off. A new Board and push_uci over the "
            f"first {ACTIONS} plies of the master game."
        ),
        target=1,
    )


def _dealing() -> Race:
    def deal() -> None:
        for number in DEALS:
            Deal.numbered(number).layout(FREECELL)

    def rival() -> None:
        for number in DEALS:
            _dealt_by_pysol(number)

    _check_deals()
    return Race(
        name="deal",
        unit="µs",
        ours=deal,
        each=len(DEALS),
        rival=rival,
        rival_each=len(DEALS),
        rival_name="pysol-cards",
        compared=(
            f"Deal.numbered and layout of FreeCell {DEALS[0]}-{DEALS[-1]}; pysol-cards dealing the "
            "same numbers to columns, without writing them as text."
        ),
    )


def _dealt_by_pysol(number: int) -> deal_game.Game:
    game = deal_game.Game("freecell", number, random_base.RandomBase.DEALS_MS)
    game.deal()
    game.freecell()
    return game


def _check_deals() -> None:
    for number in DEALS:
        columns = Deal.numbered(number).layout(FREECELL).columns
        ours = "".join(f"{pile_text(column)}\n" for column in columns)
        if ours != _dealt_by_pysol(number).board.calc_string(cards.CardRenderer(print_ts=True)):
            raise AssertionError(f"deal {number} differs")


def _listing(ruleset: Ruleset, lines: list[Line], boards: list[chess.Board]) -> Race:
    positions = [position for line in lines for position, _ in line.moves]

    def ours() -> int:
        return sum(len(list(LegalMoves(ruleset, position))) for position in positions)

    def rival() -> int:
        return sum(len(list(board.legal_moves)) for board in boards)

    return Race(
        name=f"list legal moves, {ruleset.name}",
        unit="µs",
        ours=ours,
        each=len(positions),
        rival=rival,
        rival_each=len(boards),
        rival_name="python-chess legal_moves",
        compared=(
            f"list(LegalMoves) in {len(positions)} positions of winning lines, "
            f"{ours() / len(positions):.1f} moves each on average; list(board.legal_moves) in the "
            f"{len(boards)} positions of the master game, {rival() / len(boards):.1f} moves each."
        ),
    )


def _chaining(line: Line) -> Race:
    entries = [(seq, text, 1500 * seq) for seq, text in enumerate(line.texts, 1)]
    first = first_hash(FREECELL.name, FREECELL.version, str(line.deal), Autoplay.OFF)

    def chain() -> str:
        name = first
        for seq, text, at_ms in entries:
            name = next_hash(name, seq, text, at_ms)
        return name

    hashed, name = [], first
    for seq, text, at_ms in entries:
        hashed.append(f"{name}\n{seq} {text} {at_ms}".encode())
        name = next_hash(name, seq, text, at_ms)
    if sha256(hashed[-1]).hexdigest() != name:
        raise AssertionError("the rival hashes something else")

    def rival() -> None:
        for content in hashed:
            sha256(content).hexdigest()

    return Race(
        name="hash chain, an entry",
        unit="µs",
        ours=chain,
        each=len(entries),
        rival=rival,
        rival_each=len(entries),
        rival_name="hashlib.sha256 alone",
        compared=(
            f"next_hash over the {len(entries)} entries of the replayed game, each hash made from "
            "the one before; sha256 and hexdigest of the same bytes made ready beforehand: the "
            "floor, which nothing that hashes here can beat."
        ),
    )


def main() -> None:
    """Run the races and print the table."""
    races = _races()
    rows = [["", "ours", "target", "rival", "ratio", ""], *(race.row() for race in races)]
    print(machine("chess", "pysol-cards"))
    print(
        f"Processor time, medians of {ROUNDS} interleaved rounds of about {ROUND_SECONDS} s each."
    )
    print("Ratio: the rival's time over ours; above 1 we are faster.\n")
    print(table(rows, left=(0, 2, 5)), end="\n\n")
    for race in races:
        print(fill(f"{race.name}: {race.compared}", width=100, subsequent_indent="  "))


if __name__ == "__main__":
    main()
