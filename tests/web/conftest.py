"""What the tests of the page in Chromium share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.running import RunningServer

from .browser import Visitors, chromium, day_server

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All that is tried here runs in a browser or under Node."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker("page")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a module; without one they fail."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for all tests of a module, whose players are others in every test."""
    with day_server(tmp_path_factory.mktemp("day")) as server:
        yield server


@pytest.fixture
def visitors(browser: Browser, day: RunningServer) -> Iterator[Visitors]:
    """Those who come to the server's page; in the end nothing may have been complained of."""
    visitors = Visitors(browser, day)
    yield visitors
    visitors.go()
