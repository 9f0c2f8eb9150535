"""A running server: the rooms, the gateway and what goes on beside, from start to a signal."""

import asyncio
import gc
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from secrets import randbelow, token_bytes, token_urlsafe

from cellmates import __version__
from cellmates.protocol.schema import asyncapi_text

from .api import Api, Guest
from .background import Sleep, keep_going
from .clock import Clock
from .config import Settings
from .gateway import Gateway, GatewaySettings, Readiness, standard_pages
from .house import Chance, House
from .journal import StorageError
from .keys import secret_key
from .metrics import Metrics, measure_loop_lag
from .rates import Rates
from .refusals import error_of
from .solving import plan_apart
from .store import Store, check, upgrade
from .vault import Vault
from .web import read_web

ID_BYTES = 12
TOKEN_BYTES = 32
RETRY_AFTER_MS = 1_000
DRAIN_S = 8.0


async def serve(settings: Settings, clock: Clock) -> None:
    """Serve until a signal says to stop; a second one forces it.

    Raises:
        BadSetting: there is no secret key.
        BadDatabase: the URL names no database that can be used.
        WrongSchema: the tables are not those of this version.
        StorageError: the database is away.
        OSError: the address cannot be listened on.
    """
    vault, metrics = Vault(secret_key(settings)), Metrics()
    async with opened(settings, metrics.commit) as store:
        service = Service(settings, store, clock, vault, metrics)
        collect_seldom()
        await service.run(_signals())


@asynccontextmanager
async def opened(
    settings: Settings, observe: Callable[[int, float], None] | None = None
) -> AsyncIterator[Store]:
    """The database with this version's tables; on SQLite they are brought up to it.

    ``observe`` is told of each commit, as by ``Store.open``.

    Raises:
        BadDatabase: the URL names no database that can be used.
        WrongSchema: the tables are not those of this version.
        StorageError: the database is away.
    """
    if settings.is_sqlite:
        await upgrade(settings.database_url)
    await check(settings.database_url)
    store = await Store.open(settings.database_url, observe=observe)
    try:
        yield store
    finally:
        await store.close()


def collect_seldom() -> None:
    """Have this process look for cyclic garbage seldom, and never in what is there by now.

    Hardly anything here is garbage of that kind, and every move leaves values that stay: as Python
    would have it, a fifth of a move's time went into looking, and a full look took a tenth of a
    second in which nobody was served.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


class Service:
    """A house, and its door to the network. Made within a running event loop."""

    def __init__(
        self, settings: Settings, store: Store, clock: Clock, vault: Vault, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._store = store
        self._metrics = metrics
        self._house = house = House(
            store,
            clock,
            vault,
            chance=Chance(_new_id, _new_token, randbelow, token_bytes),
            solve=plan_apart,
            timer=time.perf_counter,
            metrics=metrics,
            rates=Rates(settings.moves_per_s),
        )
        self._gateway = Gateway(
            house.application,
            standard_pages(
                readiness=self._readiness,
                asyncapi=asyncapi_text(),
                metrics=metrics.text,
                api=Api(
                    answer=lambda asked: house.handlers.answer(Guest(), asked),
                    error_of=error_of,
                    clock=clock,
                ),
                web=read_web(),
            ),
            GatewaySettings(
                origins=frozenset(settings.origins),
                trusted_proxies=settings.trusted_proxies,
                connections=settings.max_connections,
                connections_per_address=settings.max_connections_per_address,
                drain_s=DRAIN_S,
            ),
        )
        metrics.watch(
            {
                "connections": lambda: self._gateway.connections,
                "live_games": lambda: house.games.live,
                "boards": lambda: house.boards.loaded,
                "board_rows": lambda: house.boards.rows,
                "board_watchers": lambda: house.hall.watchers,
            }
        )

    async def run(self, signals: asyncio.Queue[int]) -> None:
        """Serve until the first signal, then drain; a second one forces the end.

        Raises:
            OSError: the address cannot be listened on.
        """
        addresses = await self._gateway.start(self._settings.host, self._settings.port)
        where = " and ".join(f"http://{_host(host)}:{port}/" for host, port in addresses)
        async with asyncio.TaskGroup() as tasks:
            beside = [
                tasks.create_task(keep_going(name, work, asyncio.sleep), name=name)
                for name, work in self._work().items()
            ]
            sys.stdout.write(f"Cellmates {__version__} listens on {where}\n")
            sys.stdout.flush()
            await signals.get()
            await self._drain(signals)
            for task in beside:
                task.cancel()

    def _work(self) -> dict[str, Callable[[Sleep], Awaitable[None]]]:
        """What goes on beside the connections."""
        house, days = self._house, self._settings.plan_days
        work: dict[str, Callable[[Sleep], Awaitable[None]]] = {
            "keeper": house.keeper.run,
            "doorkeeper": house.doorkeeper.run,
            "boards": house.boards.follow,
            "loop lag": lambda sleep: measure_loop_lag(self._metrics, sleep, time.perf_counter),
        }
        if days:
            work["planner"] = lambda sleep: house.planner.run(days, sleep)
        return work

    async def _drain(self, signals: asyncio.Queue[int]) -> None:
        async with asyncio.TaskGroup() as tasks:
            forcing = tasks.create_task(self._force(signals))
            application = self._house.application
            await self._gateway.drain(lambda: application.draining(DRAIN_S, RETRY_AFTER_MS))
            forcing.cancel()

    async def _force(self, signals: asyncio.Queue[int]) -> None:
        await signals.get()
        await self._gateway.drain()

    async def _readiness(self) -> Readiness:
        planner = self._house.planner
        told = {
            "planned_until": planner.planned_until,
            "failure": planner.failure,
            "failing_since": planner.failing_since,
        }
        try:
            await self._store.check()
        except StorageError:
            return Readiness(database=False, draining=self._gateway.is_draining, planner=told)
        return Readiness(database=True, draining=self._gateway.is_draining, planner=told)


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
