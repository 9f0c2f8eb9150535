"""How the tests make clients and run commands."""

import asyncio
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from cellmates.engine import parse_action
from client.__main__ import main
from client.address import websocket_url
from client.client import Client
from client.pace import BackOff
from client.tokens import Tokens

from .fake import FakeServer
from .record import Record

Make: TypeAlias = Callable[..., Client]
QUICK = BackOff(first_s=0.01, most_s=0.05)


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


class Commands:
    """Runs commands against the fake server, with no token in what they print."""

    def __init__(
        self,
        server: FakeServer,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self._server = server
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    async def __call__(self, *arguments: str, typed: str = "", shows_token: bool = False) -> Ran:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status = await asyncio.to_thread(main, [*arguments, "--server", self._server.url])
        printed = self._capsys.readouterr()
        assert shows_token or "secret" not in printed.out + printed.err
        return Ran(status, printed.out, printed.err)


# A line that wins FreeCell deal 617.
SOLUTION = (
    "83 4a 46 4b 4c 8d 83 81 b1 8b a8 2a 27 c8 72 42 7c d7 4d a4 34 1a 8h d8 7d a1 7a 2d 78 27 "
    "d7 12 1d 16 a6 43 4a d4 74 a7 37 1a 1d 15 17 ah 1a 31 37 35 31 3h c3 83 8c a8 ch 51 2a 5c 54 "
    "58 a2 84 64 28v2 6h 2a ch 2c 2h 6h 6h 61 6h 6h 26 21 5h"
).split()


def me(server: FakeServer, handle: str = "ann", kind: str = "human") -> str:
    """Token of the person at the command line, which is kept."""
    token = server.player(handle, kind)
    Tokens.of_user().keep(websocket_url(server.url), token)
    return token


def attempt(
    server: FakeServer,
    token: str,
    challenge: str,
    played: int = 65,
    *,
    number: int = 1,
    end: str = "",
) -> Record:
    """An attempt of a player, whose deal is 617, after some moves of the line that wins it."""
    player = server.players[token]
    record = server.deal(player["id"], "freecell", challenge, number)
    for move in SOLUTION[:played]:
        record.act(parse_action(move))
    if end == "resign":
        record.act(parse_action(end))
    if end == "expire":
        record.expire()
    if record.status != "playing":
        server.boards.ended(record, player)
    return record


# The top of deal 1, as anybody sees it.
TOP = """\
   a   b   c   d      C   D   H   S
   -   -   -   -      -   -   -   -

   1   2   3   4   5   6   7   8
  JD  2D  9H  JC  5D  7H  7C  5H
"""
