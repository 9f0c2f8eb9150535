"""Days are those of UTC wherever the machine stands (scenario 10): the tests of days elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ABOUT_DAYS = (
    "tests/daily/test_days.py",
    "tests/daily/test_streaks.py",
    "tests/server/test_dailies.py",
    "tests/server/test_telling.py",
    "tests/server/test_standing.py",
    "tests/server/test_keeper.py",
    "tests/server/test_planner.py",
    "tests/client/test_board_commands.py",
    "tests/client/test_daily_commands.py",
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", "Asia/Kolkata"])
def test_everything_about_days_holds_elsewhere(zone: str) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-cov"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-m", "not exhaustive", *ABOUT_DAYS],
        cwd=ROOT,
        env=os.environ | {"TZ": zone},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
