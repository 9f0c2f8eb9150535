"""Bytes <-> messages on sockets: WebSockets and plain pages on one port. Knows no message."""

from .application import Application, Conversation, Pages, Peer, Response
from .http import PageTable, plain
from .pages import Readiness, standard_pages
from .server import Gateway
from .settings import GatewaySettings

__all__ = [
    "Application",
    "Conversation",
    "Gateway",
    "GatewaySettings",
    "PageTable",
    "Pages",
    "Peer",
    "Readiness",
    "Response",
    "plain",
    "standard_pages",
]
