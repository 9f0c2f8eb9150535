"""Where a server is, in the forms in which people write it down."""

from urllib.parse import SplitResult, urlsplit

DEFAULT = "ws://127.0.0.1:8410/ws"

_SCHEMES = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


class BadAddress(ValueError):
    """The text is no address of a server."""


def websocket_url(text: str) -> str:
    """Address of the WebSocket: ``host:port``, ``http(s)://host`` and ``ws(s)://host`` will do.

    Raises:
        BadAddress: the text is none of these; the message says what is right.
    """
    parts = _parts(text)
    if parts is None:
        # What was given is not repeated: it may hold a password.
        raise BadAddress(
            f"that is no address of a server: write one like {DEFAULT} or https://example.org"
        )
    path = parts.path if parts.path not in ("", "/") else "/ws"
    return f"{_SCHEMES[parts.scheme]}://{parts.netloc.lower()}{path}"


def _parts(text: str) -> SplitResult | None:
    """Parts of an address that has a host, and nothing that could hold a secret."""
    try:
        parts = urlsplit(text if "://" in text else f"ws://{text}")
        # Asking for the port is what finds out that it is no number.
        is_reachable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    has_more = parts.username or parts.password or parts.query or parts.fragment
    return parts if is_reachable and not has_more and text.isprintable() else None
