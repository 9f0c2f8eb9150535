"""The page in the browser: its files, read once at the start and served from memory. No lookups.

Files are under a path that names what is in all of them, so that browsers may keep them for ever
and never mix those of two versions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

WEB = Path(__file__).parents[1] / "client" / "web"
FRONT = "index.html"
PREFIX = "/web/"

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class File:
    """A page as the gateway wants it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def read_web(folder: Path = WEB) -> dict[str, File]:
    """Files by the paths at which they are served, the front page at ``/``.

    Raises:
        OSError: a file cannot be read.
        KeyError: one is of a kind that browsers are not told about here.
    """
    bodies = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    digest = sha256(repr(sorted(bodies.items())).encode()).hexdigest()[:12]
    front = bodies.pop(FRONT).replace(PREFIX.encode(), f"{PREFIX}{digest}/".encode())
    pages = {
        f"{PREFIX}{digest}/{name}": File(200, _headers(name, _FOR_EVER), body)
        for name, body in bodies.items()
    }
    return {"/": File(200, _headers(FRONT, "no-cache"), front), **pages}


def _headers(name: str, keep: str) -> dict[str, str]:
    return {
        "Content-Type": _TYPES[Path(name).suffix],
        "Content-Security-Policy": _POLICY,
        "Cache-Control": keep,
    }
