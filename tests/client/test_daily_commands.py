"""``play --daily`` and ``daily``."""

import json
import re
from datetime import date, timedelta

import pytest

from .boards import TODAY
from .fake import FakeServer
from .making import Commands, Ran, attempt, me
from .tricks import lose_answer

pytestmark = pytest.mark.asyncio

CHALLENGE = f"{TODAY}-freecell"

# -- play --daily ----------------------------------------------------------------------------------


async def test_attempt_of_today_is_begun_and_gone_on_with(
    run: Commands, server: FakeServer
) -> None:
    server.boards.add("eight-off")
    challenge = server.boards.add("freecell")
    begun = await run("play", "--daily", "freecell", "--handle", "ann", typed="83")
    assert (begun.status, begun.err) == (0, "")
    assert begun.out.startswith("   a   b   c   d      C   D   H   S\n")
    assert f"{CHALLENGE} | 1 move | 0 undos | score 0 | 0:01\n" in begun.out
    assert begun.out.endswith(
        "Game g1 stays open: play --game g1 goes on with it.\nIts clock runs on meanwhile.\n"
    )
    ran = await run("play", "--daily", "freecell", typed="4a resign")
    assert ran.out.startswith("You have begun this attempt before; its clock has run on.\n")
    assert ran.out.endswith(
        f"The game is over: resigned.\nboard {CHALLENGE} shows where you stand.\n"
    )
    assert (ran.status, ran.err) == (0, "")
    assert [entry[1] for entry in server.games["g1"].entries] == ["83", "4a", "resign"]
    assert server.bodies("daily.start") == [{"challenge": challenge}] * 2


@pytest.mark.parametrize(
    ("played", "end", "result"),
    [
        (79, "", "won in 1:19, 119 moves, 0 undos"),
        (3, "resign", "resigned after 0:04, 0 cards home, 3 moves, 0 undos"),
        (1, "expire", "expired after 30:00:00, 0 cards home, 1 move, 0 undos"),
    ],
)
async def test_attempt_that_is_over_is_told_with_its_result_and_practice(
    played: int, end: str, result: str, run: Commands, server: FakeServer
) -> None:
    server.boards.add("freecell")
    token = me(server)
    record = attempt(server, token, CHALLENGE, played, end=end)
    ran = await run("play", "--daily", "freecell")
    assert ran == Ran(
        1,
        "",
        f"cellmates: Your attempt at {CHALLENGE} is over: {result}. "
        f"For practice, play --ruleset freecell --deal {CHALLENGE} deals it again.\n",
    )
    as_json = await run("play", "--daily", "freecell", "--json")
    error = json.loads(as_json.out)["error"]
    assert error["code"] is None
    view = record.view()
    names = ("challenge", "game", "status", "score", "moves", "undos", "elapsed_ms")
    assert error["context"] == {name: view[name] for name in names}
    assert as_json.status == 1
    assert not server.bodies("daily.start")


@pytest.mark.parametrize("ruleset", [["--ruleset", "eight-off"], []])
async def test_practice_has_the_deal_of_a_challenge_and_its_ruleset(
    ruleset: list[str], run: Commands, server: FakeServer
) -> None:
    challenge = server.boards.add("eight-off")
    early = await run("play", *ruleset, "--deal", challenge, "--handle", "ann")
    assert early.status == 1, "the attempt comes first"
    await run("play", "--daily", "eight-off", typed="resign")
    ran = await run("play", *ruleset, "--deal", challenge)
    assert f"{challenge}, practice | 0 moves | 0 undos (0 left) | score 0 | 0:00\n" in ran.out
    assert ran.out.endswith("Game g2 stays open: play --game g2 goes on with it.\n")
    assert server.games["g2"].attempt == 2


async def test_replay_of_an_attempt_names_it(run: Commands, server: FakeServer) -> None:
    attempt(server, me(server), server.boards.add("freecell"), 1, number=2)
    ran = await run("replay", "g1")
    assert ran.out.splitlines()[1] == f"attempt 2 at {CHALLENGE}"


@pytest.mark.parametrize(
    ("rulesets", "but"),
    [(["freecell", "eight-off"], "; there is one of freecell, eight-off"), ([], "")],
)
async def test_daily_that_there_is_not_is_told(
    rulesets: list[str], but: str, run: Commands, server: FakeServer
) -> None:
    for ruleset in rulesets:
        server.boards.add(ruleset)
    ran = await run("play", "--daily", "whist")
    assert ran == Ran(1, "", f"cellmates: There is no daily of 'whist' today{but}.\n")


@pytest.mark.parametrize("command", ["play", "bot"])
@pytest.mark.parametrize("given", [["--ruleset", "freecell"], ["--deal", "1"]])
async def test_daily_with_another_deal_is_wrong_input(
    command: str, given: list[str], run: Commands, server: FakeServer
) -> None:
    ran = await run(command, "--daily", "freecell", *given)
    assert (ran.status, ran.out) == (2, "")
    assert "a daily has a deal of its own: leave --ruleset and --deal out" in ran.err
    assert not server.talks


@pytest.mark.parametrize("given", [["--game", "g1"], ["--continue"]])
async def test_daily_or_another_game(given: list[str], run: Commands) -> None:
    with pytest.raises(SystemExit):
        await run("play", "--daily", "freecell", *given)


async def test_clock_that_ends_the_game_is_told_where_the_moves_are_piped_in(
    run: Commands, server: FakeServer
) -> None:
    server.boards.add("freecell")
    record = attempt(server, me(server), CHALLENGE, 1)
    server.trick("daily.start", lose_answer)

    async def expire(_: object, __: object) -> bool:
        record.expire()
        return False

    server.trick("game.move", expire)
    ran = await run("play", "--daily", "freecell", typed="4a\n46\n")
    assert "The game is over: it was expired.\n" in ran.out
    assert ran.out.endswith(
        f"The time for this attempt is over.\nboard {CHALLENGE} shows where you stand.\n"
    )
    assert ran.status == 1
    assert len(server.bodies("game.move")) == 1


# -- daily -----------------------------------------------------------------------------------------


async def test_challenges_of_today_are_a_table(run: Commands, server: FakeServer) -> None:
    server.boards.add("freecell")
    server.boards.add("eight-off", par=79)
    attempt(server, me(server), CHALLENGE, 3)
    assert await run("daily") == Ran(
        0,
        " challenge             attempt  time left  par  commitment   \n"
        " 2023-11-14-freecell   playing    1:46:40    -  c0ffeec0ffee \n"
        " 2023-11-14-eight-off  -          1:46:40   79  c0ffeec0ffee \n",
        "",
    )


@pytest.mark.parametrize(
    ("days", "shown"), [(-1, "closed"), (1, "opens in 1:46:40"), (7, "opens in 145:46:40")]
)
async def test_other_days_are_closed_or_not_open_yet(
    days: int, shown: str, run: Commands, server: FakeServer
) -> None:
    day = (date.fromisoformat(TODAY) + timedelta(days)).isoformat()
    server.boards.add("freecell", day=day)
    ran = await run("daily", "--date", day)
    assert re.search(rf"^ {day}-freecell +- +{shown} +-  c0ffeec0ffee $", ran.out, re.MULTILINE)
    assert server.bodies("hello")[0].get("token") is None
    assert not server.players, "a guest may look"


async def test_challenges_as_json(run: Commands, server: FakeServer) -> None:
    server.boards.add("freecell")
    told = json.loads((await run("daily", "--json")).out)
    assert told["time"] == 1_700_000_000_000
    [challenge] = told["challenges"]
    assert (challenge["challenge"], challenge["attempt"]) == (CHALLENGE, None)
    assert challenge["closes"] - challenge["opens"] == 86_400_000
    assert (challenge["proof"], challenge["par"]) == (None, None)


async def test_day_without_dailies_is_told(run: Commands) -> None:
    assert await run("daily") == Ran(0, "There are none today.\n", "")
    on_that_day = await run("daily", "--date", "2026-12-01")
    assert on_that_day == Ran(0, "There are no dailies on that day.\n", "")
    as_json = await run("daily", "--date", "2026-12-01", "--json")
    assert json.loads(as_json.out)["challenges"] == []


async def test_date_that_is_no_day_is_refused(run: Commands) -> None:
    ran = await run("daily", "--date", "2026-02-30")
    assert ran == Ran(1, "", "cellmates: The server will not have that: there is no such day.\n")
