"""Writes docs/asyncapi.json anew: ``python -m tests.protocol.write_asyncapi``."""

from cellmates.protocol import asyncapi_text

from .page import ROOT

FILE = ROOT / "docs" / "asyncapi.json"

if __name__ == "__main__":
    FILE.write_bytes(asyncapi_text())
