"""Figures and lines made elsewhere, that the code is held to."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def golden(name: str) -> Any:  # noqa: ANN401 - JSON as it is
    """Content of one of the JSON files of this folder."""
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
