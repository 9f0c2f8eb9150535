"""Whose address a connection has, and which addresses count as one."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.address import client_address, group_of

TRUSTED = [ip_network("10.0.0.0/8"), ip_network("2001:db8::/32")]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),  # not trusted: not believed
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),  # the left is hearsay
        ("10.0.0.1", ["203.0.113.9", "198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7, 10.0.0.2 ,10.0.0.3"], "198.51.100.7"),
        ("10.0.0.1", ["10.0.0.3,10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", ["198.51.100.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7,"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        ("10.0.0.1", ["[2001:DB9:0::1]:4711"], "2001:db9::1"),
        ("2001:db8::1", ["2001:db9:0:0::1"], "2001:db9::1"),
        ("::ffff:10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
        ("::ffff:192.0.2.1", [], "192.0.2.1"),
        ("fe80::1%eth0", [], "fe80::1"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_proxies_are_believed_from_the_right_while_they_are_trusted(
    peer: str, forwarded: list[str], address: str
) -> None:
    assert client_address(peer, forwarded, TRUSTED) == address


@given(st.lists(st.text(max_size=60)))
def test_no_forwarded_text_breaks_it(forwarded: list[str]) -> None:
    assert client_address("10.0.0.1", forwarded, TRUSTED)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("", "", True),
    ],
)
def test_the_addresses_of_one_ipv6_network_count_as_one(
    one: str, other: str, is_same: bool
) -> None:
    assert (group_of(one) == group_of(other)) == is_same
