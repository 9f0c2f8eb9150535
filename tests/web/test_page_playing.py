"""Whole games on the page: with mouse, taps, notation and arrow keys; refused moves; phones."""

import pytest
from playwright.sync_api import Page, expect

from cellmates.engine import RULESETS

from .browser import PHONE, Visitors


def is_won(page: Page) -> None:
    expect(page.locator(".game-banner .result")).to_contain_text("Won in")
    expect(page.locator(".game-banner .rank")).to_contain_text("Rank ")


def test_daily_is_won_by_dragging(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Dragger")
    freecell = seat.start_daily("freecell")
    for move in seat.line(freecell):
        seat.drag(freecell, move)
    is_won(seat.page)
    assert seat.fact("score") == "52"


def test_daily_is_won_by_tapping(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Tapper")
    rules = seat.start_daily("eight-off")
    line = seat.line(rules)
    taps = 0
    for move in line:
        if seat.tap(rules, move):
            taps += 1
        else:
            seat.drag(rules, move)
    is_won(seat.page)
    assert taps > len(line) // 2


def test_daily_is_won_by_notation(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Typist")
    rules = seat.start_daily("eight-off-classic")
    line = seat.line(rules)
    seat.page.locator(".table [tabindex='0']").focus()
    for move in line:
        seat.type_move(move)
    is_won(seat.page)


def test_arrow_keys_play(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Walker")
    rules = seat.start_daily("eight-off-2")
    seat.page.locator(".table [tabindex='0']").focus()
    for number, move in enumerate(seat.line(rules)[:16], start=1):
        seat.walk(rules, move)
        assert seat.fact("moves") == str(number)
    seat.page.keyboard.press("Backspace")
    expect(seat.page.locator(".fact-moves dd")).to_have_text("15")
    expect(seat.page.locator(".fact-undos dd")).to_contain_text("1")


def test_taps_and_swipes_play_on_a_phone(visitors: Visitors) -> None:
    seat = visitors.come(size=PHONE, touch=True).open()
    seat.sign_up("Finger")
    rules = seat.start_daily("freecell")
    assert seat.has_no_sideways_scrolling()
    made = 0
    for number, move in enumerate(seat.line(rules)[:20]):
        by_tap = number % 2 == 0 and seat.tap(rules, move, finger=True)
        if not by_tap:
            seat.swipe(rules, move)
        made += by_tap
        expect(seat.page.locator(".is-lifted")).to_have_count(0)
    seat.settle()
    before = seat.position(rules)
    seat.page.reload()
    expect(seat.page.locator(".table [data-card]")).to_have_count(52)
    assert seat.position(rules) == before
    assert made > 3
    assert int(seat.fact("moves")) >= 20


def test_refused_move_shakes_and_says_why(visitors: Visitors) -> None:
    seat = visitors.come(still=False).open()
    seat.sign_up("Refused")
    rules = seat.start_practice("freecell", "1")
    before = seat.position(rules)
    page = seat.page
    page.locator("[data-card='9C']").hover(position={"x": 20, "y": 10})
    page.mouse.down()
    box = page.locator("[data-card='6S']").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 9, steps=3)
    page.mouse.up()
    expect(page.locator(".is-refused")).to_have_count(1)
    assert page.evaluate("document.getAnimations().length") > 0
    expect(page.locator(".table-words")).to_have_text("It does not fit there.")
    assert seat.position(rules) == before
    assert seat.fact("moves") == "0"


def test_stuck_game_offers_undo_and_restart(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Stuck")
    seat.visit("#/settings")
    seat.page.get_by_label("Say when no moves are left").check()
    seat.start_practice("eight-off-2", "46")
    banner = seat.page.locator(".game-banner")
    expect(banner).to_contain_text("No moves left.")
    first = seat.page.url
    banner.get_by_role("button", name="Restart").click()
    seat.page.wait_for_url(lambda url: url != first)
    expect(seat.page.locator(".table [data-card]")).to_have_count(52)


def test_hint_points_at_a_move_and_resigning_asks_first(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Hinted")
    seat.start_practice("freecell", "8")
    page = seat.page
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".is-hint").first).to_be_visible()
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    expect(page.locator(".result")).to_contain_text("Resigned")


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_phone_shows_every_ruleset_without_sideways_scrolling(
    visitors: Visitors, ruleset: str
) -> None:
    seat = visitors.come(size=PHONE, touch=True).open()
    seat.sign_up(f"Small-{ruleset[-9:]}")
    seat.start_practice(ruleset, "3")
    assert seat.has_no_sideways_scrolling()


def test_dragging_lays_nothing_out(visitors: Visitors) -> None:
    seat = visitors.come(still=False).open()
    seat.sign_up("Measured")
    seat.start_practice("freecell", "1")
    page = seat.page
    page.locator("[data-card='9C']").hover(position={"x": 20, "y": 10})
    page.mouse.down()
    page.mouse.move(300, 400, steps=3)
    page.wait_for_timeout(100)
    before = seat.layouts()
    page.mouse.move(700, 420, steps=50)
    page.wait_for_timeout(60)
    after = seat.layouts()
    page.mouse.up()
    # The clock over the table may tick meanwhile.
    assert after - before <= 1
