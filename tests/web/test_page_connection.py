"""The page when it is loaded again, when the server goes away, and in two tabs."""

from playwright.sync_api import Page, expect

from .browser import Visitors, played_by_client


def is_up(page: Page) -> None:
    expect(page.locator("#banner")).to_be_hidden(timeout=20_000)


def test_game_goes_on_after_a_reload(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Reloader")
    rules = seat.start_daily("eight-off-4")
    line = seat.line(rules)
    for move in line[:10]:
        seat.drag(rules, move)
    seat.settle()
    before = seat.position(rules)
    seat.page.reload()
    expect(seat.page.locator(".table [data-card]")).to_have_count(52)
    assert seat.position(rules) == before
    assert seat.fact("moves") == "10"
    for move in line[10:14]:
        seat.drag(rules, move)
    assert seat.fact("moves") == "14"
    seat.page.get_by_role("button", name="Undo").click()
    assert seat.fact("moves") == "13"


def test_moves_made_while_the_server_is_away_are_kept(visitors: Visitors) -> None:
    seat = visitors.come().open()
    seat.sign_up("Patient")
    rules = seat.start_daily("eight-off-2")
    line = seat.line(rules)
    for move in line[:4]:
        seat.drag(rules, move)
    visitors.server.kill()
    expect(seat.page.locator("#banner")).to_contain_text("Connection lost")
    for move in line[4:9]:
        seat.drag(rules, move)
    assert seat.fact("moves") == "9"
    visitors.server.start()
    is_up(seat.page)
    seat.settle()
    before = seat.position(rules)
    other = seat.page.context.new_page()
    other.goto(seat.page.url)
    expect(other.locator(".fact-moves dd")).to_have_text("9")
    other.close()
    assert seat.position(rules) == before
    for move in line[9:]:
        seat.drag(rules, move)
    expect(seat.page.locator(".result")).to_contain_text("Won in")


def test_two_tabs_stay_in_step(visitors: Visitors) -> None:
    visitor = visitors.come()
    one = visitor.open()
    one.sign_up("Double")
    rules = one.start_daily("freecell")
    line = one.line(rules)
    for move in line[:3]:
        one.drag(rules, move)
    other = visitor.open(one.page.url.removeprefix(visitors.server.http))
    expect(other.page.locator(".table [data-card]")).to_have_count(52)
    assert other.position(rules) == one.position(rules)
    for number, move in enumerate(line[3:10]):
        here, there = (one, other) if number % 2 else (other, one)
        here.drag(rules, move)
        here.settle()
        expect(there.page.locator(".fact-moves dd")).to_have_text(here.fact("moves"))
        assert there.position(rules) == here.position(rules)
    other.page.get_by_role("button", name="Undo").click()
    expect(one.page.locator(".fact-undos dd")).to_have_text("1")
    assert one.position(rules) == other.position(rules)


def test_board_changes_while_it_is_looked_at(visitors: Visitors) -> None:
    played_by_client(visitors.server, "Slow-one", "freecell", moves=3)
    visitor = visitors.come(size={"width": 600, "height": 300})
    seat = visitor.open()
    seat.sign_up("Onlooker")
    seat.visit("#/board/2027-03-14-freecell/first/human")
    page = seat.page
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody a").first.focus()
    page.evaluate("scrollTo(0, 60)")
    before = page.locator("tbody tr", has_text="Slow-one").bounding_box()
    game = played_by_client(visitors.server, "Winner", "freecell")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").first).to_have_attribute("data-game", game)
    assert page.evaluate("document.activeElement.textContent") == "Slow-one"
    after = page.locator("tbody tr", has_text="Slow-one").bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 2


def test_board_catches_up_after_the_server_was_away(visitors: Visitors) -> None:
    seat = visitors.come().open("#/board/2027-03-14-eight-off/first/human")
    expect(seat.page.locator(".total")).to_have_text("Nobody stands here yet.")
    visitors.server.kill()
    expect(seat.page.locator("#banner")).to_contain_text("Connection lost")
    visitors.server.start()
    played_by_client(visitors.server, "Meanwhile", "eight-off", moves=2)
    is_up(seat.page)
    expect(seat.page.locator("tbody tr")).to_have_count(1)
