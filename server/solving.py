"""Asks the solver's own process, so that this one goes on answering meanwhile."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable

from cellmates.daily import Planned
from cellmates.engine import Deal, Ruleset

LONGEST_S = 15 * 60.0  # a day's hardest deal so far took some ten seconds

Progress = Callable[[int], None]


class SolverFailed(Exception):
    """The solver's process ended without an answer."""


async def plan_apart(ruleset: Ruleset, seed: bytes, progress: Progress) -> Planned:
    """Plan in a process of its own, which is ended when this is cancelled.

    ``progress`` is called with the number of each candidate that is looked at.

    Raises:
        SolverFailed: the process ended without an answer, or took too long.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"{__package__}.worker"),
        stdin=PIPE,
        stdout=PIPE,
        # It finds the packages where this process does, and learns none of its settings.
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            return await _asked(process, ruleset, seed, progress)
    except TimeoutError:
        raise SolverFailed(f"the solver took longer than {LONGEST_S:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _asked(process: Process, ruleset: Ruleset, seed: bytes, progress: Progress) -> Planned:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"ruleset": ruleset.name, "seed": seed.hex()}).encode() + b"\n")
    async for line in process.stdout:
        said = json.loads(line)
        if "deal" in said:
            return Planned(
                said["candidate"],
                Deal.parse(ruleset, said["deal"]),
                tuple(said["solution"]),
                said["par"],
            )
        progress(said["candidate"])
    raise SolverFailed(f"the solver ended with status {await process.wait()} and no answer")
