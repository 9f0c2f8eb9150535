"""A real server in a process and on a port of its own, that can be killed and comes back."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from urllib.parse import urlsplit

import server.__main__
from server.clock import SystemClock

STOPPED_S = 15.0
# Children come from one process that has imported everything, so that a start costs little.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.e2e.running", "tests.faults.mutants"])

# What a server process runs in; it is pickled.
Within = Callable[[], AbstractContextManager[object]]


class RunningServer:
    """Start with ``start``; the address stays the same from start to start."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        # Planning takes a core for a minute; who wants dailies asks for them.
        self._settings = {"CELLMATES_PORT": "0", "CELLMATES_PLAN_DAYS": "0", **settings}
        self._shift_ms = _PROCESSES.Value("q", 0)
        self._process: multiprocessing.process.BaseProcess | None = None
        self.http = ""

    @property
    def url(self) -> str:
        """Where WebSockets connect."""
        return f"{self.http.replace('http', 'ws', 1)}ws"

    @property
    def log(self) -> str:
        """All that was logged."""
        return (self._folder / "log").read_text(encoding="utf-8")

    def set_clock(self, now_ms: int) -> None:
        """Set the server's wall clock, which goes on from there; the monotonic one stays."""
        self._shift_ms.value = now_ms - SystemClock().now_ms()

    @property
    def pid(self) -> int:
        """Number of the process."""
        assert self._process is not None
        assert self._process.pid is not None
        return self._process.pid

    def start(self, within: Within = nullcontext) -> None:
        """Start; returns when the server has said where it listens.

        ``within`` is entered in the server's process first.
        """
        fifo = self._folder / "said"
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo)
        self._process = _PROCESSES.Process(
            target=_serve,
            args=(self._folder, self._settings, self._shift_ms, within),
            daemon=True,
        )
        self._process.start()
        with fifo.open(encoding="utf-8") as said:
            line = said.readline()
        assert " listens on " in line, f"{line!r} {self.log}"
        self.http = line.split()[-1]
        self._settings["CELLMATES_PORT"] = str(urlsplit(self.http).port)

    def kill(self) -> None:
        """End at once, as by a crash."""
        self._end(signal.SIGKILL)

    def wait(self, limit_s: float) -> None:
        """Wait for a process that ends by itself."""
        assert self._process is not None
        self._process.join(limit_s)
        assert self._process.exitcode is not None, f"is still there after {limit_s} s"
        self._process = None

    def stop(self) -> int | None:
        """Ask to stop; the exit status, or None where it did not."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int | None:
        process, self._process = self._process, None
        if process is None or process.pid is None:
            return None
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
        process.join(STOPPED_S)
        if process.exitcode is None:
            process.kill()
            process.join()
            return None
        return process.exitcode


class ShiftedClock(SystemClock):
    """A clock that another process sets."""

    def __init__(self, shift_ms: "Synchronized[int]") -> None:
        self._shift_ms = shift_ms

    def now_ms(self) -> int:
        return super().now_ms() + self._shift_ms.value


def _serve(
    folder: Path, settings: Mapping[str, str], shift_ms: "Synchronized[int]", within: Within
) -> None:
    os.environ.update(settings)
    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    said = os.open(folder / "said", os.O_WRONLY)
    os.dup2(said, 1)
    os.dup2(log, 2)
    sys.stdout = os.fdopen(1, "w")
    sys.stderr = os.fdopen(2, "w")
    server.__main__.system_clock = lambda: ShiftedClock(shift_ms)
    with within():
        sys.exit(server.__main__.main(["serve"]))


@contextmanager
def running_server(
    folder: Path, *, now_ms: int | None = None, **settings: str
) -> Iterator[RunningServer]:
    """A server that is stopped in the end; where it is given, ``now_ms`` is when it starts."""
    server = RunningServer(
        folder, {f"CELLMATES_{name.upper()}": value for name, value in settings.items()}
    )
    if now_ms is not None:
        server.set_clock(now_ms)
    server.start()
    try:
        yield server
    finally:
        server.kill()
