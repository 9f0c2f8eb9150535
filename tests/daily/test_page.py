"""Holds docs/daily.md to the code: its tables, its numbers, and every example it gives."""

import hmac
import re
from hashlib import sha256
from itertools import islice

import pytest

from cellmates.daily import (
    BOARDS,
    DAILIES,
    DAY_MS,
    GRACE_MS,
    PLANNER,
    SEED_BYTES,
    Figures,
    Link,
    Streaks,
    candidate,
    commitment,
    competition_ranks,
    counts,
    day_of,
    order_of,
    parse_challenge_id,
    plan,
    streaks,
)
from cellmates.engine import PACK, RULESETS, Game, Status, card_text, parse_action
from cellmates.solver import solve
from client import verifying, verifying_runs
from server import keeper
from server.config import Settings
from tests.protocol.page import tables

from . import naive
from .page import SAID, TEXT, found, seed_of, table


def spaced(value: int) -> str:
    """A number as the page writes it."""
    return f"{value:,}".replace(",", " ")


def test_rows_are_as_long_as_their_headings() -> None:
    assert [row for rows in tables(TEXT) for row in rows if len(row) != len(rows[0])] == []


def test_rulesets_are_those_that_have_a_daily() -> None:
    named = found(r"one in each of these rulesets: ([^.]+)\.")
    assert re.findall("`([^`]+)`", named) == [*DAILIES]


def test_lengths_of_a_day_and_of_the_grace() -> None:
    assert f"and {spaced(DAY_MS)} ms long" in SAID
    assert f"has {GRACE_MS // naive.HOUR} more hours" in SAID
    assert GRACE_MS % naive.HOUR == 0


def test_server_plans_and_tells_when_it_is_told_to() -> None:
    assert "plans today and the seven days after it" in SAID
    assert Settings().plan_days == 1 + 7
    assert "about half a minute after the close at the earliest" in SAID
    assert keeper.LATEST_COMMIT_MS == 30_000


@pytest.mark.parametrize(("instant", "day"), table("instant", "is in the day"))
def test_instant_is_in_the_day_told(instant: str, day: str) -> None:
    assert day_of(int(instant)) == naive.day_of(int(instant)) == day


# -- Commitments -----------------------------------------------------------------------------------

CHAIN = table("challenge", "seed", "commitment")
[LINES] = [[row[2] for row in table("line", "is", "example")]]


def test_seed_is_as_long_as_it_is_told() -> None:
    assert f"a *seed*: {SEED_BYTES} random bytes" in SAID


def test_example_of_a_text_gives_the_commitment_told() -> None:
    told = {challenge: hash_ for challenge, _, hash_ in CHAIN}
    assert sha256("\n".join(LINES).encode()).hexdigest() == told[LINES[1]]
    assert told[LINES[6]] == LINES[7]
    assert (LINES[4], LINES[2]) == (PLANNER, parse_challenge_id(LINES[1])[1])
    assert seed_of(LINES[1]).hex() == LINES[5]


def test_chain_is_the_one_told() -> None:
    before: Link | None = None
    for challenge, seed, told in CHAIN:
        _, ruleset = parse_challenge_id(challenge)
        assert seed_of(challenge).hex() == seed
        version = RULESETS[ruleset].version
        made = commitment(
            challenge=challenge,
            ruleset_version=version,
            planner=PLANNER,
            seed=bytes.fromhex(seed),
            previous=before,
        )
        named = (before.challenge, before.commitment) if before else ("", "")
        assert naive.commitment(challenge, version, PLANNER, seed, named) == made == told
        before = Link(challenge, told)
    assert found(r"With ([0-9-]+) as the first day") == CHAIN[0][0][:10]


# -- The shuffle -----------------------------------------------------------------------------------

SHUFFLED, CANDIDATE = re.findall(r"For example, `([^`]+)`, candidate (\d+)\.", SAID)[0]
KEY = bytes.fromhex(found("Its key is `([0-9a-f]+)`"))
DEAL = found("In the end the deal is `([^`]+)`")
STEPS = table("number", "n", "used when below")


def test_key_is_the_one_told() -> None:
    label = f"candidate\n{CANDIDATE}".encode()
    assert hmac.digest(seed_of(SHUFFLED), label, "sha256") == KEY
    assert naive.key_of(seed_of(SHUFFLED), int(CANDIDATE)) == KEY


def test_numbers_are_those_told() -> None:
    block = bytes.fromhex(found("the first of its blocks of 32 bytes is `([0-9a-f]+)`"))
    assert hmac.digest(KEY, b"cellmates/daily/1\n0", "sha256") == block
    numbers = [int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4)]
    assert [int(number) for number, *_ in STEPS] == numbers
    assert [*islice(naive.numbers_of(KEY), 8)] == numbers


def test_pack_is_told_in_its_order() -> None:
    cards = [card_text(card) for card in PACK]
    assert f"order {' '.join(cards[:5])} … {' '.join(cards[-2:])}" in SAID


def test_first_steps_are_those_told() -> None:
    cards = [card_text(card) for card in PACK]
    order = candidate(seed_of(SHUFFLED), int(CANDIDATE)).order
    for step, (number, n, below, p, card) in enumerate(STEPS):
        assert int(n) == 52 - step
        assert int(below) == naive.below_of(int(n)) > int(number)
        assert int(p) == int(number) % int(n)
        assert card == cards[int(p)] == card_text(order[int(n) - 1])
        cards[int(p)], cards[int(n) - 1] = cards[int(n) - 1], cards[int(p)]


def test_deal_is_the_one_told() -> None:
    seed = seed_of(SHUFFLED)
    assert str(candidate(seed, int(CANDIDATE))) == naive.deal(seed, int(CANDIDATE)) == DEAL


# -- Candidates ------------------------------------------------------------------------------------

TRIED, PLANNED_BY = re.findall(r"For example, `([^`]+)` under `([^`]+)`:", SAID)[0]
[SOLUTION] = [block.split() for block in re.findall(r"^```\n(.*?)^```$", TEXT, re.M | re.S)]


def test_verdicts_on_candidates_are_those_told() -> None:
    ruleset = RULESETS[parse_challenge_id(TRIED)[1]]
    assert PLANNED_BY == PLANNER == found("such as `([^`]+)`: the version of the solver")
    for number, (told, verdict, positions) in enumerate(table("candidate", "verdict")):
        result = solve(ruleset, candidate(seed_of(TRIED), number).layout(ruleset))
        assert [str(number), result.verdict, str(result.nodes)] == [told, verdict, positions]


def test_solution_is_the_one_told() -> None:
    ruleset = RULESETS[parse_challenge_id(TRIED)[1]]
    planned = plan(ruleset, seed_of(TRIED))
    assert [*planned.solution] == SOLUTION
    assert str(planned.candidate) == table("candidate", "verdict")[-1][0]
    assert int(found(r"It has par (\d+)\.")) == planned.par
    start = Game.start(ruleset, planned.deal)
    game = Game.replay(ruleset, start.deal, start.autoplay, map(parse_action, SOLUTION))
    assert (game.status, game.moves) == (Status.WON, planned.par)


# -- Boards ----------------------------------------------------------------------------------------

CLOSES = 1_796_169_600_000
ENDED = {"before the close": CLOSES - 1, "in the grace": CLOSES}
RUNS = table("run", "player", "attempt")
ROWS = {
    board: [pair.split() for pair in rows.split(", ")] for board, rows in table("board", "rows")
}


def test_boards_are_those_of_the_code() -> None:
    told = [row[0] for row in table("board", "runs", "order")]
    assert told == [*ROWS] == [*BOARDS]


def figures(row: list[str]) -> Figures:
    _, _, attempt, home, time, moves, undos, ended = row
    return Figures(int(home), int(time), int(moves), int(undos), int(attempt), ENDED[ended])


@pytest.mark.parametrize("board", BOARDS)
def test_runs_make_the_board_told(board: str) -> None:
    best: dict[str, tuple[tuple[int, ...], int, str]] = {}
    for number, row in enumerate(RUNS):
        if counts(board, figures(row), CLOSES):
            place = order_of(board, figures(row)), number, row[0]
            best[row[1]] = min(best.get(row[1], place), place)
    rows = sorted(best.values())
    ranks = competition_ranks([order for order, _, _ in rows])
    made = [[str(rank), run] for rank, (_, _, run) in zip(ranks, rows, strict=True)]
    assert made == ROWS[board]


@pytest.mark.parametrize("board", BOARDS)
def test_naive_board_is_the_one_told(board: str) -> None:
    names = ("home", "elapsed_ms", "moves", "undos", "attempt", "ended")
    runs = [
        {name: getattr(figures(row), name) for name in names} | {"run": row[0], "player": row[1]}
        for row in RUNS
    ]
    rows = naive.board_of(board, runs, CLOSES)
    assert [[str(rank), run["run"]] for rank, run in rows] == ROWS[board]


@pytest.mark.parametrize("row", table("days won", "today"), ids=" ".join)
def test_streaks_are_those_told(row: list[str]) -> None:
    won, today, current, best = row
    days = [] if won == "none" else won.split(", ")
    assert streaks(days, today) == Streaks(int(current), int(best))


# -- Checking --------------------------------------------------------------------------------------


def test_checks_are_those_of_the_command() -> None:
    tables_of_checks = (
        verifying._CHECKS,
        verifying_runs._BOARD_CHECKS,
        ((verifying_runs._REPLAY, None),),
        verifying_runs._RUN_CHECKS,
        verifying_runs._TAKEN_CHECKS,
    )
    told = [name for row in table("check", "what has to hold") for name in row[0].split(", ")]
    assert told == [name for checks in tables_of_checks for name, _ in checks]
