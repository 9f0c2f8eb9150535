"""The command that lets the solver play, as a bot with an account of its own."""

import argparse
import asyncio
import json
import secrets
from collections.abc import Iterable
from dataclasses import asdict

from cellmates.solver import Verdict

from .bot import play_out
from .client import Client
from .commands import REFUSED, Subcommands, add_command, client_of, refuse
from .errors import ServerError
from .game import PLAYING, WON, Game
from .local import WrongInput
from .picture import printable, time_text
from .progress import progress
from .results import BoardRow, Challenge, View
from .screen import view_json
from .standings import result_of
from .today import OWN_DEAL, result_text, ruleset_of, todays
from .tokens import Tokens

BOT_TOKEN_VARIABLE = "CELLMATES_BOT_TOKEN"

_ALL = "all"
_RULESET = "freecell"
_KIND = "bot"
_RANDOM_TRIES = 3
_HANDLE_REFUSED = frozenset({"handle-taken", "handle-invalid"})
# A board takes in a run within a second of its end.
_ROW_TRIES, _ROW_WAIT_S = 8, 0.25


def add_commands(commands: Subcommands) -> None:
    """Add ``bot`` to the command line."""
    bot = add_command(
        commands,
        "bot",
        _bot,
        "let the solver play for a bot of yours: today's dailies, or one game",
        token_variable=BOT_TOKEN_VARIABLE,
    )
    bot.add_argument("--daily", metavar="R", help="today's in one ruleset; without it all")
    bot.add_argument("--ruleset", metavar="R", help="play one game that counts on no first board")
    bot.add_argument("--deal", metavar="D", help="of that game: as play has it")
    bot.add_argument("--handle", metavar="NAME", help="what the bot is called, at first")
    bot.add_argument("--pace", metavar="MS", type=_pace, default=0, help="wait between moves")


def _pace(text: str) -> int:
    """Milliseconds between moves.

    Raises:
        argparse.ArgumentTypeError: it is no number of them.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 7):
        raise argparse.ArgumentTypeError("a pace is a number of milliseconds")
    return int(text)


def _bot(arguments: argparse.Namespace) -> int:
    if arguments.daily is not None and (arguments.ruleset or arguments.deal):
        raise WrongInput(OWN_DEAL)
    return asyncio.run(_botting(arguments))


async def _botting(arguments: argparse.Namespace) -> int:
    tokens = Tokens.of_bot()
    async with client_of(arguments, tokens) as client:
        await _become_bot(client, arguments.handle, tokens)
        if arguments.ruleset or arguments.deal:
            ruleset = arguments.ruleset or ruleset_of(arguments.deal) or _RULESET
            game = await client.start_game(ruleset, arguments.deal)
            return await _play(client, game, arguments)
        status = 0
        for challenge in await _challenges(client, arguments.daily or _ALL):
            try:
                status |= await _attempt(client, challenge, arguments)
            except ServerError as error:  # the others can be played all the same
                status |= refuse(error, as_json=arguments.json)
        return status


async def _become_bot(client: Client, handle: str | None, tokens: Tokens) -> None:
    """Make a bot of a guest, and keep its token.

    Raises:
        WrongInput: the token is a person's, or that of a bot with another handle.
        ServerError: the handle that was given is refused.
        TokensUnusable: the token could not be kept, so no player was made.
    """
    if client.me is not None:
        if client.me.kind != _KIND:
            raise WrongInput(
                f"{printable(client.me.handle)} is a person: leave the token out, "
                "and the bot gets an account of its own"
            )
        if handle not in (None, client.me.handle):
            raise WrongInput(f"on this server your bot is {printable(client.me.handle)} already")
        return
    tokens.check()
    await _create(client, handle)
    if client.token is not None:
        tokens.keep(client.url, client.token)


async def _create(client: Client, handle: str | None) -> None:
    for tried in range(_RANDOM_TRIES):
        try:
            await client.create_player(handle or f"bot-{secrets.token_hex(4)}", _KIND)
            return
        except ServerError as error:
            is_last = tried == _RANDOM_TRIES - 1
            if handle or is_last or error.code not in _HANDLE_REFUSED:
                raise


async def _challenges(client: Client, daily: str) -> Iterable[Challenge]:
    """Today's challenges that are to be played.

    Raises:
        Unavailable: there is none in that ruleset.
    """
    return await client.dailies() if daily == _ALL else [await todays(client, daily)]


async def _attempt(client: Client, challenge: Challenge, arguments: argparse.Namespace) -> int:
    """Make the ranked attempt at a challenge, or tell how it went before."""
    attempt = challenge.attempt
    if attempt is None or attempt.status == PLAYING:
        return await _play(client, await client.start_daily(challenge.challenge), arguments)
    game = await client.open_game(attempt.game)
    await _tell(client, game.view, None, arguments)
    return 0


async def _play(client: Client, game: Game, arguments: argparse.Namespace) -> int:
    with progress() as say:
        verdict = await play_out(game, pace_s=arguments.pace / 1000, say=say)
    await _tell(client, game.view, verdict, arguments)
    return 0 if game.view.status == WON else REFUSED


# -- What came of it -------------------------------------------------------------------------------


async def _tell(
    client: Client, view: View, verdict: Verdict | None, arguments: argparse.Namespace
) -> None:
    """Print a result and its rows; ``verdict`` is None for a game that was over before."""
    tries = 1 if verdict is None else _ROW_TRIES
    rows = {board: await _row(client, str(view.challenge), board, tries) for board in _boards(view)}
    if arguments.json:
        told = {board: None if row is None else asdict(row) for board, row in rows.items()}
        shown = None if verdict is None else str(verdict)
        print(json.dumps(view_json(view) | {"verdict": shown, "rows": told}), flush=True)
        return
    name = view.challenge or f"{view.ruleset} {view.deal}"
    print(printable(f"{name}: {_result(view, verdict)}"))
    for board, row in rows.items():
        print(printable(f"  {board}: {_row_text(row)}"), flush=True)


def _boards(view: View) -> Iterable[str]:
    """Boards that a game may be on."""
    if view.challenge is None or view.status == PLAYING:
        return ()
    boards = ("first" if view.ranked else "", "moves" if view.status == WON else "")
    return tuple(board for board in boards if board)


async def _row(client: Client, challenge: str, board: str, tries: int) -> BoardRow | None:
    """My row on a board, as soon as it is there; None if that takes too long."""
    for tried in range(tries):
        await asyncio.sleep(_ROW_WAIT_S if tried else 0)
        page = await client.board(challenge, board, _KIND, limit=1)
        if page.me is not None:
            return page.me
    return None


def _result(view: View, verdict: Verdict | None) -> str:
    if view.status == PLAYING:
        return f"no way to win was found; game {view.game} stays open"
    before = "over already, " if verdict is None else ""
    why = "cannot be won, " if verdict is Verdict.LOST else ""
    return f"{before}{why}{result_text(view)}"


def _row_text(row: BoardRow | None) -> str:
    if row is None:
        return "not on the board"
    figures = f"{time_text(row.elapsed_ms)}, {row.moves} moves, {row.undos} undos"
    return f"rank {row.rank}, {result_of(row)}, {figures}"
