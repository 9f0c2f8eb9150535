import re
import subprocess
import sys
from pathlib import Path

from cellmates.engine import RULESETS, Deal, board_text

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def test_first_command_stands_before_line_40_and_does_what_is_said() -> None:
    command = next(text for _, text in BLOCKS).strip()
    assert README[: README.index(command)].count("\n") < 40
    words = command.replace("python3", sys.executable).split()
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "verdict: won" in ran.stdout


def test_other_commands_run(tmp_path: Path) -> None:
    board = Deal.numbered(904).layout(RULESETS["eight-off-2"])
    (tmp_path / "board.txt").write_text(board_text(board))
    for line in BLOCKS[1][1].splitlines():
        command = line.partition(" #")[0].replace("python3", sys.executable)
        path = f"PYTHONPATH={ROOT}"
        subprocess.run(["env", path, "sh", "-c", command], cwd=tmp_path, check=True)


def test_python_example_runs() -> None:
    example = next(text for language, text in BLOCKS if language == "python")
    ran = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines()[-1] == "won"
    assert "moves are legal" in ran.stdout
