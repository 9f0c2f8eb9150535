import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cellmates.engine import RULESETS, Deal, board_text
from client.__main__ import main
from tests.golden import golden

LINES = {key: line for key, line in golden("solutions").items() if key != "note"}
DEAL_1 = board_text(Deal.numbered(1).layout(RULESETS["freecell"]))
ENDGAME = """\
Foundations: H-J C-K D-K S-J
Freecells: QH
: KH
:
:
:
:
:
: KS QS
:
"""


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> "io.StringIO":
    text = io.StringIO()
    monkeypatch.setattr(sys, "stdin", text)
    return text


def type_in(stdin: io.StringIO, text: str) -> None:
    stdin.write(text)
    stdin.seek(0)


def test_deal_prints_the_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deal", "freecell", "1"]) == 0
    assert capsys.readouterr().out == DEAL_1


def test_deal_by_code_is_the_deal_of_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    main(["deal", "eight-off", "EO1-C8-AAAAAFA", "--json"])
    by_code = json.loads(capsys.readouterr().out)
    main(["deal", "eight-off", "130", "--json"])
    assert json.loads(capsys.readouterr().out) == by_code
    assert by_code["deal"] == "130"
    assert by_code["cells"][4:] == [None] * 4
    assert sum(map(len, by_code["columns"])) == 48
    assert by_code["home"] == {"C": 0, "D": 0, "H": 0, "S": 0}
    assert (by_code["score"], by_code["status"]) == (0, "playing")


@pytest.mark.parametrize("autoplay", ["safe", "off"])
def test_solution_replays_to_a_win(
    autoplay: str, capsys: pytest.CaptureFixture[str], stdin: io.StringIO
) -> None:
    assert main(["solve", "freecell", "617", "--autoplay", autoplay, "--json"]) == 0
    solved = json.loads(capsys.readouterr().out)
    assert solved["verdict"] == "won"
    assert solved["nodes"] > 0
    type_in(stdin, " ".join(solved["moves"]))
    assert main(["replay-line", "freecell", "617", "--autoplay", autoplay, "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert (replayed["status"], replayed["score"]) == ("won", 52)
    assert "error" not in replayed


def test_solution_as_text_can_be_relayed(
    capsys: pytest.CaptureFixture[str], stdin: io.StringIO
) -> None:
    main(["solve", "freecell", "1"])
    board, _, rest = capsys.readouterr().out.partition("verdict: won\n")
    assert board == DEAL_1
    assert max(map(len, rest.splitlines())) <= 78
    type_in(stdin, rest)
    assert main(["replay-line", "freecell", "1"]) == 0
    assert "Foundations: H-K C-K D-K S-K" in capsys.readouterr().out


def test_lost_deal_is_said_to_be_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "eight-off-2", "1"]) == 0
    assert capsys.readouterr().out.endswith("verdict: lost\n")


@pytest.mark.parametrize("key", LINES)
def test_known_lines_replay_to_a_win(
    key: str, capsys: pytest.CaptureFixture[str], stdin: io.StringIO
) -> None:
    ruleset, _, number = key.partition(" #")
    type_in(stdin, LINES[key])
    assert main(["replay-line", ruleset, number, "--autoplay", "off"]) == 0
    assert "H-K C-K D-K S-K" in capsys.readouterr().out


def test_undo_in_a_line_takes_back(capsys: pytest.CaptureFixture[str], stdin: io.StringIO) -> None:
    type_in(stdin, "6a\n6b undo\tundo")
    assert main(["replay-line", "freecell", "1"]) == 0
    assert capsys.readouterr().out == DEAL_1


@pytest.mark.parametrize(
    ("line", "number", "move", "reason"),
    [
        ("6a 6a 6b", 2, "6a", "cell-full"),
        ("9h", 1, "9h", "bad-move"),
        ("6a undo undo", 3, "undo", "nothing-to-undo"),
        ("resign 6a", 2, "6a", "game-over"),
    ],
)
def test_first_refused_move_is_named(
    line: str,
    number: int,
    move: str,
    reason: str,
    capsys: pytest.CaptureFixture[str],
    stdin: io.StringIO,
) -> None:
    type_in(stdin, line)
    assert main(["replay-line", "freecell", "1"]) == 1
    assert capsys.readouterr().out.startswith(f"move {number}, {move}, is refused: {reason} (")
    stdin.seek(0)
    assert main(["replay-line", "freecell", "1", "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["error"] == {"number": number, "move": move, "reason": reason}


def test_group_that_is_too_long_names_limit_and_length(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], stdin: io.StringIO
) -> None:
    board = tmp_path / "board"
    board.write_text(
        "Foundations: H-T C-9 D-9 S-9\nFreecells: KC TC QC JC\n"
        ": JH QH JS\n: TD\n: QS\n: KH\n: QD JD TS\n: KS\n: KD\n:\n"
    )
    type_in(stdin, "18v2")
    assert main(["replay-line", "freecell", f"@{board}", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error == {
        "number": 1,
        "move": "18v2",
        "reason": "group-too-long",
        "limit": 1,
        "length": 2,
    }


def test_board_from_a_file_is_solved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = tmp_path / "board"
    board.write_text(ENDGAME)
    assert main(["solve", "freecell", f"@{board}", "--json"]) == 0
    solved = json.loads(capsys.readouterr().out)
    assert solved["verdict"] == "won"
    assert solved["deal"] == f"@{board}"
    assert solved["moves"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["deal", "spider", "1"],
            "there is no ruleset 'spider': choose one of freecell",
        ),
        (["deal", "freecell", "0"], "deal numbers are 1 to 8589934591"),
        (["deal", "freecell", "x"], "'x' names no deal: write a number"),
        (["deal", "eight-off", "EO1-C4-AAAAAFA"], "is for 4 cells; eight-off has 8"),
        (["solve", "freecell", "1", "--autoplay", "on"], "autoplay is safe or off, not 'on'"),
        (["solve", "eight-off", "1", "--autoplay", "safe"], "eight-off has no automatic moves"),
        (["deal", "freecell", "@nowhere"], "cannot read the board in nowhere"),
    ],
)
def test_wrong_input_says_what_is_right(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("cellmates: ")
    assert says in printed.err


@pytest.mark.parametrize(
    ("board", "says"),
    [
        (b"\xff\xfe", "cannot read the board in"),
        (ENDGAME.replace("QH", "QX").encode(), "line 2: 'QX' has an unknown suit"),
    ],
)
def test_wrong_board_says_what_is_wrong(
    board: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "board"
    path.write_bytes(board)
    assert main(["deal", "freecell", f"@{path}"]) == 2
    assert says in capsys.readouterr().err


def test_unknown_command_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["conquer"])
    assert ended.value.code == 2
    assert "conquer" in capsys.readouterr().err


def test_interrupt_ends_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("client.local.solve", interrupted)
    assert main(["solve", "freecell", "1"]) == 130


def test_progress_shows_on_a_terminal_and_only_there(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "client", "solve", "freecell", "1941"]
    root = Path(__file__).parents[2]
    piped = subprocess.run(command, cwd=root, capture_output=True, check=True)
    assert piped.stderr == b""
    ours, theirs = pty.openpty()
    try:
        shown = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=theirs, check=True)
        seen = os.read(ours, 4096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"positions searched" in seen
    assert seen.rpartition(b"\r")[0].endswith(b" " * 20), "the line is wiped in the end"
    assert shown.stdout == piped.stdout
