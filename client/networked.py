"""Commands that talk to a server: play a game, print a replay, see which token is kept."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime

from . import bot_commands, daily_commands, verification
from .address import websocket_url
from .commands import REFUSED, Subcommands, add_command, client_of
from .keyboard import Keyboard
from .local import WrongInput
from .picture import printable, time_text
from .replaying import Checked, check
from .results import Replay, ReplayHeader
from .screen import screen
from .terminal import Table, Wish
from .today import OWN_DEAL
from .tokens import Tokens


def add_commands(commands: Subcommands) -> None:
    """Add every command that talks to a server to the command line."""
    play = add_command(
        commands, "play", _play, "play a game at the terminal, or with moves piped in"
    )
    play.add_argument("--ruleset", metavar="R", help="freecell where none is named")
    play.add_argument(
        "--deal", metavar="D", help="number, code, cards:... or challenge; else a random one"
    )
    play.add_argument("--handle", metavar="NAME", help="who you will be, when you play first")
    going_on = play.add_mutually_exclusive_group()
    going_on.add_argument("--game", metavar="ID", help="go on with this game")
    going_on.add_argument(
        "--continue", action="store_true", dest="go_on", help="go on with your last game"
    )
    going_on.add_argument(
        "--daily", metavar="R", help="your one ranked attempt at today's deal: begin it or go on"
    )
    daily_commands.add_commands(commands)
    replay = add_command(commands, "replay", _replay, "print the moves of a game, and check them")
    replay.add_argument("game", metavar="GAME")
    verification.add_command(commands)
    bot_commands.add_commands(commands)
    token = add_command(commands, "token", _token, "tell whether a token is kept for the server")
    token.add_argument("--bot", action="store_true", help="the one of your bot")
    token.add_argument("--show", action="store_true", help="print it: keep it to yourself")
    token.add_argument("--forget", action="store_true", help="keep it no more")


# -- play ------------------------------------------------------------------------------------------


def _play(arguments: argparse.Namespace) -> int:
    if arguments.daily is not None and (arguments.ruleset or arguments.deal):
        raise WrongInput(OWN_DEAL)
    return asyncio.run(_playing(arguments))


async def _playing(arguments: argparse.Namespace) -> int:
    tokens = Tokens.of_user()
    handle: str | None = arguments.handle
    async with Keyboard() as keyboard, client_of(arguments, tokens) as client:
        if arguments.json:
            keyboard.is_interactive = False  # a program types
        shown = screen(as_json=arguments.json, is_interactive=keyboard.is_interactive)
        table = Table(client, keyboard, shown)
        if client.me is None:
            await table.become_player(handle, tokens)
        elif handle is not None and handle != client.me.handle:
            raise WrongInput(f"on this server you are {printable(client.me.handle)} already")
        wish = Wish(
            arguments.ruleset, arguments.deal, arguments.game, arguments.go_on, arguments.daily
        )
        return await table.play(wish)


# -- replay ----------------------------------------------------------------------------------------


def _replay(arguments: argparse.Namespace) -> int:
    replay = asyncio.run(_replayed(arguments))
    checked = check(replay)
    if arguments.json:
        print(json.dumps(_replay_json(arguments.game, replay, checked)))
    else:
        sys.stdout.writelines(f"{printable(line)}\n" for line in _replay_lines(replay, checked))
    return REFUSED if checked.doubt or checked.broken_at is not None else 0


async def _replayed(arguments: argparse.Namespace) -> Replay:
    async with client_of(arguments, Tokens.of_user()) as client:
        return await client.replay(arguments.game)


def _replay_json(game: str, replay: Replay, checked: Checked) -> dict[str, object]:
    told = asdict(replay)
    del told["next"]
    return {
        "game": game,
        **told,
        "chain": {"holds": checked.broken_at is None, "broken_at": checked.broken_at},
        "doubt": checked.doubt,
        "board": checked.board,
    }


def _replay_lines(replay: Replay, checked: Checked) -> Iterator[str]:
    header, result = replay.header, replay.result
    player = header.player.handle if header.player else "a deleted player"
    yield f"{header.ruleset} {header.deal}, autoplay {header.autoplay}, {player}, {_day(header)}"
    if header.challenge is not None:
        yield f"attempt {header.attempt} at {header.challenge}"
    for entry in replay.entries:
        yield f"{entry.seq:>4}  {time_text(entry.at_ms, exact=True):>11}  {entry.action}"
    yield from _verdict(replay, checked)
    yield (
        f"result: {result.status}, score {result.score}, {result.moves} moves, "
        f"{result.undos} undos, {time_text(result.elapsed_ms)}"
    )
    yield from (checked.board or "").splitlines()


def _day(header: ReplayHeader) -> str:
    try:
        return datetime.fromtimestamp(header.started / 1000, UTC).isoformat(" ", "seconds")
    except (OverflowError, ValueError):
        return "at no time that there is"


def _verdict(replay: Replay, checked: Checked) -> Iterator[str]:
    if checked.broken_at is None:
        yield f"hash chain: holds, {replay.result.hash}"
    else:
        where = f"entry {checked.broken_at}" if checked.broken_at else "the hash of the result"
        yield f"hash chain: broken at {where}"
    if checked.doubt:
        yield f"moves: {checked.doubt}"


# -- token -----------------------------------------------------------------------------------------


def _token(arguments: argparse.Namespace) -> int:
    """Tell of the kept token without a word to the server."""
    tokens = Tokens.of_bot() if arguments.bot else Tokens.of_user()
    url = websocket_url(arguments.server)
    token = tokens.get(url)
    if arguments.forget:
        tokens.forget(url)
    is_kept = token is not None and not arguments.forget
    if arguments.json:
        shown = {"token": token} if arguments.show else {}
        print(json.dumps({"server": url, "path": str(tokens.path), "kept": is_kept} | shown))
    elif arguments.show and token is not None:
        print(token)
    else:
        print(f"{'A' if is_kept else 'No'} token for {url} is kept in {tokens.path}.")
    return REFUSED if token is None else 0
