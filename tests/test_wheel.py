"""The wheel as a stranger gets it: built from the checkout, installed where nothing else is."""

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent

# Where a folder of the checkout is in the wheel.
ROOMS = {
    "cellmates": "cellmates",
    "client": "cellmates/client",
    "migrations": "cellmates/migrations",
    "server": "cellmates/server",
}
# What it depends on is there for those who run the tests; the checkout is not on this path.
DEPENDENCIES = sysconfig.get_path("purelib")

NOT_SOURCES = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
PIP = (sys.executable, "-m", "pip")

# As someone has it who has no checkout.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*command: str | Path, within: Path, said: str = "", **environment: str) -> str:
    """What the command printed; it has to succeed."""
    done = subprocess.run(
        command,
        cwd=within,
        env=ENVIRONMENT | environment,
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder: Path) -> Path:
    """Wheel of a copy of the checkout, since building leaves files behind."""
    copy = shutil.copytree(ROOT, folder / "checkout", ignore=NOT_SOURCES)
    offline = ("--no-index", "--no-build-isolation", "--no-deps")
    run(*PIP, "wheel", *offline, "--wheel-dir", folder, ".", within=copy)
    [wheel] = folder.glob("*.whl")
    return wheel


def install(wheel: Path, environment: Path) -> None:
    """Make an environment with nothing but the wheel in it."""
    venv.create(environment, with_pip=False, symlinks=True)
    there = ("--python", environment / "bin" / "python")
    run(*PIP, *there, "install", "--no-index", "--no-deps", wheel, within=environment)


def sources() -> set[str]:
    """What the wheel should hold, apart from its metadata."""
    return {
        f"{place}/{path.relative_to(ROOT / room).as_posix()}"
        for room, place in ROOMS.items()
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


# One test, so that of the processes that share the tests only one builds.
def test_wheel_brings_one_package_that_serves_and_plays(tmp_path: Path) -> None:
    wheel = build(tmp_path)
    with ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == sources()

    environment = tmp_path / "environment"
    install(wheel, environment)
    [packages] = environment.glob("lib/python*/site-packages")
    assert {path.name for path in packages.iterdir() if path.suffix != ".dist-info"} == {
        "cellmates"
    }

    board = run(environment / "bin" / "cellmates", "deal", "freecell", "1", within=environment)
    assert "JD KD 2S 4C 3S 6D 6S" in board  # the first column, its open card last
    play(environment)


def play(environment: Path) -> None:
    """Serve with the one installed command and play with the other."""
    paths = {"PYTHONPATH": DEPENDENCIES, "XDG_CONFIG_HOME": str(environment)}
    settings = {"CELLMATES_PORT": "0", "CELLMATES_DATABASE_URL": f"sqlite:///{environment}/db"}
    server = subprocess.Popen(
        [environment / "bin" / "cellmates-server", "serve"],
        cwd=environment,
        env=ENVIRONMENT | paths | settings,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        where = server.stdout.readline().split()[-1]
        command = (environment / "bin" / "cellmates", "play", "--server", where, "--deal", "1")
        played = run(*command, "--handle", "wheel", within=environment, said="6a\nquit\n", **paths)
        assert "freecell 1 | 1 move" in played
    finally:
        server.terminate()
        assert server.wait(20) == 0
        if server.stdout is not None:
            server.stdout.close()
