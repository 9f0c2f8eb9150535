"""The server's commands: serve games, and what an operator does beside that.

``python -m server serve`` here, ``cellmates-server serve`` where it is installed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from .clock import Clock, SystemClock
from .config import BadSetting, Settings, read_settings
from .journal import StorageError
from .keys import new_key
from .logs import configure_logs
from .operating import plan, show_timing
from .serving import serve
from .solving import SolverFailed
from .store import BadDatabase, WrongSchema, backup, upgrade
from .vault import WrongKey

CANNOT = 1
WRONG_INPUT = 2
INTERRUPTED = 130

Command = Callable[[Settings, argparse.Namespace], Coroutine[Any, Any, None]]


system_clock: Callable[[], Clock] = SystemClock
"""Where commands have the time from."""


def parser() -> argparse.ArgumentParser:
    """The command line; a command is ``run``, None where it needs no settings."""
    parser = argparse.ArgumentParser(prog="cellmates-server", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    add = partial(_add, commands)
    add("serve", _serve, "serve games; settings are CELLMATES_* environment variables")
    database = add("db", None, "look after the database").add_subparsers(
        metavar="WHAT", required=True
    )
    _add(database, "upgrade", _upgrade, "bring the database's tables up to this version")
    back_up = _add(database, "backup", _back_up, "copy a SQLite database that is in use")
    back_up.add_argument("file", metavar="FILE", type=Path, help="where to; must not be there yet")
    planning = add("plan", _plan, "plan the daily deals of the next days, and show progress")
    planning.add_argument("--days", metavar="N", type=_days, default=8, help="today included; 8")
    timing = add("flags", _show_timing, "list the runs of a day whose timing no hand has")
    timing.add_argument("date", metavar="DATE", help="YYYY-MM-DD")
    timing.add_argument("--all", action="store_true", help="list the other runs too")
    add("secret", None, "print a new CELLMATES_SECRET_KEY")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 when it cannot, 2 for wrong input."""
    chosen = parser().parse_args(arguments)
    if chosen.run is None:
        print(new_key())
        return 0
    try:
        return _run(chosen.run, read_settings(os.environ), chosen)
    except BadSetting as error:
        print(f"cellmates-server: {error}", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Command | None,
    says: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=says, description=says)
    command.set_defaults(run=run)
    return command


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 366):
        raise argparse.ArgumentTypeError("a number of days from 1 to 366")
    return int(text)


def _run(command: Command, settings: Settings, chosen: argparse.Namespace) -> int:
    # Of a command that ends, a person reads what it prints.
    configure_logs(settings.log_level if command is _serve else "warning")
    try:
        uvloop.run(command(settings, chosen))
    except BadDatabase as error:
        raise BadSetting(f"CELLMATES_DATABASE_URL: {error}") from None
    except (SolverFailed, StorageError, WrongKey, WrongSchema, OSError) as error:
        print(f"cellmates-server: {error}", file=sys.stderr)
        return CANNOT
    return 0


async def _serve(settings: Settings, _: argparse.Namespace) -> None:
    await serve(settings, system_clock())


async def _upgrade(settings: Settings, _: argparse.Namespace) -> None:
    await upgrade(settings.database_url)
    print("the database has the tables of this version")


async def _back_up(settings: Settings, chosen: argparse.Namespace) -> None:
    await backup(settings.database_url, chosen.file)
    print(f"the database is copied to {chosen.file}")


async def _plan(settings: Settings, chosen: argparse.Namespace) -> None:
    await plan(settings, system_clock(), chosen.days)


async def _show_timing(settings: Settings, chosen: argparse.Namespace) -> None:
    await show_timing(settings, chosen.date, everything=chosen.all)


if __name__ == "__main__":
    sys.exit(main())
