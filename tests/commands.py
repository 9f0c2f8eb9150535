"""Commands as docs/operations.md has them, and whether the server's command line takes them."""

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import pytest

from server.__main__ import main

PAGE = (Path(__file__).parents[1] / "docs" / "operations.md").read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"^```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
_PARSE = ArgumentParser.parse_args


class _Accepted(BaseException):
    """Nothing has been run yet."""


def command(start: str) -> str:
    """The one line of the page's blocks that starts so."""
    [line] = [line for block in BLOCKS for line in block.splitlines() if line.startswith(start)]
    return line


def block(start: str) -> str:
    """The one block that starts so."""
    [found] = [block for block in BLOCKS if block.startswith(start)]
    return found


def is_accepted(words: Sequence[str]) -> bool:
    """Whether they are a command of the server with what it takes."""

    def parse(
        self: ArgumentParser, args: Sequence[str] | None = None, namespace: None = None
    ) -> Namespace:
        _PARSE(self, args, namespace)
        raise _Accepted

    with pytest.MonkeyPatch.context() as patch, redirect_stderr(StringIO()):
        patch.setattr(ArgumentParser, "parse_args", parse)
        try:
            main(words)
        except _Accepted:
            return True
        except SystemExit:
            return False
    raise AssertionError("the server's command line was not asked")
