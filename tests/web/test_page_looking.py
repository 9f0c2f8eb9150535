"""Replays, practice and the view about oneself."""

from json import loads
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from cellmates.engine import RULESETS, Deal, board_text, parse_board
from tests.e2e.running import RunningServer

from .browser import Visitors, played_by_client
from .seat import Seat


@pytest.fixture(scope="module")
def film(day: RunningServer) -> str:
    """The id of a won game of FreeCell 1."""
    return played_by_client(day, "Filmed", "freecell", deal="1")


def downloaded(page: Page, words: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("link", name=words).click()
    download: Download = waiting.value
    return Path(download.path()).read_text(encoding="utf-8")


def test_replay_is_watched_to_its_end(visitors: Visitors, film: str) -> None:
    seat = visitors.come(still=False).open(f"#/replay/{film}")
    page = seat.page
    slider = page.get_by_label("Place in the film")
    last = slider.get_attribute("max")
    assert last is not None
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(slider).to_have_value(last, timeout=30_000)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page.locator(".at")).to_contain_text(f"{last} of {last}")
    seat.rest()
    assert page.locator(".pile:has([data-place='C']) [data-card]").count() == 13


def test_replay_is_scrubbed_by_keyboard(visitors: Visitors, film: str) -> None:
    seat = visitors.come().open(f"#/replay/{film}")
    page = seat.page
    rules = RULESETS["freecell"]
    expect(page.locator(".table [data-card]")).to_have_count(52)
    start = seat.position(rules)
    assert start == Deal.numbered(1).layout(rules)
    page.get_by_label("Place in the film").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at")).to_contain_text("2 of ")
    after = seat.position(rules)
    assert after != start
    page.keyboard.press("End")
    assert seat.position(rules).home == (13, 13, 13, 13)
    page.keyboard.press("Home")
    assert seat.position(rules) == start
    for _ in range(2):
        page.get_by_role("button", name="Step", exact=True).press("Enter")
    assert seat.position(rules) == after


def test_replay_is_downloaded(visitors: Visitors, film: str) -> None:
    page = visitors.come().open(f"#/replay/{film}").page
    rules = RULESETS["freecell"]
    record = loads(downloaded(page, "Download as JSON"))
    assert record["header"]["deal"] == "1"
    assert record["result"]["status"] == "won"
    board = downloaded(page, "Board for fc-solve")
    layout = Deal.numbered(1).layout(rules)
    assert parse_board(rules, board) == layout
    assert board == board_text(layout)
    moves = downloaded(page, "Moves for fc-solve").split()
    assert len(moves) == record["result"]["moves"]


def test_link_of_a_replay_is_copied(visitors: Visitors, film: str) -> None:
    visitor = visitors.come()
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open(f"#/replay/{film}").page
    page.get_by_role("button", name="Copy the link").click()
    expect(page.locator("#notes")).to_contain_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def title(seat: Seat) -> str:
    expect(seat.page.locator(".table [data-card]")).to_have_count(52)
    return seat.page.locator("main h1").inner_text()


def test_practice_is_dealt_by_number_code_and_chance(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Practiser")
    rules = seat.start_practice("freecell", "617")
    assert title(seat) == "FreeCell, #617"
    assert seat.position(rules) == Deal.numbered(617).layout(rules)
    seat.start_practice("freecell", "EO1-C4-AAAAAFA")
    assert title(seat) == "Eight Off, four cells, #130 (EO1-C4-AAAAAFA)"
    seat.visit("#/practice")
    seat.page.get_by_role("button", name="Random deal").click()
    assert title(seat).startswith("FreeCell, #")
    seat.visit("#/practice")
    expect(seat.page.locator(".games li")).to_have_count(3)


@pytest.mark.parametrize(
    ("deal", "words"),
    [("0", "numbered from 1"), ("EO1-C8-A", "Codes look like"), ("", "Write a deal first")],
)
def test_practice_says_what_is_wrong_with_a_deal(visitors: Visitors, deal: str, words: str) -> None:
    page = visitors.come().open("#/practice").page
    page.get_by_label("Deal", exact=True).fill(deal)
    page.get_by_role("button", name="Deal", exact=True).click()
    expect(page.get_by_label("Deal", exact=True)).to_be_focused()
    expect(page.locator("form .error", has_text=words)).to_be_visible()


def test_practice_plays_a_pasted_board(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Paster")
    seat.visit("#/practice")
    rules = RULESETS["eight-off"]
    layout = Deal.numbered(24).layout(rules)
    page = seat.page
    page.get_by_text("A board of your own").click()
    form = page.locator("details form")
    form.get_by_label("Game").select_option("eight-off")
    form.get_by_label("Board").fill("3H 4H\n")
    form.get_by_role("button", name="Play this board").click()
    expect(form.locator(".error").last).to_contain_text("Line 1")
    form.get_by_label("Board").fill(board_text(layout))
    form.get_by_role("button", name="Play this board").click()
    title(seat)
    assert seat.position(rules) == layout


def test_token_is_shown_once_and_signs_in_elsewhere(visitors: Visitors) -> None:
    one = visitors.come()
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = one.open("#/me").page
    page.get_by_label("Name").fill("Anna-Me")
    page.get_by_role("button", name="Take this name").click()
    token = page.locator(".secret").inner_text()
    page.get_by_role("button", name="Copy the token").click()
    expect(page.locator("#notes")).to_contain_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()") == token
    page.get_by_role("button", name="I have kept it").click()
    expect(page.locator(".secret")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("You are Anna-Me.")).to_be_visible()
    expect(page.locator(".secret")).to_have_count(0)

    other = visitors.come().open("#/me").page
    other.get_by_label("Token").fill("wrong")
    other.get_by_role("button", name="Sign in").click()
    expect(other.locator(".error", has_text="Nobody has this token")).to_be_visible()
    other.get_by_label("Token").fill(token)
    other.get_by_role("button", name="Sign in").click()
    expect(other.locator(".who")).to_have_text("Anna-Me")


def test_player_renames_rotates_and_deletes(visitors: Visitors) -> None:
    visitor = visitors.come()
    seat = visitor.open()
    seat.sign_up("Changing")
    page = seat.page
    renaming = page.locator("form", has_text="Change the name")
    renaming.get_by_label("Name").fill("Changed")
    renaming.get_by_role("button", name="Rename").click()
    expect(page.locator(".who")).to_have_text("Changed")
    page.get_by_role("button", name="Make a new token").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new token").click()
    token = page.locator(".secret").inner_text()
    assert page.evaluate("localStorage['cellmates.token']") == token
    page.get_by_role("button", name="I have kept it").click()
    deleting = page.locator("form", has_text="Delete me")
    deleting.get_by_label("Write your name").fill("Somebody")
    deleting.get_by_role("button", name="Delete me").click()
    expect(deleting.locator(".error")).to_have_text("That is not your name.")
    deleting.get_by_label("Write your name").fill("Changed")
    deleting.get_by_role("button", name="Delete me").click()
    expect(page.get_by_text("You are a guest.")).to_be_visible()
    assert page.evaluate("localStorage['cellmates.token']") is None


def test_device_that_a_new_token_signs_out_may_sign_in_again(visitors: Visitors) -> None:
    one, two = visitors.come(), visitors.come()
    seat = one.open()
    seat.sign_up("Rotating")
    token = seat.page.evaluate("localStorage['cellmates.token']")
    other = two.open("#/me").page
    other.get_by_label("Token").fill(token)
    other.get_by_role("button", name="Sign in").click()
    expect(other.locator(".who")).to_have_text("Rotating")
    page = seat.page
    page.get_by_role("button", name="Make a new token").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new token").click()
    fresh = page.locator(".secret").inner_text()
    expect(other.locator("#banner")).to_contain_text("signed out")
    other.get_by_label("Token").fill(fresh)
    other.get_by_role("button", name="Sign in").click()
    expect(other.locator(".who")).to_have_text("Rotating")


def test_guest_becomes_a_player_in_the_step_that_starts_a_game(visitors: Visitors) -> None:
    page = visitors.come().open().page
    page.get_by_label("Play as").fill("One-step")
    page.get_by_role("button", name="Play: FreeCell").click()
    expect(page.locator(".table [data-card]")).to_have_count(52)
    expect(page.locator(".who")).to_have_text("One-step")
    page.get_by_role("link", name="Today").click()
    expect(page.locator(".keep")).to_be_visible()
    expect(page.get_by_role("button", name="Go on: FreeCell")).to_be_visible()


def test_figures_of_a_player_are_found(visitors: Visitors, film: str) -> None:
    page = visitors.come().open("#/player").page
    page.get_by_label("Find a player").fill("Filmed")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".figures")).to_contain_text("1 (100 %)")
    assert film
