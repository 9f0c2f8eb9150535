"""Hostile peers, twenty of a kind at a time, beside ten who only want to play."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from server.metrics import LAG_EVERY_S
from tests.e2e.running import RunningServer
from tests.e2e.stranger import Body, Stranger

from .apart import Line, apart
from .endless import RULESET, to_and_fro
from .figures import Figures
from .network import errors_in, figure_of, page, served
from .vandals import VANDALISMS, vandals

HONEST = 10
HOSTILE = 20
QUIET_S = 2.0  # each round's worth
_PAUSE_S = 0.02
_QUIET, _NOT_COUNTED = "nothing", "between"


# -- Who only want to play -------------------------------------------------------------------------


@dataclass
class Evening:
    """What goes on, and how long moves took meanwhile, in seconds."""

    meanwhile: str = _NOT_COUNTED
    is_over: bool = False
    spent_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class Honest:
    """A player who makes one move after another, at the pace of somebody who thinks."""

    def __init__(self, stranger: Stranger, game: str) -> None:
        self._stranger = stranger
        self._game = game
        self._seq = 0

    @classmethod
    async def seated(cls, server: RunningServer, token: str) -> "Honest":
        # From an address of their own, as people have one: what is counted there is the others'.
        stranger = await Stranger.connect(server.url, local_addr=("127.0.0.2", 0))
        await stranger.hello(token)
        view: Body = await stranger.ask("game.start", ruleset=RULESET)
        return cls(stranger, view["game"])

    async def play(self, evening: Evening) -> None:
        loop = asyncio.get_running_loop()
        while not evening.is_over:
            seq, began, meanwhile = self._seq + 1, loop.time(), evening.meanwhile
            told = await self._stranger.ask(
                "game.move", game=self._game, seq=seq, move=to_and_fro(seq)
            )
            assert (told["seq"], told["repeated"]) == (seq, False), told
            self._seq = seq
            evening.spent_s[meanwhile].append(loop.time() - began)
            await asyncio.sleep(_PAUSE_S)

    async def leave(self) -> None:
        seq = (await self._stranger.ask("game.open", game=self._game))["seq"]
        assert seq == self._seq, "all that was acknowledged is there, and nothing else"
        await self._stranger.close()


# -- What the server says of itself ----------------------------------------------------------------


def lag_of(server: RunningServer) -> dict[float, float]:
    """How often the server's loop was late, by how late at most, in seconds."""
    found: dict[float, float] = {}
    for line in page(server, "metrics").splitlines():
        name, _, count = line.partition(" ")
        if name.startswith("cellmates_loop_lag_seconds_bucket"):
            found[float(name.split('"')[1])] = float(count)
    return found


def lag_within(before: Mapping[float, float], after: Mapping[float, float], part: float) -> float:
    """Bound, in seconds, that so great a part of what was late since keeps."""
    since = {bound: after[bound] - before[bound] for bound in sorted(after)}
    asked = max(since.values())
    return next(bound for bound, count in since.items() if count >= part * asked)


def resident_mib(server: RunningServer) -> float:
    """Memory that the server's process has."""
    return figure_of(server, "process_resident_memory_bytes") / 2**20


# -- F8 --------------------------------------------------------------------------------------------


async def hostile(
    folder: Path, *, rounds: int, progress: Callable[[str], None] = lambda _: None
) -> Figures:
    """All vandalisms, so many times each; what it costs the server, and those who only play.

    Each round comes twice: alone, for what it costs in memory, which moves cost too; and beside the
    honest.
    """
    evening, lags = Evening(), defaultdict[str, Counter[float]](Counter)
    async with (
        served(folder, HONEST, moves_per_s="100") as (server, tokens),
        apart(vandals, server.http) as line,
    ):
        honest = [await Honest.seated(server, token) for token in tokens]
        # What is allocated once, by whatever was the first of its kind, is no growth.
        await _vandalise(line, [*VANDALISMS], 1)
        memory = await asyncio.to_thread(resident_mib, server)
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}, alone")
            for name in VANDALISMS:
                await _vandalise(line, [name], HOSTILE)
        grown = await asyncio.to_thread(resident_mib, server) - memory
        async with asyncio.TaskGroup() as tasks:
            for one in honest:
                tasks.create_task(one.play(evening))
            evening.meanwhile = _QUIET
            await asyncio.sleep(QUIET_S * rounds)
            for number in range(rounds):
                progress(f"round {number + 1} of {rounds}")
                await _round(server, line, evening, lags)
            evening.is_over = True
        line.say(None)
        for one in honest:
            await one.leave()
        errors = errors_in(server)
    tried = 2 * rounds * HOSTILE * len(VANDALISMS)
    return Figures(
        "hostile peers", tried, 0, 0, None, _more(evening, lags, round(grown, 1), len(errors))
    )


async def _round(
    server: RunningServer, line: Line, evening: Evening, lags: Mapping[str, Counter[float]]
) -> None:
    """Each vandalism in its turn, by all at once; what comes of it is counted as its own."""
    for name in VANDALISMS:
        evening.meanwhile = _NOT_COUNTED
        before = await asyncio.to_thread(lag_of, server)
        evening.meanwhile = name
        await _vandalise(line, [name], HOSTILE)
        await asyncio.sleep(LAG_EVERY_S)
        evening.meanwhile = _NOT_COUNTED
        after = await asyncio.to_thread(lag_of, server)
        lags[name].update({bound: int(after[bound] - before[bound]) for bound in after})


async def _vandalise(line: Line, names: list[str], count: int) -> None:
    line.say((names, count))
    await line.hear()


def _more(
    evening: Evening, lags: Mapping[str, Counter[float]], grown_mib: float, errors: int
) -> dict[str, str | int | float]:
    p99_ms = {name: round(1000 * _p99(evening.spent_s[name]), 1) for name in VANDALISMS}
    worst = max(p99_ms, key=p99_ms.__getitem__)
    lag_ms = {name: _lag_p99_ms(lags[name]) for name in VANDALISMS}
    slowest = max(lag_ms, key=lag_ms.__getitem__)
    spent = [one for name in VANDALISMS for one in evening.spent_s[name]]
    return {
        "RSS growth MiB": grown_mib,
        "loop lag p99 ms at most": _lag_p99_ms(sum(lags.values(), Counter())),
        "honest moves": len(spent),
        "honest p99 ms": round(1000 * _p99(spent), 1),
        "honest p99 ms when quiet": round(1000 * _p99(evening.spent_s[_QUIET]), 1),
        "worst for them": f"{worst} with a p99 of {p99_ms[worst]} ms",
        "worst for the loop": f"{slowest} with a lag p99 of {lag_ms[slowest]} ms at most",
        "errors": errors,
    }


def _lag_p99_ms(found: Mapping[float, float]) -> float:
    return 1000 * lag_within(dict.fromkeys(found, 0.0), found, 0.99)


def _p99(values: Sequence[float]) -> float:
    """Of so few values that there is no such part, the largest."""
    return sorted(values)[int(0.99 * len(values))] if values else 0.0
