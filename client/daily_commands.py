"""Commands about dailies: the challenges of a day, and the boards, which may be watched."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from rich.console import Console
from rich.live import Live

from .client import Client
from .commands import Subcommands, add_command, client_of
from .errors import NoAnswer
from .results import BoardChanged, BoardPage
from .standings import Which, day_table, standings
from .today import todays
from .tokens import Tokens

Show: TypeAlias = Callable[[BoardPage], None]

_MOST_ROWS = 100
# Lines of a live table that are no rows: title, heads, a gap and my row, and where the cursor is.
_OTHER_LINES = 5


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a board: ``limit`` of them, those around me, or all."""

    which: Which
    limit: int | None
    is_around_me: bool
    is_whole: bool


def add_commands(commands: Subcommands) -> None:
    """Add ``daily`` and ``board`` to the command line."""
    daily = add_command(commands, "daily", _daily, "list the challenges of a day")
    daily.add_argument("--date", metavar="D", help="YYYY-MM-DD in UTC; without it today")
    board = add_command(commands, "board", _board, "print a board, or watch it")
    board.add_argument("challenge", metavar="CHALLENGE", help="or a ruleset, for today's")
    board.add_argument(
        "--board",
        choices=("first", "moves"),
        default="first",
        help="first attempts, or the fewest moves in any attempt",
    )
    board.add_argument(
        "--kind", choices=("human", "bot"), default="human", help="people's, or programs'"
    )
    board.add_argument("--limit", metavar="N", type=_rows, help=f"rows, 1 to {_MOST_ROWS}")
    part = board.add_mutually_exclusive_group()
    part.add_argument("--around-me", action="store_true", help="the rows around your own")
    part.add_argument("--all", action="store_true", help="all rows")
    board.add_argument("--watch", action="store_true", help="go on until interrupted")


def _rows(text: str) -> int:
    """Number of rows.

    Raises:
        argparse.ArgumentTypeError: it is none that may be asked for.
    """
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_ROWS):
        raise argparse.ArgumentTypeError(f"rows are 1 to {_MOST_ROWS}")
    return int(text)


# -- daily -----------------------------------------------------------------------------------------


def _daily(arguments: argparse.Namespace) -> int:
    return asyncio.run(_listing(arguments))


async def _listing(arguments: argparse.Namespace) -> int:
    async with client_of(arguments, Tokens.of_user()) as client:
        challenges = await client.dailies(arguments.date)
        now = await client.ping()
    if arguments.json:
        print(json.dumps({"time": now, "challenges": [asdict(each) for each in challenges]}))
    elif challenges:
        _console().print(day_table(challenges, now))
    else:
        print("There are no dailies on that day." if arguments.date else "There are none today.")
    return 0


# -- board -----------------------------------------------------------------------------------------


def _board(arguments: argparse.Namespace) -> int:
    return asyncio.run(_showing(arguments))


async def _showing(arguments: argparse.Namespace) -> int:
    async with client_of(arguments, Tokens.of_user()) as client:
        challenge = await _meant(client, arguments.challenge)
        wanted = Wanted(
            Which(challenge, arguments.board, arguments.kind),
            arguments.limit,
            arguments.around_me,
            arguments.all,
        )
        if arguments.watch:
            await _watch(client, wanted, as_json=arguments.json)
        else:
            _shower(wanted.which, as_json=arguments.json)(await _page(client, wanted))
    return 0


async def _meant(client: Client, text: str) -> str:
    """Challenge that is named, by its id or as today's of a ruleset.

    Raises:
        Unavailable: the ruleset has none today.
    """
    rulesets = client.greeting.rulesets if client.greeting else ()
    return (await todays(client, text)).challenge if text in rulesets else text


async def _page(client: Client, wanted: Wanted) -> BoardPage:
    """The rows that are wanted, all pages of them."""
    which = wanted.which.challenge, wanted.which.board, wanted.which.kind
    limit = _MOST_ROWS if wanted.is_whole and wanted.limit is None else wanted.limit
    page = await client.board(*which, limit=limit, around_me=wanted.is_around_me)
    if not wanted.is_whole:
        return page
    rows = page.rows
    while page.next is not None:
        page = await client.board(*which, limit=limit, cursor=page.next)
        rows += page.rows
    return replace(page, rows=rows, prev=None)


async def _watch(client: Client, wanted: Wanted, *, as_json: bool) -> None:
    """Show a board again and again as it changes, for as long as there is a server."""
    which = wanted.which
    with _live(wanted, as_json=as_json) as (wanted, show):
        events = client.events()
        await client.watch_board(which.challenge, which.board, which.kind)
        shown = await _page(client, wanted)
        show(shown)
        async for event in events:
            if not (isinstance(event, BoardChanged) and _is_of(event, which)):
                continue
            with suppress(NoAnswer):  # the server is away, and will tell when it is back
                page = await _page(client, wanted)
                if page != shown:
                    show(page)
                shown = page


def _is_of(event: BoardChanged, which: Which) -> bool:
    return Which(event.challenge, event.board, event.kind) == which


@contextmanager
def _live(wanted: Wanted, *, as_json: bool) -> Iterator[tuple[Wanted, Show]]:
    """What is wanted, as far as there is room, and what shows it.

    A terminal has one table that is drawn anew; all else gets one after the other.
    """
    console = _console()
    if as_json or not console.is_terminal or console.is_dumb_terminal:
        yield wanted, _shower(wanted.which, as_json=as_json)
        return
    if wanted.limit is None and not wanted.is_whole:
        room = max(console.height - _OTHER_LINES, 1)
        wanted = replace(wanted, limit=min(room, _MOST_ROWS))
    with Live(console=console, auto_refresh=False) as live:
        yield wanted, lambda page: live.update(standings(wanted.which, page), refresh=True)


def _shower(which: Which, *, as_json: bool) -> Show:
    """What prints a page of a board: a line of JSON, or a table."""

    def show(page: BoardPage) -> None:
        if as_json:
            print(json.dumps(asdict(which) | asdict(page)), flush=True)
        else:
            _console().print(standings(which, page))
            sys.stdout.flush()

    return show


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
