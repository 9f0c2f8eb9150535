"""The command ``verify``: fetch what is public about a day, and check it; see ``verifying``.

It asks as a guest, whoever has a token here: what only some may see proves nothing to the others.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from cellmates.daily import BOARDS, BadDay, opens_at, parse_challenge_id

from .address import DEFAULT, BadAddress, websocket_url
from .client import Client
from .commands import SERVER_VARIABLE, Subcommands
from .errors import ClientError, ServerError
from .local import WrongInput
from .picture import printable
from .progress import progress
from .results import Challenge, Replay
from .sentences import sentence
from .verifying import Announced, CannotVerify, Finding, Watch, neighbours, verify_challenge
from .verifying_runs import KINDS, RENAMED, Board, Runs, verify_boards

_NAME = "cellmates"
_LIE = 1
_ROWS = 100
# Refusals that keep something back which is public by now.
_KEPT_BACK = frozenset({"forbidden", "not-found", "not-yet"})
# A handle can change while replays come in. Boards have the new one within a second.
_RENAMED_S = 2.0


class _Lie(Exception):
    """A finding that does not hold, and was shown: there is no more to be done."""


@dataclass(frozen=True, slots=True)
class _Output:
    """Where findings and progress are shown; ``signs`` are those before what holds and a lie."""

    as_json: bool
    signs: tuple[str, str]
    watch: Watch

    def show(self, findings: Iterable[Finding]) -> None:
        """Print each finding as soon as it is there.

        Raises:
            _Lie: one does not hold.
        """
        for finding in findings:
            self.watch("")
            print(json.dumps(asdict(finding)) if self.as_json else self._line(finding), flush=True)
            if not finding.holds:
                raise _Lie

    def say(self, text: str) -> None:
        """Something for people."""
        if not self.as_json:
            print(printable(text), flush=True)

    def _line(self, finding: Finding) -> str:
        says = finding.says
        if not finding.holds:
            where = [finding.challenge]
            where += [] if finding.game is None else [f"game {finding.game}"]
            where += [] if finding.seq is None else [f"entry {finding.seq}"]
            says = f"{', '.join(where)}: {says}"
        return printable(f"{self.signs[not finding.holds]} {finding.check}: {says}")


def add_command(commands: Subcommands) -> None:
    """Add ``verify`` to the command line."""
    says = "check a day that is over: its deals, every ranked run, the order of its boards"
    command = commands.add_parser("verify", help=says, description=says)
    command.add_argument("what", metavar="DATE|CHALLENGE", help="such as 2026-12-01[-freecell]")
    server = os.environ.get(SERVER_VARIABLE) or DEFAULT
    command.add_argument(
        "--server", metavar="URL", default=server, help=f"{SERVER_VARIABLE}, or {DEFAULT}"
    )
    command.add_argument("--json", action="store_true", help="print JSON, a line for each check")
    command.set_defaults(run=_verify)


def _verify(arguments: argparse.Namespace) -> int:
    """Exit status: 0 where all holds, 1 at the first lie.

    Raises:
        WrongInput: what was given is no day or challenge, there is none, it cannot be verified yet
            or by this version, or the server does not answer as it has to.
    """
    try:
        with _output(as_json=arguments.json) as output:
            _verify_all(arguments.what, lambda: _guest(arguments.server), output)
    except _Lie:
        return _LIE
    except (BadAddress, BadDay, CannotVerify) as error:
        raise WrongInput(printable(str(error))) from None
    except ClientError as error:
        raise WrongInput(sentence(error)) from None
    return 0


@contextmanager
def _output(*, as_json: bool) -> Iterator[_Output]:
    signs = ("✓", "✗") if sys.stdout.encoding.lower().startswith("utf") else ("ok", "LIE")
    with progress() as say:
        yield _Output(as_json, signs, say or _unseen)


def _unseen(_: str) -> None:
    """Show no progress, where nobody looks."""


def _guest(server: str) -> Client:
    return Client(websocket_url(server), name=_NAME)


def _verify_all(what: str, guest: Callable[[], Client], output: _Output) -> None:
    """Check the challenges of a day, or one of them.

    Raises:
        _Lie: one of them does not hold, and that was shown.
        BadDay: what was given is no day or challenge.
        CannotVerify: there is no such challenge, or it cannot be verified.
        ClientError: the server does not answer as it has to.
    """
    day = what if len(what) <= len("YYYY-MM-DD") else parse_challenge_id(what)[0]
    opens_at(day)
    told_of_day = asyncio.run(_announced(day, guest))
    announced = [told for told in told_of_day if what in (day, told.challenge.challenge)]
    if not announced:
        raise CannotVerify(f"the server lists no challenge for {what}")
    runs = 0
    for told in announced:
        output.say(told.challenge.challenge)
        output.show(verify_challenge(told, output.watch))
        runs += asyncio.run(_verify_runs(told.challenge, guest, output))
    output.say(f"All of it holds: challenges {len(announced)}, runs {runs}.")


# -- Fetching --------------------------------------------------------------------------------------


async def _announced(day: str, guest: Callable[[], Client]) -> list[Announced]:
    """What the server says of the challenges of a day, with their neighbours."""
    async with guest() as client:
        listed = {day: await client.dailies(day)}
        for other in neighbours(day, listed[day]) - {day}:
            listed[other] = await client.dailies(other)
        now = await client.ping()
    return [Announced(day, challenge, listed, now) for challenge in listed[day]]


async def _verify_runs(challenge: Challenge, guest: Callable[[], Client], output: _Output) -> int:
    """Check boards and runs of a challenge; the number of runs.

    Raises:
        _Lie: something does not hold, and that was shown.
    """
    async with guest() as client:
        boards = await _boards(client, challenge.challenge)
        output.show(verify_boards(challenge.challenge, boards))
        runs = Runs(challenge, boards)
        lie = await _take(client, runs, output.watch)
        if lie is not None and lie.check == RENAMED:
            await asyncio.sleep(_RENAMED_S)
            boards = await _boards(client, challenge.challenge)
            again = verify_boards(challenge.challenge, boards)
            output.show(finding for finding in again if not finding.holds)
            runs = Runs(challenge, boards)
            lie = await _take(client, runs, output.watch)
    output.show(runs.findings() if lie is None else [lie])
    return len(runs.games)


async def _boards(client: Client, challenge: str) -> list[Board]:
    return [await _board(client, challenge, board, kind) for board in BOARDS for kind in KINDS]


async def _board(client: Client, challenge: str, board: str, kind: str) -> Board:
    """All rows of a board, or those up to where there are more than the server says."""
    page = await client.board(challenge, board, kind, limit=_ROWS)
    rows, total = page.rows, page.total
    while page.next is not None and page.rows and len(rows) <= total:
        page = await client.board(challenge, board, kind, limit=_ROWS, cursor=page.next)
        rows += page.rows
    return Board(board, kind, rows, total)


async def _take(client: Client, runs: Runs, watch: Watch) -> Finding | None:
    """Fetch the replays of runs and check each; the first lie."""
    for number, game in enumerate(runs.games, 1):
        watch(f"run {number} of {len(runs.games)}")
        lie = runs.take(game, await _replay(client, game))
        if lie is not None:
            return lie
    return None


async def _replay(client: Client, game: str) -> Replay | None:
    """A replay; None where the server keeps it back."""
    try:
        return await client.replay(game)
    except ServerError as error:
        if error.code not in _KEPT_BACK:
            raise
        return None
