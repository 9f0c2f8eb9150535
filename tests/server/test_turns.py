"""Games in memory and out of it, and who comes first."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from cellmates.engine import RULESETS, Deal
from cellmates.solver import solve
from server.records import Entry

from .memory import MemoryJournal
from .world import World, started

pytestmark = pytest.mark.asyncio


async def test_unused_games_leave_memory_and_come_back_by_replay() -> None:
    world = World(most_live=3)
    caller = await world.player()
    views = [await caller.ok("game.start", ruleset="freecell", deal="1") for _ in range(6)]
    assert world.games.live == 3
    for view in views:
        await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    assert world.games.live == 3
    world.clock.pass_ms(10_000)
    back = await caller.ok("game.open", game=views[0]["game"])
    assert (back["seq"], back["cells"][0]) == (1, "3D")
    assert back["elapsed_ms"] > 10_000
    made = await caller.ok("game.move", game=views[0]["game"], seq=2, move="6b")
    assert made["elapsed_ms"] > 10_000


async def test_time_never_runs_backwards_when_the_wall_clock_does(world: World) -> None:
    caller, view = await started(world)
    first = await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    world.clock.now -= 3_600_000
    world.clock.monotonic += 500
    second = await caller.ok("game.move", game=view["game"], seq=2, move="6b")
    assert second["elapsed_ms"] >= first["elapsed_ms"] + 500
    twin = World(world.journal)
    twin.clock.now = world.clock.now
    elsewhere = await twin.greeted(caller.token)
    third = await elsewhere.ok("game.move", game=view["game"], seq=3, move="6c")
    assert third["elapsed_ms"] >= second["elapsed_ms"]


async def test_two_hundred_games_on_one_connection_do_not_mix(world: World) -> None:
    """Scenario 7."""
    caller = await world.player()
    views = [
        await caller.ok("game.start", ruleset="freecell", deal=str(number), autoplay="off")
        for number in range(1, 201)
    ]
    for seq, move in enumerate(("1a", "2b", "3c"), 1):
        for view in views:
            told = await caller.ok("game.move", game=view["game"], seq=seq, move=move)
            assert told["seq"] == seq
    for number, view in enumerate(views, 1):
        opened = await caller.ok("game.open", game=view["game"])
        tops = [column[-1] for column in view["columns"][:3]]
        assert opened["cells"][:3] == tops, number


async def test_first_to_claim_a_seq_wins() -> None:
    """Scenario 6: two connections claim one seq at once."""
    world = World()
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    world.journal.gate = asyncio.Event()
    one = asyncio.create_task(caller.ask("game.move", game=view["game"], seq=1, move="6a"))
    two = asyncio.create_task(other.ask("game.move", game=view["game"], seq=1, move="6b"))
    await asyncio.sleep(0)
    world.journal.gate.set()
    assert (await one)["t"] == "ok"
    answer = await two
    assert answer["d"]["code"] == "conflict"
    assert [entry.action for entry in world.journal.rows[view["game"]]] == ["6a"]


async def test_winning_move_and_resignation_at_once_make_one_end() -> None:
    """Scenario 5: a move that wins and another end in the same moment; the game ends once."""
    world = World()
    caller = await world.player()
    view = await caller.ok("game.start", ruleset="freecell", deal="617")
    moves = solve(RULESETS["freecell"], Deal.numbered(617).layout(RULESETS["freecell"])).moves
    for seq, move in enumerate(moves[:-1], 1):
        await caller.ok("game.move", game=view["game"], seq=seq, move=str(move))
    other = await world.greeted(caller.token)
    world.journal.gate = asyncio.Event()
    last = {"game": view["game"], "seq": len(moves)}
    winning = asyncio.create_task(caller.ask("game.move", **last, move=str(moves[-1])))
    resigning = asyncio.create_task(other.ask("game.resign", **last))
    await asyncio.sleep(0)
    world.journal.gate.set()
    assert (await winning)["d"]["status"] == "won"
    assert (await resigning)["d"]["code"] == "conflict"
    late = await other.error("game.resign", game=view["game"], seq=len(moves) + 1)
    assert (late["code"], late["context"]) == ("game-over", {"status": "won"})
    assert world.journal.games[view["game"]].summary.status == "won"


async def test_cancelled_request_leaves_the_truth_to_the_journal(world: World) -> None:
    caller, view = await started(world)
    world.journal.gate = asyncio.Event()
    task = asyncio.create_task(caller.ask("game.move", game=view["game"], seq=1, move="6a"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    world.journal.gate.set()
    again = await world.greeted(caller.token)
    assert not (await again.ok("game.move", game=view["game"], seq=1, move="6a"))["repeated"]
    assert len(world.journal.rows[view["game"]]) == 1


async def test_hints_are_limited_by_network(world: World) -> None:
    """They take the server some milliseconds each; more connections do not get more of them."""
    caller, view = await started(world)
    others = [await world.greeted(caller.token) for _ in range(3)]
    codes = []
    for _ in range(12):
        for other in others:
            world.clock.monotonic -= 100
            answer = await other.ask("game.hint", game=view["game"])
            codes.append(answer["d"].get("code"))
    assert codes[:30] == [None] * 30
    assert codes[30:] == ["rate-limited"] * 6


async def test_game_that_another_process_went_on_with_is_as_it_left_it(world: World) -> None:
    caller, view = await started(world)
    twin = World(world.journal, first_id=1_000)
    other = await twin.greeted(caller.token)
    game = view["game"]
    await caller.ok("game.move", game=game, seq=1, move="6a")
    assert (await other.ok("game.open", game=game))["seq"] == 1
    await caller.ok("game.move", game=game, seq=2, move="6b")
    assert (await other.ok("game.open", game=game))["seq"] == 2
    await other.ok("game.undo", game=game, seq=3)
    await other.ok("game.undo", game=game, seq=4)
    told = await caller.ok("game.move", game=game, seq=5, move="6a")
    assert (told["seq"], told["undos"]) == (5, 2)
    assert (await caller.error("game.move", game=game, seq=9, move="6b"))["code"] == "conflict"


class GoingOn(MemoryJournal):
    """One in which a game goes on between the reading of its record and that of its entries."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def entries(self, game: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await meanwhile()
        return await super().entries(game, after, limit)


async def test_game_that_ends_elsewhere_while_it_is_read_is_as_of_one_moment() -> None:
    journal = GoingOn()
    world, twin = World(journal), World(journal, first_id=1_000)
    caller, view = await started(world)
    game = view["game"]
    await caller.ok("game.move", game=game, seq=1, move="6a")
    other = await twin.greeted(caller.token)
    journal.meanwhile = lambda: caller.ok("game.resign", game=game, seq=2)
    opened = await other.ok("game.open", game=game)
    assert (opened["seq"], opened["status"]) == (1, "playing")
    error = await other.error("game.move", game=game, seq=3, move="6b")
    assert (error["code"], error["context"]) == ("game-over", {"status": "resigned"})


async def test_replay_that_is_read_while_its_game_goes_on_agrees_with_itself() -> None:
    journal = GoingOn()
    world = World(journal)
    caller, view = await started(world)
    game = view["game"]
    await caller.ok("game.move", game=game, seq=1, move="6a")
    reader = await world.greeted(caller.token)
    journal.meanwhile = lambda: caller.ok("game.resign", game=game, seq=2)
    replay = await reader.ok("replay.get", game=game)
    assert [entry[0] for entry in replay["entries"]] == [1]
    assert (replay["result"]["seq"], replay["result"]["status"]) == (1, "playing")
    assert replay["result"]["hash"] == replay["entries"][-1][3]


async def test_hint_and_tap_ask_no_database_for_a_game_in_memory(world: World) -> None:
    caller, view = await started(world)
    world.journal.is_away = True
    await caller.ok("game.hint", game=view["game"])
    await caller.ok("game.tap", game=view["game"], from_="6")
    assert (await caller.error("game.open", game=view["game"]))["code"] == "internal"
