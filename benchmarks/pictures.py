"""Pictures of the page for the README: every view at a desk and a game on a phone, dark and light.

    python -m benchmarks.pictures [FOLDER]

They are of a day that is planned in a world of its own, where three people have played.
"""

import struct
import sys
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections import Counter
from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser import (
    DESK,
    PHONE,
    Visitors,
    chromium,
    day_server,
    played_by_client,
)
from tests.web.seat import DAY, Seat

Colour = tuple[int, int, int]

FOLDER = Path("docs/images")
LARGEST_BYTES = 80_000
COLOURS = 256
# Chromium reads its own pictures, so that nothing else has to be installed for that.
PIXELS = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, width, height).data;
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return [width, height, btoa(text)];
}"""
THEMES = {"light": False, "dark": True}


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as kept,
        day_server(Path(kept)) as server,
        chromium() as browser,
    ):
        for handle, moves in (("Ada", 999), ("Bob", 999), ("Cleo", 21)):
            played_by_client(server, handle, "freecell", moves=moves)
        film = played_by_client(server, "Dee", "eight-off", deal="24")
        visitors = Visitors(browser, server)
        for theme, dark in THEMES.items():
            at_desk(visitors.come(size=DESK, dark=dark).open(), folder, theme, film)
            phone = visitors.come(size=PHONE, touch=True, dark=dark).open()
            on_phone(phone, folder, theme)
        visitors.go()
    sizes = {picture.name: picture.stat().st_size for picture in sorted(folder.glob("*.png"))}
    for name, size in sizes.items():
        print(f"{size:6d} {name}")
    return int(max(sizes.values()) >= LARGEST_BYTES)


def at_desk(seat: Seat, folder: Path, theme: str, film: str) -> None:
    seat.sign_up(f"Eva-{theme}")
    rules = seat.start_daily("freecell")
    for move in seat.line(rules)[:16]:
        seat.drag(rules, move)
    seat.settle()
    take(seat, folder / f"game-{theme}.png")
    for move in seat.line(rules):
        seat.drag(rules, move)
    expect(seat.page.locator(".game-banner .rank")).to_contain_text("Rank")
    seat.visit("#/today")
    expect(seat.page.locator(".par").first).to_be_visible()
    take(seat, folder / f"today-{theme}.png")
    seat.visit(f"#/board/{DAY}-freecell/first/human")
    expect(seat.page.locator("tfoot tr")).to_be_visible()
    take(seat, folder / f"board-{theme}.png")
    seat.visit(f"#/replay/{film}")
    seat.page.get_by_label("Place in the film").focus()
    for _ in range(30):
        seat.page.keyboard.press("ArrowRight")
    take(seat, folder / f"replay-{theme}.png")
    seat.visit("#/rules/freecell")
    expect(seat.page.locator(".example").first).to_be_visible()
    take(seat, folder / f"rules-{theme}.png")


def on_phone(seat: Seat, folder: Path, theme: str) -> None:
    seat.sign_up(f"Fay-{theme}")
    rules = seat.start_daily("eight-off-4")
    for move in seat.line(rules)[:20]:
        seat.swipe(rules, move)
    seat.settle()
    take(seat, folder / f"phone-{theme}.png")


def take(seat: Seat, path: Path) -> None:
    seat.page.evaluate("document.activeElement.blur()")
    seat.page.mouse.move(0, 0)
    shot = seat.page.screenshot(animations="disabled", caret="hide")
    blank = seat.page.context.new_page()
    width, height, pixels = blank.evaluate(PIXELS, b64encode(shot).decode())
    blank.close()
    path.write_bytes(png(width, height, b64decode(pixels)))


def png(width: int, height: int, pixels: bytes) -> bytes:
    """A picture of at most 256 colours, of pixels of four bytes each."""
    colours = Counter(zip(pixels[::4], pixels[1::4], pixels[2::4], strict=True))
    palette = chosen(colours)
    numbers = {colour: nearest(palette, colour) for colour in colours}
    flat = bytes(
        map(numbers.__getitem__, zip(pixels[::4], pixels[1::4], pixels[2::4], strict=True))
    )
    rows = b"".join(b"\0" + flat[at : at + width] for at in range(0, len(flat), width))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            chunk(b"PLTE", bytes(part for colour in palette for part in colour)),
            chunk(b"IDAT", zlib.compress(rows, 9)),
            chunk(b"IEND", b""),
        )
    )


def chosen(colours: Counter[Colour]) -> list[Colour]:
    """The commonest colours, and of the others the commonest of each cube of similar ones."""
    ordered = [colour for colour, _ in colours.most_common()]
    palette = ordered[: COLOURS // 4]
    cubes: dict[Colour, Colour] = {}
    for red, green, blue in ordered:
        cubes.setdefault((red >> 4, green >> 4, blue >> 4), (red, green, blue))
    others = [colour for colour in cubes.values() if colour not in palette]
    return [*palette, *others[: COLOURS - len(palette)]]


def nearest(palette: list[Colour], colour: Colour) -> int:
    def distance(number: int) -> int:
        return sum((one - other) ** 2 for one, other in zip(palette[number], colour, strict=True))

    return min(range(len(palette)), key=distance)


def chunk(kind: bytes, body: bytes) -> bytes:
    ends = struct.pack(">I", len(body)), struct.pack(">I", zlib.crc32(kind + body))
    return ends[0] + kind + body + ends[1]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER))
