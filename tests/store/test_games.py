"""What the journal promises about games and their entries."""

import pytest
from msgspec.structs import replace

from server.journal import GameTaken, Missing, SeqTaken
from server.records import Entry, GameRecord, Result, Summary
from server.store import Store

from .records import OTHER, PLAYER, a_game, after, entries

pytestmark = pytest.mark.asyncio

ONE, TWO, THREE = entries(3)


async def play(store: Store, game: str, made: list[Entry]) -> None:
    for entry in made:
        await store.append(game, entry, after(entry))


# -- A game ----------------------------------------------------------------------------------------

GAMES = {
    "plain": a_game(),
    "of a challenge": a_game(challenge="2026-12-01/freecell", attempt=1),
    "over": a_game(deal="cards:JD2D9H", autoplay="off", status="won", seq=7, home=52, ended=2**53),
    "with text beyond ASCII": a_game("Ünï-🂡", deal="'; DROP TABLE game; --"),
    "with the largest numbers": a_game(started=-(2**63), elapsed_ms=2**63 - 1),
}


@pytest.mark.parametrize("record", GAMES.values(), ids=GAMES)
async def test_game_comes_back_as_it_was_kept(store: Store, record: GameRecord) -> None:
    await store.create_game(record)
    assert await store.game(record.id) == record


async def test_game_that_never_was_is_none(store: Store) -> None:
    await store.create_game(a_game("g1"))
    assert await store.game("G1") is None


async def test_game_is_created_once(store: Store) -> None:
    await store.create_game(a_game())
    with pytest.raises(GameTaken):
        await store.create_game(a_game(deal="1"))
    assert await store.game("g1") == a_game()


async def test_attempt_at_a_challenge_is_created_once(store: Store) -> None:
    first = a_game("g1", challenge="day", attempt=1)
    await store.create_game(first)
    with pytest.raises(GameTaken):
        await store.create_game(replace(first, id="g2"))
    assert await store.game("g2") is None


async def test_same_attempt_may_be_another_players_or_at_another_challenge(store: Store) -> None:
    await store.create_player(OTHER, "bo", "token of bo")
    first = a_game("g1", challenge="day", attempt=1)
    others = [
        replace(first, id="g2", attempt=2),
        replace(first, id="g3", challenge="next day"),
        replace(first, id="g4", player=OTHER.id),
        a_game("g5"),
        a_game("g6"),
    ]
    for game in [first, *others]:
        await store.create_game(game)
    assert [await store.game(game.id) for game in others] == others


@pytest.mark.parametrize("record", [a_game(challenge="day"), a_game(attempt=1)])
async def test_half_an_attempt_is_refused(store: Store, record: GameRecord) -> None:
    with pytest.raises(ValueError, match="without"):
        await store.create_game(record)
    assert await store.game("g1") is None


async def test_game_of_nobody_is_refused(store: Store) -> None:
    with pytest.raises(Missing):
        await store.create_game(a_game(player="p9"))
    assert await store.game("g1") is None


# -- Entries ---------------------------------------------------------------------------------------


async def test_entries_come_back_in_order_as_they_were_kept(store: Store) -> None:
    made = entries(12)  # so many that text would sort otherwise than numbers
    await store.create_game(a_game())
    await play(store, "g1", made)
    assert await store.entries("g1") == made


async def test_entry_brings_the_game_along(store: Store) -> None:
    await store.create_game(a_game())
    await store.append("g1", ONE, after(ONE))
    won = after(TWO, status="won", home=52, moves=9, undos=1, score=520, ended=1_800_000_099_999)
    await store.append("g1", TWO, won)
    assert await store.game("g1") == replace(a_game(), summary=won)


async def test_entries_of_another_game_stay_out_of_it(store: Store) -> None:
    await store.create_game(a_game("g1"))
    await store.create_game(a_game("g2"))
    await play(store, "g1", [ONE, TWO])
    assert await store.entries("g2") == []
    assert await store.game("g2") == a_game("g2")


@pytest.mark.parametrize(
    ("since", "limit", "seqs"),
    [
        (0, None, [1, 2, 3]),
        (1, None, [2, 3]),
        (3, None, []),
        (99, None, []),
        (0, 2, [1, 2]),
        (1, 1, [2]),
        (2, 9, [3]),
        (0, 0, []),
    ],
)
async def test_entries_are_given_from_a_seq_on_and_so_many(
    store: Store, since: int, limit: int | None, seqs: list[int]
) -> None:
    await store.create_game(a_game())
    await play(store, "g1", [ONE, TWO, THREE])
    assert [entry.seq for entry in await store.entries("g1", since, limit)] == seqs


async def test_game_that_never_was_has_no_entries(store: Store) -> None:
    assert await store.entries("g9") == []


async def test_seq_is_taken_once(store: Store) -> None:
    await store.create_game(a_game())
    await play(store, "g1", [ONE, TWO])
    other = replace(TWO, action="undo", hash="another")
    with pytest.raises(SeqTaken):
        await store.append("g1", other, after(other))
    assert await store.entries("g1") == [ONE, TWO]
    assert await store.game("g1") == replace(a_game(), summary=after(TWO))


async def test_entry_sent_again_is_taken_too(store: Store) -> None:
    await store.create_game(a_game())
    await store.append("g1", ONE, after(ONE))
    with pytest.raises(SeqTaken):
        await store.append("g1", ONE, after(ONE))


async def test_entry_of_no_game_is_refused(store: Store) -> None:
    with pytest.raises(Missing):
        await store.append("g9", ONE, after(ONE))
    assert await store.entries("g9") == []


@pytest.mark.parametrize("summary", [after(TWO), after(ONE, hash="another")])
async def test_summary_of_another_entry_is_refused(store: Store, summary: Summary) -> None:
    await store.create_game(a_game())
    with pytest.raises(ValueError, match="another entry"):
        await store.append("g1", ONE, summary)
    assert await store.entries("g1") == []


# -- Games of a player -----------------------------------------------------------------------------

# Started in this order, some in the same millisecond; ids that a locale would sort otherwise.
STARTED = {"a": 1, "B": 2, "b": 2, "_": 2, "ä": 2, "c": 3, "d": 4}
NEWEST_FIRST = ["d", "c", "ä", "b", "_", "B", "a"]


async def start_all(store: Store) -> None:
    await store.create_player(OTHER, "bo", "token of bo")
    await store.create_game(a_game("other", player=OTHER.id, started=3))
    for game, started in STARTED.items():
        status = "playing" if started % 2 else "won"
        await store.create_game(a_game(game, started=started, status=status))


async def test_games_come_newest_first(store: Store) -> None:
    await start_all(store)
    games = await store.games_of(PLAYER.id, status=None, before=None, limit=99)
    assert [game.id for game in games] == NEWEST_FIRST
    assert games[1] == a_game("c", started=3)


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
@pytest.mark.parametrize("status", [None, "won", "playing", "resigned"])
async def test_pages_of_games_make_the_whole_list(
    store: Store, status: str | None, limit: int
) -> None:
    await start_all(store)
    every = await store.games_of(PLAYER.id, status=status, before=None, limit=99)
    paged: list[GameRecord] = []
    before = None
    while page := await store.games_of(PLAYER.id, status=status, before=before, limit=limit):
        assert len(page) <= limit
        paged += page
        before = (page[-1].started, page[-1].id)
    assert paged == every
    assert {game.summary.status for game in every} <= ({status} if status else {"won", "playing"})


# -- Results ---------------------------------------------------------------------------------------


async def test_results_count_every_game_and_the_best_of_those_won(store: Store) -> None:
    await start_all(store)
    games = [
        a_game("w1", ruleset="eight-off", status="won", elapsed_ms=500, moves=90),
        a_game("w2", ruleset="eight-off", status="won", elapsed_ms=900, moves=70),
        a_game("r1", ruleset="eight-off", status="resigned", elapsed_ms=1, moves=1),
        a_game("p1", ruleset="eight-off", elapsed_ms=2, moves=2),
        a_game("r2", ruleset="classic", status="resigned", elapsed_ms=3, moves=3),
    ]
    for game in games:
        await store.create_game(game)
    assert await store.results_of(PLAYER.id) == [
        Result("classic", played=1, won=0, best_ms=None, fewest_moves=None),
        Result("eight-off", played=4, won=2, best_ms=500, fewest_moves=70),
        Result("freecell", played=7, won=5, best_ms=0, fewest_moves=0),
    ]


async def test_nobody_has_no_results(store: Store) -> None:
    assert await store.results_of("p9") == []
