"""A board that is longer than a page, looked through forwards and back."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from cellmates.daily import challenge_id
from server.records import Attempt, Entry, GameRecord, PlayerRecord, Summary
from server.store import Store
from tests.e2e.planted import plant_day
from tests.e2e.running import RunningServer, running_server

from .browser import KEY, TEN_O_CLOCK, Visitors, apart, run_apart
from .seat import DAY

CHALLENGE = challenge_id(DAY, "freecell")
RUNS = 120


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[RunningServer]:
    """A server on whose board many stand, each with a minute more than the one before."""
    url = f"sqlite:///{tmp_path}/games"
    apart(lambda: plant_day(url, KEY, DAY))
    run_apart(lambda: _plant_runs(url))
    with running_server(tmp_path, database_url=url, secret_key=KEY, now_ms=TEN_O_CLOCK) as server:
        yield server


async def _plant_runs(url: str) -> None:
    store = await Store.open(url)
    await asyncio.gather(*(_plant_run(store, number) for number in range(1, RUNS + 1)))
    await store.close()


async def _plant_run(store: Store, number: int) -> None:
    name, minutes = f"crowd-{number:03}", 60_000 * number
    await store.create_player(PlayerRecord(name, name, "human", 1), name, name)
    begun = Summary("playing", 0, 0, 0, 0, 0, 0, "", None)
    await store.create_game(
        GameRecord(name, name, "freecell", 1, "1", "safe", CHALLENGE, 1, 1, begun)
    )
    over = Summary("resigned", 1, 0, 0, 0, 0, minutes, "h", minutes)
    await store.append(name, Entry(1, "resign", minutes, "h"), over, Attempt(CHALLENGE, name, 1))


def shown(page: Page) -> list[str]:
    """Players on the page, from the top."""
    rows = page.locator("tbody tr", has_text="crowd-").all_inner_texts()
    return [next(part for part in row.split() if part.startswith("crowd-")) for row in rows]


def test_pages_join_to_the_board_both_ways(browser: Browser, crowded: RunningServer) -> None:
    visitors = Visitors(browser, crowded)
    page = visitors.come().open(f"#/board/{CHALLENGE}/first/human").page
    expect(page.get_by_text(f"{RUNS} runs")).to_be_visible()
    forwards, back = [shown(page)], []
    following = page.get_by_role("button", name="Next")
    while following.is_enabled():
        last = shown(page)[-1]
        following.click()
        expect(page.get_by_text(last)).to_be_hidden()
        forwards.append(shown(page))
    back = [shown(page)]
    before = page.get_by_role("button", name="Previous")
    while before.is_enabled():
        first = shown(page)[0]
        before.click()
        expect(page.get_by_text(first)).to_be_hidden()
        back.insert(0, shown(page))
    everybody = [f"crowd-{number:03}" for number in range(1, RUNS + 1)]
    assert len(forwards) > 2
    assert [name for names in forwards for name in names] == everybody
    assert [name for names in back for name in names] == everybody
    visitors.go()
