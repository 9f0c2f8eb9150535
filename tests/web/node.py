"""The page's modules, run under Node."""

import json
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

HERE = Path(__file__).parent

Question = dict[str, object]
Asked = tuple[Question, object]


def answers(runner: str, questions: Iterable[Question]) -> list[object]:
    """What a runner of this folder answers: a line of JSON for each line of JSON."""
    node = shutil.which("node")
    if node is None:
        pytest.fail("the page's modules are tested under Node, and there is none: install nodejs")
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    ran = subprocess.run(
        [node, str(HERE / runner)], input=lines, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def hold(asked: Iterable[Asked]) -> None:
    """Every answer of the page's rules is the one that is expected of it."""
    pairs = list(asked)
    found = answers("rules_runner.mjs", (question for question, _ in pairs))
    for (question, expected), answer in zip(pairs, found, strict=True):
        if answer != expected:
            assert {**question, "is": answer} == {**question, "is": expected}
