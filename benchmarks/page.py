"""What the page costs in a real Chromium: ``python -m benchmarks.page [--rounds N]``.

A player comes back to a running game of a planted day, with nothing in the browser's cache, and
once more with all of it there. Milliseconds are the browser's own, from navigation to the first
contentful paint and to the frame in which all cards lie there; bytes are those of HTTP. The rival
of the same run is a page of one word from the standard library's ``http.server``, without a script
or a style. Then moves by keyboard: from Enter to the frame in which they are seen, which no server
is waited for, and to its answer.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Page, StorageState

from tests.e2e.running import RunningServer
from tests.web.browser import DESK, chromium, day_server
from tests.web.seat import Seat

from .report import machine, progress
from .results import Figure, ratio, shown

ROUNDS = 5
MOVES = 20  # a round
RULESET = "eight-off"
# To and fro between two cells, for ever.
TO_AND_FRO = ("ae", "ea")
WAIT_S = 10.0
LOOK_MS = 10

Tell = Callable[[str], None]

# Takes the times that the page itself does not: of the frame in which the cards are there, and of
# each move to the frame in which it is seen and to its answer.
WATCH = """
  window.playable = null;
  window.seen = [];
  window.answered = [];
  let entered = 0;
  const look = (now) => {
    if (document.querySelectorAll(".table [data-card]").length === 52) window.playable = now;
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  addEventListener("keydown", ({ key }) => {
    if (key !== "Enter") return;
    entered = performance.now();
    requestAnimationFrame(() => window.seen.push(performance.now() - entered));
  }, { capture: true });
  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(...terms) {
      super(...terms);
      this.addEventListener("message", () => window.answered.push(performance.now() - entered));
    }
  };
"""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
PLAYABLE = "window.playable"
ONE_WORD = "<!doctype html><title>Empty</title><p>Nothing</p>"


@dataclass(frozen=True, slots=True)
class Load:
    """What one visit took: ms to the first paint, ms until all was there, bytes over HTTP."""

    painted_ms: float
    ready_ms: float
    transferred: float


# -- Visits ----------------------------------------------------------------------------------------


def _visit(context: BrowserContext, url: str, ready: str) -> Load:
    """Open a page in a tab of its own; it is ready when the expression ``ready`` has a time."""
    with closing(context.new_page()) as page:
        sizes: list[float] = []
        session = context.new_cdp_session(page)
        session.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))
        session.send("Network.enable")
        page.goto(url)
        ready_ms, painted_ms = (_awaited(page, expression) for expression in (ready, PAINTED))
        return Load(painted_ms, ready_ms, sum(sizes))


def _awaited(page: Page, expression: str) -> float:
    """Value of an expression, once it has one; the page's policy forbids playwright's own way."""
    for _ in range(int(1_000 * WAIT_S / LOOK_MS)):
        value = page.evaluate(expression)
        if value is not None:
            return float(value)
        page.wait_for_timeout(LOOK_MS)
    raise TimeoutError(f"without a value after {WAIT_S} s: {expression}")


def _cold_and_warm(
    browser: Browser, url: str, ready: str, state: StorageState | None
) -> tuple[Load, Load]:
    """Visit with an empty cache, and again with what that has left in it."""
    with closing(_profile(browser, state)) as context:
        return _visit(context, url, ready), _visit(context, url, ready)


def _profile(browser: Browser, state: StorageState | None) -> BrowserContext:
    context = browser.new_context(
        viewport=DESK, reduced_motion="reduce", locale="en-GB", storage_state=state
    )
    context.add_init_script(WATCH)
    return context


@contextmanager
def _empty_page(folder: Path) -> Iterator[str]:
    """Rival: a page of one word, served from a process of its own; its URL."""
    (folder / "index.html").write_text(ONE_WORD, encoding="utf-8")
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--directory", folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline().decode()
            yield said[said.index("(") + 1 : said.index(")")]
        finally:
            process.terminate()


# -- Moves -----------------------------------------------------------------------------------------


def _moves_ms(seat: Seat) -> tuple[float, float]:
    """Median of the milliseconds from Enter to the frame that shows a move, and to its answer."""
    seen, answered = [], []
    for nth in range(MOVES):
        seat.page.evaluate("window.seen = []; window.answered = []")
        seat.type_move(TO_AND_FRO[nth % 2])
        seen.append(_awaited(seat.page, "window.seen[0] ?? null"))
        answered.append(_awaited(seat.page, "window.answered[0] ?? null"))
    return median(seen), median(answered)


# -- Measuring -------------------------------------------------------------------------------------


def measure(rounds: int, tell: Tell) -> list[Figure]:
    """Start server, rival and browser, and visit and move in turn; ``tell`` is told how far it is.

    Raises:
        pytest.fail.Exception: there is no Chromium that starts here.
    """
    with ExitStack() as stack:
        folder, empty_folder = (
            Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)
        )
        server = stack.enter_context(day_server(folder))
        empty_url = stack.enter_context(_empty_page(empty_folder))
        browser = stack.enter_context(chromium())
        seat = _seat(stack.enter_context(closing(_profile(browser, None))), server)
        url, state = seat.page.url, seat.page.context.storage_state()
        seat.start_practice(RULESET, "1")
        seat.page.locator(".table [tabindex='0']").focus()
        ours, empty, moved = [], [], []
        for nth in range(rounds):
            tell(f"page: round {nth + 1} of {rounds}")
            ours.append(_cold_and_warm(browser, url, PLAYABLE, state))
            empty.append(_cold_and_warm(browser, empty_url, PAINTED, None))
            moved.append(_moves_ms(seat))
    return [*_load_figures(ours, empty), *_move_figures(moved)]


def _seat(context: BrowserContext, server: RunningServer) -> Seat:
    """A player who has begun the day's attempt."""
    seat = Seat(context.new_page(), server.http)
    seat.sign_up("Returner")
    seat.start_daily(RULESET)
    return seat


def _load_figures(
    ours: list[tuple[Load, Load]], empty: list[tuple[Load, Load]]
) -> Iterator[Figure]:
    for at, cache in enumerate(("cold", "warm")):
        loads, empties = [each[at] for each in ours], [each[at] for each in empty]
        page, word = f"page, {cache} cache", f"page of one word, {cache} cache"
        painted = Figure(f"{page}: first paint", "ms", tuple(one.painted_ms for one in loads))
        playable = Figure(f"{page}: playable", "ms", tuple(one.ready_ms for one in loads))
        rival = Figure(f"{word}: first paint", "ms", tuple(one.painted_ms for one in empties))
        yield from (painted, playable, rival)
        yield ratio(f"{page}: first paint / page of one word", painted, rival)
        yield ratio(f"{page}: playable / first paint of page of one word", playable, rival)
        yield Figure(f"{page}: transferred", "kB", tuple(one.transferred / 1e3 for one in loads))


def _move_figures(moved: list[tuple[float, float]]) -> Iterator[Figure]:
    yield Figure("move in the page: Enter to seen", "ms", tuple(seen for seen, _ in moved))
    yield Figure("move in the page: Enter to answered", "ms", tuple(late for _, late in moved))


def main() -> None:
    """Measure, and print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = asked.parse_args()
    figures = measure(chosen.rounds, progress)
    print(machine("playwright"))
    print(shown(figures))


if __name__ == "__main__":
    main()
