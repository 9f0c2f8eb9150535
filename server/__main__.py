"""Puts the server together; the only module that knows every part.

``python -m server serve`` here, ``cellmates-server serve`` where it is installed.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from secrets import randbelow, token_urlsafe
from typing import Any

import uvloop

from cellmates import __version__
from cellmates.protocol.schema import asyncapi_text

from .clock import SystemClock
from .config import BadSetting, Settings, read_settings
from .conversation import LIMITS, Application, Hall, Rates
from .games import Games
from .gateway import Gateway, GatewaySettings, standard_pages
from .handlers import Handlers
from .journal import StorageError
from .keys import new_key, secret_key
from .logs import configure_logs
from .players import Players
from .store import BadDatabase, Store, WrongSchema, check, upgrade

ID_BYTES = 12
TOKEN_BYTES = 32
RETRY_AFTER_MS = 1_000
DRAIN_S = 8.0

CANNOT = 1
WRONG_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 when it cannot, 2 for wrong input."""
    parser = argparse.ArgumentParser(prog="cellmates-server", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, run, says in (
        ("serve", serve, "serve games; settings are CELLMATES_* environment variables"),
        ("db", _upgrade, "'db upgrade' brings the database's tables up to this version"),
    ):
        command = commands.add_parser(name, help=says, description=says)
        if name == "db":
            command.add_argument("what", choices=["upgrade"], help="what to do with the database")
        command.set_defaults(run=run)
    secret = commands.add_parser("secret", help="print a new CELLMATES_SECRET_KEY")
    secret.set_defaults(run=None)
    chosen = parser.parse_args(arguments)
    if chosen.run is None:
        print(new_key())
        return 0
    try:
        return _run(chosen.run, read_settings(os.environ))
    except BadSetting as error:
        print(f"cellmates-server: {error}", file=sys.stderr)
        return WRONG_INPUT


def _run(command: Callable[[Settings], Coroutine[Any, Any, None]], settings: Settings) -> int:
    configure_logs(settings.log_level)
    try:
        uvloop.run(command(settings))
    except BadDatabase as error:
        raise BadSetting(f"CELLMATES_DATABASE_URL: {error}") from None
    except (WrongSchema, StorageError, OSError) as error:
        print(f"cellmates-server: {error}", file=sys.stderr)
        return CANNOT
    return 0


async def _upgrade(settings: Settings) -> None:
    await upgrade(settings.database_url)
    print("the database has the tables of this version")


async def serve(settings: Settings) -> None:
    """Serve until a signal says to stop; a second one forces it.

    Raises:
        BadDatabase: the URL names no database that can be used.
        WrongSchema: the tables are not those of this version.
        StorageError: the database is away.
        OSError: the address cannot be listened on.
    """
    secret_key(settings)
    if settings.is_sqlite:
        await upgrade(settings.database_url)
    await check(settings.database_url)
    store = await Store.open(settings.database_url)
    try:
        await _serve(settings, store)
    finally:
        await store.close()


async def _serve(settings: Settings, store: Store) -> None:
    clock, hall = SystemClock(), Hall()
    handlers = Handlers(
        games=Games(store, clock, _new_id, randbelow),
        players=Players(store, clock, _new_id, _new_token),
        journal=store,
        clock=clock,
        audience=hall,
        limits=LIMITS,
    )
    rates = Rates(settings.moves_per_s)
    application = Application(hall=hall, handlers=handlers, clock=clock, rates=rates)

    async def is_ready() -> bool:
        if gateway.is_draining:
            return False
        try:
            await store.check()
        except StorageError:
            return False
        return True

    gateway = Gateway(
        application,
        standard_pages(is_ready=is_ready, asyncapi=asyncapi_text()),
        GatewaySettings(
            origins=frozenset(settings.origins),
            trusted_proxies=settings.trusted_proxies,
            connections=settings.max_connections,
            connections_per_address=settings.max_connections_per_address,
            drain_s=DRAIN_S,
        ),
    )
    signals = _signals()
    addresses = await gateway.start(settings.host, settings.port)
    where = " and ".join(f"http://{_host(host)}:{port}/" for host, port in addresses)
    print(f"Cellmates {__version__} listens on {where}", flush=True)
    await signals.get()
    await _drain(gateway, application, signals)


async def _drain(gateway: Gateway, application: Application, signals: asyncio.Queue[int]) -> None:
    async with asyncio.TaskGroup() as tasks:
        forcing = tasks.create_task(_force(gateway, signals))
        await gateway.drain(lambda: application.draining(DRAIN_S, RETRY_AFTER_MS))
        forcing.cancel()


async def _force(gateway: Gateway, signals: asyncio.Queue[int]) -> None:
    await signals.get()
    await gateway.drain()


def _signals() -> asyncio.Queue[int]:
    signals: asyncio.Queue[int] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, signals.put_nowait, number)
    return signals


def _new_id() -> str:
    return token_urlsafe(ID_BYTES)


def _new_token() -> str:
    return token_urlsafe(TOKEN_BYTES)


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main())
