"""Networks that break, stand still and come back: cuts, half-open peers, everybody at once."""

import asyncio
import json
import resource
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from urllib.request import ProxyHandler, build_opener

from websockets.asyncio.client import connect

import client.dialling
from client.client import Client
from client.errors import CannotConnect
from client.game import Game
from client.pace import BackOff
from client.results import Greeting
from server.gateway import GatewaySettings
from server.players import token_hash
from server.records import PlayerRecord
from server.store import Store, upgrade
from tests.e2e.running import RunningServer, running_server

from .figures import Figures
from .proxy import ENDS, FaultProxy

RULESET = "eight-off"  # from its start one card can go to and fro between two cells for ever
NOTICED_S = 45.0
_LAST_LOOK_S = 0.01
_QUICK = BackOff(0.005, 0.1)
_PATIENT_S = 300.0
_AT_ONCE = 100
_SPARE_FILES = 300


def to_and_fro(seq: int) -> str:
    """The move that is legal as this action of a game that never gets anywhere."""
    return "ae" if seq % 2 else "ea"


async def plant_players(database_url: str, count: int) -> list[str]:
    """Tokens of new players, by no way that the server counts."""
    await upgrade(database_url)
    store = await Store.open(database_url)
    tokens = [f"token-{number}" for number in range(count)]
    players = [PlayerRecord(f"p{number}", f"player-{number}", "bot", 0) for number in range(count)]
    for at in range(0, count, _AT_ONCE):
        pairs = zip(players[at : at + _AT_ONCE], tokens[at : at + _AT_ONCE], strict=True)
        await asyncio.gather(
            *[store.create_player(one, one.handle or "", token_hash(token)) for one, token in pairs]
        )
    await store.close()
    return tokens


@asynccontextmanager
async def served(folder: Path, players: int, **settings: str) -> AsyncIterator[Any]:
    """A server, and the tokens of its players."""
    url = f"sqlite:///{folder}/games.db"
    tokens = await plant_players(url, players)
    room = {"max_connections_per_address": "100000", "moves_per_s": "100000"}
    with running_server(folder, now_ms=None, database_url=url, **{**room, **settings}) as server:
        yield server, tokens


async def audit(client: Client, game: Game, acknowledged: int) -> tuple[int, int]:
    """How many acknowledged actions of a game to and fro are lost, and how many are doubled.

    Raises:
        AssertionError: the entries have a gap.
    """
    entries = (await client.replay(game.id)).entries
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.action for entry in entries] == [to_and_fro(entry.seq) for entry in entries]
    return max(0, acknowledged - len(entries)), max(0, len(entries) - acknowledged)


def figure_of(server: RunningServer, name: str) -> float:
    """One of the server's own figures."""
    for line in page(server, "metrics").splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    raise KeyError(name)


def page(server: RunningServer, path: str) -> str:
    """Text of a page of the server."""
    with build_opener(ProxyHandler({})).open(f"{server.http}{path}", timeout=60) as answer:
        text: str = answer.read().decode()
        return text


def errors_in(server: RunningServer) -> list[str]:
    """Lines of the server's log that are errors, or nothing that it should print."""
    return [
        line
        for line in server.log.splitlines()
        if not line.startswith("{") or json.loads(line)["level"] in ("error", "critical")
    ]


# -- F6: cut networks ------------------------------------------------------------------------------


async def cut_networks(folder: Path, *, cuts: int, players: int = 4, seed: int = 6) -> Figures:
    """Players whose network is cut to pieces, reset at any byte, or ended, while they play."""
    chance = Random(seed)
    recovery_s: list[float] = []
    async with served(folder, players) as (server, tokens):
        async with FaultProxy.before(server.url) as proxy, AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    Client(proxy.url, token=token, back_off=_QUICK, deadline_s=_PATIENT_S)
                )
                for token in tokens
            ]
            games = [await client.start_game(RULESET) for client in clients]
            made = [0] * players
            for _ in range(cuts):
                _break(proxy, chance)
                began = asyncio.get_running_loop().time()
                await asyncio.gather(*[game.move(to_and_fro(game.view.seq + 1)) for game in games])
                recovery_s.append(asyncio.get_running_loop().time() - began)
                made = [count + 1 for count in made]
            found = await asyncio.gather(
                *[audit(*each) for each in zip(clients, games, made, strict=True)]
            )
            connections = proxy.accepted
        errors = errors_in(server)
    assert not errors, errors
    return Figures(
        "cut networks",
        cuts,
        sum(lost for lost, _ in found),
        sum(doubled for _, doubled in found),
        1000 * max(recovery_s),
        {"actions": sum(made), "connections": connections},
    )


def _break(proxy: FaultProxy, chance: Random) -> None:
    proxy.split = chance.choice([None, 1, Random(chance.random())])
    proxy.cut_after(chance.choice(ENDS), chance.randrange(1, 1200))
    if chance.random() < 0.7:
        chance.choice([proxy.cut, proxy.close])()


# -- F6: half-open peers ---------------------------------------------------------------------------


def noticed_at_most_s(settings: GatewaySettings | None = None) -> float:
    """When a peer that is silent is dropped at the latest, counted from its last word."""
    settings = settings or GatewaySettings()
    return settings.heartbeat_s + settings.pong_s + _LAST_LOOK_S


async def half_open(folder: Path, *, peers: int, heartbeat_s: float | None = None) -> Figures:
    """Peers whose network is gone without a word, each way: both ends notice, and play goes on.

    ``heartbeat_s`` makes the client look more often than it does; the server is as in production.
    """
    loop, noticed_s = asyncio.get_running_loop(), 0.0
    heartbeat = heartbeat_s or client.dialling._HEARTBEAT_S
    async with served(folder, peers) as (server, tokens), AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(FaultProxy.before(server.url))
        stack.enter_context(patch.object(client.dialling, "_HEARTBEAT_S", heartbeat))
        clients = [
            await stack.enter_async_context(
                Client(proxy.url, token=token, back_off=_QUICK, deadline_s=_PATIENT_S)
            )
            for token in tokens
        ]
        games = [await one.start_game(RULESET) for one in clients]
        lost = doubled = 0
        for towards in (("client",), ("server",), ENDS):
            for end in towards:
                proxy.mute(towards=end)
            began = loop.time()
            await asyncio.gather(*[game.move(to_and_fro(game.view.seq + 1)) for game in games])
            noticed_s = max(noticed_s, loop.time() - began)
        for one, game in zip(clients, games, strict=True):
            missing, twice = await audit(one, game, 3)
            lost, doubled = lost + missing, doubled + twice
    return Figures(
        "half-open peers",
        3 * peers,
        lost,
        doubled,
        1000 * noticed_s,
        {"server notices within s": noticed_at_most_s()},
    )


async def half_open_server_side(folder: Path, *, peers: int) -> Figures:
    """How long the server, as in production, keeps a peer whose network is gone. Takes 40 s."""
    loop = asyncio.get_running_loop()
    async with served(folder, peers) as (server, tokens), AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(FaultProxy.before(server.url))
        for token in tokens:
            await stack.enter_async_context(Client(proxy.url, token=token))
        for end in ENDS:
            proxy.mute(towards=end)
        proxy.refuse()
        began = loop.time()
        async with asyncio.timeout(2 * NOTICED_S):
            while await asyncio.to_thread(figure_of, server, "cellmates_connections"):
                await asyncio.sleep(0.2)
        return Figures("half-open seen by the server", peers, 0, 0, 1000 * (loop.time() - began))


# -- F7: everybody comes back at once --------------------------------------------------------------


def most_clients(wanted: int) -> int:
    """As many clients as the limit on open files allows, once that is as high as it may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard - _SPARE_FILES)


class _Returning(Client):
    """A client that tells when it is greeted again."""

    def __init__(self, url: str, **options: Any) -> None:  # noqa: ANN401
        super().__init__(url, **options)
        self.is_back = asyncio.Event()

    def greeted(self, greeting: Greeting) -> None:
        super().greeted(greeting)
        self.is_back.set()


async def storm(folder: Path, *, clients: int, is_killed: bool = False) -> Figures:
    """The server is restarted under many clients, each with a game that it plays on with.

    Recovery is from when the server is back to when the last client has made its next action.
    """
    possible = most_clients(clients)
    loop = asyncio.get_running_loop()
    async with served(folder, possible) as (server, tokens), AsyncExitStack() as stack:
        players = await _seated(server.url, tokens, stack)
        end = server.kill if is_killed else server.stop
        for one, _ in players:
            one.is_back.clear()
        moves = [asyncio.create_task(_once_back(one, game)) for one, game in players]
        await asyncio.to_thread(end)
        gone = loop.time()
        await asyncio.to_thread(server.start)
        back = loop.time()
        seqs = await asyncio.gather(*moves, return_exceptions=True)
        times = sorted(at for at in seqs if isinstance(at, float))
        failures = [at for at in seqs if isinstance(at, BaseException)]
        sample = players[:: max(1, len(players) // 100)]
        found = [await audit(one, game, game.view.seq) for one, game in sample]
        errors = errors_in(server)
    assert not errors, errors[:3]
    return Figures(
        "everybody comes back",
        possible,
        len(failures) + sum(lost for lost, _ in found),
        sum(doubled for _, doubled in found),
        1000 * (times[-1] - back) if times else None,
        {
            "wanted": clients,
            "failures": len(failures),
            "half were back after ms": round(1000 * (times[len(times) // 2] - back)),
            "first after ms": round(1000 * (times[0] - back)),
            "server away ms": round(1000 * (back - gone)),
        },
    )


async def _seated(
    url: str, tokens: Sequence[str], stack: AsyncExitStack
) -> list[tuple[_Returning, Game]]:
    """Everybody at a game, from so many addresses that each greets within its limit."""
    addresses = cycle(f"127.0.0.{2 + number}" for number in range(1 + len(tokens) // 1000))

    def from_some_address(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        return connect(*arguments, local_addr=(next(addresses), 0), **options)

    stack.enter_context(patch.object(client.dialling, "connect", from_some_address))
    turns = asyncio.Semaphore(_AT_ONCE)

    async def seat(token: str) -> tuple[_Returning, Game]:
        async with turns:
            one = await _entered(lambda: _Returning(url, token=token, deadline_s=_PATIENT_S))
            game = await one.start_game(RULESET)
            await game.move(to_and_fro(1))
            return one, game

    players = await asyncio.gather(*[seat(token) for token in tokens])
    stack.push_async_callback(_leave, [one for one, _ in players])
    return players


async def _entered(make: Callable[[], _Returning]) -> _Returning:
    """A client that is connected; where this process was too busy to greet in time, another."""
    while True:
        one = make()
        with suppress(CannotConnect):
            return await one.__aenter__()


async def _leave(clients: Sequence[Client]) -> None:
    await asyncio.gather(*[one.__aexit__(None, None, None) for one in clients])


async def _once_back(one: _Returning, game: Game) -> float:
    """Make the next action on a new connection; when it was acknowledged."""
    await one.is_back.wait()
    moved = await game.move(to_and_fro(game.view.seq + 1))
    assert moved.seq == 2, moved
    return asyncio.get_running_loop().time()
