"""A tab in Chromium and the hands before it: what is seen, and what mouse, finger and keys do."""

from json import loads

from playwright.sync_api import CDPSession, Page, WebSocket, expect

from cellmates.daily import challenge_id
from cellmates.engine import (
    PLACES,
    RULESETS,
    SUITS,
    Autoplay,
    Move,
    Position,
    Ruleset,
    parse_pile,
    play,
    tap,
)
from cellmates.solver import solve

DAY = "2027-03-14"

COLUMNS = PLACES[: PLACES.index("a")]
CELLS = "abcdefgk"
# Cards as they lie on the page, the deepest of a place first.
CARDS = """() => Object.fromEntries([...document.querySelectorAll(".table .pile")].map((pile) => [
  pile.querySelector("[data-place]").dataset.place,
  [...pile.querySelectorAll("[data-card]")].map((card) => card.dataset.card),
]))"""
# Where a card is held, and where the empty place or the open card of a place is.
ENDS = """([place, depth, to]) => {
  const pile = (place) => [...document.querySelector(`.table [data-place="${place}"]`)
    .parentElement.children];
  const middle = (element) => {
    const { x, y, width } = element.getBoundingClientRect();
    return [x + width / 2, y + 9];
  };
  return [middle(pile(place).at(-1 - depth)), middle(pile(to).at(-1))];
}"""
# Where the player is: the place, and how many cards lie on the one that has the focus.
HERE = """() => {
  const pile = document.activeElement.closest(".pile");
  const all = [...pile.children];
  return [all[0].dataset.place, all.length - 1 - all.indexOf(document.activeElement)];
}"""
REACHED = """() => document.activeElement.textContent.trim()
  || document.activeElement.ariaLabel || document.activeElement.id"""

Box = tuple[float, float]


class Seat:
    """A tab, and the hands before it."""

    def __init__(self, page: Page, http: str) -> None:
        self.page = page
        self._http = http
        self._unanswered: set[tuple[int, int]] = set()
        self._touch: CDPSession | None = None
        page.on("websocket", self._listen)

    def visit(self, view: str) -> None:
        """Go to a view by its address."""
        self.page.goto(f"{self._http}{view}")
        expect(self.page.locator("main h1")).to_be_visible()

    def sign_up(self, handle: str) -> None:
        """Become a player, on the view about oneself."""
        self.visit("#/me")
        self.page.get_by_label("Name").fill(handle)
        self.page.get_by_role("button", name="Take this name").click()
        expect(self.page.locator(".who")).to_have_text(handle)
        self.page.get_by_role("button", name="I have kept it").click()

    def start_daily(self, ruleset: str) -> Ruleset:
        """Begin the day's ranked attempt, from the view of the day."""
        self.visit("#/today")
        card = self.page.locator(f"article[aria-labelledby='deal-{challenge_id(DAY, ruleset)}']")
        card.get_by_role("button", name="Play").click()
        expect(self.page.locator(".table [data-card]")).to_have_count(52)
        return RULESETS[ruleset]

    def start_practice(self, ruleset: str, deal: str) -> Ruleset:
        """Deal a game of one's own, from the view for practice."""
        self.visit("#/practice")
        self.page.get_by_label("Game").first.select_option(ruleset)
        self.page.get_by_label("Deal", exact=True).fill(deal)
        self.page.get_by_role("button", name="Deal", exact=True).click()
        expect(self.page.locator(".table [data-card]")).to_have_count(52)
        return RULESETS[ruleset]

    def settle(self) -> None:
        """Wait until the server has answered all that was asked."""
        for _ in range(500):
            if not self._unanswered:
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"without an answer: {self._unanswered}")

    def rest(self) -> None:
        """Wait until no card moves any more; the policy forbids playwright's own way to wait."""
        for _ in range(500):
            if self.page.evaluate("document.getAnimations().length") == 0:
                return
            self.page.wait_for_timeout(10)
        raise AssertionError("something moves for ever")

    # --- what is seen -----------------------------------------------------------------------------

    def position(self, ruleset: Ruleset) -> Position:
        """Position of the cards on the page."""
        cards = self.page.evaluate(CARDS)
        clubs, diamonds, hearts, spades = (len(cards[suit]) for suit in SUITS)
        return Position(
            tuple(parse_pile(" ".join(cards[column])) for column in COLUMNS[: ruleset.columns]),
            tuple(parse_pile(" ".join(cards[cell])) for cell in CELLS[: ruleset.cells]),
            (clubs, diamonds, hearts, spades),
        )

    def line(self, ruleset: Ruleset) -> list[str]:
        """Moves that win from what is seen."""
        return [str(move) for move in solve(ruleset, self.position(ruleset)).moves]

    def fact(self, name: str) -> str:
        """A figure of the bar over the table."""
        return self.page.locator(f".fact-{name} dd").inner_text()

    def words(self) -> str:
        """Why the last move was refused."""
        return self.page.locator(".table-words").inner_text().strip()

    def has_no_sideways_scrolling(self) -> bool:
        """Whether nothing is wider than the screen."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))

    # --- what hands do ----------------------------------------------------------------------------

    def drag(self, ruleset: Ruleset, move: str) -> None:
        """Make a move with the mouse."""
        (x, y), to = self._ends(ruleset, move)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(*to, steps=2)
        self.page.mouse.up()

    def swipe(self, ruleset: Ruleset, move: str) -> None:
        """Make a move with a finger."""
        position = self.position(ruleset)
        (x, y), (to_x, to_y) = self._ends(ruleset, move)
        self._finger("touchStart", x, y)
        for part in (0.3, 0.7, 1):
            self._finger("touchMove", x + part * (to_x - x), y + part * (to_y - y))
        self._finger("touchEnd")
        self._await_another(ruleset, position)

    def tap(self, ruleset: Ruleset, move: str, *, finger: bool = False) -> bool:
        """Make a move by a tap or two, where they make this one; else do nothing."""
        position = self.position(ruleset)
        place, depth = move[0], _lifted(ruleset, position, move) - 1
        if place in SUITS:
            return False
        for taps in (1, 2):
            made = tap(ruleset, position, PLACES.index(place), depth, taps)
            if made is not None and _is_alike(ruleset, position, str(made), move):
                (x, y), _ = self._ends(ruleset, move)
                for _ in range(taps):
                    if finger:
                        self.page.touchscreen.tap(x, y)
                    else:
                        self.page.mouse.click(x, y)
                self._await_another(ruleset, position)
                return True
        return False

    def type_move(self, move: str) -> None:
        """Make a move by notation; the table or the field has the focus."""
        self.page.keyboard.type(move)
        self.page.keyboard.press("Enter")

    def walk(self, ruleset: Ruleset, move: str) -> None:
        """Make a move with arrow keys and Enter; something of the table has the focus."""
        position = self.position(ruleset)
        place, to = move[0], move[1]
        depth = 0 if place in SUITS else _lifted(ruleset, position, move) - 1
        card = self.page.evaluate(CARDS)[place][-1 - depth]
        self._go(place, depth)
        self.page.keyboard.press("Enter")
        self._go(card[1] if to == "h" else to, 0)
        self.page.keyboard.press("Enter")

    def tab_to(self, words: str) -> None:
        """Press Tab until what has these words has the focus."""
        seen = []
        for _ in range(90):
            self.page.keyboard.press("Tab")
            reached = self.page.evaluate(REACHED)
            if reached == words:
                return
            seen.append(reached)
        raise AssertionError(f"no way by Tab to {words!r}: {seen}")

    def layouts(self) -> int:
        """How often Chromium has laid something out until now."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable")
        metrics = session.send("Performance.getMetrics")["metrics"]
        session.detach()
        return int(next(each["value"] for each in metrics if each["name"] == "LayoutCount"))

    def _ends(self, ruleset: Ruleset, move: str) -> tuple[Box, Box]:
        position = self.position(ruleset)
        place, to = move[0], move[1]
        depth = 0 if place in SUITS else _lifted(ruleset, position, move) - 1
        if to == "h":
            to = self.page.evaluate(CARDS)[place][-1 - depth][1]
        start, end = self.page.evaluate(ENDS, [place, depth, to])
        return tuple(start), tuple(end)

    def _await_another(self, ruleset: Ruleset, position: Position) -> None:
        """Chromium answers before a tap or a swipe has become a click or a drop."""
        for _ in range(200):
            if self.position(ruleset) != position:
                return
            self.page.wait_for_timeout(10)
        raise AssertionError(f"nothing has moved: {position}")

    def _go(self, place: str, depth: int) -> None:
        rows = ([*CELLS, *SUITS], [*COLUMNS])
        for _ in range(60):
            here, lying = self.page.evaluate(HERE)
            if (here in COLUMNS) != (place in COLUMNS):
                key = "ArrowUp" if here in COLUMNS else "ArrowDown"
            elif here != place:
                (row,) = (row for row in rows if here in row)
                key = "ArrowRight" if row.index(here) < row.index(place) else "ArrowLeft"
            elif place in COLUMNS and lying != depth:
                key = "ArrowUp" if lying < depth else "ArrowDown"
            else:
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"no way to {place} {depth}")

    def _finger(self, kind: str, *at: float) -> None:
        if self._touch is None:
            self._touch = self.page.context.new_cdp_session(self.page)
        points = [{"x": at[0], "y": at[1]}] if at else []
        self._touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def _listen(self, socket: WebSocket) -> None:
        which = id(socket)

        def sent(frame: str | bytes) -> None:
            self._unanswered.add((which, loads(frame)["id"]))

        def received(frame: str | bytes) -> None:
            self._unanswered.discard((which, loads(frame).get("re")))

        def closed(_: WebSocket) -> None:
            self._unanswered = {one for one in self._unanswered if one[0] != which}

        socket.on("framesent", sent)
        socket.on("framereceived", received)
        socket.on("close", closed)


def _lifted(ruleset: Ruleset, position: Position, move: str) -> int:
    """How many cards a move lifts."""
    after = play(ruleset, position, Move.parse(move), Autoplay.OFF).position
    if move[0] not in COLUMNS:
        return 1
    at = COLUMNS.index(move[0])
    return len(position.columns[at]) - len(after.columns[at])


def _is_alike(ruleset: Ruleset, position: Position, one: str, other: str) -> bool:
    ends = [
        play(ruleset, position, Move.parse(move), Autoplay.OFF).position for move in (one, other)
    ]
    return ends[0] == ends[1]
