"""How the benchmarks print what they have measured; nothing is measured here."""

import os
import platform
import sys
from importlib.metadata import version


def machine(*packages: str) -> str:
    """Line that says what it was measured with: Python, processors, and rival packages."""
    rivals = "".join(f" · {package} {version(package)}" for package in packages)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python} · {os.cpu_count()} processors{rivals}"


def judged(value: float, target: float, unit: str) -> str:
    """Target, and whether a value meets it: ``≤ 5 µs met``."""
    return f"≤ {target:g} {unit} {'met' if value <= target else 'MISSED'}"


def figure(value: float) -> str:
    """Number with three digits where it has a fraction: ``0.98``, ``5.48``, ``14.5``, ``1234``."""
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def table(rows: list[list[str]], left: tuple[int, ...] = (0,)) -> str:
    """Columns as wide as their widest text, set to the right but for those named by ``left``."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            text.ljust(width) if at in left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def progress(text: str) -> None:
    """Tell whoever is waiting; figures go to the standard output, this does not."""
    print(text, file=sys.stderr, flush=True)
