import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from cellmates.engine import RULESETS, Deal, board_text
from server.config import Settings
from tests.e2e.running import running_server

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def block(start: str) -> str:
    """The first block of code that starts so."""
    return next(text for _, text in BLOCKS if text.startswith(start))


def test_first_command_stands_before_line_40() -> None:
    assert README[: README.index("make serve")].count("\n") < 40
    assert "\nserve:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_commands_that_need_no_server_run(tmp_path: Path) -> None:
    board = Deal.numbered(904).layout(RULESETS["eight-off-2"])
    (tmp_path / "board.txt").write_text(board_text(board))
    printed = []
    for line in block("python3 -m client solve").splitlines():
        command = line.replace("python3", sys.executable)
        ran = subprocess.run(
            ["env", f"PYTHONPATH={ROOT}", "sh", "-c", command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        printed.append(ran.stdout)
    assert "verdict: won" in printed[0]
    assert '"verdict": "won"' in printed[-1]


def test_python_example_runs() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", block("from cellmates")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines()[-1] == "won"
    assert "moves are legal" in ran.stdout


def test_ten_lines_play_a_game_on_a_live_server(tmp_path: Path) -> None:
    bot = block("import asyncio")
    assert sum(1 for line in bot.splitlines() if line.strip()) <= 10
    with running_server(tmp_path, database_url=f"sqlite:///{tmp_path}/games.db") as server:
        ran = subprocess.run(
            [sys.executable, "-c", bot.replace("ws://127.0.0.1:8410/ws", server.url)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "won" in ran.stdout.splitlines()[-1]


def test_every_setting_is_in_the_table_with_its_default() -> None:
    rows = dict(re.findall(r"\| `CELLMATES_(\w+)` \| ([^|]*) \|", README))
    assert set(rows) == {field.name.upper() for field in fields(Settings)}
    for field in fields(Settings):
        if isinstance(field.default, str | int):
            assert rows[field.name.upper()] == f"`{field.default}`"
