"""The solver's own process: it answers as the solver does, and does not outlive its questions."""

import asyncio
import io
import json
import os

import pytest

from cellmates.daily import plan
from cellmates.engine import RULESETS
from server import solving, worker
from server.solving import SolverFailed, plan_apart

SEED = bytes(range(32))
FAST = RULESETS["eight-off-4"]


@pytest.mark.asyncio
async def test_process_plans_as_the_planner_does_and_says_each_candidate() -> None:
    seen: list[int] = []
    planned = await plan_apart(FAST, SEED, seen.append)
    assert planned == plan(FAST, SEED)
    assert seen == list(range(planned.candidate + 1))


@pytest.mark.asyncio
async def test_process_learns_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}
    create = asyncio.create_subprocess_exec

    async def spied(*arguments: str, **options: object) -> object:
        asked.update(options, arguments=arguments)
        return await create(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setenv("CELLMATES_SECRET_KEY", "secret")
    monkeypatch.setattr("asyncio.create_subprocess_exec", spied)
    await plan_apart(FAST, SEED, lambda _: None)
    assert set(asked["env"]) == {"PYTHONPATH"}  # type: ignore[call-overload]
    assert SEED.hex() not in repr(asked["arguments"])


@pytest.mark.asyncio
async def test_cancelled_question_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    processes: list[asyncio.subprocess.Process] = []
    create = asyncio.create_subprocess_exec

    async def kept(*arguments: str, **options: object) -> asyncio.subprocess.Process:
        processes.append(await create(*arguments, **options))  # type: ignore[arg-type]
        return processes[-1]

    monkeypatch.setattr("asyncio.create_subprocess_exec", kept)
    begun = asyncio.Event()
    task = asyncio.create_task(plan_apart(RULESETS["eight-off-2"], SEED, lambda _: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [process] = processes
    assert process.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


@pytest.mark.asyncio
async def test_process_that_breaks_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "__package__", "tests.server.nowhere")
    with pytest.raises(SolverFailed, match="status 1"):
        await plan_apart(FAST, SEED, lambda _: None)


@pytest.mark.asyncio
async def test_process_that_takes_too_long_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "LONGEST_S", 0.0)
    with pytest.raises(SolverFailed, match="longer than"):
        await plan_apart(FAST, SEED, lambda _: None)


def test_worker_answers_in_lines_of_json() -> None:
    answer = io.StringIO()
    worker.main(io.StringIO(json.dumps({"ruleset": FAST.name, "seed": SEED.hex()}) + "\n"), answer)
    *steps, last = map(json.loads, answer.getvalue().splitlines())
    planned = plan(FAST, SEED)
    assert steps == [{"candidate": number} for number in range(planned.candidate + 1)]
    assert last == {
        "candidate": planned.candidate,
        "deal": str(planned.deal),
        "solution": list(planned.solution),
        "par": planned.par,
    }
