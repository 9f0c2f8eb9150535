"""Dailies, boards and the clock that ends an attempt, in both encodings."""

import asyncio

import pytest

from cellmates.daily import DAY_MS, opens_at
from cellmates.engine import parse_action
from client.client import Client
from client.errors import ServerError
from client.listening import Events
from client.results import (
    BoardChanged,
    BoardPage,
    BoardRow,
    ChallengeAttempt,
    GameEvent,
    GameExpired,
    OtherEvent,
    Previous,
    Proof,
)

from .boards import TODAY
from .fake import FakeServer, Talk, Trick
from .record import STARTED, Map
from .tricks import answer, first, lose_answer, lose_request, refuse, soon, until

pytestmark = pytest.mark.asyncio

THE_END = {"t": "the.end", "d": {}}


async def heard(client: Client, events: Events, server: FakeServer) -> list[object]:
    """Events that came so far."""
    server.trick("ping", first(THE_END))
    await client.ping()
    so_far: list[object] = []
    while not isinstance(event := await soon(anext(events)), OtherEvent):
        so_far.append(event)
    return so_far


# -- Challenges ------------------------------------------------------------------------------------


async def test_challenges_of_today_and_of_another_day_are_listed(
    bot: Client, server: FakeServer
) -> None:
    server.boards.add("freecell")
    server.boards.add("eight-off", day="2026-12-01")
    async with bot as client:
        [today] = await client.dailies()
        [other] = await client.dailies("2026-12-01")
        assert await client.dailies("2026-12-02") == ()
        with pytest.raises(ServerError, match="bad-request"):
            await client.dailies("2026-02-30")
    assert (today.challenge, today.ruleset, today.ruleset_version) == (
        f"{TODAY}-freecell",
        "freecell",
        1,
    )
    assert (today.opens, today.closes) == (opens_at(TODAY), opens_at(TODAY) + DAY_MS)
    assert (today.attempt, today.previous) == (None, None)
    assert (today.deal, today.proof, today.par) == (None, None, None)
    assert other.challenge == "2026-12-01-eight-off"
    assert server.bodies("daily.list")[:2] == [{}, {"date": "2026-12-01"}]


async def test_what_may_be_told_of_a_challenge_is_read(bot: Client, server: FakeServer) -> None:
    server.boards.add(
        "freecell",
        previous={"challenge": "2026-11-30-freecell", "commitment": "c0"},
        deal="617",
        proof={"seed": "00ff", "candidate": 6, "solution": ["83", "4a"]},
        par=79,
    )
    async with bot as client:
        [told] = await client.dailies()
    assert told.previous == Previous("2026-11-30-freecell", "c0")
    assert (told.deal, told.proof, told.par) == ("617", Proof("00ff", 6, ("83", "4a")), 79)


async def test_attempt_is_begun_once_and_gone_on_with(bot: Client, server: FakeServer) -> None:
    challenge = server.boards.add("freecell")
    async with bot as client:
        game = await client.start_daily(challenge)
        assert (game.view.challenge, game.view.ranked, game.view.attempt) == (challenge, True, 1)
        await game.move("6a")
        assert await client.start_daily(challenge) is game
        [listed] = await client.dailies()
        assert listed.attempt == ChallengeAttempt(game.id, "playing")
        with pytest.raises(ServerError, match="not-found"):
            await client.start_daily("2026-12-01-freecell")
    assert len(server.games) == 1


@pytest.mark.parametrize("trick", [lose_answer, lose_request])
async def test_attempt_survives_a_break_while_it_begins_and_after(
    trick: Trick, bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    server.trick("daily.start", trick)
    async with bot as client:
        game = await client.start_daily(challenge)
        server.trick("game.move", lose_answer)
        assert (await game.move("6a")).repeated
    assert len(server.games) == 1


async def test_practice_is_a_later_attempt_and_the_replay_says_so(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    async with bot as client:
        game = await client.start_daily(challenge)
        with pytest.raises(ServerError, match="not-yet"):
            await client.start_game("freecell", challenge)
        await game.resign()
        practice = await client.start_game("freecell", challenge)
        assert (practice.view.ranked, practice.view.attempt) == (False, 2)
        header = (await client.replay(practice.id)).header
        assert (header.challenge, header.attempt) == (challenge, 2)


async def test_replay_of_an_older_server_has_no_challenge(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_game("freecell", deal="1")
        told = server.talks[0].do("replay.get", {"game": game.id})
        del told["header"]["challenge"], told["header"]["attempt"]
        server.trick("replay.get", answer(told))
        header = (await client.replay(game.id)).header
    assert (header.challenge, header.attempt) == (None, None)


# -- Boards ----------------------------------------------------------------------------------------


async def test_board_is_shown_page_by_page(bot: Client, server: FakeServer) -> None:
    challenge = server.boards.add("freecell")
    for handle in ("cat", "bob", "ann"):
        server.boards.run(challenge, "first", "bot", handle)
    async with bot as client:
        page = await client.board(challenge, "first", "bot", limit=2)
        mine = BoardRow(3, "ann", 52, True, 82_000, 82, 0, "ann-first")
        assert [row.handle for row in page.rows] == ["cat", "bob"]
        assert (page.total, page.me, page.prev) == (3, mine, None)
        last = await client.board(challenge, "first", "bot", limit=2, cursor=page.next)
        assert (last.rows, last.next, last.prev) == ((mine,), None, "0")
        around = await client.board(challenge, "first", "bot", limit=1, around_me=True)
        assert around.rows == (mine,)
        assert await client.board(challenge) == BoardPage((), 0, None, None, None)
    which = {"challenge": challenge, "board": "first", "kind": "bot"}
    assert server.bodies("board.get") == [
        which | {"limit": 2},
        which | {"limit": 2, "cursor": "2"},
        which | {"limit": 1, "around": "me"},
        which | {"kind": "human"},
    ]


@pytest.mark.parametrize("type_", ["board.get", "daily.list", "replay.get"])
async def test_reader_who_asks_too_often_waits_and_asks_again(
    type_: str, bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    times = []

    async def limited(talk: Talk, message: Map) -> bool:
        times.append(asyncio.get_running_loop().time())
        refusal = refuse("rate-limited", 80, key="requests")
        return await refusal(talk, message) if len(times) == 1 else False

    server.trick(type_, limited, limited)
    async with bot as client:
        game = await client.start_daily(challenge)
        match type_:
            case "board.get":
                assert (await client.board(challenge)).total == 0
            case "daily.list":
                assert len(await client.dailies()) == 1
            case _:
                assert (await client.replay(game.id)).entries == ()
    assert times[1] - times[0] >= 0.08


async def test_change_of_a_watched_board_is_heard_until_it_is_unwatched(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    which = challenge, "moves", "bot"
    async with bot as client:
        events = client.events()
        await client.watch_board(*which)
        server.boards.run(*which, "bob")
        await server.changed(*which)
        row = BoardRow(1, "bob", 52, True, 80_000, 80, 0, "bob-moves")
        assert await soon(anext(events)) == BoardChanged(*which, (row,), 1)
        await client.unwatch_board(*which)
        await server.changed(*which)
        assert await heard(client, events, server) == []
    named = {"challenge": challenge, "board": "moves", "kind": "bot"}
    assert server.bodies("board.watch", "board.unwatch") == [named, named]


async def test_first_board_of_people_is_the_one_that_is_watched(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    async with bot as client:
        await client.watch_board(challenge)
        await client.unwatch_board(challenge)
    named = {"challenge": challenge, "board": "first", "kind": "human"}
    assert server.bodies("board.watch", "board.unwatch") == [named, named]


async def test_watch_is_renewed_after_a_reconnect_and_tells_how_the_board_is(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    which = challenge, "first", "human"
    async with bot as client:
        events = client.events()
        for board in ("first", "moves"):
            await client.watch_board(challenge, board)
        await client.unwatch_board(challenge, "moves")
        with pytest.raises(ServerError, match="not-found"):
            await client.watch_board("2026-12-01-freecell")
        for number in range(12):
            server.boards.run(*which, f"bob-{number}")
        server.talks[0].socket.transport.abort()
        missed = await soon(anext(events))
        assert isinstance(missed, BoardChanged)
        assert [row.handle for row in missed.top] == [f"bob-{number}" for number in range(10)]
        assert (missed.challenge, missed.board, missed.kind, missed.total) == (*which, 12)
        await server.changed(*which)
        assert await soon(anext(events)) == missed
        assert server.talks[1].watched == {which}
        assert server.bodies("board.get") == [
            {"challenge": challenge, "board": "first", "kind": "human", "limit": 10}
        ]


async def test_watch_that_is_refused_on_the_way_back_does_not_harm_the_others(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    async with bot as client:
        await client.watch_board(challenge, "first")
        await client.watch_board(challenge, "moves")
        server.trick("board.watch", refuse("internal"))
        server.talks[0].socket.transport.abort()
        await until(lambda: len(server.talks) == 2 and len(server.talks[1].watched) == 1)
        assert await client.ping() == STARTED


async def test_board_that_is_unwatched_on_the_way_back_is_not_watched_again(
    bot: Client, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    coming_back, go_on = asyncio.Event(), asyncio.Event()

    async def hold(talk: Talk, message: Map) -> bool:
        coming_back.set()
        await go_on.wait()
        return False

    async with bot as client:
        await client.watch_board(challenge, "first")
        await client.watch_board(challenge, "moves")
        server.trick("board.watch", hold)
        server.talks[0].socket.transport.abort()
        await soon(coming_back.wait())
        unwatching = asyncio.create_task(client.unwatch_board(challenge, "moves"))
        await asyncio.sleep(0)
        go_on.set()
        await soon(unwatching)
        await until(lambda: bool(server.bodies("board.get")))
        assert await client.ping() == STARTED
    watched = [body["board"] for body in server.bodies("board.watch")]
    assert watched == ["first", "moves", "first"]
    assert server.talks[1].watched == {(challenge, "first", "human")}


# -- The clock -------------------------------------------------------------------------------------


async def test_clock_ends_the_game(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_daily(server.boards.add("freecell"))
        await game.move("6a")
        expired = server.games[game.id].expire()
        server.trick("ping", first(expired, expired))
        await client.ping()
        assert (game.view.status, game.view.elapsed_ms) == ("expired", 108_000_000)
        assert (game.view.seq, game.view.moves) == (1, 1)
        assert await heard(client, events, server) == [GameExpired(game.id, 108_000_000)], "once"
        with pytest.raises(ServerError, match="game-over"):
            await game.move("1c")
    assert not server.bodies("game.open"), "there is nothing new to see"


async def test_clock_that_ended_a_game_unknown_here_is_told_all_the_same(
    bot: Client, server: FakeServer
) -> None:
    server.trick("ping", first({"t": "game.expired", "d": {"game": "g9", "elapsed_ms": 5}}))
    async with bot as client:
        events = client.events()
        await client.ping()
        assert await heard(client, events, server) == [GameExpired("g9", 5)]


async def test_clock_does_not_end_what_is_over(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_daily(server.boards.add("freecell"))
        await game.resign()
        server.trick("ping", first({"t": "game.expired", "d": {"game": game.id, "elapsed_ms": 5}}))
        await client.ping()
        assert game.view.status == "resigned"
        assert await heard(client, events, server) == []


async def test_game_that_expired_while_we_were_away_is_told_on_the_way_back(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        events = client.events()
        game = await client.start_daily(server.boards.add("freecell"))
        record = server.games[game.id]
        record.act(parse_action("6a"))
        record.expire()
        server.talks[0].socket.transport.abort()
        acted = await soon(anext(events))
        assert isinstance(acted, GameEvent)
        assert await soon(anext(events)) == GameExpired(game.id, 108_000_000)
        assert game.view.status == "expired"
        await game.refresh()
        assert await heard(client, events, server) == [], "it is told once"


async def test_move_that_comes_too_late_shows_that_the_game_is_over(
    bot: Client, server: FakeServer
) -> None:
    async with bot as client:
        game = await client.start_daily(server.boards.add("freecell"))
        server.games[game.id].expire()
        with pytest.raises(ServerError) as raised:
            await game.move("6a")
        assert (raised.value.code, raised.value.context) == ("game-over", {"status": "expired"})
        assert (game.view.status, game.view.seq) == ("expired", 0)


async def test_refusals_other_than_the_end_ask_for_nothing(bot: Client, server: FakeServer) -> None:
    async with bot as client:
        game = await client.start_daily(server.boards.add("freecell"))
        with pytest.raises(ServerError, match="nothing-to-undo"):
            await game.undo()
    assert not server.bodies("game.open")
