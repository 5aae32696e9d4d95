"""Which addresses the server may send requests to, on every version of Python."""

from __future__ import annotations

import ipaddress
import socket
import time

import pytest
from millrace_backend.addresses import embedded, may_reach, resolve
from monitoring import webhooks

PUBLIC = [
    "93.184.216.34", "8.8.8.8", "1.1.1.1", "100.128.0.1", "172.32.0.1", "198.20.0.1",
    "2606:2800:220:1::1", "2a00:1450:4001::1", "2001:4860:4860::8888",
]  # fmt: skip
PRIVATE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1",
    "192.0.0.1", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fc00::1", "fd00::1", "fec0::1", "ff02::1", "100::1", "2001:db8::1",
    "2001:2::1", "2001:10::1", "3fff::1", "5f00::1", "4000::1",
    # the metadata service of clouds, embedded
    "::ffff:169.254.169.254", "::ffff:0:a9fe:a9fe", "::a9fe:a9fe", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1",
    # public addresses, embedded
    "::808:808", "::ffff:0:808:808", "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_may_be_reached(address: str) -> None:
    assert may_reach(ipaddress.ip_address(address), ())
    if ":" not in address:
        assert may_reach(ipaddress.ip_address(f"::ffff:{address}"), ())


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_of_any_other_network_is_reached_only_if_it_is_listed(address: str) -> None:
    found = ipaddress.ip_address(address)
    assert not may_reach(found, ())
    mapped = getattr(found, "ipv4_mapped", None) or found
    assert may_reach(found, (ipaddress.ip_network(mapped),))


def test_the_address_within_another_is_found() -> None:
    inner = ipaddress.IPv4Address("10.1.2.3")
    outer = [
        "::ffff:10.1.2.3", "::ffff:0:10.1.2.3", "::10.1.2.3", "64:ff9b::10.1.2.3",
        "2002:a01:203::", "2001:0:a01:203::",
    ]  # fmt: skip
    for each in outer:
        assert inner in embedded(ipaddress.ip_address(each)), each
    # The client of Teredo has inverted bits.
    assert inner in embedded(ipaddress.ip_address("2001:0:808:808::f5fe:fdfc"))


def test_a_slow_name_server_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> list[object]:
        time.sleep(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    with pytest.raises(webhooks.Undeliverable, match="was not resolved within"):
        webhooks.post("http://slow.example/", {}, (), deadline=0.5)
    with pytest.raises(TimeoutError):
        resolve("slow.example", 80, 0.5)
    assert time.monotonic() - began < 5
