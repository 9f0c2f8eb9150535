"""Who is told what of a challenge, and how attempts end when their time is over."""

import json

import pytest

from cellmates.daily import DAY_MS, GRACE_MS, commitment, opens_at

from .world import RULESET, Body, World, finished, line_of, listed, play, today

pytestmark = pytest.mark.asyncio


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
