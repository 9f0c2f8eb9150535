"""Where runs stand: boards over a conversation, streaks, and the ledger of games."""

import pytest

from cellmates.daily import DAILIES, DAY_MS

from .world import RULESET, World, finished, line_of, play, today

pytestmark = pytest.mark.asyncio


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
