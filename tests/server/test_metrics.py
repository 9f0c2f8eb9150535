"""Figures: each act counts what it should, and no label is as free as a peer's words."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isnan

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cellmates.protocol import REQUESTS, ErrorCode
from server.metrics import CONTENT_TYPE, LAG_EVERY_S, Metrics, measure_loop_lag

WATCHED = {
    "connections": "cellmates_connections",
    "live_games": "cellmates_live_games",
    "boards": "cellmates_boards_loaded",
    "board_rows": "cellmates_board_rows",
    "board_watchers": "cellmates_board_watchers",
}


def samples(metrics: Metrics) -> dict[str, float]:
    """Value of each series, written as in the text but with sorted labels."""
    found = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


ACTS: dict[str, tuple[Callable[[Metrics], None], dict[str, float]]] = {
    "a request that was answered": (
        lambda metrics: metrics.request("game.move", "ok", 0.003),
        {
            "cellmates_requests_total{outcome=ok,type=game.move}": 1,
            "cellmates_request_seconds_count{type=game.move}": 1,
            "cellmates_request_seconds_sum{type=game.move}": 0.003,
            "cellmates_request_seconds_bucket{le=0.0025,type=game.move}": 0,
            "cellmates_request_seconds_bucket{le=0.005,type=game.move}": 1,
        },
    ),
    "a request that was refused": (
        lambda metrics: metrics.request("game.move", ErrorCode.CONFLICT, 2),
        {
            "cellmates_requests_total{outcome=conflict,type=game.move}": 1,
            "cellmates_requests_total{outcome=ok,type=game.move}": 0,
            "cellmates_request_seconds_sum{type=game.move}": 2,
        },
    ),
    "a request of an invented type": (
        lambda metrics: metrics.request("hello!", "unknown-type", 1),
        {
            "cellmates_requests_total{outcome=unknown-type,type=unknown}": 1,
            "cellmates_request_seconds_count{type=unknown}": 1,
        },
    ),
    "a request of an invented outcome": (
        lambda metrics: metrics.request("ping", "Anna", 1),
        {
            "cellmates_requests_total{outcome=unknown,type=ping}": 1,
            "cellmates_request_seconds_count{type=ping}": 1,
        },
    ),
    "a frame that was refused": (
        lambda metrics: metrics.frame_refused(ErrorCode.BAD_FRAME),
        {"cellmates_frames_refused_total{code=bad-frame}": 1},
    ),
    "a frame that was refused with an invented code": (
        lambda metrics: metrics.frame_refused("Anna"),
        {"cellmates_frames_refused_total{code=unknown}": 1},
    ),
    "a commit": (
        lambda metrics: metrics.commit(12, 0.004),
        {
            "cellmates_commit_seconds_count{}": 1,
            "cellmates_commit_seconds_sum{}": 0.004,
            "cellmates_commit_seconds_bucket{le=0.0025}": 0,
            "cellmates_commit_seconds_bucket{le=0.005}": 1,
            "cellmates_commit_writes_sum{}": 12,
            "cellmates_commit_writes_bucket{le=10.0}": 0,
            "cellmates_commit_writes_bucket{le=20.0}": 1,
        },
    ),
    "games that left memory": (
        lambda metrics: metrics.evicted(3),
        {"cellmates_games_evicted_total{}": 3},
    ),
    "days that are planned": (
        lambda metrics: metrics.planned("freecell", 7),
        {"cellmates_planned_ahead_days{ruleset=freecell}": 7},
    ),
    "a day that could not be planned": (
        lambda metrics: metrics.planning_failed(),
        {"cellmates_planning_failures_total{}": 1},
    ),
    "attempts that were ended": (
        lambda metrics: metrics.expired(4),
        {"cellmates_attempts_expired_total{}": 4},
    ),
    "challenges that were told": (
        lambda metrics: metrics.told(5),
        {"cellmates_challenges_told_total{}": 5},
    ),
    "a loop that was late": (
        lambda metrics: metrics.loop_lag(0.03),
        {
            "cellmates_loop_lag_seconds_sum{}": 0.03,
            "cellmates_loop_lag_seconds_bucket{le=0.025}": 0,
            "cellmates_loop_lag_seconds_bucket{le=0.05}": 1,
        },
    ),
}


@pytest.mark.parametrize(("act", "expected"), ACTS.values(), ids=ACTS.keys())
def test_an_act_counts_what_it_should_and_nothing_else(
    act: Callable[[Metrics], None], expected: dict[str, float]
) -> None:
    metrics = Metrics()
    before = samples(metrics)
    act(metrics)
    after = samples(metrics)
    assert {series: after[series] for series in expected} == expected
    changed = {series for series in after if after[series] != before.get(series)}
    assert families(changed) == families(expected) | families(unwatched(after))


def families(series: Iterable[str]) -> set[str]:
    """Names of those of the server's own series, without what tells them apart."""
    ours = (name.partition("{")[0] for name in series if name.startswith("cellmates_"))
    return {re.sub("_(total|created|count|sum|bucket)$", "", name) for name in ours}


def unwatched(found: dict[str, float]) -> list[str]:
    """Series that are not a number, which differs from itself."""
    return [series for series, value in found.items() if isnan(value)]


def test_figures_add_up() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.request("ping", "ok", 0.5)
        metrics.evicted(2)
    found = samples(metrics)
    assert found["cellmates_requests_total{outcome=ok,type=ping}"] == 3
    assert found["cellmates_request_seconds_sum{type=ping}"] == 1.5
    assert found["cellmates_games_evicted_total{}"] == 6


def test_a_ruleset_is_planned_as_far_ahead_as_was_said_last() -> None:
    metrics = Metrics()
    metrics.planned("freecell", 7)
    metrics.planned("eight-off", 9)
    metrics.planned("freecell", 6)
    found = samples(metrics)
    assert found["cellmates_planned_ahead_days{ruleset=freecell}"] == 6
    assert found["cellmates_planned_ahead_days{ruleset=eight-off}"] == 9


def test_every_type_has_its_series_from_the_start() -> None:
    found = samples(Metrics())
    for name in REQUESTS:
        assert found[f"cellmates_requests_total{{outcome=ok,type={name}}}"] == 0
        assert found[f"cellmates_request_seconds_count{{type={name}}}"] == 0


@pytest.mark.parametrize("type_", ["ping", "unknown", "invented"])
@pytest.mark.parametrize("outcome", ["ok", "conflict", "unknown", "invented"])
def test_what_peers_invent_makes_nothing_grow(type_: str, outcome: str) -> None:
    metrics = Metrics()
    metrics.request(type_, outcome, 1)
    metrics.frame_refused(outcome)
    series, kept = samples(metrics).keys(), len(metrics._bound)
    for number in range(20):
        metrics.request(type_ + str(number) * (type_ == "invented"), outcome, 1)
        metrics.request(type_, outcome + str(number) * (outcome == "invented"), 1)
        metrics.frame_refused(outcome + str(number) * (outcome == "invented"))
    assert samples(metrics).keys() == series
    assert len(metrics._bound) == kept
    assert "invented" not in metrics.text().decode()


def test_two_servers_in_a_process_share_no_figures() -> None:
    one, other = Metrics(), Metrics()
    one.evicted(1)
    assert samples(one)["cellmates_games_evicted_total{}"] == 1
    assert samples(other)["cellmates_games_evicted_total{}"] == 0


@pytest.mark.parametrize(("name", "series"), WATCHED.items())
def test_what_is_watched_is_asked_when_the_figures_are_read(name: str, series: str) -> None:
    metrics = Metrics()
    assert isnan(samples(metrics)[f"{series}{{}}"])
    count = 0
    metrics.watch({name: lambda: count})
    assert samples(metrics)[f"{series}{{}}"] == 0
    count = 7
    found = samples(metrics)
    assert found[f"{series}{{}}"] == 7
    assert sum(not isnan(found[f"{other}{{}}"]) for other in WATCHED.values()) == 1


def test_only_what_has_a_name_is_watched() -> None:
    metrics = Metrics()
    with pytest.raises(KeyError):
        metrics.watch({"connections": lambda: 1, "players": lambda: 1})
    assert isnan(samples(metrics)["cellmates_connections{}"])


def test_every_metric_has_help_and_a_name_that_says_its_unit() -> None:
    metrics = Metrics()
    metrics.planned("freecell", 1)
    families = list(text_string_to_metric_families(metrics.text().decode()))
    assert len(families) > 20
    for family in families:
        assert family.documentation
        assert family.name.startswith(("cellmates_", "process_", "python_"))
    types = {family.name: family.type for family in families}
    assert "counter" in types.values()
    assert {name for name, kind in types.items() if kind == "histogram"} == {
        "cellmates_request_seconds",
        "cellmates_commit_seconds",
        "cellmates_commit_writes",
        "cellmates_loop_lag_seconds",
    }


def test_the_process_tells_of_itself() -> None:
    found = samples(Metrics())
    assert found["process_resident_memory_bytes{}"] > 2**20
    assert found["process_open_fds{}"] > 2
    assert any(series.startswith("python_info{") for series in found)
    assert "python_gc_collections_total{generation=0}" in found


def test_the_content_type_is_that_of_the_text_format() -> None:
    assert CONTENT_TYPE == "text/plain; version=0.0.4; charset=utf-8"


class Over(Exception):
    """There are no more sleeps."""


@dataclass
class LateLoop:
    """Sleeps that take longer than they should, by a list of what is added."""

    late: list[float]
    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, span: float) -> None:
        if not self.late:
            raise Over
        self.slept.append(span)
        self.now += span + self.late.pop(0)

    def monotonic(self) -> float:
        return self.now


@pytest.mark.asyncio
async def test_the_lag_of_the_loop_is_how_late_a_sleeper_wakes() -> None:
    metrics, loop = Metrics(), LateLoop([0.002, 0.0, 0.3, -0.05])
    with pytest.raises(Over):
        await measure_loop_lag(metrics, loop.sleep, loop.monotonic)
    found = samples(metrics)
    assert loop.slept == [LAG_EVERY_S] * 4
    assert found["cellmates_loop_lag_seconds_count{}"] == 4
    assert found["cellmates_loop_lag_seconds_sum{}"] == pytest.approx(0.302)
    assert found["cellmates_loop_lag_seconds_bucket{le=0.001}"] == 2
    assert found["cellmates_loop_lag_seconds_bucket{le=0.25}"] == 3
    assert found["cellmates_loop_lag_seconds_bucket{le=0.5}"] == 4
