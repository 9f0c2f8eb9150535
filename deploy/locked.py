"""Prints the part of requirements.txt that some packages take, with what these need in turn.

Without names those are the dependencies of pyproject.toml: what runs the service, and no tools.
The lock says itself what each of its entries is there for. Nothing is resolved or fetched here.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Entry(NamedTuple):
    """A package of the lock: its lines, and the packages that asked for it."""

    text: str
    asked_by: frozenset[str]


def main(names: list[str]) -> None:
    """Print the entries of these packages, or of the project's dependencies."""
    lock = dict(entries((ROOT / "requirements.txt").read_text(encoding="utf-8")))
    wanted = {normal(name) for name in names or dependencies()}
    if missing := wanted - lock.keys():
        sys.exit(f"requirements.txt does not have {', '.join(sorted(missing))}: run make lock")
    sys.stdout.writelines(lock[name].text for name in sorted(needed(wanted, lock)))


def dependencies() -> list[str]:
    """Names of what pyproject.toml depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.split(r"[^\w.-]", requirement)[0] for requirement in project["dependencies"]]


def normal(name: str) -> str:
    """The one spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entries(text: str) -> Iterator[tuple[str, Entry]]:
    """Entries of a lock by name."""
    for match in re.finditer(r"^([\w.-]+)==.*\n(?:[ ].*\n)*", text, re.MULTILINE):
        asked_by = re.findall(r"^ +#(?: +via)? +([\w.-]+)$", match[0], re.MULTILINE)
        yield normal(match[1]), Entry(match[0], frozenset(map(normal, asked_by)))


def needed(names: Iterable[str], lock: Mapping[str, Entry]) -> set[str]:
    """Packages, and what they need, and so on."""
    found: set[str] = set()
    further = set(names)
    while further:
        found |= further
        further = {name for name, entry in lock.items() if entry.asked_by & further} - found
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
