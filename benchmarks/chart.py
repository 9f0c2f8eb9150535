"""A picture of what ``benchmarks.service`` has measured: one SVG, for dark and for light pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from . import contenders as who
from .contenders import Contender
from .report import figure
from .results import Figure

PLAYERS = 1000
# What each group does with a message, and who is in it.
GROUPS: tuple[tuple[str, Sequence[Contender]], ...] = (
    ("A message is given back, no more", (who.TCP, who.GATEWAY, who.SERVE)),
    ("A move is checked, nothing is stored", (who.STUBBED, who.NODE, who.COLYSEUS)),
    ("A move is checked, and answered once it is committed", (who.SQLITE, who.POSTGRES)),
)
OURS = (who.GATEWAY, who.STUBBED, who.SQLITE, who.POSTGRES)

WIDTH = 860
LEFT, RIGHT, TOP = 250, 150, 84  # where the bars begin, the room behind them, the room above
BAR, GAP, HEADING = 20, 8, 34
STEPS = 5  # marks on the axis, about
STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
  .title { font-size: 18px; font-weight: 600; }
  .group { font-weight: 600; }
  .axis { font-size: 12px; }
  .quiet { fill: #59636e; }
  .ours { fill: #1a7f37; }
  .rival { fill: #8c959f; }
  line { stroke: #8c959f; stroke-opacity: 0.35; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .ours { fill: #3fb950; }
    .rival { fill: #656c76; }
  }"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One contender: moves a second, and microseconds of server CPU for each."""

    name: str
    per_s: float
    cpu_us: float
    is_ours: bool


def chart(figures: Mapping[str, Figure]) -> str:
    """Picture of moves a second at 1000 players, with what a move costs the server.

    ``figures`` are those of ``benchmarks.service`` by their names; contenders that were left out
    there are left out here.
    """
    groups = [(does, _bars(figures, members)) for does, members in GROUPS]
    groups = [(does, bars) for does, bars in groups if bars]
    most = max((bar.per_s for _, bars in groups for bar in bars), default=1.0)
    step = _step(most)
    scale = (WIDTH - LEFT - RIGHT) / most
    body, y = [], TOP
    for does, bars in groups:
        body.append(_text(LEFT, y + 20, does, "group"))
        y += HEADING
        for bar in bars:
            body += _drawn(bar, y, scale)
            y += BAR + GAP
    marks = [number * step for number in range(int(most / step) + 1)]
    axis = [line for mark in marks for line in _mark(LEFT + mark * scale, y, f"{mark:,}")]
    axis.append(_text(LEFT, y + 46, "moves a second, higher is better", "axis quiet"))
    return _picture(y + 60, [*axis, *body])


def _picture(height: float, body: Sequence[str]) -> str:
    title = f"Moves a second, {PLAYERS:,} players, each with one move under way"
    under = (
        "One server process on one core, the load on another · behind each bar: server CPU a move"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="title">'
    )
    lines = [
        head,
        f'<title id="title">{escape(title)}</title>',
        f"<style>{STYLE}\n</style>",
        _text(16, 30, title, "title"),
        _text(16, 54, under, "quiet"),
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _bars(figures: Mapping[str, Figure], members: Sequence[Contender]) -> list[Bar]:
    bars = []
    for one in members:
        of = f"{one.name}, {PLAYERS} players"
        moves, cpu = figures.get(f"moves, {of}"), figures.get(f"server CPU, {of}")
        if moves is not None and cpu is not None:
            bars.append(Bar(one.name, moves.median, cpu.median, one in OURS))
    return sorted(bars, key=lambda bar: -bar.per_s)


def _drawn(bar: Bar, y: float, scale: float) -> list[str]:
    length, middle = bar.per_s * scale, y + BAR - 5
    whose = "ours" if bar.is_ours else "rival"
    return [
        _text(LEFT - 10, middle, bar.name, anchor="end"),
        f'<rect class="{whose}" x="{LEFT}" y="{y:g}" width="{length:.1f}" height="{BAR}"/>',
        _text(LEFT + length + 8, middle, f"{bar.per_s:,.0f} · {figure(bar.cpu_us)} µs"),
    ]


def _mark(x: float, bottom: float, text: str) -> list[str]:
    return [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP + HEADING - 6}" y2="{bottom:g}"/>',
        _text(x, bottom + 20, text, "axis quiet", "middle"),
    ]


def _step(most: float) -> int:
    """Round number, about a fifth of the longest bar."""
    steps = (digit * int(10**power) for power in range(9) for digit in (1, 2, 5))
    return next(step for step in steps if step * STEPS >= most)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    anchored = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{of_kind} x="{x:.1f}" y="{y:g}"{anchored}>{escape(text)}</text>'
