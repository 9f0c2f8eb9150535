"""The command line: ``python -m client`` here, ``cellmates`` where it is installed."""

import argparse
import sys
from collections.abc import Sequence

from .local import WrongInput, add_commands

WRONG_INPUT = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 1 for a refusal, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="cellmates", description="FreeCell and Eight Off: deals, solutions and lines of play."
    )
    add_commands(parser.add_subparsers(metavar="COMMAND", required=True))
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
