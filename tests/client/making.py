"""How the tests make clients and run commands."""

import asyncio
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from client.__main__ import main
from client.client import Client
from client.pace import BackOff

from .fake import FakeServer

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


# The top of deal 1, as anybody sees it.
TOP = """\
   a   b   c   d      C   D   H   S
   -   -   -   -      -   -   -   -

   1   2   3   4   5   6   7   8
  JD  2D  9H  JC  5D  7H  7C  5H
"""
