"""The page that says what stands where names what is there, and all of it."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`((?:cellmates|server|client|migrations)[\w/.]*)`", PAGE))


def test_every_room_on_the_page_is_there() -> None:
    assert NAMED
    assert {name for name in NAMED if not (ROOT / name).exists()} == set()


def test_every_room_of_server_and_shared_ground_is_on_the_page() -> None:
    rooms = {
        path.relative_to(ROOT).as_posix()
        for folder in ("server", "cellmates")
        for path in (ROOT / folder).iterdir()
        if path.name not in ("__init__.py", "__pycache__")
    }
    assert rooms - NAMED == set()
