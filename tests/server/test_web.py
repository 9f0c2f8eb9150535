"""The files of the page in the browser: from a table made at start, under a strict policy."""

import re
from pathlib import Path

import pytest

from server.web import WEB, read_web

PAGES = read_web()
SCRIPTS = sorted(WEB.rglob("*.js"))


def test_every_file_is_served_and_nothing_else() -> None:
    files = {path.relative_to(WEB).as_posix() for path in WEB.rglob("*") if path.is_file()}
    assert {path.split("/", 3)[3] for path in PAGES if path != "/"} == files - {"index.html"}


def test_front_page_names_files_that_are_there() -> None:
    named = re.findall(r'(?:src|href)="(/[^"]*)"', PAGES["/"].body.decode())
    assert named
    assert set(named) <= PAGES.keys()


@pytest.mark.parametrize("path", PAGES)
def test_policy_allows_nothing_but_our_own(path: str) -> None:
    policy = PAGES[path].headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "*" not in policy


def test_files_may_be_kept_for_ever_and_the_front_page_is_asked_for_again() -> None:
    for path, page in PAGES.items():
        kept = "no-cache" if path == "/" else "public, max-age=31536000, immutable"
        assert page.headers["Cache-Control"] == kept


def test_other_content_has_other_paths(tmp_path: Path) -> None:
    def paths(text: str) -> set[str]:
        (tmp_path / "index.html").write_text('<script src="/web/main.js"></script>')
        (tmp_path / "main.js").write_text(text)
        return set(read_web(tmp_path))

    assert paths("1") & paths("2") == {"/"}
    assert paths("1") == paths("1")


@pytest.mark.parametrize(
    "path", sorted(WEB.rglob("*.js")), ids=lambda path: str(path.relative_to(WEB))
)
def test_text_is_never_taken_for_markup_or_code(path: Path) -> None:
    dangerous = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|console\."
    )
    assert re.search(dangerous, path.read_text("utf-8")) is None
