"""The table by itself in Chromium: dragged, tapped, played by keys, and held to house rules.

No server of the game: ``table_harness.html`` shows one table, and a file server on loopback gives
it to the browser.
"""

from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeAlias

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = "/usr/bin/chromium"
DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 640}


class Files(SimpleHTTPRequestHandler):
    """Gives the page's files as the server does, and the harness."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(f"/client{path}" if path.startswith("/web/") else path)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(ROOT)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/tests/web/table_harness.html"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


Open: TypeAlias = Callable[..., Page]


@pytest.fixture
def open_table(browser: Browser, address: str) -> Iterator[Open]:
    """Open a table; at the end nothing may have been complained about on the console."""
    complaints: list[str] = []
    contexts = []

    def opened(
        query: str, *, size: ViewportSize = DESK, touch: bool = False, moving: bool = False
    ) -> Page:
        context = browser.new_context(
            viewport=size, has_touch=touch, reduced_motion="no-preference" if moving else "reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{address}?{query}")
        page.wait_for_function("window.tried")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def moves(page: Page) -> list[str]:
    return list(page.evaluate("tried.moves"))


def middle(page: Page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + min(12, box["height"] / 2)


def drag(page: Page, card: str, to: str) -> None:
    """Drag a card to a card or a place: ``6H``, ``place a``."""
    selector = f"[data-place='{to[-1]}']" if to.startswith("place") else f"[data-card='{to}']"
    page.mouse.move(*middle(page, f"[data-card='{card}']"))
    page.mouse.down()
    page.mouse.move(*middle(page, selector), steps=4)
    page.mouse.up()


def said(page: Page) -> str:
    return page.locator(".table-said").inner_text().strip()


@pytest.mark.parametrize(
    ("query", "card", "to", "move"),
    [
        ("deal=1", "9C", "place a", "2a"),
        ("deal=27&moves=27", "TS", "place a", None),
        ("ruleset=eight-off&deal=3", "AH", "place H", "5h"),
        ("ruleset=eight-off&deal=3&moves=5h", "AH", "place e", "He"),
    ],
)
def test_card_is_dropped_where_it_is_dragged(
    open_table: Open, query: str, card: str, to: str, move: str | None
) -> None:
    page = open_table(query)
    if move is None:
        card = page.evaluate("tried.position.columns[0].at(-1)")
        move = "1a"
    drag(page, card, to)
    assert moves(page)[-1] == move


def test_run_is_dragged_by_its_deepest_card(open_table: Open) -> None:
    page = open_table("deal=27")
    column = page.evaluate("tried.position.columns[1]")
    target = page.evaluate("tried.position.columns[6].at(-1)")
    drag(page, column[-2], target)
    assert moves(page) == ["27"]


def test_targets_are_shown_only_while_dragging(open_table: Open) -> None:
    page = open_table("deal=1")
    page.mouse.move(*middle(page, "[data-card='9C']"))
    page.mouse.down()
    page.mouse.move(300, 300, steps=3)
    assert page.locator(".is-target").count() == 4
    page.mouse.up()
    assert page.locator(".is-target").count() == 0
    assert moves(page) == []


@pytest.mark.parametrize(
    ("card", "to", "words"),
    [
        ("9C", "6S", "does not fit"),
        ("9C", "place C", "turn to go home"),
        ("KC", "6S", "no run"),
    ],
)
def test_refused_drop_says_why_and_falls_back(
    open_table: Open, card: str, to: str, words: str
) -> None:
    page = open_table("deal=1")
    before = middle(page, f"[data-card='{card}']")
    drag(page, card, to)
    expect(page.locator(".table-words")).to_contain_text(words)
    expect(page.locator(".is-lifted")).to_have_count(0)
    assert middle(page, f"[data-card='{card}']") == before
    assert moves(page) == []


def test_one_tap_moves_in_freecell(open_table: Open) -> None:
    page = open_table("deal=1", size=PHONE, touch=True)
    page.tap("[data-card='6S']")
    assert moves(page) == ["1a"]


def test_eight_off_wants_two_taps_unless_the_card_goes_home(open_table: Open) -> None:
    page = open_table("ruleset=eight-off&deal=3", size=PHONE, touch=True)
    page.tap("[data-card='2H']")
    assert moves(page) == []
    page.wait_for_timeout(400)
    page.tap("[data-card='2H']")
    page.tap("[data-card='2H']")
    assert moves(page) == ["63"]
    page.tap("[data-card='AH']")
    assert moves(page) == ["63", "5h"]


def test_taps_pick_up_where_they_are_set_to(open_table: Open) -> None:
    page = open_table("deal=1&pick")
    page.click("[data-card='9C']")
    assert moves(page) == []
    page.click("[data-place='c']")
    assert moves(page) == ["2c"]


def test_arrow_keys_and_enter_play(open_table: Open) -> None:
    page = open_table("deal=1")
    page.locator("[data-card='6S']").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.card") == "9C"
    page.keyboard.press("Enter")
    assert "nine of clubs picked up" in said(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert moves(page) == ["2a"]
    assert said(page) == "nine of clubs to cell a"
    page.keyboard.press("Backspace")
    assert moves(page) == []


def test_escape_lets_go(open_table: Open) -> None:
    page = open_table("deal=1")
    page.locator("[data-card='9C']").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert page.locator(".is-picked, .is-target").count() == 0


def test_every_card_is_reached_by_arrow_keys(open_table: Open) -> None:
    page = open_table("ruleset=eight-off&deal=3", size=PHONE)
    page.locator("[data-place='C']").focus()
    reached = set()
    page.keyboard.press("ArrowDown")
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    for _ in range(8):
        reached.add(page.evaluate("document.activeElement.dataset.card"))
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    for _ in range(8):
        page.keyboard.press("Home")
        for _ in range(7):
            reached.add(page.evaluate("document.activeElement.dataset.card"))
            page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
    assert len(reached - {None}) == 52


def test_notation_is_typed_from_the_table(open_table: Open) -> None:
    page = open_table("deal=1")
    page.locator("[data-card='6S']").focus()
    page.keyboard.type("2a")
    page.keyboard.press("Enter")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    assert moves(page) == ["2a"]
    expect(page.locator(".table-words")).to_contain_text("does not fit")
    expect(page.locator(".table-notation")).to_have_attribute("aria-invalid", "true")


def test_automatic_moves_are_told(open_table: Open) -> None:
    page = open_table("deal=8")
    drag(page, page.evaluate("tried.position.columns[1].at(-1)"), "place a")
    assert said(page).count("goes home") == 3


def test_cards_have_names_with_their_places(open_table: Open) -> None:
    page = open_table("deal=1&moves=2a")
    name = page.locator("[data-card='TD']").get_attribute("aria-label")
    assert name == "ten of diamonds, column 2, 1 card above it"
    assert page.locator("[data-card='9C']").get_attribute("aria-label") == "nine of clubs, cell a"


def test_read_only_table_takes_no_move(open_table: Open) -> None:
    page = open_table("deal=1&readonly")
    drag(page, "9C", "place a")
    page.click("[data-card='6S']")
    assert moves(page) == []
    assert page.locator("[tabindex='0'], .table-typed:visible").count() == 0


def test_cards_glide_and_come_to_rest(open_table: Open) -> None:
    page = open_table("deal=8", moving=True)
    page.click(f"[data-card='{page.evaluate('tried.position.columns[1].at(-1)')}']")
    assert page.evaluate("document.getAnimations().length") > 0
    page.wait_for_function("document.getAnimations().length === 0")
    assert page.locator(".card").evaluate_all("all => all.filter(e => e.style.zIndex).length") == 0


def test_nothing_glides_where_less_motion_is_wanted(open_table: Open) -> None:
    page = open_table("deal=8")
    page.click(f"[data-card='{page.evaluate('tried.position.columns[1].at(-1)')}']")
    assert page.evaluate("document.getAnimations().length") == 0


def test_same_position_again_leaves_the_card_in_hand(open_table: Open) -> None:
    page = open_table("deal=1")
    page.mouse.move(*middle(page, "[data-card='9C']"))
    page.mouse.down()
    page.mouse.move(*middle(page, "[data-place='b']"), steps=3)
    page.evaluate("tried.table.show('freecell', structuredClone(tried.position))")
    page.mouse.up()
    assert moves(page) == ["2b"]


def test_move_from_elsewhere_takes_the_card_out_of_hand(open_table: Open) -> None:
    page = open_table("deal=1")
    before = middle(page, "[data-card='9C']")
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(400, 300, steps=3)
    page.evaluate("tried.table.make('1a')")
    assert page.locator(".is-lifted, .is-target").count() == 0
    page.mouse.up()
    assert moves(page) == ["1a"]
    assert middle(page, "[data-card='9C']") == before


def test_hint_is_shown_and_told(open_table: Open) -> None:
    page = open_table("deal=1&hint=2a")
    assert page.locator(".is-hint").count() == 2
    assert said(page) == "Hint: nine of clubs to cell a"


@pytest.mark.parametrize("ruleset", ["freecell", "eight-off", "eight-off-2"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_everything_fits_on_the_table(open_table: Open, ruleset: str, size: ViewportSize) -> None:
    page = open_table(f"ruleset={ruleset}&deal=3", size=size)
    outside = page.evaluate(
        """() => {
          const table = document.querySelector(".table").getBoundingClientRect();
          return [...document.querySelectorAll(".card, .slot")].filter((piece) => {
            const { left, right, top, bottom } = piece.getBoundingClientRect();
            return left < table.left || right > table.right || top < table.top
              || bottom > table.bottom;
          }).length;
        }"""
    )
    assert outside == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_dragging_lays_nothing_out(open_table: Open) -> None:
    page = open_table("deal=1")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def layouts() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "LayoutCount"))

    page.mouse.move(*middle(page, "[data-card='9C']"))
    page.mouse.down()
    page.mouse.move(300, 400, steps=3)
    page.wait_for_timeout(100)
    before = layouts()
    page.mouse.move(420, 420, steps=40)
    page.wait_for_timeout(100)
    assert layouts() - before <= 1
    page.mouse.up()
