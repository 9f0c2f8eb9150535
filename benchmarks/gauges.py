"""What processes take of the machine, as the kernel counts it: seconds of CPU, and memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM, _PARENT = 11, 12, 1  # fields of /proc/PID/stat, counted behind the name


def cpu_s(pid: int) -> float:
    """Seconds of CPU that all threads of a process have had, in user and in kernel mode."""
    fields = _stat(pid)
    return (int(fields[_USER]) + int(fields[_SYSTEM])) / _TICKS_PER_S


def family_cpu_s(pid: int) -> float:
    """The same of a process and of its children that live now."""
    return sum(map(cpu_s, [pid, *_children(pid)]))


def waited_s(pid: int) -> float:
    """Seconds that the first thread of a process could have run and had no core to run on."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9


def parent_of(pid: int) -> int:
    """Process that has started a process."""
    return int(_stat(pid)[_PARENT])


def resident_kib(pid: int) -> float:
    """Memory of a process that is in RAM."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return float(value.split()[0])
    raise ProcessLookupError(f"process {pid} has no memory")


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """This thread stays on one core, and so do the processes that it starts meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cores() -> tuple[int, int]:
    """One for the server and one for the load; the same where there is no other."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if parent_of(int(path.name)) == pid:
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
    return found
