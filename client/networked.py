"""Commands that talk to a server: play a game, print a replay, see which token is kept."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TypeAlias

from .address import DEFAULT, BadAddress, websocket_url
from .client import Client
from .errors import ClientError, ServerError
from .keyboard import Keyboard
from .local import WrongInput
from .picture import printable, time_text
from .replaying import Checked, check
from .results import Replay, ReplayHeader
from .screen import error_json, screen
from .sentences import sentence
from .terminal import NothingToContinue, Table, Wish
from .tokens import Tokens, TokensUnusable

Run: TypeAlias = Callable[[argparse.Namespace], int]

TOKEN_VARIABLE = "CELLMATES_TOKEN"
SERVER_VARIABLE = "CELLMATES_SERVER"

_NAME = "cellmates"
_REFUSED = 1


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``play``, ``replay`` and ``token`` to the command line."""
    play = _command(commands, "play", _play, "play a game at the terminal, or with moves piped in")
    play.add_argument("--ruleset", metavar="R", help="freecell where none is named")
    play.add_argument("--deal", metavar="D", help="number, code or cards:...; else a random one")
    play.add_argument("--handle", metavar="NAME", help="who you will be, when you play first")
    going_on = play.add_mutually_exclusive_group()
    going_on.add_argument("--game", metavar="ID", help="go on with this game")
    going_on.add_argument(
        "--continue", action="store_true", dest="go_on", help="go on with your last game"
    )
    replay = _command(commands, "replay", _replay, "print the moves of a game, and check them")
    replay.add_argument("game", metavar="GAME")
    token = _command(commands, "token", _token, "tell whether a token is kept for the server")
    token.add_argument("--show", action="store_true", help="print it: keep it to yourself")
    token.add_argument("--forget", action="store_true", help="keep it no more")


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Run,
    says: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=says, description=says)
    server = os.environ.get(SERVER_VARIABLE) or DEFAULT
    command.add_argument(
        "--server", metavar="URL", default=server, help=f"{SERVER_VARIABLE}, or {DEFAULT}"
    )
    command.add_argument(
        "--token", metavar="TOKEN", help=f"who you are; better in {TOKEN_VARIABLE}"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=lambda arguments: _in_words(run, arguments))
    return command


def _in_words(run: Run, arguments: argparse.Namespace) -> int:
    """Run a command, and say in words what went wrong.

    Raises:
        WrongInput: there is no server, no valid token, or what was given cannot be used.
    """
    try:
        return run(arguments)
    except ServerError as error:
        if error.code == "bad-token":
            raise WrongInput(f"{sentence(error)} If it was kept: token --forget.") from None
        return _refused(error, arguments)
    except NothingToContinue as error:
        return _refused(error, arguments)
    except (BadAddress, TokensUnusable) as error:
        raise WrongInput(str(error)) from None
    except ClientError as error:
        raise WrongInput(sentence(error)) from None


def _refused(error: ClientError, arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps({"error": error_json(error)}))
    else:
        print(f"cellmates: {printable(sentence(error))}", file=sys.stderr)
    return _REFUSED


def _client(arguments: argparse.Namespace, tokens: Tokens) -> Client:
    """Client for the server and the token that were given, or the token that is kept."""
    url = websocket_url(arguments.server)
    token = arguments.token or os.environ.get(TOKEN_VARIABLE) or tokens.get(url)
    return Client(url, token=token, name=_NAME)


# -- play ------------------------------------------------------------------------------------------


def _play(arguments: argparse.Namespace) -> int:
    return asyncio.run(_playing(arguments))


async def _playing(arguments: argparse.Namespace) -> int:
    tokens = Tokens.of_user()
    handle: str | None = arguments.handle
    async with Keyboard() as keyboard, _client(arguments, tokens) as client:
        if arguments.json:
            keyboard.is_interactive = False  # a program types
        shown = screen(as_json=arguments.json, is_interactive=keyboard.is_interactive)
        table = Table(client, keyboard, shown)
        if client.me is None:
            await table.become_player(handle, tokens)
        elif handle is not None and handle != client.me.handle:
            raise WrongInput(f"on this server you are {printable(client.me.handle)} already")
        wish = Wish(arguments.ruleset, arguments.deal, arguments.game, arguments.go_on)
        return await table.play(wish)


# -- replay ----------------------------------------------------------------------------------------


def _replay(arguments: argparse.Namespace) -> int:
    replay = asyncio.run(_replayed(arguments))
    checked = check(replay)
    if arguments.json:
        print(json.dumps(_replay_json(arguments.game, replay, checked)))
    else:
        sys.stdout.writelines(f"{printable(line)}\n" for line in _replay_lines(replay, checked))
    return _REFUSED if checked.doubt or checked.broken_at is not None else 0


async def _replayed(arguments: argparse.Namespace) -> Replay:
    async with _client(arguments, Tokens.of_user()) as client:
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
    tokens, url = Tokens.of_user(), websocket_url(arguments.server)
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
    return _REFUSED if token is None else 0
