"""What the server counts and measures of itself, in the words of Prometheus.

No label holds what a peer can choose, nor a player, a game or a deal, so the series stay few and
tell nobody anything. Nothing here is shared by two servers in one process. Who reads it, and when
anything is counted, is for others to say.
"""

from collections.abc import Awaitable, Callable, Mapping
from math import nan
from typing import NoReturn, TypeAlias

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from cellmates.protocol import REQUESTS, ErrorCode

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OK = "ok"
UNKNOWN = "unknown"
LAG_EVERY_S = 0.1

_OUTCOMES = frozenset({OK, *ErrorCode})
_REQUEST_S = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)
_COMMIT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
_COMMIT_WRITES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_LAG_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)

# What others can be asked for, by the name under which ``watch`` is told how.
_WATCHED = {
    "connections": ("cellmates_connections", "WebSockets that are open."),
    "live_games": ("cellmates_live_games", "Games that are in memory."),
    "boards": ("cellmates_boards_loaded", "Boards that are in memory."),
    "board_rows": ("cellmates_board_rows", "Rows of the boards that are in memory."),
    "board_watchers": (
        "cellmates_board_watchers",
        "Watches on boards; a connection may have many.",
    ),
}

_Bound: TypeAlias = tuple[Callable[[], None], Callable[[float], None]]


class Metrics:
    """The figures of one server. Durations are in seconds."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        self._requests = Counter(
            "cellmates_requests_total",
            "Requests answered, by type and by outcome: ok, or the code of the error.",
            ["type", "outcome"],
            registry=registry,
        )
        self._request_seconds = Histogram(
            "cellmates_request_seconds",
            "From a request's frame to its answer, the commit included.",
            ["type"],
            buckets=_REQUEST_S,
            registry=registry,
        )
        self._frames_refused = Counter(
            "cellmates_frames_refused_total",
            "Frames in which no request could be read, by the code of the error.",
            ["code"],
            registry=registry,
        )
        self._commit_seconds = Histogram(
            "cellmates_commit_seconds",
            "How long the database took to commit a batch of writes.",
            buckets=_COMMIT_S,
            registry=registry,
        )
        self._commit_writes = Histogram(
            "cellmates_commit_writes",
            "Writes that one commit carried.",
            buckets=_COMMIT_WRITES,
            registry=registry,
        )
        self._evicted = Counter(
            "cellmates_games_evicted_total",
            "Games that left memory because they were not in use.",
            registry=registry,
        )
        self._planned = Gauge(
            "cellmates_planned_ahead_days",
            "Days ahead for which a ruleset's daily is planned.",
            ["ruleset"],
            registry=registry,
        )
        self._planning_failures = Counter(
            "cellmates_planning_failures_total",
            "Days that could not be planned; each is tried again.",
            registry=registry,
        )
        self._expired = Counter(
            "cellmates_attempts_expired_total",
            "Ranked attempts that were ended because their time was over.",
            registry=registry,
        )
        self._told = Counter(
            "cellmates_challenges_told_total",
            "Challenges whose seed and solution were made public.",
            registry=registry,
        )
        self._loop_lag = Histogram(
            "cellmates_loop_lag_seconds",
            f"How late the event loop woke a sleeper, asked every {LAG_EVERY_S} s.",
            buckets=_LAG_S,
            registry=registry,
        )
        self._watched = {
            name: Gauge(metric, says, registry=registry)
            for name, (metric, says) in _WATCHED.items()
        }
        for gauge in self._watched.values():
            gauge.set(nan)
        # On the way of every move: looking children up by their labels would take twice as long.
        self._bound: dict[tuple[str, str], _Bound] = {}
        for name in REQUESTS:
            self._bind(name, OK)

    def request(self, type_: str, outcome: str, seconds: float) -> None:
        """Count a request that was answered, ``ok`` or with an error's code.

        A type that is none of the protocol's counts as ``unknown``, and so does such an outcome.
        """
        count, observe = self._bound.get((type_, outcome)) or self._bind(type_, outcome)
        count()
        observe(seconds)

    def frame_refused(self, code: str) -> None:
        """Count a frame in which no request could be read."""
        self._frames_refused.labels(_outcome(code)).inc()

    def commit(self, writes: int, seconds: float) -> None:
        """Count a commit that carried so many writes."""
        self._commit_writes.observe(writes)
        self._commit_seconds.observe(seconds)

    def evicted(self, games: int) -> None:
        """Count games that left memory."""
        self._evicted.inc(games)

    def planned(self, ruleset: str, days_ahead: int) -> None:
        """Say how far ahead the dailies of a ruleset, one of the server's, are planned."""
        self._planned.labels(ruleset).set(days_ahead)

    def planning_failed(self) -> None:
        """Count a day that could not be planned."""
        self._planning_failures.inc()

    def expired(self, attempts: int) -> None:
        """Count attempts that the server ended."""
        self._expired.inc(attempts)

    def told(self, challenges: int) -> None:
        """Count challenges that everybody may know all about from now on."""
        self._told.inc(challenges)

    def loop_lag(self, seconds: float) -> None:
        """Say how late the event loop woke somebody."""
        self._loop_lag.observe(seconds)

    def watch(self, readings: Mapping[str, Callable[[], float]]) -> None:
        """Ask these whenever the figures are read; what nobody can be asked for is told as NaN.

        The names are ``connections``, ``live_games``, ``boards``, ``board_rows`` and
        ``board_watchers``.

        Raises:
            KeyError: there is no such name; none of the readings is taken then.
        """
        gauges = [(self._watched[name], read) for name, read in readings.items()]
        for gauge, read in gauges:
            gauge.set_function(read)

    def text(self) -> bytes:
        """All figures as they stand, as a page of ``CONTENT_TYPE``."""
        return generate_latest(self._registry)

    def _bind(self, type_: str, outcome: str) -> _Bound:
        type_label = type_ if type_ in REQUESTS else UNKNOWN
        key = (type_label, _outcome(outcome))
        bound = self._requests.labels(*key).inc, self._request_seconds.labels(type_label).observe
        # Kept under the labels, not under what was said: that would be as many as peers can invent.
        return self._bound.setdefault(key, bound)


async def measure_loop_lag(
    metrics: Metrics, sleep: Callable[[float], Awaitable[object]], monotonic: Callable[[], float]
) -> NoReturn:
    """Measure how late the event loop wakes a sleeper, again and again until cancelled.

    ``sleep`` and ``monotonic`` are in seconds.
    """
    while True:
        due = monotonic() + LAG_EVERY_S
        await sleep(LAG_EVERY_S)
        metrics.loop_lag(max(0.0, monotonic() - due))


def _outcome(code: str) -> str:
    return code if code in _OUTCOMES else UNKNOWN
