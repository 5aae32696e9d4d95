"""The address of a request's client, and its host, checked before all other middleware."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from contextvars import ContextVar

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_FORWARDED_HOST")
#: address of the client whose request is being answered; empty outside of requests
current_address: ContextVar[str] = ContextVar("current_address", default="")


class ClientMiddleware:
    """Rejects hosts that are not allowed, and sets ``REMOTE_ADDR`` to the client's address.

    Forwarding headers are used if a configured proxy sent the request, and removed otherwise.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Handle the request. Raises DisallowedHost, which becomes a response with status 400."""
        meta = request.META
        peer = str(meta.get("REMOTE_ADDR") or "")
        forwarded = str(meta.get("HTTP_X_FORWARDED_FOR") or "")
        if not _trusted(peer, settings.MILLRACE_PROXIES):
            for name in FORWARDED:
                meta.pop(name, None)
        meta["REMOTE_ADDR"] = client_address(peer, forwarded, settings.MILLRACE_PROXIES)
        request.get_host()
        token = current_address.set(meta["REMOTE_ADDR"])
        try:
            return self._get_response(request)
        finally:
            current_address.reset(token)


def client_address(peer: str, forwarded: str, proxies: Sequence[Network]) -> str:
    """Return the first address, from the socket backwards, that is not a configured proxy.

    ``forwarded`` is the header ``X-Forwarded-For``, to which each proxy appends its caller.
    """
    found = peer
    for hop in reversed(forwarded.split(",")):
        if not _trusted(found, proxies):
            break
        address = _parsed(hop.strip())
        if address is None:
            break
        found = str(address)
    return found


def address_of(request: HttpRequest) -> str | None:
    """Return the client's address, as set by `ClientMiddleware`; None if the socket has none."""
    found = _parsed(str(request.META.get("REMOTE_ADDR") or ""))
    return None if found is None else str(found)


def _trusted(address: str, proxies: Sequence[Network]) -> bool:
    parsed = _parsed(address)
    return parsed is not None and any(parsed in network for network in proxies)


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
