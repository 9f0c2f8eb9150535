"""Seeds of the simulation: each keeps all promises, and happens again exactly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .mutants import MUTANTS
from .simulation import kept_seeds, simulate

BROKEN_PROMISES = ("Broken:", "BrokenGame:")  # and not a simulation that does not work
BLOCK = 25
SEEDS = 300


@pytest.mark.parametrize("first", range(0, SEEDS, BLOCK))
def test_promises_are_kept(first: int) -> None:
    broken = {seed: simulate(seed).broken for seed in range(first, first + BLOCK)}
    assert {seed: says for seed, says in broken.items() if says is not None} == {}


@pytest.mark.parametrize("seed", kept_seeds(), ids=str)
def test_seed_that_found_a_fault_finds_it_no_more(seed: int) -> None:
    assert simulate(seed).broken is None


def test_seed_happens_again_exactly_in_another_process() -> None:
    code = "from tests.faults.simulation import simulate; print(simulate(7).trace)"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": hashes, "PYTHONPATH": str(Path.cwd())},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hashes in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize("mutant", MUTANTS)
def test_server_without_a_safeguard_is_found_out(mutant: str) -> None:
    with MUTANTS[mutant]():
        found = (simulate(seed).broken or "" for seed in range(40))
        assert any(broken.startswith(BROKEN_PROMISES) for broken in found)
