"""The page's wire and play under Node: nothing is lost, nothing doubled, whatever breaks."""

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.e2e.running import running_server
from tests.web.node import HERE, answers

SCENARIOS = """
a move shows at once and is confirmed
a move that the rules refuse is not sent
actions are recorded in the order in which they were made
a move that was lost before it was recorded is sent again
a move whose answer was lost is not made twice
five quick moves while away are all made when the server is back
a whole game is won through cuts at every fifth request
two tabs stay in step
of two tabs that move at once one is rolled back
a late answer to what was rolled back does not touch what was made since
a gap in what is told is filled
undo goes back move by move
what waited for an undo that was refused is not made
two tabs that make the same move at once have both made it
what another tab did while this one was away is caught up with
a move that the server refuses is rolled back with those after it
an undo whose way is not known waits for the server
an undo whose answer was lost is not made twice
a game that is given up ends
a game whose time runs out ends
time goes by the server's clock
a draining server is asked nothing more until it is back
requests that a draining server refuses are asked again in order
it comes back with back-off and starts over when greeted
a close code that forbids it is not argued with
a token that no longer works waits for the player's word
a token that another tab replaced is taken over, and no move is lost
the news of another tab's token may come late, and no move is lost
who signs in with a token that does not work stays who they are
a guest becomes a player in all tabs, and leaves in all
what is not safe to send again is lost with the connection, the rest is not
a game whose dealing was not answered is found again
requests keep to the pace of the greeting
who is told to slow down waits and goes on
who went on regardless waits as long as the server says
an hour's wait for one thing is none for all
requests that were refused for their number keep their order
a connection that breaks during the greeting is made again
a fault of the server is asked again, but not for ever
a connection that says nothing any more is left
a device that wakes asks at once whether anybody is there
boards are watched again, and told, after a reconnect
a hint waits for what is pending
a game that was left still sends what is pending, and hears nothing then
a line that was stopped rejects what waits
""".strip().splitlines()


@cache
def faults() -> dict[str, object]:
    ran = answers("wire_runner.mjs", [])
    return {line["name"]: line["fault"] for line in ran if isinstance(line, dict)}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario(scenario: str) -> None:
    assert faults()[scenario] is None, faults()[scenario]


def test_every_scenario_is_named_here() -> None:
    assert sorted(faults()) == sorted(SCENARIOS)


def test_real_server_tells_what_was_foretold_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None, "install nodejs"
    url = f"sqlite:///{tmp_path}/games.db"
    with running_server(tmp_path, database_url=url) as server:
        page = subprocess.Popen(
            [node, "--experimental-websocket", str(HERE / "wire_real.mjs"), server.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with page:
            assert page.stdout is not None
            assert page.stderr is not None
            if page.stdout.readline() == "kill\n":
                server.kill()
                server.start()
            found = page.stdout.read()
            complaint = page.stderr.read()
    assert page.returncode == 0, complaint
    assert json.loads(found) == {"status": "won", "player": None}
