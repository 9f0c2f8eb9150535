"""Runs, and the boards that sorting makes of them."""

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import count

from hypothesis import strategies as st
from msgspec.structs import replace

from cellmates.daily import BOARDS, Figures, competition_ranks, counts, order_of
from server.boards import KINDS, Boards, Row
from server.records import Run

CHALLENGE = "2027-01-15-freecell"
CLOSES = 1_800_057_600_000
SIDES = [(board, kind) for board in BOARDS for kind in KINDS]

FIGURES = st.builds(
    Figures,
    home=st.sampled_from([0, 51, 52, 52, 52]),
    elapsed_ms=st.integers(1, 3),
    moves=st.integers(1, 3),
    undos=st.integers(0, 1),
    attempt=st.just(1),
    ended=st.integers(CLOSES - 1, CLOSES),
)


def run(player: str = "ann", number: int = 1, kind: str = "human", /, **figures: int) -> Run:
    told = {"home": 52, "elapsed_ms": 90_000, "moves": 100, "undos": 0, "attempt": 1, "ended": 5}
    return Run(
        number=number,
        game=f"game-{number}",
        challenge=CHALLENGE,
        player=player,
        kind=kind,
        handle=player.capitalize(),
        figures=Figures(**told | figures),
    )


@st.composite
def recorded(draw: st.DrawFn) -> list[Run]:
    """Runs in the order of their numbers, as storage keeps them, with very many ties."""
    runs = []
    attempts = {player: count(1) for player in range(9)}
    for number, (player, figures) in enumerate(
        draw(st.lists(st.tuples(st.integers(0, 8), FIGURES), max_size=25)), 1
    ):
        attempted = dataclasses.replace(figures, attempt=next(attempts[player]))
        kind = "bot" if player % 3 == 2 else "human"
        made = run(f"player-{player}", number, kind)
        runs.append(replace(made, figures=attempted))
    return runs


def boards_of(runs: Iterable[Run]) -> Boards:
    boards = Boards(CHALLENGE, CLOSES)
    for one in runs:
        boards.add(one)
    return boards


def sorted_rows(runs: Sequence[Run], board: str, kind: str) -> list[Row]:
    """Rows of a board, from the words of the rules."""

    def place(one: Run) -> tuple[int, ...]:
        return *order_of(board, one.figures), one.number

    best: dict[str, Run] = {}
    for one in runs:
        if one.kind == kind and counts(board, one.figures, CLOSES):
            best[one.player] = min(best.get(one.player, one), one, key=place)
    rows = sorted(best.values(), key=place)
    ranks = competition_ranks([order_of(board, one.figures) for one in rows])
    return [Row(rank, one) for rank, one in zip(ranks, rows, strict=True)]
