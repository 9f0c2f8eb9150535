"""What holds on every view: axe finds nothing, keys reach all, little is fetched, and from here."""

from importlib.resources import files

import pytest
from playwright.sync_api import Page, Response, WebSocket, expect

from tests.e2e.running import RunningServer

from .browser import PHONE, Visitors, played_by_client
from .seat import DAY, Seat

FIRST_VIEW_BYTES = 150_000
AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def replay(day: RunningServer) -> str:
    """The id of a game that somebody has won, who has also played the day's deal."""
    played_by_client(day, "Ranked", "freecell", moves=5)
    return played_by_client(day, "Filmed", "freecell", deal="1")


def views(replay: str) -> dict[str, str]:
    """Every view with something that is there when it is ready."""
    return {
        "#/today": ".deal",
        f"#/today/{DAY}": ".results li",
        f"#/board/{DAY}-freecell/first/human": "tbody tr",
        f"#/replay/{replay}": ".table [data-card]",
        "#/practice": "form",
        "#/player/Filmed": ".figures .panel",
        "#/me": "form",
        "#/rules/freecell": ".example",
        "#/rules/eight-off": ".example",
        "#/settings": ".switch",
    }


def complaints(page: Page) -> list[str]:
    """All that axe finds, be it serious or not."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found
        for node in one["nodes"]
    ]


def choose(seat: Seat, theme: str, *, four: bool = False) -> None:
    seat.visit("#/settings")
    seat.page.get_by_label("Colours").select_option(theme)
    seat.page.get_by_label("Four-colour deck").set_checked(four)
    expect(seat.page.locator("html")).to_have_attribute("data-theme", theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_view(visitors: Visitors, replay: str, theme: str) -> None:
    seat = visitors.come().open()
    seat.sign_up(f"Axe-{theme}")
    choose(seat, theme, four=theme == "dark")
    for view, ready in views(replay).items():
        seat.visit(view)
        expect(seat.page.locator(ready).first).to_be_visible()
        assert (view, complaints(seat.page)) == (view, [])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_game(visitors: Visitors, theme: str) -> None:
    seat = visitors.come(size=PHONE, touch=True).open()
    seat.visit("#/me")
    assert complaints(seat.page) == []
    seat.sign_up(f"Axe-game-{theme}")
    choose(seat, theme)
    seat.start_practice("eight-off", "3")
    assert complaints(seat.page) == []
    seat.page.get_by_role("button", name="Resign").click()
    assert complaints(seat.page) == []
    seat.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(seat.page.locator(".result")).to_be_visible()
    assert complaints(seat.page) == []


def test_first_view_is_small_and_from_here(visitors: Visitors) -> None:
    seat = visitors.come().open("#/me")
    page = seat.page.context.new_page()
    bodies: list[Response] = []
    frames: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(frame))

    page.on("response", lambda one: bodies.append(one))
    page.on("websocket", listen)
    page.goto(visitors.server.http)
    expect(page.locator(".deal")).to_have_count(5)
    fetched = [len(one.body()) + sum(map(len, one.headers.items())) for one in bodies]
    assert all(one.url.startswith(visitors.server.http) for one in bodies)
    assert sum(fetched) + sum(map(len, frames)) < FIRST_VIEW_BYTES
    assert len(bodies) > 5


def test_policy_is_strict_and_breaches_are_noticed(visitors: Visitors) -> None:
    visitor = visitors.come()
    seat = visitor.open("#/me")
    seat.page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
        }"""
    )
    assert seat.page.evaluate("window.ran") is None
    assert any("against the policy: script-src" in one for one in visitor.complaints)
    visitor.complaints.clear()


def test_every_view_is_reached_by_keyboard(visitors: Visitors, replay: str) -> None:
    seat = visitors.come().open()
    page = seat.page
    expect(page.locator(".deal")).to_have_count(5)

    def follow(words: str, heading: str) -> None:
        seat.tab_to(words)
        page.keyboard.press("Enter")
        expect(page.locator("main h1")).to_contain_text(heading)
        assert page.evaluate("document.activeElement.tagName") == "H1"

    def follow_top(words: str, heading: str) -> None:
        page.evaluate("document.activeElement.blur()")
        follow(words, heading)

    follow_top("Practice", "Practice")
    follow_top("Rules", "How to play FreeCell")
    follow("Classic Eight Off", "How to play Classic Eight Off")
    follow_top("Settings", "Settings")
    follow_top("Me", "Me")
    seat.tab_to("Take this name")
    page.keyboard.press("Enter")
    expect(page.locator(".token")).to_be_visible()
    follow("My statistics", page.locator(".who").inner_text())
    follow_top("Today", "s deals")
    expect(page.locator(".deal")).to_have_count(5)
    seat.tab_to("Play")
    page.keyboard.press("Enter")
    expect(page.locator(".table [data-card]")).to_have_count(52)
    seat.tab_to("Resign")
    page.keyboard.press("Enter")
    seat.tab_to("Resign")
    page.keyboard.press("Enter")
    expect(page.locator(".result")).to_be_visible()
    follow_top("Board", "FreeCell, Sunday")
    expect(page.locator("tbody tr")).to_have_count(2)
    follow("Ranked", "Ranked")
    page.go_back()
    expect(page.locator("tbody tr")).to_have_count(2)
    follow("Watch", "Replay: FreeCell")
    expect(page.locator(".table [data-card]")).to_have_count(52)


def test_skip_link_leads_to_the_content(visitors: Visitors) -> None:
    page = visitors.come().open().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("deck", ["two", "four"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_themes_and_decks_have_their_colours(visitors: Visitors, theme: str, deck: str) -> None:
    seat = visitors.come().open()
    seat.sign_up(f"Colour-{theme}-{deck}")
    choose(seat, theme, four=deck == "four")
    seat.start_practice("freecell", "1")
    colours = {
        seat.page.locator(f".table .card .suit-{suit} .pip").first.evaluate(
            "pip => getComputedStyle(pip).fill"
        )
        for suit in "CDHS"
    }
    assert len(colours) == (4 if deck == "four" else 2)
    ground = seat.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in ground.strip("rgb()").split(",")[:3])
    assert (brightness > 380) == (theme == "light")


def test_theme_follows_the_device_where_nothing_is_chosen(visitors: Visitors) -> None:
    page = visitors.come(dark=True).open().page
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_no_view_scrolls_sideways_on_a_phone(visitors: Visitors, replay: str) -> None:
    seat = visitors.come(size=PHONE, touch=True).open()
    seat.sign_up("Narrow")
    for view, ready in views(replay).items():
        seat.visit(view)
        expect(seat.page.locator(ready).first).to_be_visible()
        assert (view, seat.has_no_sideways_scrolling()) == (view, True)
