"""What the commands that talk to a server have in common: options, tokens, refusals in words."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import TypeAlias

from .address import DEFAULT, BadAddress, websocket_url
from .client import Client
from .errors import ClientError, ServerError, Unavailable
from .local import WrongInput
from .picture import printable
from .screen import error_json
from .sentences import sentence
from .tokens import Tokens, TokensUnusable

Subcommands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run: TypeAlias = Callable[[argparse.Namespace], int]

TOKEN_VARIABLE = "CELLMATES_TOKEN"
SERVER_VARIABLE = "CELLMATES_SERVER"
REFUSED = 1

_NAME = "cellmates"


def add_command(
    commands: Subcommands, name: str, run: Run, says: str, *, token_variable: str = TOKEN_VARIABLE
) -> argparse.ArgumentParser:
    """Add a command that talks to a server; what goes wrong in ``run`` is said in words."""
    command = commands.add_parser(name, help=says, description=says)
    server = os.environ.get(SERVER_VARIABLE) or DEFAULT
    command.add_argument(
        "--server", metavar="URL", default=server, help=f"{SERVER_VARIABLE}, or {DEFAULT}"
    )
    command.add_argument(
        "--token", metavar="TOKEN", help=f"who you are; better in {token_variable}"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(
        run=lambda arguments: _in_words(run, arguments), token_variable=token_variable
    )
    return command


def client_of(arguments: argparse.Namespace, tokens: Tokens) -> Client:
    """Client for the server and the token that were given, or the token that is kept.

    Raises:
        BadAddress: no server can be there.
        TokensUnusable: whether a token is kept cannot be found out.
    """
    url = websocket_url(arguments.server)
    given = arguments.token or os.environ.get(arguments.token_variable)
    return Client(url, token=given or tokens.get(url), name=_NAME)


def refuse(error: ClientError, *, as_json: bool) -> int:
    """Say why something is refused; the exit status for that."""
    if as_json:
        print(json.dumps({"error": error_json(error)}), flush=True)
    else:
        print(f"cellmates: {printable_lines(sentence(error))}", file=sys.stderr)
    return REFUSED


def printable_lines(text: str) -> str:
    """Lines of text that do nothing to a terminal but to be seen."""
    return "\n".join(printable(line) for line in text.split("\n"))


def _in_words(run: Run, arguments: argparse.Namespace) -> int:
    """Run a command, and say in words what went wrong.

    Raises:
        WrongInput: there is no server, no valid token, or what was given cannot be used.
    """
    try:
        return run(arguments)
    except ServerError as error:
        if error.code == "bad-token":
            raise WrongInput(f"{sentence(error)} {_forgetting(arguments)}") from None
        return refuse(error, as_json=arguments.json)
    except Unavailable as error:
        return refuse(error, as_json=arguments.json)
    except (BadAddress, TokensUnusable) as error:
        raise WrongInput(str(error)) from None
    except ClientError as error:
        raise WrongInput(sentence(error)) from None


def _forgetting(arguments: argparse.Namespace) -> str:
    bot = "" if arguments.token_variable == TOKEN_VARIABLE else "--bot "
    return f"If it was kept: token {bot}--forget."
