"""Which addresses are public: those to which the server may send requests that people ask for.

The networks are those of IANA's registries of special-purpose addresses for IPv4 and IPv6. The
answer of :mod:`ipaddress` differs between versions of Python, and knows fewer networks.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: networks of IPv4 that are not public
_NOT_PUBLIC = [
    ipaddress.IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by providers
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # assignments of protocols
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, with the broadcast
    )
]
#: the only network of IPv6 whose addresses are assigned to the public, and its exceptions
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NOT_UNICAST = [
    ipaddress.IPv6Network(each)
    for each in (
        "2001::/23",  # assignments of protocols, with Teredo, ORCHID and benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
]
#: networks of IPv6 whose addresses contain one of IPv4, and the position of its lowest bit
_EMBEDDING = [
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),  # translated
    (ipaddress.IPv6Network("::/96"), 0),  # compatible
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("64:ff9b:1::/48"), 0),  # local NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
]
_TEREDO = ipaddress.IPv6Network("2001::/32")


def is_public(address: Address) -> bool:
    """Whether an address is assigned to the public Internet, by itself and by what it contains."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    return address in _UNICAST and not any(address in network for network in _NOT_UNICAST)


def embedded(address: Address) -> list[ipaddress.IPv4Address]:
    """Return the addresses of IPv4 that one of IPv6 contains: a gateway forwards to them."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    bits = int(address)
    found = [
        ipaddress.IPv4Address(bits >> shift & 0xFFFFFFFF)
        for network, shift in _EMBEDDING
        if address in network
    ]
    if address in _TEREDO:
        # The server, and the client, whose bits are inverted.
        found += [
            ipaddress.IPv4Address(bits >> 64 & 0xFFFFFFFF),
            ipaddress.IPv4Address(~bits & 0xFFFFFFFF),
        ]
    return found


def may_reach(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether an address is public, or in a network that the installation allows.

    A mapped address is the same as the address of IPv4 that it contains.
    """
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if any(address in network for network in allowed):
        return True
    return is_public(address) and all(is_public(each) for each in embedded(address))


def resolve(host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses of a host, in the order of the name server.

    Raises OSError or UnicodeError if it has none, TimeoutError after so many seconds: the system's
    own function cannot be interrupted, so its thread is left behind until it returns.
    """
    found: list[str] = []
    failures: list[Exception] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(each[4][0]) for each in answers))
        except (OSError, UnicodeError) as error:
            failures.append(error)

    thread = threading.Thread(target=ask, name="resolve", daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError(f"{host} was not resolved within {seconds:g} seconds")
    if failures:
        raise failures[0]
    return found
