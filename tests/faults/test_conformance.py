"""The gateway speaks the WebSockets of the standard."""

from .conformance import conformance


def test_every_case_of_autobahn_ends_as_it_is_to() -> None:
    figures = conformance()
    assert figures.more["unexpected"] == "none"
    assert figures.more["passed"] == "246 of 247"  # 7.1.5 is the library's
    assert figures.more["at our limits"] == "239 of 247"
    assert (figures.tried, figures.lost) == (494, 0)
