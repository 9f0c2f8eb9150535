"""Promises about the files themselves: what they import, what they name, what they pin."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# -- The engine stands on the standard library, without I/O, clock and chance ----------------------

ENGINE = "cellmates.engine"

# Modules of the standard library that reach outside, tell the time or draw lots.
OUTSIDE = frozenset(
    "asyncio builtins concurrent ctypes datetime fileinput ftplib getpass glob http imaplib"
    " importlib io logging mmap multiprocessing os pathlib pdb poplib posix pty random runpy sched"
    " secrets select selectors shelve shutil signal smtplib socket socketserver sqlite3 ssl"
    " subprocess sys syslog tempfile threading time urllib uuid warnings webbrowser xmlrpc".split()
)
CALLS_OUTSIDE = frozenset("__import__ breakpoint compile eval exec input open print".split())


def modules_named(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Absolute names of what a statement in a module of the engine imports from."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    # The engine is flat: one dot is the engine, two are its parent.
    above = ENGINE.split(".")[: len(ENGINE.split(".")) + 1 - node.level] if node.level else []
    yield ".".join([*above, *filter(None, [node.module])])


def is_allowed(module: str) -> bool:
    """Whether the engine may import it."""
    top = module.partition(".")[0]
    inside = module == ENGINE or module.startswith(f"{ENGINE}.")
    return inside or (top in sys.stdlib_module_names and top.lstrip("_") not in OUTSIDE)


def offences(source: str) -> list[str]:
    """What a module of the engine imports or calls and may not."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import() | ast.ImportFrom():
                found += [name for name in modules_named(node) if not is_allowed(name)]
            case ast.Name(id=name) if name in CALLS_OUTSIDE:
                found.append(name)
    return found


ENGINE_MODULES = sorted((ROOT / "cellmates" / "engine").rglob("*.py"))


def test_there_is_an_engine_to_check() -> None:
    assert ENGINE_MODULES


@pytest.mark.parametrize("path", ENGINE_MODULES, ids=lambda path: path.stem)
def test_engine_stands_on_the_standard_library_alone(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "offence"),
    [
        ("import msgspec", "msgspec"),
        ("import re, time", "time"),
        ("import os.path as p", "os"),
        ("from random import Random", "random"),
        ("from _random import Random", "random"),
        ("from cellmates.solver import solve", "cellmates.solver"),
        ("from cellmates.engineering import x", "cellmates.engineering"),
        ("from cellmates import solver", "cellmates"),
        ("from .. import solver", "cellmates"),
        ("from ..solver import solve", "cellmates.solver"),
        ("def f():\n    import socket", "socket"),
        ("if TYPE_CHECKING:\n    import client", "client"),
        ("print('x')", "print"),
        ("with open('x') as f: pass", "open"),
        ("say = print", "print"),
        ("__import__('time').time()", "__import__"),
    ],
)
def test_planted_offence_is_found(source: str, offence: str) -> None:
    [found] = offences(source)
    assert offence in found


@pytest.mark.parametrize(
    "source",
    [
        "import re",
        "from collections.abc import Iterator",
        "from . import cards",
        "from .cards import PACK",
        "from cellmates.engine.cards import PACK",
        "self.open(card)",
    ],
)
def test_honest_source_is_let_through(source: str) -> None:
    assert offences(source) == []


# -- Waiting and tasks -----------------------------------------------------------------------------

ROOMS = ("cellmates", "client", "migrations", "server")
BEGINS = frozenset({"create_task", "ensure_future"})


def careless(source: str) -> list[str]:
    """Names of calls that wait or begin something, and can lose what comes of it.

    ``wait_for`` may swallow a cancellation; a task that nobody keeps may end before it is done, and
    its error is told to nobody.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr="wait_for") | ast.alias(name="wait_for"):
                found.append("wait_for")
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name in BEGINS:
                found.append(name)
    return found


def test_waiting_has_a_timeout_around_it_and_every_task_is_kept() -> None:
    modules = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert len(modules) > 50
    found = {str(path.relative_to(ROOT)): careless(path.read_text("utf-8")) for path in modules}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "await asyncio.wait_for(x, 1)",
        "from asyncio import wait_for",
        "asyncio.create_task(x())",
        "self._loop.create_task(x())",
    ],
)
def test_planted_carelessness_is_found(source: str) -> None:
    assert len(careless(f"async def f():\n    {source}")) == 1


# -- No file tells where it was made ---------------------------------------------------------------

# Written so that no pattern matches its own text: this file is read like every other.
HERE_AND_NOWHERE_ELSE = re.compile(
    r"\b(?:test\.)?pypi\.(?:org|python\.org)|\bpythonhosted\.(?:org|com)"
    r"|\bregistry\.(?:npmjs|yarnpkg)\.|\b(?:deb|security)\.debian\.(?:org|com)"
    r"|--(?:extra-|default-)?(?:index)[-]url|--(?:find)-links"
    r"|(?<![\w.])/(?:home|root|work|Users)/[\w.]|\b[A-Za-z]:\\(?:Users)"
)


def files() -> list[Path]:
    """Every file that is, or would be, committed."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in names.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_file_names_a_registry_or_a_place_on_a_machine() -> None:
    named = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in files()
        if (found := HERE_AND_NOWHERE_ELSE.search(path.read_text("utf-8", errors="replace")))
    ]
    assert named == []


def test_this_file_is_among_those_looked_at() -> None:
    assert Path(__file__) in files()


@pytest.mark.parametrize(
    "parts",
    [
        ("https://pypi", ".org/simple"),
        ("https://files.python", "hosted.org/packages/x.whl"),
        ("https://registry", ".npmjs.org/x"),
        ("--index", "-url=x"),
        ("--extra-index", "-url x"),
        ("--find", "-links=x"),
        ("file:///ho", "me/me/x.whl"),
        ("cd /ro", "ot/x"),
        ("C:\\Us", "ers\\me"),
    ],
    ids=lambda parts: parts[0],
)
def test_planted_place_is_found(parts: tuple[str, str]) -> None:
    assert HERE_AND_NOWHERE_ELSE.search("".join(parts))


@pytest.mark.parametrize("text", ["tests/work/x", "https://host/home/x", "pypistats", "/dev/null"])
def test_other_text_is_let_through(text: str) -> None:
    assert not HERE_AND_NOWHERE_ELSE.search(text)


# -- The lock --------------------------------------------------------------------------------------

PIN = re.compile(r"([a-z0-9-]+)==[\w.]+( ; .+?)?(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


def entries(name: str) -> list[str]:
    """Requirements of a file, one a line and without comments."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*", "", line) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


@pytest.fixture(scope="module")
def pins() -> dict[str, int]:
    """Number of hashes by name, of everything in the lock."""
    matches = [PIN.fullmatch(entry) or pytest.fail(entry) for entry in entries("requirements.txt")]
    return {match[1]: match["hashes"].count("--hash=") for match in matches}


def test_lock_pins_all_that_is_required(pins: dict[str, int]) -> None:
    required = {re.split(r"[^\w.-]", entry)[0] for entry in entries("requirements.in")}
    assert required
    assert required <= pins.keys()


def test_lock_serves_more_machines_than_this_one(pins: dict[str, int]) -> None:
    # Compiled packages: a hash for each platform's wheel, not just for the one installed here.
    assert min(pins[name] for name in ("coverage", "mypy", "ruff")) > 10


# -- The tests -------------------------------------------------------------------------------------


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
