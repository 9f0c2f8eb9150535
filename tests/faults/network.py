"""Networks that break, stand still and come back: cuts, half-open peers, everybody at once."""

import asyncio
import json
import resource
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch
from urllib.request import ProxyHandler, build_opener

import client.dialling
from client.client import Client
from client.game import Game
from client.pace import BackOff
from server.gateway import GatewaySettings
from server.gateway.settings import LAST_LOOK_S
from server.players import token_hash
from server.records import PlayerRecord
from server.store import Store, upgrade
from tests.e2e.running import RunningServer, running_server

from .apart import apart
from .crowd import Return, crowd, parties_of
from .endless import RULESET, to_and_fro
from .figures import Figures
from .proxy import ENDS, FaultProxy

NOTICED_S = 45.0
_QUICK = BackOff(0.005, 0.1)
_PATIENT_S = 300.0
_AT_ONCE = 100
_SPARE_FILES = 300


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
    return settings.heartbeat_s + settings.pong_s + LAST_LOOK_S


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
    """As many clients as the limit on open files allows the server, once it is as high as may be.

    The server has the limit of this process.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard - _SPARE_FILES)


async def storm(folder: Path, *, clients: int, is_killed: bool = False) -> Figures:
    """The server is restarted under many players, each at a game that is played on then.

    Recovery is from when the server is back to when the last player's next action is acknowledged.
    """
    possible = most_clients(clients)
    async with served(folder, possible) as (server, tokens), AsyncExitStack() as stack:
        parties = [apart(crowd, party) for party in parties_of(server.url, tokens)]
        lines = await asyncio.gather(*map(stack.enter_async_context, parties))
        for line in lines:
            assert await line.hear() == "seated"
        logged, gone = len(server.log), time.monotonic()
        await asyncio.to_thread(server.kill if is_killed else server.stop)
        await asyncio.to_thread(server.start)
        back = time.monotonic()
        returns: list[Return] = [one for line in lines for one in await line.hear()]
        for line in lines:
            line.say("leave")
        cpu_s = await asyncio.to_thread(figure_of, server, "process_cpu_seconds_total")
        errors, dropped = errors_in(server), _dropped(server.log[logged:])
    lost, doubled = _audit_returns(folder / "games.db", returns)
    failures = [one for one in returns if one.failure or one.at_s < gone]
    times = sorted(one.at_s - back for one in returns if one not in failures)
    more = {
        "wanted": clients,
        "processes": len(parties),
        "failures": len(failures) and f"{len(failures)} such as {failures[0].failure}",
        "half were back after ms": round(1000 * times[len(times) // 2]) if times else "never",
        "server away ms": round(1000 * (back - gone)),
        "server's CPU s": round(cpu_s, 1),
        "setbacks": _counted(why for one in returns for why in one.setbacks),
        "dropped": dropped,
        "errors": _counted(map(_event, errors)),
    }
    worst_ms = 1000 * times[-1] if times else None
    return Figures("everybody comes back", possible, len(failures) + lost, doubled, worst_ms, more)


def _event(line: str) -> str:
    """What a line of the log is about."""
    return str(json.loads(line)["event"]) if line.startswith("{") else line


def _dropped(log: str) -> str:
    """Why the server dropped sockets and connections, and how many."""
    lines = [json.loads(line) for line in log.splitlines() if "dropped" in line]
    return _counted(line["why"] for line in lines)


def _counted(whys: Iterable[str]) -> str:
    """How often each is there, the most frequent first."""
    counts = Counter(whys).most_common()
    return " and ".join(f"{count} of {why!r}" for why, count in counts) or "none"


def _audit_returns(path: Path, returns: Sequence[Return]) -> tuple[int, int]:
    """How many actions of those who are back are lost, and how many are doubled."""
    with closing(sqlite3.connect(path)) as database:
        kept: dict[str, list[str]] = {}
        for game, action in database.execute("SELECT game, action FROM entry ORDER BY game, seq"):
            kept.setdefault(game, []).append(action)
    made = [to_and_fro(1), to_and_fro(2)]
    found = [kept.get(one.game, []) for one in returns if one.failure is None]
    lost = sum(len(made) - len(entries) for entries in found if entries != made)
    return max(0, lost), sum(len(entries) > len(made) for entries in found)
