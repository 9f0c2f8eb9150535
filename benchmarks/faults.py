"""What faults cost, in their long form: a line each, with what was lost and doubled.

python -m benchmarks.faults                      # everything; takes hours
python -m benchmarks.faults kill-sqlite --short  # one, as the tests run it
python -m benchmarks.faults --short --mutant early-ack  # has to be found out
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from server.store import upgrade
from tests.faults.cancelling import cancelling
from tests.faults.conformance import conformance
from tests.faults.databases import How, disk_is_full, postgres_goes_away
from tests.faults.figures import Figures
from tests.faults.fuzz import fuzz
from tests.faults.hostile import hostile
from tests.faults.kill import kill_nine, two_processes
from tests.faults.leaks import leaks, long_work
from tests.faults.mutants import MUTANTS
from tests.faults.network import cut_networks, half_open, half_open_server_side, storm
from tests.faults.simulation import simulate
from tests.faults.stopping import clock_jumps, sigterm
from tests.postgres import Postgres

from .report import machine, progress


@dataclass
class Place:
    """Where a fault is tried: a folder and databases of its own."""

    name: str
    folder: Path
    mutant: str | None
    ends: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def postgres(self) -> Postgres:
        """A server of its own."""
        return self.ends.enter_context(Postgres())

    @property
    def sqlite_url(self) -> str:
        """A new database with its tables."""
        return _with_tables(f"sqlite:///{self.folder}/games.db")

    @property
    def postgres_url(self) -> str:
        """A new database with its tables."""
        return _with_tables(self.ends.enter_context(self.postgres.database()))

    def tell(self, text: str) -> None:
        """Say how far it is."""
        if sys.stderr.isatty():
            print(f"\r{self.name}: {text}", end="\033[K\r", file=sys.stderr, flush=True)


def _with_tables(url: str) -> str:
    asyncio.run(upgrade(url))
    return url


Run = Callable[[Place, int], Figures | Coroutine[Any, Any, Figures]]


@dataclass(frozen=True)
class Fault:
    """How much of it the tests try, and how much the long form; ``run`` is given one of both.

    ``finds`` are the mutants that it finds out.
    """

    short: int
    long: int
    run: Run
    finds: tuple[str, ...] = ()


def _kill(kind: str, place: Place, cycles: int) -> Coroutine[Any, Any, Figures]:
    url = place.sqlite_url if kind == "sqlite" else place.postgres_url
    return kill_nine(url, place.folder, cycles=cycles, mutant=place.mutant, tell=place.tell)


def _two(kind: str, place: Place, cycles: int) -> Coroutine[Any, Any, Figures]:
    url = place.sqlite_url if kind == "sqlite" else place.postgres_url
    return two_processes(url, place.folder, cycles=cycles, mutant=place.mutant, tell=place.tell)


def _away(how: How, seconds: float, place: Place, cycles: int) -> Coroutine[Any, Any, Figures]:
    url = place.postgres_url
    return postgres_goes_away(
        place.postgres, url, place.folder, how=how, cycles=cycles, seconds=seconds, tell=place.tell
    )


def _simulated(place: Place, seeds: int) -> Figures:
    broken = 0
    for seed in range(seeds):
        broken += simulate(seed).broken is not None
        if not (seed + 1) % 100:
            place.tell(f"{seed + 1} of {seeds}")
    return Figures("simulation", seeds, broken, 0)


BEFORE_COMMIT = ("early-ack", "no-repeat-check")
FAULTS: dict[str, Fault] = {
    "kill-sqlite": Fault(60, 1000, partial(_kill, "sqlite"), BEFORE_COMMIT),
    "kill-postgres": Fault(60, 1000, partial(_kill, "postgres"), BEFORE_COMMIT),
    "two-sqlite": Fault(20, 300, partial(_two, "sqlite"), ("no-fencing",)),
    "two-postgres": Fault(20, 300, partial(_two, "postgres"), ("no-fencing",)),
    "postgres-fast": Fault(1, 30, partial(_away, "fast", 0.0)),
    "postgres-immediate": Fault(1, 30, partial(_away, "immediate", 0.0)),
    "postgres-away": Fault(1, 10, partial(_away, "away", 1.0)),
    "postgres-stalled": Fault(1, 5, partial(_away, "stalled", 1.0)),
    "postgres-stalled-long": Fault(1, 3, partial(_away, "stalled", 12.0)),
    "disk-full": Fault(2, 100, lambda at, n: disk_is_full(at.folder, cycles=n, tell=at.tell)),
    "disk-limit": Fault(
        2, 100, lambda at, n: disk_is_full(at.folder, cycles=n, mounting=False, tell=at.tell)
    ),
    "sigterm": Fault(
        1, 100, lambda at, n: sigterm(at.sqlite_url, at.folder, cycles=n, tell=at.tell)
    ),
    "clock-sqlite": Fault(
        1, 20, lambda at, n: clock_jumps(at.sqlite_url, at.folder, cycles=n, tell=at.tell)
    ),
    "clock-postgres": Fault(
        1, 20, lambda at, n: clock_jumps(at.postgres_url, at.folder, cycles=n, tell=at.tell)
    ),
    "cut": Fault(60, 2000, lambda at, n: cut_networks(at.folder, cuts=n)),
    "half-open": Fault(3, 20, lambda at, n: half_open(at.folder, peers=n)),
    "half-open-server": Fault(20, 20, lambda at, n: half_open_server_side(at.folder, peers=n)),
    "storm": Fault(200, 2000, lambda at, n: storm(at.folder, clients=n)),
    "storm-killed": Fault(200, 10_000, lambda at, n: storm(at.folder, clients=n, is_killed=True)),
    "hostile": Fault(1, 20, lambda at, n: hostile(at.folder, rounds=n, progress=at.tell)),
    "leaks": Fault(500, 10_000, lambda at, n: leaks(at.folder, cycles=n, progress=at.tell)),
    "long-work": Fault(
        10_000, 100_000, lambda at, n: long_work(at.folder, runs=n, reads=n // 2000)
    ),
    "conformance": Fault(0, 1, lambda _, n: conformance(mass=bool(n))),
    "fuzz": Fault(2, 200, lambda _, n: fuzz(rounds=n)),
    "cancelling-sqlite": Fault(8, 0, lambda at, n: cancelling(at.sqlite_url, each=n or None)),
    "cancelling-postgres": Fault(8, 0, lambda at, n: cancelling(at.postgres_url, each=n or None)),
    "simulation": Fault(300, 10_000, _simulated),
}


def try_out(name: str, *, short: bool, mutant: str | None) -> Figures:
    """Try one fault."""
    fault = FAULTS[name]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        place = Place(name, Path(folder), mutant, ends)
        found = fault.run(place, fault.short if short else fault.long)
        return found if isinstance(found, Figures) else asyncio.run(found)


def main() -> int:
    """Try faults; 0 where nothing was lost or doubled, or where a mutant was found out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(FAULTS)}")
    parser.add_argument("--short", action="store_true", help="as much as the tests try")
    parser.add_argument("--mutant", choices=MUTANTS, help="a server that lacks this safeguard")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - FAULTS.keys():
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    names = [
        name for name in chosen.names or FAULTS if chosen.mutant in (None, *FAULTS[name].finds)
    ]
    if not names:
        parser.error(f"nothing of that finds {chosen.mutant}")
    print(machine("websockets", "sqlalchemy"))
    failed = 0
    for name in names:
        progress(f"{name} …")
        figures = try_out(name, short=chosen.short, mutant=chosen.mutant)
        print(f"{name}: {figures}", flush=True)
        is_broken = bool(figures.lost or figures.doubled)
        failed += is_broken != (chosen.mutant is not None)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
