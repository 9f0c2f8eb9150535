"""Every benchmark still runs, at a size that takes no time; what it finds is not looked at here.

Each line of the table is a benchmark. That of the page is left out: a browser takes its time.
"""

from collections.abc import Callable
from functools import partial

import pytest

from benchmarks import boards, stored
from benchmarks.results import Figure, shown

Tell = Callable[[str], None]

MEASURES = [
    pytest.param(
        partial(boards.measure, size=boards.Size(runs=300, reads=20, inserts=20, commits=1)),
        id="boards",
    ),
    pytest.param(
        partial(
            stored.measure,
            size=stored.Size(
                cold=2, entries=20, stored=(1, 5), stored_entries=3, playing=3, waves=2
            ),
            with_postgres=False,
        ),
        id="stored",
    ),
]


@pytest.mark.parametrize("measure", MEASURES)
def test_benchmark_finds_figures_of_every_round(
    measure: Callable[[int, Tell], list[Figure]],
) -> None:
    told: list[str] = []
    figures = measure(2, told.append)
    assert told
    assert len({figure.name for figure in figures}) == len(figures) > 0
    assert {len(figure.rounds) for figure in figures} <= {1, 2}
    assert shown(figures).count("\n") == len(figures) - 1
