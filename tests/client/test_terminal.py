"""The commands that talk to a server, as people and programs use them."""

import asyncio
import io
import json
import os
import pty
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from cellmates.engine import board_text, parse_action
from client.__main__ import main

from .fake import FakeServer
from .tricks import answer, by_another, close, keep_silent, lose_answer, refuse, until

pytestmark = pytest.mark.asyncio

ROOT = Path(__file__).parents[2]
# The top of deal 1, as anybody sees it.
TOP = """\
   a   b   c   d      C   D   H   S
   -   -   -   -      -   -   -   -

   1   2   3   4   5   6   7   8
  JD  2D  9H  JC  5D  7H  7C  5H
"""


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as server:
        yield server


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for this user's configuration, with nothing in it."""
    for name in ("CELLMATES_TOKEN", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


class Commands:
    """Runs commands against the fake server, with no token in what they print."""

    def __init__(
        self,
        server: FakeServer,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self._server = server
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    async def __call__(self, *arguments: str, typed: str = "", shows_token: bool = False) -> Ran:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status = await asyncio.to_thread(main, [*arguments, "--server", self._server.url])
        printed = self._capsys.readouterr()
        assert shows_token or "secret" not in printed.out + printed.err
        return Ran(status, printed.out, printed.err)


@pytest.fixture
def run(
    server: FakeServer,
    config: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Commands:
    return Commands(server, monkeypatch, capsys)


# -- play ------------------------------------------------------------------------------------------


async def test_guest_plays_at_once(run: Commands, server: FakeServer, config: Path) -> None:
    ran = await run("play", "--deal", "1", typed="6a\nt 1\nquit\n3d\n")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(TOP)
    assert "6a\nt 1: 1b\n" in ran.out
    assert ran.out.endswith(
        "freecell 1 | 2 moves | 0 undos | score 0 | 0:02\n"
        "Game g1 stays open: play --game g1 goes on with it.\n"
    )
    [player] = server.players.values()
    assert re.fullmatch("guest-[0-9a-f]{8}", player["handle"])
    assert player["kind"] == "human"
    assert [entry[1] for entry in server.games["g1"].entries] == ["6a", "1b"]
    assert json.loads((config / "cellmates" / "tokens.json").read_text()) == {
        server.url: "secret-1"
    }


async def test_token_is_used_the_next_time(run: Commands, server: FakeServer) -> None:
    for deal in ("1", "2"):
        assert (await run("play", "--deal", deal)).status == 0
    assert len(server.players) == 1
    assert [body.get("token") for body in server.bodies("hello")] == [None, "secret-1"]
    again = await run("play", "--handle", "ann")
    assert again.status == 2
    assert "on this server you are guest-" in again.err


@pytest.mark.parametrize("by", ["option", "environment"])
async def test_token_that_is_given_goes_before_the_one_that_is_kept(
    by: str, run: Commands, server: FakeServer, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run("play")
    token = server.player("bob")
    if by == "environment":
        monkeypatch.setenv("CELLMATES_TOKEN", token)
    given = ["--token", token] if by == "option" else []
    assert (await run("play", *given)).status == 0
    assert server.bodies("hello")[-1]["token"] == token
    assert token not in (config / "cellmates" / "tokens.json").read_text()


async def test_handle_of_ones_own(run: Commands, server: FakeServer) -> None:
    server.player("ann")
    taken = await run("play", "--handle", "ann")
    assert (taken.status, taken.out) == (1, "")
    assert taken.err == "cellmates: Somebody has that handle already, or one that looks like it.\n"
    assert (await run("play", "--handle", "bob")).status == 0
    assert server.players["secret-2"]["handle"] == "bob"


async def test_guest_whose_random_handle_is_taken_gets_another(
    run: Commands, server: FakeServer
) -> None:
    server.trick("player.create", refuse("handle-taken"))
    ran = await run("play")
    assert ran.status == 0
    one, other = server.bodies("player.create")
    assert one["handle"] != other["handle"]


async def test_every_command_of_a_game(run: Commands, server: FakeServer) -> None:
    typed = "help\n\nhint\n1c 2d\nundo\nboard\nt 1 3\ntt 4\nresign\n3a\n"
    ran = await run("play", "--deal", "1", typed=typed)
    assert "  26v3      move 3 cards into an empty column" in ran.out
    assert re.search("^hint: ..$", ran.out, re.MULTILINE)
    assert "1c\n2d\nundo\n" in ran.out
    assert "A tap there moves nothing.\ntt 4: 4a\nresign\n" in ran.out
    assert "The game is over: resigned.\n" in ran.out
    assert "Game g1 stays open" not in ran.out
    assert ran.status == 1, "a tap was refused"
    actions = [entry[1] for entry in server.games["g1"].entries]
    assert actions == ["1c", "2d", "undo", "4a", "resign"]


async def test_refusals_are_said_in_words_and_the_game_goes_on(
    run: Commands, server: FakeServer
) -> None:
    ran = await run("play", "--deal", "1", typed="6a 6a 6b\n6h\nundo undo\nhlep\nS1\n1c\n")
    assert ran.status == 1
    for said in (
        "6a\nThat cell is full.\n",
        "That card is not the next of its suit to go home.\n",
        "There is nothing to undo.\n",
        "'hlep' is not a move: write source and destination",
        "Cards that are home stay there in this game.\n",
    ):
        assert said in ran.out
    actions = [entry[1] for entry in server.games["g1"].entries]
    assert actions == ["6a", "undo", "1c"], "what stands behind a refused move is not done"


@pytest.mark.parametrize(("ruleset", "is_told"), [("freecell", True), ("eight-off", False)])
async def test_stuck_game_is_told_in_freecell_only(
    ruleset: str, is_told: bool, run: Commands, server: FakeServer
) -> None:
    await run("play", "--ruleset", ruleset)
    server.trick("game.open", answer(server.games["g1"].view() | {"stuck": True}))
    ran = await run("play", "--game", "g1")
    assert ("No moves left: undo, or resign." in ran.out) == is_told


async def test_nothing_from_the_server_drives_the_terminal(
    run: Commands, server: FakeServer
) -> None:
    await run("play", "--deal", "1")
    evil = "\x1b]0;owned\x07\x9b2J\r"
    view = server.games["g1"].view()
    columns = [[evil], *view["columns"][1:]]
    server.trick("game.open", answer(view | {"columns": columns, "deal": evil, "game": evil}))
    server.trick("game.move", refuse(evil, why=evil))
    ran = await run("play", "--game", "g1", typed="6a")
    for control in "\x1b\x07\x9b\r":
        assert control not in ran.out + ran.err
    assert "?]0;owned??2J?" in ran.out


async def test_deal_is_shown_with_its_code_where_it_has_one(run: Commands) -> None:
    ran = await run("play", "--ruleset", "eight-off", "--deal", "EO1-C8-AAAAAFA")
    assert "eight-off 130 (EO1-C8-AAAAAFA) | 0 moves | 0 undos (0 left) | score 0" in ran.out


async def test_game_is_gone_on_with(run: Commands, server: FakeServer) -> None:
    nothing = await run("play", "--continue")
    assert (nothing.status, nothing.out) == (1, "")
    assert nothing.err == "cellmates: There is no unfinished game to go on with.\n"
    await run("play", "--deal", "1", typed="6a")
    await run("play", "--ruleset", "eight-off", "--deal", "2")
    await run("play", "--deal", "3", typed="resign")
    assert "eight-off 2 (" in (await run("play", "--continue")).out
    assert "freecell 1 |" in (await run("play", "--continue", "--ruleset", "freecell")).out
    assert "freecell 1 |" in (await run("play", "--game", "g1", typed="1c")).out
    over = await run("play", "--game", "g3", typed="1a")
    assert "The game is over: resigned." in over.out
    assert len(server.games) == 3
    unknown = await run("play", "--game", "g9")
    assert (unknown.status, unknown.err) == (1, "cellmates: There is no such game or player.\n")


async def test_wrong_deal_is_said_in_words(run: Commands) -> None:
    ran = await run("play", "--deal", "x")
    assert ran.status == 1
    assert ran.err.startswith("cellmates: The server will not have deal: 'x' names no deal")


async def test_lost_answer_is_not_noticed(run: Commands, server: FakeServer) -> None:
    server.trick("game.move", lose_answer)
    ran = await run("play", "--deal", "1", typed="6a 1c")
    assert (ran.status, ran.err) == (0, "")
    assert "6a\n1c\n" in ran.out
    assert len(server.games["g1"].entries) == 2


async def test_conflict_is_said_with_the_board(run: Commands, server: FakeServer) -> None:
    server.trick("game.move", by_another("g1", ["1c"]))
    ran = await run("play", "--deal", "1", typed="6a\n6a")
    assert "Another of your connections moved first; this is how the game stands now.\n" in ran.out
    assert [entry[1] for entry in server.games["g1"].entries] == ["1c", "6a"]


async def test_end_of_the_connection_is_said_and_the_game_named(
    run: Commands, server: FakeServer
) -> None:
    server.trick("game.move", close(4401))
    ran = await run("play", "--deal", "1", "--token", server.player(), typed="6a")
    assert (ran.status, ran.err) == (2, "cellmates: The token is not valid any more (4401).\n")
    assert ran.out.endswith("Game g1 stays open: play --game g1 goes on with it.\n")


async def test_bad_token_is_said(run: Commands, server: FakeServer) -> None:
    ran = await run("play", "--token", "secret-of-nobody")
    assert (ran.status, ran.out) == (2, "")
    assert "The token is not valid, or not any more." in ran.err


async def test_no_server_is_said_with_what_to_do(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    for command in (["play"], ["replay", "g1"]):
        status = await asyncio.to_thread(main, [*command, "--server", "http://127.0.0.1:1"])
        assert status == 2
        assert "start one with 'make serve', or name another" in capsys.readouterr().err


async def test_json_is_a_line_for_each_answer(run: Commands, server: FakeServer) -> None:
    ran = await run("play", "--deal", "1", "--json", typed="6a 6b\n6a\nhint\nxx\nhelp\nboard\n")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    view, moved, with_auto, refused, hint, wrong, board, last = lines
    record = server.games["g1"]
    assert view["seq"] == 0
    assert (moved["move"], moved["auto"], moved["repeated"]) == ("6a", [], False)
    assert with_auto["auto"] == ["6h", "6h", "bh"]
    assert refused["error"]["code"] == "illegal-move"
    assert refused["error"]["context"]["reason"] == "cell-full"
    assert hint.keys() == {"hint"}
    assert wrong["error"]["code"] is None
    assert board == last == record.view()
    assert ran.status == 1


async def test_refusal_at_the_start_is_json_too(run: Commands) -> None:
    ran = await run("play", "--ruleset", "whist", "--json")
    assert json.loads(ran.out)["error"]["context"]["field"] == "ruleset"
    assert (ran.status, ran.err) == (1, "")


async def test_token_that_cannot_be_kept_makes_no_player(
    run: Commands, server: FakeServer, config: Path
) -> None:
    (config / "cellmates").write_text("a file where the folder should be")
    ran = await run("play")
    assert ran.status == 2
    assert f"{config}/cellmates/tokens.json" in ran.err
    assert not server.players


# -- replay ----------------------------------------------------------------------------------------


async def test_replay_is_printed_and_checked(run: Commands, server: FakeServer) -> None:
    server.page = 2
    await run("play", "--deal", "1", "--handle", "ann", typed="6a 6b undo 1c resign")
    board = (await run("replay", "g1")).out
    record = server.games["g1"]
    lines = board.splitlines()
    assert lines[0] == "freecell 1, autoplay safe, ann, 2023-11-14 22:13:20+00:00"
    assert lines[1:6] == [
        "   1     0:01.000  6a",
        "   2     0:02.000  6b",
        "   3     0:03.000  undo",
        "   4     0:04.000  1c",
        "   5     0:05.000  resign",
    ]
    assert lines[6] == f"hash chain: holds, {record.hash}"
    assert lines[7] == "result: resigned, score 0, 2 moves, 1 undos, 0:05"
    assert "\n".join(lines[8:]) + "\n" == board_text(record.game.position)


async def test_replay_as_json(run: Commands, server: FakeServer) -> None:
    await run("play", "--deal", "1", typed="6a")
    ran = await run("replay", "g1", "--json")
    told = json.loads(ran.out)
    record = server.games["g1"]
    assert told["chain"] == {"holds": True, "broken_at": None}
    assert (told["doubt"], told["board"]) == (None, board_text(record.game.position))
    assert told["entries"] == [
        dict(zip(("seq", "action", "at_ms", "hash"), record.entries[0], strict=True))
    ]
    assert told["result"]["hash"] == record.hash
    assert ran.status == 0


async def test_replay_that_does_not_hold_is_told(run: Commands, server: FakeServer) -> None:
    await run("play", "--deal", "1", typed="6a 1c")
    server.games["g1"].entries[0][2] += 1
    ran = await run("replay", "g1")
    assert ran.status == 1
    assert "hash chain: broken at entry 1\n" in ran.out


async def test_unknown_replay_is_refused(run: Commands) -> None:
    ran = await run("replay", "g9")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "cellmates: There is no such game or player.\n"


# -- token -----------------------------------------------------------------------------------------


async def test_token_is_shown_only_when_asked_for(
    run: Commands, server: FakeServer, config: Path
) -> None:
    where = f"token for {server.url} is kept in {config}/cellmates/tokens.json.\n"
    assert await run("token") == Ran(1, f"No {where}", "")
    await run("play")
    assert await run("token") == Ran(0, f"A {where}", "")
    assert json.loads((await run("token", "--json")).out) == {
        "server": server.url,
        "path": f"{config}/cellmates/tokens.json",
        "kept": True,
    }
    shown = await run("token", "--show", shows_token=True)
    assert shown == Ran(0, "secret-1\n", "")
    as_json = await run("token", "--show", "--json", shows_token=True)
    assert json.loads(as_json.out)["token"] == "secret-1"
    assert await run("token", "--forget") == Ran(0, f"No {where}", "")
    assert await run("token", "--show") == Ran(1, f"No {where}", "")


# -- Real pipes and terminals ----------------------------------------------------------------------


class Terminal:
    """A command with a terminal of its own, and what it has written there so far."""

    def __init__(self, ours: int, process: asyncio.subprocess.Process) -> None:
        self.seen = ""
        self.process = process
        self._ours = ours
        asyncio.get_running_loop().add_reader(ours, self._read)

    def _read(self) -> None:
        try:
            read = os.read(self._ours, 65536)
        except OSError:
            read = b""
        if not read:
            asyncio.get_running_loop().remove_reader(self._ours)
        self.seen += read.decode()

    async def sees(self, text: str) -> str:
        """Wait for a text; what was written before it, with escape codes, and the text itself."""
        await until(lambda: text in self.seen)
        before, _, self.seen = self.seen.partition(text)
        return before + text

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    async def ends(self) -> int:
        async with asyncio.timeout(10):
            return await self.process.wait()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
        if self.process.returncode is None:
            self.process.kill()


Open = Callable[..., Awaitable[Terminal]]


@pytest_asyncio.fixture
async def terminal(server: FakeServer, config: Path) -> AsyncIterator[Open]:
    opened: list[Terminal] = []

    async def open_(*arguments: str, kind: str = "xterm-256color") -> Terminal:
        ours, theirs = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "client", *arguments, "--server", server.url),
            cwd=ROOT,
            env=os.environ | {"TERM": kind, "PYTHONIOENCODING": "utf-8"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        opened.append(Terminal(ours, process))
        return opened[-1]

    yield open_
    for each in opened:
        each.close()
        await each.process.wait()


async def test_game_at_a_terminal(terminal: Open, server: FakeServer) -> None:
    at = await terminal("play", "--deal", "1")
    await at.sees("Your handle, or Enter for guest-")
    at.type("x\n")
    await at.sees("That is no handle: it is too short.")
    await at.sees("Your handle, or Enter for guest-")
    at.type("ann\n")
    board = await at.sees("> ")
    assert "\x1b[1;31mJ♦\x1b[0m" in board
    assert "\x1b[1mJ♣\x1b[0m" in board
    at.type("6a\n")
    assert "freecell 1 | 1 move | 0 undos | score 0 | 0:01" in await at.sees("> ")
    at.type("6b\n")
    assert "6b (6h 6h bh went along)" in await at.sees("> ")
    at.type("2a\n")
    assert "That cell is full." in await at.sees("> ")
    at.type("quit\n")
    await at.sees("Game g1 stays open: play --game g1 goes on with it.")
    assert await at.ends() == 0, "who types is not to be punished for a refusal"
    assert server.players["secret-1"]["handle"] == "ann"


async def test_unfinished_game_is_offered(
    terminal: Open, run: Commands, server: FakeServer
) -> None:
    await run("play", "--deal", "1", typed="6a")
    at = await terminal("play")
    await at.sees("You have an unfinished game of freecell, deal 1, 1 moves made. Go on with it?")
    at.type("\n")
    await at.sees("freecell 1 | 1 move ")
    at.type("\x04")
    assert await at.ends() == 0
    other = await terminal("play")
    await other.sees("Go on with it? [Y/n] ")
    other.type("n\n")
    await other.sees("> ")
    other.type("resign\n")
    await other.sees("The game is over: resigned.")
    assert await other.ends() == 0
    assert [*server.games] == ["g1", "g2"]


@pytest.mark.parametrize(("kind", "no_color"), [("dumb", None), ("xterm", "1")])
async def test_terminal_without_colours_gets_none(
    kind: str, no_color: str | None, terminal: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    at = await terminal("play", "--deal", "1", "--handle", "ann", kind=kind)
    board = await at.sees("> ")
    assert not re.search("\x1b\\[[0-9;]*3[0-9]m", board)
    assert "J♦" in board
    if kind == "dumb":
        assert "\x1b" not in board


async def test_what_other_connections_do_is_shown(terminal: Open, server: FakeServer) -> None:
    at = await terminal("play", "--deal", "1", "--handle", "ann")
    await at.sees("> ")
    record = server.games["g1"]
    record.act(parse_action("6a"))
    await server.talks[0].event(
        "game.event", game="g1", entry=record.entries[-1], auto=[], view=record.view()
    )
    await at.sees("Another of your connections played 6a.")
    await at.sees("freecell 1 | 1 move ")
    await at.sees("> ")
    await server.talks[0].event("server.draining", deadline=1, retry_after_ms=1)
    await at.sees("The server restarts; the game goes on in a moment.")
    at.type("1c\n")
    await at.sees("freecell 1 | 2 moves ")
    assert len(server.talks) == 2


async def test_player_who_waits_is_told_so(terminal: Open, server: FakeServer) -> None:
    server.trick("game.move", keep_silent)
    at = await terminal("play", "--deal", "1", "--handle", "ann")
    await at.sees("> ")
    at.type("6a\n")
    await at.sees("The server does not answer yet; waiting.")
    server.talks[0].socket.transport.abort()
    await at.sees("freecell 1 | 1 move ")


async def test_interrupt_leaves_the_game_open(terminal: Open) -> None:
    at = await terminal("play", "--deal", "1", "--handle", "ann")
    await at.sees("> ")
    at.process.send_signal(signal.SIGINT)
    await at.sees("Game g1 stays open")
    assert await at.ends() == 130


async def test_pipe_gets_plain_text_and_no_prompts(server: FakeServer, config: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "client", "play", "--deal", "1", "--server", server.url),
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm-256color"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(b"6a\n1")
    await until(lambda: bool(server.games and server.games["g1"].entries))
    # A line may come in pieces, and the last one without its end.
    out, err = await process.communicate(b"c")
    assert (process.returncode, err) == (0, b"")
    assert out.decode().startswith(TOP)
    assert "\n6a\n1c\n" in out.decode()
    assert b"\x1b" not in out
    assert b">" not in out
    assert out.isascii()


@pytest.mark.parametrize("stdin", ["file", "closed"])
async def test_moves_from_a_file_or_from_nowhere(
    stdin: str, server: FakeServer, config: Path
) -> None:
    (config / "moves").write_text("6a 1c\n")
    source = f"<{config}/moves" if stdin == "file" else "<&-"
    process = await asyncio.create_subprocess_shell(
        f"exec {sys.executable} -m client play --deal 1 --server {server.url} {source}",
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out
    assert out.decode().startswith(TOP)
    assert len(server.games["g1"].entries) == (2 if stdin == "file" else 0)


async def test_local_commands_need_nothing_but_python() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-S", "-m", "client", "deal", "freecell", "1"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert b": JD KD 2S 4C 3S 6D 6S\n" in out
