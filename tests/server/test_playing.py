"""Games over a conversation: start, move, undo, look."""

import pytest

from cellmates.engine import first_hash, next_hash

from .world import Body, World, started

pytestmark = pytest.mark.asyncio


async def test_game_view_shows_the_deal(world: World) -> None:
    _, view = await started(world)
    assert view["columns"][0] == "JD KD 2S 4C 3S 6D 6S".split()
    assert view["cells"] == [None] * 4
    assert view["home"] == {"C": 0, "D": 0, "H": 0, "S": 0}
    assert (view["seq"], view["status"], view["autoplay"]) == (0, "playing", "safe")
    assert view["hash"] == first_hash("freecell", 1, "1", "safe")
    assert (view["challenge"], view["ranked"], view["attempt"]) == (None, False, None)
    assert "entries" not in view


async def test_random_deal_is_drawn_where_none_is_given(world: World) -> None:
    caller = await world.player()
    assert (await caller.ok("game.start", ruleset="eight-off"))["deal"] == "32000"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ruleset": "spider"}, "d.ruleset"),
        ({"ruleset": "freecell", "deal": "0"}, "d.deal"),
        ({"ruleset": "eight-off", "deal": "EO1-C4-AAAAAFA"}, "d.deal"),
        ({"ruleset": "eight-off", "deal": "1", "autoplay": "safe"}, "d.autoplay"),
    ],
)
async def test_wrong_start_says_which_field_is_wrong(world: World, body: Body, field: str) -> None:
    error = await (await world.player()).error("game.start", **body)
    assert error["code"] == "bad-request"
    assert error["context"]["field"] == field
    assert error["context"]["why"]
    assert world.journal.games == {}


async def test_move_is_recorded_before_it_is_answered(world: World) -> None:
    caller, view = await started(world)
    told = await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    [entry] = world.journal.rows[view["game"]]
    assert (entry.seq, entry.action, entry.hash) == (1, "6a", told["hash"])
    assert told["hash"] == next_hash(view["hash"], 1, "6a", told["elapsed_ms"])
    assert told["elapsed_ms"] == 100
    assert (told["move"], told["repeated"], told["stuck"]) == ("6a", False, False)
    assert "view" not in told


@pytest.mark.parametrize(
    ("move", "code", "context"),
    [
        ("9h", "bad-move", {}),
        ("1e", "bad-move", {}),
        ("6h", "illegal-move", {"reason": "foundation-order"}),
        ("11", "illegal-move", {"reason": "same-place"}),
    ],
)
async def test_refused_move_says_why_and_changes_nothing(
    world: World, move: str, code: str, context: Body
) -> None:
    caller, view = await started(world)
    error = await caller.error("game.move", game=view["game"], seq=1, move=move)
    assert (error["code"], error["context"]) == (code, context)
    assert world.journal.rows[view["game"]] == []
    assert (await caller.ok("game.open", game=view["game"]))["hash"] == view["hash"]


async def test_group_that_is_too_long_names_limit_and_length(world: World) -> None:
    caller = await world.player()
    view = await caller.ok("game.start", ruleset="freecell", deal="5", autoplay="off")
    seq = 0
    for move in ("1a", "1b", "1c", "1d"):
        seq += 1
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    view = await caller.ok("game.open", game=view["game"])
    error = await caller.error("game.move", game=view["game"], seq=seq + 1, move="2a")
    assert error["context"] == {"reason": "cell-full"}


async def test_sending_again_does_nothing_twice(world: World) -> None:
    """Scenarios 1 and 3: a move that would be legal a second time is repeated, not made again."""
    caller, view = await started(world, "eight-off")
    first = await caller.ok("game.move", game=view["game"], seq=1, move="1e")
    again = await caller.ok("game.move", game=view["game"], seq=1, move="1e")
    assert again == first | {"repeated": True}
    assert len(world.journal.rows[view["game"]]) == 1
    await caller.ok("game.move", game=view["game"], seq=2, move="1f")
    assert await caller.ok("game.move", game=view["game"], seq=1, move="1e") == again
    assert len(world.journal.rows[view["game"]]) == 2


@pytest.mark.parametrize("seq", [1, 3, 9])
async def test_other_action_or_gap_is_a_conflict_that_tells_the_seq(world: World, seq: int) -> None:
    """Scenario 4: a stale move is not dropped in silence."""
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    error = await caller.error("game.move", game=view["game"], seq=seq, move="6b")
    assert (error["code"], error["context"]) == ("conflict", {"seq": 1})
    error = await caller.error("game.undo", game=view["game"], seq=1)
    assert error["code"] == "conflict"
    error = await caller.error("game.move", game=view["game"], seq=0, move="6a")
    assert error["code"] == "conflict"


async def test_undo_shows_the_board_and_is_the_servers(world: World) -> None:
    """Scenario 14: nothing that a client does makes an undo uncounted."""
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    told = await caller.ok("game.undo", game=view["game"], seq=2)
    assert (told["move"], told["undos"], told["moves"]) == ("undo", 1, 0)
    assert told["view"]["columns"] == view["columns"]
    assert told["view"]["seq"] == 2
    assert told["view"]["hash"] == told["hash"]
    reopened = await world.greeted(caller.token)
    assert (await reopened.ok("game.open", game=view["game"]))["undos"] == 1
    assert (await caller.error("game.undo", game=view["game"], seq=3))["code"] == "nothing-to-undo"


async def test_game_that_is_over_says_how(world: World) -> None:
    caller, view = await started(world)
    told = await caller.ok("game.resign", game=view["game"], seq=1)
    assert (told["move"], told["status"]) == ("resign", "resigned")
    assert (await caller.ok("game.resign", game=view["game"], seq=1))["repeated"]
    error = await caller.error("game.move", game=view["game"], seq=2, move="6a")
    assert (error["code"], error["context"]) == ("game-over", {"status": "resigned"})
    world.clock.pass_ms(60_000)
    reopened = await caller.ok("game.open", game=view["game"])
    assert reopened["elapsed_ms"] == told["elapsed_ms"]


@pytest.mark.parametrize("message", ["game.open", "game.hint", "game.tap", "game.undo"])
async def test_game_of_another_is_not_there(world: World, message: str) -> None:
    _, view = await started(world)
    other = await world.player("berta")
    body: Body = {"game": view["game"]}
    body |= {"from": "1"} if message == "game.tap" else {}
    body |= {"seq": 1} if message == "game.undo" else {}
    assert (await other.error(message, **body))["code"] == "not-found"
    assert (await other.error(message, **body | {"game": "none"}))["code"] == "not-found"
    assert world.games.live == 1


async def test_open_since_gives_the_entries_after_it(world: World) -> None:
    caller, view = await started(world)
    for seq, move in enumerate(("6a", "6b"), 1):
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    opened = await caller.ok("game.open", game=view["game"], since=1)
    [[seq, action, at_ms, hash_]] = opened["entries"]
    assert (seq, action, hash_) == (2, "6b", opened["hash"])
    assert at_ms == 200
    assert (await caller.ok("game.open", game=view["game"], since=2))["entries"] == []


async def test_entries_that_fit_no_frame_are_told_as_none(world: World) -> None:
    caller, view = await started(world, "eight-off")
    for seq in range(1, 402):
        move = "ae" if seq % 2 else "ea"
        await caller.ok("game.move", game=view["game"], seq=seq, move=move)
    assert (await caller.ok("game.open", game=view["game"], since=0))["entries"] is None
    assert len((await caller.ok("game.open", game=view["game"], since=1))["entries"]) == 400
    first = await caller.ok("replay.get", game=view["game"])
    assert (len(first["entries"]), first["next"]) == (400, "400")
    second = await caller.ok("replay.get", game=view["game"], cursor="400")
    assert ([entry[0] for entry in second["entries"]], second["next"]) == ([401], None)


async def test_hint_and_tap_are_accepted_moves(world: World) -> None:
    caller, view = await started(world)
    hinted = await caller.ok("game.hint", game=view["game"])
    assert hinted["seq"] == 0
    await caller.ok("game.move", game=view["game"], seq=1, move=hinted["move"])
    tapped = await caller.ok("game.tap", game=view["game"], from_="1")
    await caller.ok("game.move", game=view["game"], seq=2, move=tapped["move"])
    assert (await caller.ok("game.tap", game=view["game"], from_="1", depth=6))["move"] is None
    assert (await caller.error("game.tap", game=view["game"], from_="x"))["code"] == "bad-move"
    await caller.ok("game.resign", game=view["game"], seq=3)
    assert (await caller.ok("game.tap", game=view["game"], from_="1"))["move"] is None
    assert (await caller.ok("game.hint", game=view["game"]))["move"] is None


async def test_other_connections_see_what_was_done(world: World) -> None:
    """Scenarios 2 and 15: both connections live, and each sees every seq of the other's once."""
    caller, view = await started(world)
    other = await world.greeted(caller.token)
    for _ in range(2):
        await other.ok("game.open", game=view["game"])
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    await other.ok("game.undo", game=view["game"], seq=2)
    assert [event["entry"][:2] for event in other.events()] == [[1, "6a"]]
    assert other.events()[0]["game"] == view["game"]
    [undone] = caller.events()
    assert undone["entry"][:2] == [2, "undo"]
    assert undone["view"]["seq"] == 2
    other.conversation.closed()
    await caller.ok("game.move", game=view["game"], seq=3, move="6b")
    assert len(other.events()) == 1


async def test_list_of_games_pages_newest_first(world: World) -> None:
    caller = await world.player()
    names = [(await caller.ok("game.start", ruleset="freecell"))["game"] for _ in range(5)]
    await caller.ok("game.resign", game=names[0], seq=1)
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        page = await caller.ok("games.mine", limit=2, **({"cursor": cursor} if cursor else {}))
        seen += [game["game"] for game in page["games"]]
        cursor = page["next"]
    assert seen == names[::-1]
    assert cursor is None
    resigned = await caller.ok("games.mine", status="resigned")
    assert [game["game"] for game in resigned["games"]] == [names[0]]
    assert (await caller.error("games.mine", cursor="x"))["code"] == "bad-cursor"


async def test_replay_is_for_everybody_once_the_game_is_over(world: World) -> None:
    caller, view = await started(world)
    await caller.ok("game.move", game=view["game"], seq=1, move="6a")
    guest = await world.greeted()
    assert (await guest.error("replay.get", game=view["game"]))["code"] == "not-yet"
    assert len((await caller.ok("replay.get", game=view["game"]))["entries"]) == 1
    await caller.ok("game.resign", game=view["game"], seq=2)
    replay = await guest.ok("replay.get", game=view["game"])
    header = replay["header"]
    digest = first_hash("freecell", header["ruleset_version"], header["deal"], header["autoplay"])
    for seq, action, at_ms, hash_ in replay["entries"]:
        digest = next_hash(digest, seq, action, at_ms)
        assert digest == hash_
    assert replay["result"]["hash"] == digest
    assert replay["result"]["status"] == "resigned"
    assert header["player"]["handle"] == "anna"
    assert (await guest.error("replay.get", game="none"))["code"] == "not-found"
    assert (await guest.error("replay.get", game=view["game"], cursor="-1"))["code"] == "bad-cursor"


async def test_unfinished_games_are_limited() -> None:
    world = World(most_unfinished=2)
    caller = await world.player()
    for _ in range(2):
        await caller.ok("game.start", ruleset="freecell")
    assert (await caller.error("game.start", ruleset="freecell"))["code"] == "too-many-games"


@pytest.mark.parametrize("message", ["board.get", "board.watch", "daily.start"])
async def test_challenge_that_is_not_there_is_not_found(world: World, message: str) -> None:
    caller = await world.player()
    body = {"challenge": "2026-11-30.freecell"}
    body |= {} if message == "daily.start" else {"board": "first", "kind": "human"}
    assert (await caller.error(message, **body))["code"] == "not-found"
    await caller.ok("board.unwatch", challenge="c", board="first", kind="bot")
