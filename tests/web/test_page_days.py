"""A day that is over."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from cellmates.daily import DAY_MS, GRACE_MS, opens_at
from server.keeper import LATEST_COMMIT_MS
from tests.e2e.running import RunningServer

from .browser import Visitors, day_server
from .seat import DAY


@pytest.fixture
def today(tmp_path: Path) -> Iterator[RunningServer]:
    """A server of its own, since its clock is set."""
    with day_server(tmp_path) as server:
        yield server


def test_day_that_is_over_shows_what_came_of_it(browser: Browser, today: RunningServer) -> None:
    visitors = Visitors(browser, today)
    seat = visitors.come().open()
    seat.sign_up("Historian")
    rules = seat.start_daily("eight-off-2")
    for move in seat.line(rules):
        seat.drag(rules, move)
    expect(seat.page.locator(".result")).to_contain_text("Won in")
    seat.settle()
    today.set_clock(opens_at(DAY) + DAY_MS + GRACE_MS + LATEST_COMMIT_MS)
    seat.visit(f"#/today/{DAY}")
    card = seat.page.locator("article", has_text="two cells")
    expect(card).to_contain_text("Par ")
    expect(card).to_contain_text("Won")
    seat.visit("#/today")
    seat.page.reload()  # the page has the time from its greeting, and no server's jumps by a day
    expect(seat.page.get_by_text("Yesterday: ", exact=False)).to_be_visible()
    visitors.go()
