"""The picture of what was measured: it shows every contender, and nothing that is not there."""

from xml.etree import ElementTree

from benchmarks import contenders as who
from benchmarks.chart import PLAYERS, chart
from benchmarks.results import Figure

SVG = "{http://www.w3.org/2000/svg}"


def measured(rates: dict[str, float]) -> dict[str, Figure]:
    figures = {}
    for name, rate in rates.items():
        for kind, value in (("moves", rate), ("server CPU", 1e6 / rate)):
            of = f"{kind}, {name}, {PLAYERS} players"
            figures[of] = Figure(of, "", (value,))
    return figures


def test_bars_are_as_long_as_rates_are_great() -> None:
    picture = ElementTree.fromstring(
        chart(measured({who.TCP.name: 100_000, who.GATEWAY.name: 50_000, who.NODE.name: 25_000}))
    )
    bars = [(bar.get("class"), float(bar.get("width", 0))) for bar in picture.iter(f"{SVG}rect")]
    assert [kind for kind, _ in bars] == ["rival", "ours", "rival"]
    longest = bars[0][1]
    assert [round(width / longest, 2) for _, width in bars] == [1.0, 0.5, 0.25]
    texts = {text.text for text in picture.iter(f"{SVG}text")}
    assert {who.TCP.name, "50,000 · 20.0 µs", "moves a second, higher is better"} <= texts
    assert who.COLYSEUS.name not in texts


def test_picture_of_nothing_is_a_picture() -> None:
    assert not list(ElementTree.fromstring(chart({})).iter(f"{SVG}rect"))
