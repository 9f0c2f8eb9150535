"""Daily challenges over a conversation: list, start, practise."""

import pytest

from cellmates.daily import DAILIES, DAY_MS, day_of, opens_at
from cellmates.engine import Deal

from .world import RULESET, WINNABLE, Body, World, finished, line_of, listed, play, today

pytestmark = pytest.mark.asyncio


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


async def test_challenge_that_is_told_cannot_be_started_whatever_the_clock_says(
    planned: World,
) -> None:
    caller = await planned.player()
    challenge = f"{day_of(planned.clock.now)}-freecell"
    record = planned.journal.challenges[challenge]
    await planned.journal.tell(challenge, planned.vault.open(record.sealed))
    assert (await caller.error("daily.start", challenge=challenge))["code"] == "challenge-closed"
    assert planned.journal.games == {}


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
