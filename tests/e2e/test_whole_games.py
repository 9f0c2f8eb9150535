"""A stranger plays whole games through the authoritative engine, over both encodings."""

from collections.abc import AsyncIterator, Iterator
from hashlib import sha256

import pytest
import pytest_asyncio

from cellmates.engine import RULESETS, Deal
from cellmates.solver import solve

from .running import RunningServer, running_server
from .stranger import ENCODINGS, Body, Refused, Stranger

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with running_server(folder, database_url=f"sqlite:///{folder}/games.db") as server:
        yield server


@pytest_asyncio.fixture(params=ENCODINGS)
async def stranger(
    server: RunningServer, request: pytest.FixtureRequest
) -> AsyncIterator[Stranger]:
    stranger = await Stranger.connect(server.url, request.param)
    yield stranger
    await stranger.close()


def handle_of(request: pytest.FixtureRequest) -> str:
    return f"p-{sha256(request.node.nodeid.encode()).hexdigest()[:12]}"


@pytest.mark.parametrize("ruleset", ["freecell", "eight-off"])
async def test_stranger_wins_a_game_and_everybody_can_check_it(
    stranger: Stranger, ruleset: str, request: pytest.FixtureRequest
) -> None:
    await stranger.hello()
    await stranger.ask("player.create", handle=handle_of(request), kind="bot")
    view = await stranger.ask("game.start", ruleset=ruleset, deal="617")
    layout = Deal.numbered(617).layout(RULESETS[ruleset])
    told: Body = {}
    for seq, move in enumerate(solve(RULESETS[ruleset], layout).moves, 1):
        told = await stranger.ask("game.move", game=view["game"], seq=seq, move=str(move))
    assert told["status"] == "won"
    replay = await stranger.ask("replay.get", game=view["game"])
    assert replay["next"] is None
    assert replay["result"]["hash"] == told["hash"] == chain(replay)
    stats = (await stranger.ask("player.get", handle=handle_of(request)))["stats"]
    assert (stats[ruleset]["played"], stats[ruleset]["won"]) == (1, 1)


def chain(replay: Body) -> str:
    """Hash of a game, computed as the protocol page says."""
    header = replay["header"]
    parts = ("ruleset", "ruleset_version", "deal", "autoplay")
    text = "\n".join(["cellmates/1", *(str(header[part]) for part in parts)])
    digest = sha256(text.encode()).hexdigest()
    for seq, action, at_ms, hash_ in replay["entries"]:
        digest = sha256(f"{digest}\n{seq} {action} {at_ms}".encode()).hexdigest()
        assert digest == hash_
    return digest


async def test_answers_go_to_their_requests_in_order(
    stranger: Stranger, request: pytest.FixtureRequest
) -> None:
    """Scenario 17: refusals come as the reply to the request, between the others."""
    await stranger.hello()
    await stranger.ask("player.create", handle=handle_of(request), kind="bot")
    game = (await stranger.ask("game.start", ruleset="freecell", deal="1"))["game"]
    moves = ["6a", "6h", "9h", "6b", "undo"]
    numbers = [
        await stranger.send("game.move", game=game, seq=seq, move=move)
        for seq, move in zip((1, 2, 2, 2, 3), moves, strict=True)
    ]
    frames = [await stranger.receive() for _ in numbers]
    assert [frame["re"] for frame in frames] == numbers
    assert [frame["t"] for frame in frames] == ["ok", "error", "error", "ok", "error"]


async def test_two_connections_play_one_game(
    server: RunningServer, stranger: Stranger, request: pytest.FixtureRequest
) -> None:
    """Scenarios 2, 6 and 15."""
    await stranger.hello()
    made = await stranger.ask("player.create", handle=handle_of(request), kind="bot")
    game = (await stranger.ask("game.start", ruleset="freecell", deal="1"))["game"]
    other = await Stranger.connect(server.url)
    await other.hello(made["token"])
    await other.ask("game.open", game=game)
    await stranger.ask("game.move", game=game, seq=1, move="6a")
    with pytest.raises(Refused) as refused:
        await other.ask("game.move", game=game, seq=1, move="6b")
    assert (refused.value.code, refused.value.context) == ("conflict", {"seq": 1})
    [event] = other.events
    assert event["t"] == "game.event"
    assert event["d"]["entry"][:2] == [1, "6a"]
    await other.ask("game.undo", game=game, seq=2)
    await stranger.ask("ping")
    assert [event["d"]["entry"][:2] for event in stranger.events] == [[2, "undo"]]
    await other.close()


async def test_cut_off_after_the_commit_before_the_answer(
    server: RunningServer, request: pytest.FixtureRequest
) -> None:
    """Scenario 1: after a reconnect the last action is sent again, and play goes on."""
    stranger = await Stranger.connect(server.url)
    await stranger.hello()
    made = await stranger.ask("player.create", handle=handle_of(request), kind="bot")
    game = (await stranger.ask("game.start", ruleset="freecell", deal="1"))["game"]
    await stranger.send("game.move", game=game, seq=1, move="6a")
    stranger.socket.transport.abort()
    again = await Stranger.connect(server.url)
    greeting = await again.hello(made["token"])
    assert [unfinished["game"] for unfinished in greeting["games"]] == [game]
    told = await again.ask("game.move", game=game, seq=1, move="6a")
    assert told["seq"] == 1
    assert (await again.ask("game.move", game=game, seq=2, move="6b"))["seq"] == 2
    opened = await again.ask("game.open", game=game, since=0)
    assert [entry[1] for entry in opened["entries"]] == ["6a", "6b"]
    await again.close()


async def test_token_is_in_no_log(server: RunningServer, request: pytest.FixtureRequest) -> None:
    stranger = await Stranger.connect(server.url)
    await stranger.hello()
    made = await stranger.ask("player.create", handle=handle_of(request), kind="bot")
    await stranger.ask("game.start", ruleset="freecell")
    stranger.socket.transport.abort()
    assert made["token"] not in server.log
