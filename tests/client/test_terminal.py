"""Commands at real terminals, pipes and files."""

import asyncio
import os
import pty
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from cellmates.engine import parse_action

from .fake import FakeServer
from .making import TOP, Commands, attempt
from .tricks import keep_silent, until

pytestmark = pytest.mark.asyncio

ROOT = Path(__file__).parents[2]


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
        async with asyncio.timeout(30):
            return await self.process.wait()

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._ours)
        os.close(self._ours)
        if self.process.returncode is None:
            self.process.kill()


def _hear_interrupts() -> None:
    """A command that runs in the background of a shell would not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
            preexec_fn=_hear_interrupts,
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


async def test_clock_that_ends_an_attempt_is_told_at_once(
    terminal: Open, server: FakeServer
) -> None:
    challenge = server.boards.add("freecell")
    at = await terminal("play", "--daily", "freecell", "--handle", "ann")
    await at.sees(f"{challenge} | 0 moves")
    await at.sees("> ")
    expired = server.games["g1"].expire()
    await server.talks[0].send(expired)
    await at.sees(f"{challenge} | 0 moves | 0 undos | score 0 | 30:00:00 | expired")
    await at.sees("The time for this attempt is over.")
    await at.sees(f"board {challenge} shows where you stand.")
    assert await at.ends() == 0


async def test_attempt_that_expired_while_the_server_was_away_is_over(
    terminal: Open, server: FakeServer
) -> None:
    server.boards.add("freecell")
    at = await terminal("play", "--daily", "freecell", "--handle", "ann")
    await at.sees("> ")
    server.games["g1"].expire()
    server.talks[0].socket.transport.abort()
    await at.sees("The time for this attempt is over.")
    assert await at.ends() == 0


async def test_watched_board_is_one_table_until_interrupted(
    terminal: Open, server: FakeServer
) -> None:
    which = server.boards.add("freecell"), "first", "human"
    server.boards.run(*which, "bob")
    at = await terminal("board", "freecell", "--watch")
    await at.sees("first, human: 1 run")
    await until(lambda: bool(server.talks[0].watched))
    server.boards.run(*which, "cat")
    await server.changed(*which)
    wiped = await at.sees("first, human: 2 runs")
    assert "\x1b[1A\x1b[2K" in wiped
    server.talks[0].socket.transport.abort()
    await until(lambda: len(server.talks) == 2 and bool(server.talks[1].watched))
    server.boards.run(*which, "dan")
    await server.changed(*which)
    await at.sees("first, human: 3 runs")
    await at.sees("dan")
    at.process.send_signal(signal.SIGINT)
    assert await at.ends() == 130


async def test_bot_shows_how_far_it_is_and_wipes_that(terminal: Open, server: FakeServer) -> None:
    token = server.player("hal")
    challenge = server.boards.add("freecell")
    attempt(server, token, challenge)
    at = await terminal("bot", "--token", token)
    await at.sees("positions searched")
    await at.sees("\rmove 1 of ")
    before = await at.sees(f"{challenge}: won in ")
    assert f"\r{' ' * 40}\r" in before
    await at.sees("  moves: rank 1, won, ")
    assert await at.ends() == 0


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
