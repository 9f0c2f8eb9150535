"""The command line: ``python -m client`` here, ``cellmates`` where it is installed."""

import argparse
import sys
from collections.abc import Sequence

from . import local
from .local import WrongInput

MISSING: str | None = None
try:
    from . import networked
except ModuleNotFoundError as error:  # local commands need nothing but Python
    if error.name not in ("msgpack", "rich", "websockets"):
        raise
    MISSING = error.name

WRONG_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 for a refusal, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="cellmates",
        description="FreeCell and Eight Off: games on a server, deals, solutions, lines of play.",
        epilog=f"Without the package {MISSING} there are no games on a server." if MISSING else "",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    if MISSING is None:
        networked.add_commands(commands)
    local.add_commands(commands)
    parsed = parser.parse_args(arguments)
    try:
        status: int = parsed.run(parsed)
    except WrongInput as error:
        print(f"cellmates: {error}", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(main())
