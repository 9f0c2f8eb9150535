"""Holds docs/operations.md to the program: its commands, settings, figures and links."""

import re
import shlex
from pathlib import Path

import pytest

from server.config import Settings
from server.metrics import Metrics
from server.timing import FAST_MS, FEWEST
from tests.commands import BLOCKS, PAGE, command, is_accepted

ROOT = Path(__file__).parent.parent
CODE = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", PAGE) + [x for b in BLOCKS for x in b.splitlines()]
OURS = re.compile(r"(?:.*\s)?(?:python -m server|cellmates-server)\s+(?P<words>[^>|&;#…]+)")
COMMANDS = sorted({match["words"].strip() for text in CODE if (match := OURS.fullmatch(text))})
# Inline, a command may be named without what it takes.
SHORT = {"db backup": "db backup FILE"}


def section(title: str) -> str:
    """What stands under a heading, up to the next of its level."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert match, title
    return match[1]


@pytest.mark.parametrize("words", COMMANDS)
def test_command_is_one_that_the_server_takes(words: str) -> None:
    assert is_accepted(shlex.split(SHORT.get(words, words)))


def test_page_shows_every_command_that_an_operator_needs() -> None:
    shown = {" ".join(re.findall(r"^[a-z]+|(?<=^db )[a-z]+", words)) for words in COMMANDS}
    assert shown == {"serve", "secret", "db upgrade", "db backup", "plan", "flags"}


def test_planning_and_copying_are_shown_with_what_they_take() -> None:
    assert command("python -m server plan").endswith(" --days 14")
    assert command("python -m server db backup").endswith(".db")
    assert re.search(r" \d{4}-\d\d-\d\d$", command("python -m server flags"))


def test_every_setting_named_is_one() -> None:
    known = {f"CELLMATES_{name.upper()}" for name in Settings.__slots__}
    named = set(re.findall(r"CELLMATES_[A-Z_]*[A-Z]", PAGE))
    assert named <= known
    assert {"CELLMATES_SECRET_KEY", "CELLMATES_TRUSTED_PROXIES", "CELLMATES_ORIGINS"} <= named


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", PAGE)
    assert links
    for path, anchor in links:
        target = ROOT / "docs" / path
        assert target.is_file(), path
        titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
        assert not anchor or anchor in {title.lower().replace(" ", "-") for title in titles}


def figures() -> dict[str, str]:
    """Kinds of the server's own metrics, by name."""
    lines = Metrics().text().decode()
    return dict(re.findall(r"^# TYPE (cellmates_\w+) (\w+)$", lines, re.MULTILINE))


def test_table_has_every_metric_with_its_kind() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+)", section("Metrics"), re.MULTILINE)
    created = {name for name in figures() if name.endswith("_created")}
    assert dict(rows) == {name: kind for name, kind in figures().items() if name not in created}


def test_alerts_ask_for_metrics_that_there_are() -> None:
    asked = set(re.findall(r"\b(cellmates_\w+|process_\w+)", section("What to watch")))
    told = Metrics().text().decode()
    assert asked
    for name in asked:
        assert f"# TYPE {name.removesuffix('_bucket')} " in told, name


def test_marks_of_timing_are_those_that_are_looked_for() -> None:
    said = section("People who are too fast")
    assert f"less than {FAST_MS} ms" in said
    assert f"fewer than {FEWEST} actions" in said
