"""What the journal promises about challenges: on both databases, and in memory."""

import asyncio

import pytest
from msgspec.structs import replace

from server.journal import ChallengeTaken, Journal, Missing
from server.records import ChallengeRecord, Told
from server.store import Store

from .records import DAY, TOLD, a_challenge, an_attempt, append, entries, finish, start_games

pytestmark = pytest.mark.asyncio

CHALLENGES = {
    "plain": a_challenge(),
    "the first of its ruleset": a_challenge(previous=None),
    "with the largest numbers": a_challenge(opens=-(2**63), closes=2**63 - 1),
    "with text beyond ASCII": a_challenge(planner="Ünï-🂡", sealed="'; DROP TABLE challenge; --"),
}


@pytest.mark.parametrize("record", CHALLENGES.values(), ids=CHALLENGES)
async def test_challenge_comes_back_as_it_was_kept(
    journal: Journal, record: ChallengeRecord
) -> None:
    await journal.create_challenge(record)
    assert await journal.challenge(record.id) == record


async def test_challenge_that_never_was_is_none(journal: Journal) -> None:
    await journal.create_challenge(a_challenge())
    assert await journal.challenge(DAY.upper()) is None


@pytest.mark.parametrize(
    "other",
    [
        a_challenge(sealed="otherwise"),
        a_challenge(id="another"),
        a_challenge("2026-12-02", id=DAY),
        a_challenge(ruleset="eight-off", id=DAY),
    ],
)
async def test_challenge_is_created_once(journal: Journal, other: ChallengeRecord) -> None:
    """By its id, and by its day and ruleset."""
    await journal.create_challenge(a_challenge())
    with pytest.raises(ChallengeTaken):
        await journal.create_challenge(other)
    assert await journal.challenge(DAY) == a_challenge()
    assert await journal.challenge("another") is None


async def test_new_challenge_is_not_told(journal: Journal) -> None:
    await journal.create_challenge(a_challenge(told=TOLD))
    assert await journal.challenge(DAY) == a_challenge()


# -- Told ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [TOLD, replace(TOLD, candidate=0, par=0, solution=())])
async def test_what_is_told_comes_back_and_stays(journal: Journal, told: Told) -> None:
    other = a_challenge("2026-12-02")
    await journal.create_challenge(a_challenge())
    await journal.create_challenge(other)
    await journal.tell(DAY, told)
    await journal.tell(DAY, Told("another", 1, "another", 1, ("9h",)))
    assert await journal.challenge(DAY) == a_challenge(told=told)
    assert await journal.challenge(other.id) == other


async def test_nothing_is_told_of_no_challenge(journal: Journal) -> None:
    await journal.create_challenge(a_challenge())
    with pytest.raises(Missing):
        await journal.tell("2026-12-02-freecell", TOLD)
    assert await journal.challenge(DAY) == a_challenge()


async def test_untold_are_those_that_have_closed_and_are_not_told(journal: Journal) -> None:
    days = ["2026-12-03", "2026-12-01", "2026-12-02", "2026-12-04"]
    first, second, third, _ = sorted((a_challenge(day) for day in days), key=lambda of: of.day)
    for day in days:
        await journal.create_challenge(a_challenge(day))
    assert await journal.untold(first.closes - 1) == []
    assert await journal.untold(third.closes) == [first, second, third]
    await journal.tell(second.id, TOLD)
    assert await journal.untold(third.closes) == [first, third]


# -- Which there are -------------------------------------------------------------------------------


async def test_challenges_of_a_day_come_by_ruleset(journal: Journal) -> None:
    for ruleset in ["freecell", "eight-off-4", "eight-off"]:
        await journal.create_challenge(a_challenge(ruleset=ruleset))
    await journal.create_challenge(a_challenge("2026-12-02", "classic"))
    await journal.tell(DAY, TOLD)
    assert await journal.challenges_of("2026-12-01") == [
        a_challenge(ruleset="eight-off"),
        a_challenge(ruleset="eight-off-4"),
        a_challenge(told=TOLD),
    ]
    assert await journal.challenges_of("2026-12-03") == []


@pytest.mark.parametrize(
    ("day", "before"),
    [
        ("2026-12-01", None),
        ("2026-12-02", "2026-12-01"),
        ("2026-12-04", "2026-12-01"),
        ("2026-12-05", "2026-12-04"),
        ("2027-01-01", "2026-12-04"),
    ],
)
async def test_challenge_before_is_the_last_of_its_ruleset(
    journal: Journal, day: str, before: str | None
) -> None:
    for each, ruleset in [
        ("2026-12-04", "freecell"),
        ("2026-12-01", "freecell"),
        ("2026-12-03", "eight-off"),
    ]:
        await journal.create_challenge(a_challenge(each, ruleset))
    found = await journal.challenge_before("freecell", day)
    assert found == (None if before is None else a_challenge(before))


# -- With others at work ---------------------------------------------------------------------------


async def test_processes_that_plan_the_same_days_make_each_once(
    store: Store, database_url: str
) -> None:
    other = await Store.open(database_url)
    days = [f"2026-12-{day:02}" for day in range(1, 21)]
    mine = [a_challenge(day, sealed="mine") for day in days]
    theirs = [a_challenge(day, sealed="theirs") for day in reversed(days)]
    fates = await asyncio.gather(
        *(store.create_challenge(record) for record in mine),
        *(other.create_challenge(record) for record in theirs),
        return_exceptions=True,
    )
    await other.close()
    kept = [record for record, fate in zip(mine + theirs, fates, strict=True) if fate is None]
    assert {type(fate) for fate in fates} == {type(None), ChallengeTaken}
    assert [await store.challenge(record.id) for record in kept] == kept
    assert sorted(record.day for record in kept) == days


async def test_taken_challenge_fails_no_batch(store: Store) -> None:
    await store.create_challenge(a_challenge())
    [game] = await start_games(store, 1)
    commits: list[int] = []
    watched = await Store.open(
        str(store.engines.write.url.render_as_string(hide_password=False)),
        observe=lambda writes, _: commits.append(writes),
    )
    fates = await asyncio.gather(
        append(watched, game, entries(1)[0]),
        *(watched.create_challenge(a_challenge()) for _ in range(9)),
        watched.tell("nothing", TOLD),
        return_exceptions=True,
    )
    await watched.close()
    assert [type(fate) for fate in fates] == [type(None), *[ChallengeTaken] * 9, Missing]
    assert commits == [1]


# -- Days won --------------------------------------------------------------------------------------


async def test_days_won_are_those_of_ranked_attempts_that_were_won(journal: Journal) -> None:
    first, second, third = (a_challenge(f"2026-12-0{day}") for day in (1, 2, 3))
    easy = a_challenge("2026-12-09", "eight-off")
    for challenge in (first, second, third, easy):
        await journal.create_challenge(challenge)
    for number, (challenge, attempt, status) in enumerate(
        [
            (second, 1, "won"),
            (easy, 1, "won"),
            (first, 1, "won"),
            (first, 2, "won"),
            (third, 1, "resigned"),
            (third, 2, "won"),
        ]
    ):
        record = an_attempt(f"g{number}", attempt, challenge=challenge.id)
        await finish(journal, record, status=status)
    assert await journal.days_won("p1") == [
        ("eight-off", "2026-12-09"),
        ("freecell", "2026-12-01"),
        ("freecell", "2026-12-02"),
    ]
    assert await journal.days_won("p2") == []
