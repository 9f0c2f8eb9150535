"""What the journal promises about attempts at challenges, and about their end."""

import asyncio

import pytest
from msgspec.structs import replace

from cellmates.daily import Figures
from server.journal import Journal, Missing, SeqTaken
from server.records import Entry, Run
from server.store import Store

from .records import (
    DAY,
    NOW,
    OTHER,
    PLAYER,
    TOLD,
    a_challenge,
    a_game,
    after,
    an_attempt,
    attempt_of,
    entries,
    won,
)

pytestmark = pytest.mark.asyncio

ONE, TWO, THREE = entries(3)
EXPIRED = after(TWO, status="expired", home=9, undos=3, elapsed_ms=99_000, ended=NOW)
ATTEMPT = attempt_of(an_attempt())
NOWHERE = 99


async def begin(journal: Journal, *made: Entry) -> None:
    """Keep an attempt with its first entries."""
    await journal.create_game(an_attempt())
    for entry in made:
        await journal.append("g1", entry, after(entry))


async def runs(journal: Journal, challenge: str = DAY) -> list[Run]:
    return await journal.runs(challenge, None, 99)


# -- The end ---------------------------------------------------------------------------------------


async def test_entry_that_ends_an_attempt_brings_its_run_along(journal: Journal) -> None:
    await begin(journal, ONE)
    summary = won(TWO, moves=8, undos=2)
    await journal.append("g1", TWO, summary, ATTEMPT)
    assert await journal.entries("g1") == [ONE, TWO]
    assert await journal.game("g1") == replace(an_attempt(), summary=summary)
    [run] = await runs(journal)
    figures = Figures(52, TWO.at_ms, 8, 2, attempt=1, ended=NOW)
    assert run == Run(run.number, "g1", DAY, PLAYER.id, PLAYER.kind, PLAYER.handle, figures)


async def test_expired_attempt_has_its_run_and_no_more_entries_than_before(
    journal: Journal,
) -> None:
    await begin(journal, ONE, TWO)
    await journal.expire("g1", EXPIRED, ATTEMPT)
    assert await journal.entries("g1") == [ONE, TWO]
    assert await journal.entries("g1", 2) == []
    assert await journal.game("g1") == replace(an_attempt(), summary=EXPIRED)
    [run] = await runs(journal)
    assert run.figures == Figures(9, 99_000, 2, 3, attempt=1, ended=NOW)


async def test_attempt_without_entries_may_expire(journal: Journal) -> None:
    await begin(journal)
    summary = replace(an_attempt().summary, status="expired", ended=NOW)
    await journal.expire("g1", summary, ATTEMPT)
    assert await journal.entries("g1") == []
    with pytest.raises(SeqTaken):
        await journal.append("g1", ONE, after(ONE))


async def test_entry_that_ends_nothing_makes_no_run(journal: Journal) -> None:
    await begin(journal, ONE)
    await journal.create_game(a_game("g2"))
    await journal.append("g2", ONE, won(ONE))
    assert await runs(journal) == []
    assert await journal.last_run() == 0


@pytest.mark.parametrize("how", ["append", "expire"])
async def test_nothing_comes_behind_the_end(journal: Journal, how: str) -> None:
    await begin(journal, ONE)
    if how == "append":
        await journal.append("g1", TWO, summary := won(TWO), ATTEMPT)
    else:
        await journal.append("g1", TWO, after(TWO))
        await journal.expire("g1", summary := EXPIRED, ATTEMPT)
    ended = await runs(journal)
    with pytest.raises(SeqTaken):
        await journal.append("g1", THREE, after(THREE))
    with pytest.raises(SeqTaken):
        await journal.append("g1", THREE, won(THREE), ATTEMPT)
    with pytest.raises(SeqTaken):
        await journal.expire("g1", EXPIRED, ATTEMPT)
    assert await journal.entries("g1") == [ONE, TWO]
    assert await journal.game("g1") == replace(an_attempt(), summary=summary)
    assert await runs(journal) == ended
    assert len(ended) == 1


async def test_attempt_that_has_moved_on_does_not_expire(journal: Journal) -> None:
    await begin(journal, ONE, TWO, THREE)
    with pytest.raises(SeqTaken):
        await journal.expire("g1", EXPIRED, ATTEMPT)
    assert await journal.game("g1") == replace(an_attempt(), summary=after(THREE))
    assert await runs(journal) == []
    fourth = entries(4)[3]
    await journal.append("g1", fourth, after(fourth))


async def test_nothing_ends_that_never_was(journal: Journal) -> None:
    with pytest.raises(Missing):
        await journal.expire("g9", EXPIRED, ATTEMPT)
    with pytest.raises(Missing):
        await journal.append("g9", ONE, won(ONE), ATTEMPT)
    assert await runs(journal) == []
    assert await journal.entries("g9") == []


async def test_end_without_a_time_is_refused(journal: Journal) -> None:
    await begin(journal, ONE, TWO)
    with pytest.raises(ValueError, match="without a time"):
        await journal.expire("g1", replace(EXPIRED, ended=None), ATTEMPT)
    with pytest.raises(ValueError, match="without a time"):
        await journal.append("g1", THREE, won(THREE, ended=None), ATTEMPT)
    assert await journal.entries("g1") == [ONE, TWO]
    assert await runs(journal) == []


async def test_end_is_refused_with_the_summary_of_another_entry(journal: Journal) -> None:
    await begin(journal, ONE)
    for summary in (won(THREE), won(TWO, hash="another")):
        with pytest.raises(ValueError, match="another entry"):
            await journal.append("g1", TWO, summary, ATTEMPT)
    assert await runs(journal) == []


# -- At the same time ------------------------------------------------------------------------------


async def start(journal: Journal, count: int) -> list[str]:
    games = [f"g{number:02}" for number in range(count)]
    for number, game in enumerate(games):
        await journal.create_game(an_attempt(game, number + 1))
        await journal.append(game, ONE, after(ONE))
    return games


def attempts(games: list[str]) -> dict[str, int]:
    return {game: number + 1 for number, game in enumerate(games)}


async def end(journal: Journal, how: str, game: str, number: int) -> None:
    attempt = replace(ATTEMPT, number=number)
    if how == "expire":
        await journal.expire(game, after(ONE, status="expired", ended=NOW), attempt)
    elif how == "win":
        await journal.append(game, TWO, won(TWO), attempt)
    else:
        await journal.append(game, TWO, after(TWO))


async def state_is_one(journal: Journal, games: list[str], hows: dict[str, str]) -> None:
    """Whatever came first is all that is there."""
    ended = {run.game: run for run in await runs(journal)}
    assert ended.keys() == {game for game in games if hows[game] != "move"}
    for game in games:
        how = hows[game]
        assert await journal.entries(game) == ([ONE] if how == "expire" else [ONE, TWO])
        record = await journal.game(game)
        assert record is not None
        assert record.summary.status == {"expire": "expired", "win": "won"}.get(how, "playing")


@pytest.mark.parametrize("rivals", [("expire", "move"), ("win", "expire"), ("expire", "expire")])
async def test_of_two_ends_in_one_batch_the_first_counts(
    store: Store, rivals: tuple[str, str]
) -> None:
    first, second = rivals
    games = await start(store, 20)
    hows = {game: first if number % 2 else second for number, game in enumerate(games)}
    numbers = attempts(games)
    fates = await asyncio.gather(
        *(end(store, hows[game], game, numbers[game]) for game in games),
        *(
            end(store, second if number % 2 else first, game, numbers[game])
            for number, game in enumerate(games)
        ),
        return_exceptions=True,
    )
    assert [type(fate) for fate in fates] == [type(None)] * 20 + [SeqTaken] * 20
    await state_is_one(store, games, hows)


@pytest.mark.parametrize("rivals", [("expire", "move"), ("win", "expire"), ("expire", "expire")])
async def test_of_two_processes_one_ends_an_attempt(
    store: Store, database_url: str, rivals: tuple[str, str]
) -> None:
    """Also where each begins with the games that the other ends with: neither stops the other."""
    other = await Store.open(database_url)
    games = await start(store, 60)
    numbers = attempts(games)
    ours = [(store, rivals[number % 2], game) for number, game in enumerate(games)]
    theirs = [(other, rivals[1 - number % 2], game) for number, game in enumerate(games)]
    asked = [*ours, *reversed(theirs)]
    fates = await asyncio.gather(
        *(end(journal, how, game, numbers[game]) for journal, how, game in asked),
        return_exceptions=True,
    )
    await other.close()
    hows = {game: how for (_, how, game), fate in zip(asked, fates, strict=True) if fate is None}
    assert {type(fate) for fate in fates} == {type(None), SeqTaken}
    assert sum(fate is None for fate in fates) == len(games)
    await state_is_one(store, games, hows)


async def test_ends_that_are_wrong_take_no_other_with_them(store: Store) -> None:
    """Those that are wrong by another rule than the seq are found by halving."""
    games = await start(store, 30)
    numbers = attempts(games)
    await end(store, "win", games[7], numbers[games[7]])
    gap = entries(5)[4]
    wrong = [
        end(store, "expire", games[7], numbers[games[7]]),  # has ended
        end(store, "win", "nowhere", NOWHERE),  # is not there
        store.append(games[7], gap, won(gap), replace(ATTEMPT, number=8)),  # has a run
    ]
    right = [game for game in games if game != games[7]]
    fates = await asyncio.gather(
        *(end(store, "win", game, numbers[game]) for game in right[:11]),
        *wrong,
        *(end(store, "expire", game, numbers[game]) for game in right[11:]),
        return_exceptions=True,
    )
    assert [type(fate) for fate in fates[:11] + fates[14:]] == [type(None)] * 29
    assert [type(fate) for fate in fates[11:14]] == [SeqTaken, Missing, SeqTaken]
    hows = dict.fromkeys(games, "win") | dict.fromkeys(right[11:], "expire")
    await state_is_one(store, games, hows)


# -- Which there are -------------------------------------------------------------------------------


async def test_attempts_of_a_player_are_the_first_ones_by_challenge(journal: Journal) -> None:
    await journal.create_player(OTHER, "bo", "token of bo")
    mine = [an_attempt("g2", challenge="b"), an_attempt("g1", challenge="a")]
    others = [
        an_attempt("g3", 2, challenge="a"),
        an_attempt("g4", challenge="c"),
        an_attempt("g5", 2, challenge="d"),
        an_attempt("g6", challenge="a", player=OTHER.id),
        a_game("g7"),
    ]
    for game in [*mine, *others]:
        await journal.create_game(game)
    asked = ["d", "b", "a", "e", "a"]
    assert await journal.attempts_of(PLAYER.id, asked) == [mine[1], mine[0]]
    assert await journal.attempts_of("p9", asked) == []
    assert await journal.attempts_of(PLAYER.id, []) == []


async def test_last_attempt_is_the_greatest_number(journal: Journal) -> None:
    await journal.create_player(OTHER, "bo", "token of bo")
    assert await journal.last_attempt(PLAYER.id, DAY) == 0
    await journal.create_game(an_attempt("g1", 10))
    await journal.create_game(an_attempt("g2", 9))
    await journal.create_game(an_attempt("g3", 12, challenge="another"))
    await journal.create_game(an_attempt("g4", 13, player=OTHER.id))
    await journal.create_game(a_game("g5"))
    assert await journal.last_attempt(PLAYER.id, DAY) == 10


async def test_overdue_are_attempts_under_way_whose_challenge_has_closed(journal: Journal) -> None:
    challenge = a_challenge()
    assert challenge.id == DAY
    await journal.create_challenge(challenge)
    await journal.create_challenge(a_challenge("2026-12-02"))
    await journal.create_game(an_attempt("g1"))
    await journal.create_game(an_attempt("g2", 2))
    await journal.create_game(an_attempt("g3", challenge="2026-12-02-freecell"))
    await journal.create_game(a_game("g4"))
    assert await journal.overdue(challenge.closes - 1) == []
    assert await journal.overdue(challenge.closes) == [an_attempt("g1")]
    await journal.tell(DAY, TOLD)
    assert await journal.overdue(challenge.closes) == [an_attempt("g1")]
    await journal.append("g1", ONE, won(ONE), ATTEMPT)
    assert await journal.overdue(challenge.closes) == []


async def test_under_way_are_first_attempts_that_have_not_ended(journal: Journal) -> None:
    players = [replace(OTHER, id=f"q{number}", handle=f"Q{number}") for number in range(5)]
    for number, player in enumerate(players):
        await journal.create_player(player, player.id, f"token {number}")
        await journal.create_game(an_attempt(f"g{9 - number}", player=player.id))
    await journal.create_game(an_attempt("g1", 2))
    await journal.create_game(an_attempt("g2", challenge="another"))
    for game in ("g9", "g8", "g7"):
        await journal.append(game, ONE, after(ONE))
    await journal.append("g8", TWO, won(TWO), attempt_of(an_attempt(player="q1")))
    await journal.expire(
        "g7", replace(after(ONE), status="expired", ended=NOW), attempt_of(an_attempt(player="q2"))
    )
    assert await journal.under_way(DAY) == [
        an_attempt("g5", player="q4"),
        an_attempt("g6", player="q3"),
        replace(an_attempt("g9", player="q0"), summary=after(ONE)),
    ]
