"""Those who come to the page in a real Chromium, and the server and the others they meet."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Request,
    ViewportSize,
    sync_playwright,
)

from cellmates.daily import challenge_id, opens_at
from cellmates.engine import (
    RULESETS,
    Position,
    parse_pile,
)
from cellmates.solver import solve
from client.client import Client
from client.game import Game
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server

from .seat import DAY, Seat

CHROMIUM = "/usr/bin/chromium"
MISSING = (
    "the page is tested in a real Chromium, which does not start here: install Debian's package "
    "chromium, and playwright as requirements.txt has it (make .venv)"
)
DESK: ViewportSize = {"width": 1100, "height": 760}
PHONE: ViewportSize = {"width": 360, "height": 640}

TEN_O_CLOCK = opens_at(DAY) + 10 * 60 * 60 * 1000
KEY = "A" * 43 + "="

# While nobody answers, Chromium says so itself, whatever the page does.
AWAY_WORDS = "ERR_CONNECTION_REFUSED"
WATCH = """
  addEventListener("securitypolicyviolation", (event) =>
    console.error(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
"""
T = TypeVar("T")


def apart(act: Callable[[], T]) -> T:
    """Do something with an event loop of its own, apart from playwright's."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(act).result()


@contextmanager
def day_server(folder: Path) -> Iterator[RunningServer]:
    """A server in whose world it is ten in the morning of a day that is planned."""
    url = f"sqlite:///{folder}/games"
    apart(lambda: plant_day(url, KEY, DAY))
    with running_server(folder, database_url=url, secret_key=KEY, now_ms=TEN_O_CLOCK) as server:
        yield server


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium. Fails, and never skips, where there is none."""
    with ExitStack() as stack:
        try:
            driver = stack.enter_context(sync_playwright())
            # The pages are on this machine, whatever proxy there is for others.
            browser = driver.chromium.launch(
                executable_path=CHROMIUM, args=["--no-proxy-server", "--no-sandbox"]
            )
        except (Error, OSError) as error:
            pytest.fail(f"{MISSING}\n{error}")
        yield browser
        browser.close()


class Visitors:
    """Those who look at a server's page, each in a browser profile of their own."""

    def __init__(self, browser: Browser, server: RunningServer) -> None:
        self.server = server
        self._browser = browser
        self._stack = ExitStack()
        self._all: list[Visitor] = []

    def come(
        self,
        *,
        size: ViewportSize = DESK,
        touch: bool = False,
        still: bool = True,
        dark: bool = False,
    ) -> "Visitor":
        """A new visitor, nobody yet."""
        context = self._browser.new_context(
            viewport=size,
            has_touch=touch,
            is_mobile=touch,
            reduced_motion="reduce" if still else "no-preference",
            color_scheme="dark" if dark else "light",
            locale="en-GB",
            timezone_id="UTC",
        )
        self._stack.callback(context.close)
        context.set_default_timeout(10_000)
        context.add_init_script(WATCH)
        visitor = Visitor(context, self.server)
        self._all.append(visitor)
        return visitor

    def go(self) -> None:
        """All leave; nobody's console may have said anything, and no other host been asked."""
        self._stack.close()
        for visitor in self._all:
            assert visitor.complaints == []
            assert [url for url in visitor.asked if not url.startswith(self.server.http)] == []


class Visitor:
    """One browser profile, with one page or more."""

    def __init__(self, context: BrowserContext, server: RunningServer) -> None:
        self.context = context
        self.server = server
        self.complaints: list[str] = []
        self.asked: list[str] = []

    def open(self, view: str = "") -> "Seat":
        """Open a tab at a view, such as ``#/me``."""
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asks)
        seat = Seat(page, self.server.http)
        seat.visit(view)
        return seat

    def _asks(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.asked.append(request.url)

    def _heard(self, said: ConsoleMessage) -> None:
        if AWAY_WORDS not in said.text:
            self.complaints.append(f"{said.type}: {said.text}")


def played_by_client(
    server: RunningServer, handle: str, ruleset: str, *, deal: str | None = None, moves: int = 999
) -> str:
    """Let somebody else win the day's deal or another one, or resign after so many moves.

    Returns:
        The game's id.
    """

    async def whole() -> str:
        async with Client(server.url, name="test") as client:
            await client.create_player(handle, kind="human")
            if deal is None:
                game = await client.start_daily(challenge_id(DAY, ruleset))
            else:
                game = await client.start_game(ruleset, deal)
            line = line_of(game)
            for move in line[:moves]:
                await game.move(move)
            if moves < len(line):
                await game.resign()
            return game.id

    return run_apart(whole)


def line_of(game: Game) -> list[str]:
    """Moves that win a game that somebody plays without a page."""
    from_deal = RULESETS[game.view.ruleset]
    columns = tuple(parse_pile(" ".join(column)) for column in game.view.columns)
    cells = tuple(parse_pile(cell or "") for cell in game.view.cells)
    return [str(move) for move in solve(from_deal, Position(columns, cells, (0, 0, 0, 0))).moves]


def run_apart(act: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run a coroutine to its end, apart from playwright's loop."""
    return apart(lambda: asyncio.run(act()))
