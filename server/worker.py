"""The solver's own process: it reads what to plan, says how far it is, and what came of it.

One line of JSON comes in, ``{"ruleset", "seed"}``; out go a line ``{"candidate"}`` for each that is
looked at, and a last line with the fields of ``Planned``. The seed comes this way because the
arguments and the environment of a process are for everybody on the machine to read.
"""

import json
import os
import sys
from dataclasses import asdict
from typing import TextIO

from cellmates.daily import plan
from cellmates.engine import RULESETS

NICE = 10  # games come first


def main(asked: TextIO, answer: TextIO) -> None:
    """Plan what is asked for."""

    def say(fields: dict[str, object]) -> None:
        answer.write(json.dumps(fields) + "\n")
        answer.flush()

    wanted = json.loads(asked.readline())
    planned = plan(
        RULESETS[wanted["ruleset"]],
        bytes.fromhex(wanted["seed"]),
        progress=lambda number: say({"candidate": number}),
    )
    say(asdict(planned) | {"deal": str(planned.deal)})


if __name__ == "__main__":
    os.nice(NICE)
    main(sys.stdin, sys.stdout)
