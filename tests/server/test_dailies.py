"""Daily challenges over a conversation: list, start, practise, and who is told what."""

import json

import pytest
import pytest_asyncio

from cellmates.daily import DAILIES, DAY_MS, GRACE_MS, commitment, day_of, opens_at
from cellmates.engine import Deal

from .world import WINNABLE, Body, Caller, World, line_of, play

pytestmark = pytest.mark.asyncio

RULESET = "freecell"


@pytest_asyncio.fixture
async def planned(world: World) -> World:
    """A world at noon of a day whose dailies are planned, and those of the day after."""
    world.clock.now = opens_at("2027-03-14") + DAY_MS // 2
    await world.house.planner.plan(2)
    return world


def today(world: World) -> str:
    return f"{day_of(world.clock.now)}-{RULESET}"


async def listed(caller: Caller, challenge: str) -> Body:
    found = (await caller.ok("daily.list", date=challenge[:10]))["challenges"]
    [told] = [one for one in found if one["challenge"] == challenge]
    result: Body = told
    return result


async def finished(world: World, handle: str = "anna") -> tuple[Caller, Body]:
    """Somebody who has resigned today's attempt."""
    caller = await world.player(handle)
    view = await caller.ok("daily.start", challenge=today(world))
    await caller.ok("game.resign", game=view["game"], seq=1)
    return caller, view


# -- The list --------------------------------------------------------------------------------------


async def test_list_has_a_challenge_for_each_daily_with_its_commitment(planned: World) -> None:
    guest = await planned.greeted()
    challenges = (await guest.ok("daily.list"))["challenges"]
    assert sorted(one["ruleset"] for one in challenges) == sorted(DAILIES)
    for one in challenges:
        assert one["challenge"] == f"2027-03-14-{one['ruleset']}"
        assert one["closes"] - one["opens"] == DAY_MS
        assert one["attempt"] is None
        assert len(one["commitment"]) == 64
        assert not {"deal", "proof", "par"} & set(one)


async def test_tomorrow_is_listed_with_its_commitment_and_names_today(planned: World) -> None:
    guest = await planned.greeted()
    now, then = today(planned), f"2027-03-15-{RULESET}"
    previous = (await listed(guest, then))["previous"]
    assert previous == {
        "challenge": now,
        "commitment": (await listed(guest, now))["commitment"],
    }
    assert (await listed(guest, now))["previous"] is None


@pytest.mark.parametrize("date", ["2027-02-29", "2027-13-01", "0000-01-01"])
async def test_date_that_is_none_is_a_bad_request(planned: World, date: str) -> None:
    error = await (await planned.greeted()).error("daily.list", date=date)
    assert (error["code"], error["context"]["field"]) == ("bad-request", "d.date")


async def test_day_without_challenges_is_empty(planned: World) -> None:
    guest = await planned.greeted()
    assert (await guest.ok("daily.list", date="2026-01-01"))["challenges"] == []


# -- The attempt -----------------------------------------------------------------------------------


async def test_start_shows_the_deal_and_starts_the_clock(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    assert (view["challenge"], view["ranked"], view["attempt"]) == (today(planned), True, 1)
    assert view["deal"] == str(Deal.of_order(Deal.numbered(WINNABLE[RULESET]).order))
    assert (view["started"], view["elapsed_ms"]) == (planned.clock.now, 0)
    attempt = (await listed(caller, today(planned)))["attempt"]
    assert attempt == {"game": view["game"], "status": "playing"}


async def test_start_again_is_the_same_game_and_the_clock_has_not_stopped(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    caller.conversation.closed()
    planned.clock.pass_ms(60_000)
    again = await planned.greeted(caller.token)
    same = await again.ok("daily.start", challenge=today(planned))
    assert (same["game"], same["started"]) == (view["game"], view["started"])
    assert same["elapsed_ms"] >= 60_000
    await again.ok("game.resign", game=view["game"], seq=1)
    assert (await again.ok("daily.start", challenge=today(planned)))["status"] == "resigned"


async def test_lost_answer_to_start_leaves_one_attempt(planned: World) -> None:
    caller = await planned.player()
    planned.journal.fail_after = True
    assert (await caller.error("daily.start", challenge=today(planned)))["code"] == "internal"
    view = await caller.ok("daily.start", challenge=today(planned))
    assert [game.id for game in planned.journal.games.values()] == [view["game"]]


async def test_attempt_that_another_process_began_in_this_moment_is_opened(
    planned: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = await planned.player()
    other = World(planned.journal)
    other.clock.now = planned.clock.now
    twin = await other.greeted(caller.token)
    begun: list[Body] = []
    create = planned.journal.create_game

    async def overtaken(record: object) -> None:
        if not begun:
            begun.append({})
            begun[0] = await twin.ok("daily.start", challenge=today(planned))
        await create(record)  # type: ignore[arg-type]

    monkeypatch.setattr(planned.journal, "create_game", overtaken)
    view = await caller.ok("daily.start", challenge=today(planned))
    assert view["game"] == begun[0]["game"]


@pytest.mark.parametrize(
    ("challenge", "code"),
    [
        (f"2027-03-15-{RULESET}", "challenge-not-open"),
        (f"2027-03-13-{RULESET}", "not-found"),
        ("2027-03-14-spider", "not-found"),
        ("x", "not-found"),
    ],
)
async def test_challenge_that_is_not_open_cannot_be_started_or_looked_at(
    planned: World, challenge: str, code: str
) -> None:
    caller = await planned.player()
    where = {"challenge": challenge, "board": "first", "kind": "human"}
    assert (await caller.error("daily.start", challenge=challenge))["code"] == code
    assert (await caller.error("board.get", **where))["code"] == code
    assert (await caller.error("board.watch", **where))["code"] == code


async def test_challenge_that_has_closed_cannot_be_started(planned: World) -> None:
    caller = await planned.player()
    challenge = today(planned)
    planned.clock.pass_ms(DAY_MS)
    assert (await caller.error("daily.start", challenge=challenge))["code"] == "challenge-closed"


async def test_attempt_begun_before_midnight_belongs_to_its_day(planned: World) -> None:
    """Scenario 9."""
    caller = await planned.player()
    challenge = today(planned)
    planned.clock.now = opens_at("2027-03-15") - 1_000
    view = await caller.ok("daily.start", challenge=challenge)
    planned.clock.pass_ms(10_000)
    told = await play(caller, view, line_of(RULESET))
    assert told["status"] == "won"
    where = {"board": "first", "kind": "human"}
    assert (await caller.ok("board.get", challenge=challenge, **where))["total"] == 1
    assert (await caller.ok("board.get", challenge=today(planned), **where))["total"] == 0
    stats = (await caller.ok("player.get", handle="anna"))["stats"][RULESET]
    assert (stats["streak"], stats["best_streak"]) == (1, 1)


async def test_no_hints_in_a_ranked_attempt(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    assert (await caller.error("game.hint", game=view["game"]))["code"] == "forbidden"


async def test_daily_may_begin_however_many_games_are_unfinished(planned: World) -> None:
    world = World(planned.journal, most_unfinished=1)
    world.clock.now = planned.clock.now
    caller = await world.player()
    await caller.ok("game.start", ruleset=RULESET)
    assert (await caller.error("game.start", ruleset=RULESET))["code"] == "too-many-games"
    await caller.ok("daily.start", challenge=today(world))


# -- Practice --------------------------------------------------------------------------------------


async def test_practice_comes_after_the_ranked_attempt_and_is_numbered(planned: World) -> None:
    caller, ranked = await finished(planned)
    view = ranked
    for number in (2, 3):
        view = await caller.ok("game.start", ruleset=RULESET, deal=today(planned))
        assert (view["attempt"], view["ranked"]) == (number, False)
        assert (view["challenge"], view["deal"]) == (today(planned), ranked["deal"])
    await caller.ok("game.hint", game=view["game"])


async def test_practice_before_the_ranked_attempt_has_ended_is_not_yet(planned: World) -> None:
    caller = await planned.player()
    body = {"ruleset": RULESET, "deal": today(planned)}
    assert (await caller.error("game.start", **body))["code"] == "not-yet"
    await caller.ok("daily.start", challenge=today(planned))
    assert (await caller.error("game.start", **body))["code"] == "not-yet"


async def test_practice_of_a_day_that_one_has_missed_is_never_ranked(planned: World) -> None:
    caller = await planned.player()
    challenge = today(planned)
    planned.clock.pass_ms(DAY_MS)
    await planned.house.keeper.look()
    view = await caller.ok("game.start", ruleset=RULESET, deal=challenge)
    assert (view["attempt"], view["ranked"]) == (2, False)
    await play(caller, view, line_of(RULESET))
    for board in ("first", "moves"):
        page = await caller.ok("board.get", challenge=challenge, board=board, kind="human")
        assert page["total"] == 0


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"ruleset": "eight-off", "deal": "2027-03-14-freecell"}, "bad-request"),
        ({"ruleset": "freecell", "deal": "2027-03-15-freecell"}, "challenge-not-open"),
        ({"ruleset": "freecell", "deal": "2027-03-13-freecell"}, "not-found"),
        ({"ruleset": "freecell", "deal": "2027-02-30-freecell"}, "bad-request"),
    ],
)
async def test_practice_of_what_is_not_there_is_refused(
    planned: World, body: Body, code: str
) -> None:
    caller, _ = await finished(planned)
    assert (await caller.error("game.start", **body))["code"] == code


# -- Who is told what ------------------------------------------------------------------------------


async def test_deal_proof_and_par_are_told_to_those_who_have_ended(planned: World) -> None:
    caller = await planned.player()
    await caller.ok("daily.start", challenge=today(planned))
    assert "deal" not in await listed(caller, today(planned))
    done, _ = await finished(planned, "berta")
    told = await listed(done, today(planned))
    assert told["par"] == len(told["proof"]["solution"]) > 0
    seed = bytes.fromhex(told["proof"]["seed"])
    assert told["commitment"] == commitment(
        challenge=told["challenge"],
        ruleset_version=told["ruleset_version"],
        planner=told["planner"],
        seed=seed,
        previous=None,
    )
    assert "deal" not in await listed(await planned.greeted(), today(planned))


async def test_replay_of_a_running_day_is_for_those_who_have_ended(planned: World) -> None:
    done, view = await finished(planned)
    other = await planned.player("berta")
    asked = {"game": view["game"]}
    await done.ok("replay.get", **asked)
    for curious in (other, await planned.greeted()):
        assert (await curious.error("replay.get", **asked))["code"] == "not-yet"
    mine = await other.ok("daily.start", challenge=today(planned))
    assert (await other.error("replay.get", **asked))["code"] == "not-yet"
    assert (await done.error("replay.get", game=mine["game"]))["code"] == "not-yet"
    await other.ok("game.resign", game=mine["game"], seq=1)
    header = (await other.ok("replay.get", **asked))["header"]
    assert (header["challenge"], header["attempt"]) == (today(planned), 1)


async def test_closed_day_is_told_to_all_when_nobody_plays_it_any_more(planned: World) -> None:
    slow = await planned.player("slow")
    attempt = await slow.ok("daily.start", challenge=today(planned))
    _, view = await finished(planned)
    challenge, guest = today(planned), await planned.greeted()
    planned.clock.pass_ms(DAY_MS // 2 + GRACE_MS // 2)
    await planned.house.keeper.look()
    assert "proof" not in await listed(guest, challenge)
    assert (await guest.error("replay.get", game=view["game"]))["code"] == "not-yet"
    await slow.ok("game.resign", game=attempt["game"], seq=1)
    await planned.house.keeper.look()
    assert "proof" in await listed(guest, challenge)
    await guest.ok("replay.get", game=view["game"])


async def test_replay_of_a_challenge_that_is_gone_is_not_told(planned: World) -> None:
    _, view = await finished(planned)
    del planned.journal.challenges[today(planned)]
    guest = await planned.greeted()
    assert (await guest.error("replay.get", game=view["game"]))["code"] == "not-yet"


async def test_nothing_of_a_day_is_told_before_it_opens(
    planned: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Not in a reply, a log line, a metric or a row that is not sealed."""
    tomorrow = f"2027-03-15-{RULESET}"
    record = planned.journal.challenges[tomorrow]
    secret = planned.vault.open(record.sealed)
    caller, _ = await finished(planned)
    where = {"challenge": tomorrow, "board": "first", "kind": "human"}
    for message, body in [
        ("daily.list", {"date": "2027-03-15"}),
        ("daily.start", {"challenge": tomorrow}),
        ("game.start", {"ruleset": RULESET, "deal": tomorrow}),
        ("board.get", where),
        ("board.watch", where),
    ]:
        await caller.ask(message, **body)
    said = json.dumps([frame for frame in caller.peer.sent if tomorrow in json.dumps(frame)])
    places = [said, caplog.text, planned.house.metrics.text().decode(), repr(record)]
    assert tomorrow in said
    for place in places:
        assert secret.seed not in place
        assert secret.seed.upper() not in place
        assert secret.deal not in place
        assert str(list(secret.solution))[1:-1] not in place


async def test_challenge_sealed_under_another_key_is_internal(planned: World) -> None:
    other = World(planned.journal, key="B" * 43 + "=")
    other.clock.now = planned.clock.now
    caller = await other.player()
    error = await caller.error("daily.start", challenge=today(planned))
    assert error["code"] == "internal"


# -- The end of the time ---------------------------------------------------------------------------


async def test_attempt_expires_when_the_grace_is_over_with_nobody_there(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    caller.conversation.closed()
    deadline = opens_at("2027-03-15") + GRACE_MS
    planned.clock.now = deadline + 45_000
    await planned.house.keeper.look()
    summary = planned.journal.games[view["game"]].summary
    assert (summary.status, summary.ended) == ("expired", deadline)
    assert summary.elapsed_ms == deadline - view["started"]
    assert planned.journal.challenges["2027-03-14-freecell"].told is not None


async def test_those_who_follow_an_attempt_hear_that_it_expired(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    planned.clock.now = opens_at("2027-03-16")
    await planned.house.keeper.look()
    [event] = caller.events("game.expired")
    assert event["game"] == view["game"]
    error = await caller.error("game.move", game=view["game"], seq=1, move=line_of(RULESET)[0])
    assert (error["code"], error["context"]) == ("game-over", {"status": "expired"})
    assert (await caller.ok("game.open", game=view["game"]))["status"] == "expired"


@pytest.mark.parametrize("message", ["game.open", "game.move", "game.resign"])
async def test_whoever_comes_first_after_the_deadline_ends_it(planned: World, message: str) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    planned.clock.now = opens_at("2027-03-15") + GRACE_MS
    body: Body = {"game": view["game"]}
    if message != "game.open":
        body |= {"seq": 1}
    if message == "game.move":
        body |= {"move": line_of(RULESET)[0]}
    answer = await caller.ask(message, **body)
    status = answer["d"].get("status") or answer["d"]["context"]["status"]
    assert status == "expired"
    assert planned.journal.games[view["game"]].summary.status == "expired"


async def test_move_in_the_last_moment_counts_and_then_the_time_is_over(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    *before, last = line_of(RULESET)
    await play(caller, view, before)
    planned.clock.now = opens_at("2027-03-15") + GRACE_MS - 101
    told = await caller.ok("game.move", game=view["game"], seq=len(before) + 1, move=last)
    assert told["status"] == "won"
    planned.clock.pass_ms(10 * 60_000)
    await planned.house.keeper.look()
    assert planned.journal.games[view["game"]].summary.status == "won"


async def test_clock_that_is_set_back_gives_no_time(planned: World) -> None:
    """What an attempt has taken is measured by the monotonic clock."""
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    planned.clock.pass_ms(DAY_MS + GRACE_MS)
    planned.clock.now = view["started"] + 1
    error = await caller.error("game.resign", game=view["game"], seq=1)
    assert error["context"] == {"status": "expired"}


@pytest.mark.parametrize("is_first", [True, False], ids=["win first", "expiry first"])
async def test_expiry_and_winning_move_in_one_moment_make_one_end(
    planned: World, *, is_first: bool
) -> None:
    """Scenario 5, with the two in different processes."""
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    *before, last = line_of(RULESET)
    await play(caller, view, before)
    other = World(planned.journal)
    other.clock.now = opens_at("2027-03-15") + GRACE_MS + 45_000
    if not is_first:
        await other.house.keeper.look()
    answer = await caller.ask("game.move", game=view["game"], seq=len(before) + 1, move=last)
    await other.house.keeper.look()
    summary = planned.journal.games[view["game"]].summary
    assert summary.status == ("won" if is_first else "expired")
    assert answer["t"] == ("ok" if is_first else "error")
    assert [run.game for run in planned.journal.ended.values()] == [view["game"]]


async def test_expiry_whose_answer_is_lost_happens_once(planned: World) -> None:
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    planned.clock.now = opens_at("2027-03-16")
    planned.journal.fail_after = True
    assert (await caller.error("game.open", game=view["game"]))["code"] == "internal"
    assert (await caller.ok("game.open", game=view["game"]))["status"] == "expired"
    assert len(planned.journal.ended) == 1


# -- Streaks ---------------------------------------------------------------------------------------


async def test_streak_counts_days_in_a_row_with_a_ranked_win(planned: World) -> None:
    caller = await planned.player()

    async def streak() -> tuple[int, int]:
        stats = (await caller.ok("player.get", handle="anna"))["stats"][RULESET]
        return stats["streak"], stats["best_streak"]

    for wins in (1, 2):
        view = await caller.ok("daily.start", challenge=today(planned))
        await play(caller, view, line_of(RULESET))
        assert await streak() == (wins, wins)
        planned.clock.pass_ms(DAY_MS)
        await planned.house.planner.plan(1)
    view = await caller.ok("daily.start", challenge=today(planned))
    await caller.ok("game.resign", game=view["game"], seq=1)
    practice = await caller.ok("game.start", ruleset=RULESET, deal=today(planned))
    await play(caller, practice, line_of(RULESET))
    assert await streak() == (2, 2)
    planned.clock.pass_ms(DAY_MS)
    assert await streak() == (0, 2)


# -- Boards ----------------------------------------------------------------------------------------


async def test_result_is_on_the_boards_at_once_and_running_attempts_are_on_none(
    planned: World,
) -> None:
    winner, runner = await planned.player("anna"), await planned.player("berta")
    where = {"challenge": today(planned), "board": "first", "kind": "human"}
    assert (await winner.ok("board.get", **where))["rows"] == []
    await runner.ok("daily.start", challenge=today(planned))
    view = await winner.ok("daily.start", challenge=today(planned))
    told = await play(winner, view, line_of(RULESET))
    page = await winner.ok("board.get", **where)
    assert page["rows"] == [page["me"]]
    assert page["me"] == {
        "rank": 1,
        "handle": "anna",
        "home": 52,
        "won": True,
        "elapsed_ms": told["elapsed_ms"],
        "moves": told["moves"],
        "undos": 0,
        "game": view["game"],
    }
    assert (await runner.ok("board.get", **where, around="me"))["me"] is None


async def test_bots_have_boards_of_their_own(planned: World) -> None:
    bot = await planned.player("robot", kind="bot")
    view = await bot.ok("daily.start", challenge=today(planned))
    await play(bot, view, line_of(RULESET))
    for kind, total in (("bot", 1), ("human", 0)):
        for board in ("first", "moves"):
            where = {"challenge": today(planned), "board": board, "kind": kind}
            assert (await bot.ok("board.get", **where))["total"] == total


async def test_undos_are_the_servers(planned: World) -> None:
    """Scenario 14: whatever a client forgets, the row has them."""
    caller = await planned.player()
    view = await caller.ok("daily.start", challenge=today(planned))
    first, *rest = line_of(RULESET)
    await play(caller, view, [first])
    await caller.ok("game.undo", game=view["game"], seq=2)
    again = await planned.greeted(caller.token)
    await play(again, view | {"seq": 2}, [first, *rest])
    where = {"challenge": today(planned), "board": "first", "kind": "human"}
    assert (await again.ok("board.get", **where))["me"]["undos"] == 1


async def test_board_is_paged_and_a_wrong_cursor_is_refused(planned: World) -> None:
    for handle in ("anna", "berta", "clara"):
        await finished(planned, handle)
    guest = await planned.greeted()
    where = {"challenge": today(planned), "board": "first", "kind": "human", "limit": 2}
    page = await guest.ok("board.get", **where)
    rest = await guest.ok("board.get", **where, cursor=page["next"])
    assert [row["handle"] for row in page["rows"] + rest["rows"]] == ["anna", "berta", "clara"]
    assert (await guest.error("board.get", **where, cursor="x"))["code"] == "bad-cursor"


async def test_watched_board_tells_of_changes_at_most_once_a_second(planned: World) -> None:
    watcher = await planned.greeted()
    where = {"challenge": today(planned), "board": "first", "kind": "human"}
    await watcher.ok("board.watch", **where)
    await planned.house.boards.look()
    for handle in ("anna", "berta"):
        await finished(planned, handle)
        await planned.house.boards.look()
    planned.clock.pass_ms(1_000)
    await planned.house.boards.look()
    events = watcher.events("board.changed")
    assert [event["total"] for event in events] == [1, 2]
    assert [row["handle"] for row in events[-1]["top"]] == ["anna", "berta"]
    await watcher.ok("board.unwatch", **where)
    planned.clock.pass_ms(1_000)
    await finished(planned, "clara")
    await planned.house.boards.look()
    assert len(watcher.events("board.changed")) == 2


async def test_connection_watches_so_many_boards_and_none_when_it_is_gone(planned: World) -> None:
    watcher = await planned.greeted()
    keys = [
        {"challenge": f"2027-03-14-{ruleset}", "board": board, "kind": kind}
        for ruleset in DAILIES
        for board in ("first", "moves")
        for kind in ("human", "bot")
    ]
    for key in keys:
        await watcher.ok("board.watch", **key)
        await watcher.ok("board.watch", **key)
    assert planned.hall.watchers == len(keys)
    planned.clock.pass_ms(DAY_MS)
    one_more = keys[0] | {"challenge": "2027-03-15-freecell"}
    assert (await watcher.error("board.watch", **one_more))["code"] == "forbidden"
    await watcher.ok("board.unwatch", **keys[0])
    await watcher.ok("board.watch", **one_more)
    watcher.conversation.closed()
    assert planned.hall.watchers == 0


async def test_deleted_player_leaves_runs_without_a_name(planned: World) -> None:
    caller, _ = await finished(planned)
    guest = await planned.greeted()
    where = {"challenge": today(planned), "board": "first", "kind": "human"}
    await guest.ok("board.get", **where)
    await caller.ok("player.rename", handle="Anna-2")
    assert (await guest.ok("board.get", **where))["rows"][0]["handle"] == "Anna-2"
    await caller.ok("player.delete", confirm="Anna-2")
    assert (await guest.ok("board.get", **where))["rows"][0]["handle"] == "deleted player"


# -- The ledger ------------------------------------------------------------------------------------


async def test_won_is_never_more_than_played_and_no_loss_can_be_hidden(planned: World) -> None:
    """Scenarios 29 and 30: a game counts when it begins, a win with the 52nd card."""
    caller, _ = await finished(planned)
    practice = await caller.ok("game.start", ruleset=RULESET, deal=today(planned))
    *before, last = line_of(RULESET)
    await play(caller, practice, before)

    async def ledger() -> tuple[int, int]:
        stats = (await caller.ok("player.get", handle="anna"))["stats"][RULESET]
        return stats["played"], stats["won"]

    assert await ledger() == (2, 0)
    await caller.ok("game.move", game=practice["game"], seq=len(before) + 1, move=last)
    assert await ledger() == (2, 1)
    await caller.ok("game.start", ruleset=RULESET, deal=today(planned))
    assert await ledger() == (3, 1)


async def test_random_freecell_deal_is_never_the_impossible_one() -> None:
    """Scenario 28: 11982 is the one of the classic 32 000 that cannot be won."""
    world = World()
    drawn = set()
    for number in (0, 11_980, 11_981, 11_982, 31_998):
        world.next_below = number
        caller = await world.player(f"player-{number}")
        drawn.add((await caller.ok("game.start", ruleset=RULESET))["deal"])
    assert drawn == {"1", "11981", "11983", "11984", "32000"}
