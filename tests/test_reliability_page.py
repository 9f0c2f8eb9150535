"""The page of promises names tests, faults and mutants that are there."""

import re
from pathlib import Path

import pytest

from benchmarks.faults import FAULTS
from tests.faults.mutants import MUTANTS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
CHECKLIST = PAGE[PAGE.index("## 3.") : PAGE.index("## 4.")]


def named() -> list[tuple[str, str]]:
    """Files of tests that the page names, and tests in them: without a file, in the last one."""
    found, file = [], ""
    for path, test in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?`", CHECKLIST):
        file = path or file
        if path or test:
            found.append((file, test))
    return found


@pytest.mark.parametrize(("file", "test"), sorted(set(named())))
def test_what_the_checklist_names_is_there(file: str, test: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not test or re.search(rf"^(async )?def {test}\(", text, re.MULTILINE)


def test_checklist_names_a_test_for_each_line() -> None:
    rows = [line for line in CHECKLIST.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 25
    assert [row for row in rows if "`tests/" not in row] == []


def test_faults_and_mutants_are_those_that_can_be_tried() -> None:
    tried = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)
    assert tried
    assert set(tried) <= FAULTS.keys()
    assert all(f"`{name}`" in PAGE or f"--mutant {name}" in PAGE for name in MUTANTS)
