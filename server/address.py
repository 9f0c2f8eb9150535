"""Who is at the other end: addresses, and how far proxies are believed. No I/O."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_IPV6_PREFIX = 64
Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


def client_address(peer: str, forwarded: Iterable[str], trusted: Iterable[Network]) -> str:
    """Address of the client, in its shortest form.

    ``forwarded`` are the values of X-Forwarded-For in their order. From the right, each entry is
    believed as long as whoever wrote it is trusted; one that is no address ends it.
    """
    address = _parse(peer)
    if address is None:  # no IP socket: nothing to compare, nobody to trust
        return peer
    networks = tuple(trusted)
    entries = [entry for value in forwarded for entry in value.split(",")]
    while entries and any(address in network for network in networks):
        further = _parse(_without_port(entries.pop().strip()))
        if further is None:
            break
        address = further
    return str(address)


def group_of(address: str) -> str:
    """The addresses that are counted as one: an IPv6 /64, which is what one customer gets."""
    parsed = _parse(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, _IPV6_PREFIX), strict=False))
    return address


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    host, _, port = entry.rpartition(":")
    return host if port.isdigit() and ":" not in host else entry
