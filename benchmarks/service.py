"""What a move, a connection and a return cost over the wire, beside rivals that do the same work.

One server process on one core, the load on another. Contenders take turns, round by round, so that
what the machine does meanwhile meets all alike; only ratios within one run are worth comparing.
uWebSockets.js is not among the rivals: npm's registry does not have it.
"""

import argparse
import gc
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from random import Random

from . import contenders as who
from .contenders import Contender, Ground, Running
from .dialects import SUBPROTOCOL, Echo, Ours, Resuming
from .gauges import cores, cpu_s, family_cpu_s, on_core, resident_kib, waited_s
from .load import Crew, Dialect, Tally
from .report import machine, progress
from .results import Figure, Target, ratio, shown

ROUNDS = 5
PLAYERS = (100, 1000)
OPEN_LOOP_PER_S = 3000
COMING_TOGETHER = 50
COME_BEFORE = 200  # connections that are there before memory is measured
OTHER_FILES = 100
SETTLED_S = 0.5
NOT_MEASURED = "uWebSockets.js: npm's registry does not have it"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """How long is measured, in seconds, and how many connections are held."""

    warm_s: float = 1.0
    moving_s: float = 2.0
    open_s: float = 5.0
    coming_s: float = 2.0
    idle: int = 4000
    storm: int = 2000


FULL = Plan()
SHORT = Plan(warm_s=0.2, moving_s=0.5, open_s=0.5, coming_s=0.5, idle=500, storm=500)


class Notes:
    """Values by name, one a round, as they are measured."""

    def __init__(self) -> None:
        self._units: dict[str, str] = {}
        self._rounds: dict[str, list[float]] = {}

    def note(self, name: str, unit: str, value: float) -> None:
        """Keep a round's value."""
        self._units[name] = unit
        self._rounds.setdefault(name, []).append(value)

    def figures(self, targets: Mapping[str, Target]) -> dict[str, Figure]:
        """All that was measured, with what was asked for."""
        return {
            name: Figure(name, self._units[name], tuple(rounds), targets.get(name))
            for name, rounds in self._rounds.items()
        }


# -- One round -------------------------------------------------------------------------------------


def measure(rounds: int, tell: Tell, plan: Plan = FULL) -> list[Figure]:
    """Measure everything so many times; ``tell`` is told how far it is.

    Raises:
        Wrong: a contender has answered something wrong.
    """
    notes = Notes()
    server_core, load_core = cores()
    with_node = who.rivals_are_there(tell)
    there = [one for one in who.MOVING if with_node or not one.is_on_node]
    players = max(*PLAYERS, plan.storm, plan.idle + COME_BEFORE)
    with tempfile.TemporaryDirectory() as folder, on_core(load_core), _without_gc():
        ground = Ground(Path(folder), server_core, players)
        with ground.prepared():
            for done in range(rounds):
                tell(f"round {done + 1} of {rounds}")
                _measure_once(ground, there, plan, notes)
    return _judged(notes)


def _measure_once(ground: Ground, there: Sequence[Contender], plan: Plan, notes: Notes) -> None:
    for contender in there:
        _measure_moves(ground, contender, plan, notes)
    for contender, dialect in COMING:
        if contender in there:
            _measure_coming(ground, contender, dialect, plan, notes)
    for contender in STAYING:
        if contender in there:
            _measure_staying(ground, contender, plan, notes)
    notes.note(STORM, "s", _storm_s(ground, plan.storm))


def _measure_moves(ground: Ground, contender: Contender, plan: Plan, notes: Notes) -> None:
    with ground.running(contender) as running:
        for players in PLAYERS:
            with Crew(running.port, contender.dialect(running.port)) as crew:
                crew.join(range(players))
                crew.closed_loop(plan.warm_s)
                of = f"{contender.name}, {players} players"
                _note_closed(notes, of, running, lambda: crew.closed_loop(plan.moving_s))
                if contender in DURABLE and players == PLAYERS[-1]:
                    tally = crew.open_loop(OPEN_LOOP_PER_S, plan.open_s, Random(1))
                    for percent in (50, 99):
                        name = _at_pace(percent, contender)
                        notes.note(name, "ms", tally.percentile_ms(percent))


def _note_closed(notes: Notes, of: str, running: Running, run: Callable[[], Tally]) -> None:
    before = _taken(running)
    tally = run()
    taken = {name: after - before[name] for name, after in _taken(running).items()}
    notes.note(f"moves, {of}", "moves/s", tally.per_s)
    notes.note(f"p50, {of}", "ms", tally.percentile_ms(50))
    notes.note(f"p99, {of}", "ms", tally.percentile_ms(99))
    notes.note(f"server CPU, {of}", "µs", 1e6 * taken["server"] / tally.moves)
    if running.database_pid is not None:
        notes.note(f"database CPU, {of}", "µs", 1e6 * taken["database"] / tally.moves)
    notes.note(f"server busy, {of}", "%", 100 * taken["server"] / tally.seconds)
    notes.note(f"server kept waiting, {of}", "%", 100 * taken["waited"] / tally.seconds)
    notes.note(f"load busy, {of}", "%", 100 * tally.busy_s / tally.seconds)
    notes.note(f"load's capacity, {of}", "moves/s", tally.moves / tally.busy_s)


def _taken(running: Running) -> dict[str, float]:
    """Seconds of CPU by whom they were taken, and those that the server waited for its core."""
    database_pid = running.database_pid
    return {
        "server": cpu_s(running.pid),
        "waited": waited_s(running.pid),
        "database": 0.0 if database_pid is None else family_cpu_s(database_pid),
    }


def _measure_staying(ground: Ground, contender: Contender, plan: Plan, notes: Notes) -> None:
    """Memory of connections that have greeted and say nothing."""
    dialect = Echo() if contender is who.SERVE else Ours(starts=False)
    with ground.running(contender) as running, Crew(running.port, dialect) as crew:
        crew.join(range(COME_BEFORE))
        before = _settled_kib(running, contender)
        crew.join(range(COME_BEFORE, COME_BEFORE + plan.idle))
        grown = _settled_kib(running, contender) - before
    notes.note(f"idle connection, {contender.name}", "KiB", grown / plan.idle)
    notes.note(f"connections held, {contender.name}", "", plan.idle + COME_BEFORE)


def _measure_coming(
    ground: Ground, contender: Contender, dialect: Dialect, plan: Plan, notes: Notes
) -> None:
    """How many may come a second, each from an address of its own, and go again at once."""
    says_hello = isinstance(dialect, Ours)
    of = f"{'handshakes and hellos' if says_hello else 'handshakes'}, {contender.name}"
    with ground.running(contender) as running, Crew(running.port, dialect) as crew:
        numbers = cycle(range(PLAYERS[-1]))
        crew.come_and_go(numbers, COMING_TOGETHER, plan.warm_s)
        before_s = cpu_s(running.pid)
        come = crew.come_and_go(numbers, COMING_TOGETHER, plan.coming_s)
        spent_s = cpu_s(running.pid) - before_s
    notes.note(of, "/s", come.per_s)
    notes.note(f"server CPU, {of}", "µs", 1e6 * spent_s / come.number)


def _settled_kib(running: Running, contender: Contender) -> float:
    """Memory of a server that has nothing to do, and no garbage where it can be asked for that."""
    if contender.is_on_node:
        os.kill(running.pid, signal.SIGUSR2)
    time.sleep(SETTLED_S)
    return resident_kib(running.pid)


def _storm_s(ground: Ground, players: int) -> float:
    """Seconds until all have their games back, who come at once after a restart."""
    with ground.database(who.SQLITE) as url:
        with ground.running_on(who.SQLITE, url) as running, Crew(running.port, Ours()) as crew:
            crew.join(range(players))
            crew.closed_loop(0)
            games = {seat.number: (seat.game, seat.seq) for seat in crew}
        with (
            ground.running_on(who.SQLITE, url) as running,
            Crew(running.port, Resuming(games)) as crew,
        ):
            began = time.perf_counter()
            crew.join(range(players), together=players)
            spent = time.perf_counter() - began
            crew.closed_loop(0)
            return spent


@contextmanager
def _without_gc() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# -- What is measured, and what is asked for -----------------------------------------------------

COMING: tuple[tuple[Contender, Dialect], ...] = (
    (who.SQLITE, Ours(starts=False)),
    (who.GATEWAY, Echo("/ws", SUBPROTOCOL)),
    (who.SERVE, Echo()),
    (who.NODE, Echo()),
)
STAYING = (who.SQLITE, who.SERVE, who.NODE)
DURABLE = (who.SQLITE, who.POSTGRES)
STORM = "storm of players who come back at once"
FEW, MANY = PLAYERS


def _at_pace(percent: int, contender: Contender) -> str:
    return f"p{percent} at {OPEN_LOOP_PER_S} moves/s, {contender.name}"


TARGETS = {
    _at_pace(50, who.SQLITE): Target("≤", 3),
    _at_pace(99, who.SQLITE): Target("≤", 10),
    _at_pace(50, who.POSTGRES): Target("≤", 8),
    _at_pace(99, who.POSTGRES): Target("≤", 15),
    f"idle connection, {who.SQLITE.name}": Target("≤", 8),
    STORM: Target("≤", 10),
}
# Who, over whom, with how many players, and how many times at least.
RATIOS = (
    (who.STUBBED, who.NODE, FEW, 1.2),
    (who.STUBBED, who.NODE, MANY, 1.2),
    (who.STUBBED, who.COLYSEUS, FEW, 2.0),
    (who.STUBBED, who.COLYSEUS, MANY, 2.0),
    (who.SQLITE, who.COLYSEUS, MANY, 1.5),
    (who.SQLITE, who.NODE, MANY, 0.6),
    (who.POSTGRES, who.COLYSEUS, MANY, 1.5),
    (who.POSTGRES, who.NODE, MANY, 0.6),
    (who.GATEWAY, who.SERVE, FEW, 3.0),
    (who.GATEWAY, who.SERVE, MANY, 3.5),
    (who.GATEWAY, who.TCP, FEW, 0.7),
    (who.GATEWAY, who.TCP, MANY, 0.7),
)


def _judged(notes: Notes) -> list[Figure]:
    """What was measured, and behind it the ratios that are asked for: of rates, and of CPU."""
    found = notes.figures(TARGETS)
    ratios = []
    for one, other, players, least in RATIOS:
        of = f"{one.name} / {other.name}, {players} players"
        kinds = (("moves", one, other), ("server CPU", other, one))
        for kind, over, under in kinds:
            figures = [
                found.get(f"{kind}, {each.name}, {players} players") for each in (over, under)
            ]
            if figures[0] is not None and figures[1] is not None:
                told = "moves" if kind == "moves" else "moves a second of server CPU"
                ratios.append(ratio(f"{told}, {of}", figures[0], figures[1], Target("≥", least)))
    return [*found.values(), *ratios]


# -- The command -----------------------------------------------------------------------------------


def measured_with() -> dict[str, str]:
    """Day, machine, versions, and what a reader has to know of how it was measured."""
    server_core, load_core = cores()
    wanted = json.loads((who.RIVALS / "package.json").read_text())["dependencies"]
    told = {
        "day": datetime.now(UTC).date().isoformat(),
        "machine": machine("websockets", "uvloop", "msgspec"),
        "cores": f"server on {server_core}; load and Postgres on {load_core}",
        "load": "waits awake; its capacity is what it would drive if it never had to wait",
        "server kept waiting": "for its core, by others: where it is much, rates say little",
        "not measured": NOT_MEASURED,
    }
    try:
        node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return told
    rivals = " · ".join(f"{name} {version}" for name, version in wanted.items())
    return told | {"rivals": f"Node {node.stdout.strip()} · {rivals}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each measurement; 5")
    parser.add_argument("--short", action="store_true", help="one short round")
    parser.add_argument("--idle", type=int, default=FULL.idle, help="connections held; 4000")
    chosen = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if chosen.idle + COME_BEFORE + OTHER_FILES > most:
        parser.error(f"{chosen.idle} connections cannot be held: a process may open {most} files")
    plan, rounds = replace(FULL, idle=chosen.idle), chosen.rounds
    if chosen.short:
        plan, rounds = SHORT, 1
    figures = measure(rounds, progress, plan)
    print("\n".join(f"{name}: {text}" for name, text in measured_with().items()))
    print(shown(figures))


if __name__ == "__main__":
    main()
