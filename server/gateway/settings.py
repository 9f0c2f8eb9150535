"""The gateway's numbers, each with the value it has in production. Tests shrink them."""

from dataclasses import dataclass

from cellmates.protocol import CLIENT_FRAME_BYTES

from ..address import Network

LAST_LOOK_S = 0.01  # time for the loop to look at its sockets once more, before somebody is dropped


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Who may connect, how much may wait, how long. What ends in ``_s`` is in seconds.

    ``connections`` and ``connections_per_address`` count WebSockets; ``handshakes`` is for sockets
    that are none, or not yet. Addresses are counted as ``address.group_of`` groups them.
    """

    origins: frozenset[str] = frozenset()
    trusted_proxies: tuple[Network, ...] = ()
    connections: int = 20_000
    connections_per_address: int = 200
    handshakes: int = 8192
    backlog: int = 4096

    head_bytes: int = 8192
    frame_bytes: int = CLIENT_FRAME_BYTES
    fragments: int = 256  # of one message
    control_frames: int = 256  # from a peer between two of our pings
    inbox_frames: int = 32
    outbox_messages: int = 64
    outbox_bytes: int = 65536

    handshake_s: float = 5.0  # from the connection to the end of the request
    page_s: float = 10.0  # for the application to give a page, then for the client to take it
    heartbeat_s: float = 20.0  # between pings
    pong_s: float = 20.0  # for any whole frame to come after a ping
    unread_s: float = 10.0  # for the kernel to take a message
    close_s: float = 5.0  # for the peer to close its side
    drain_s: float = 8.0
    retry_after_s: int = 5
