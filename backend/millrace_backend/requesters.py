"""For whom a request is, before it is known whether its session or token is valid."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from contextvars import ContextVar

from django.conf import settings
from django.http import parse_cookie

from millrace_backend.bodies import Scope
from millrace_backend.clients import client_address
from millrace_backend.threads import belongs_to

#: sessions and tokens whose person is remembered
MOST_KNOWN = 10_000


class Requesters:
    """Remembers whose a session or a token is, from requests that were authenticated by it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()

    def owner(self, credentials: bytes) -> str | None:
        """Return the account; None if it is not known."""
        with self._lock:
            if credentials in self._known:
                self._known.move_to_end(credentials)
            return self._known.get(credentials)

    def note(self, credentials: bytes, account: str) -> None:
        """Remember whose these are; an empty account: nobody's any more."""
        with self._lock:
            self._known.pop(credentials, None)
            if account:
                self._known[credentials] = account
            while len(self._known) > self._most:
                self._known.popitem(last=False)


_requesters = Requesters(MOST_KNOWN)


class Requester:
    """Whoever sent a request: an account if that is known, else an address.

    Session and token are not stored, only their digest.
    """

    def __init__(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        self._address = client_address(
            str((scope.get("client") or [""])[0]),
            headers.get(b"x-forwarded-for", b"").decode("latin-1"),
            settings.MILLRACE_PROXIES,
        )
        self._credentials = hashlib.sha256(_credentials(headers)).digest()

    def owner(self) -> str:
        """Return whose share of the threads this request belongs to."""
        account = _requesters.owner(self._credentials)
        return f"address {self._address}" if account is None else f"account {account}"

    def is_account(self, account: str) -> None:
        """Note that the session or token is this account's; empty: nobody's. Raises Full."""
        _requesters.note(self._credentials, account)
        belongs_to(self.owner())


#: who sent the request that is being answered
current_requester: ContextVar[Requester | None] = ContextVar("current_requester", default=None)


def _credentials(headers: dict[bytes, bytes]) -> bytes:
    """Return what authenticates a request: its token, or else its session."""
    token = headers.get(b"authorization", b"").split()
    if token and token[0].lower() == b"token":
        return b"token " + b" ".join(token[1:])
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    return f"session {cookies.get(settings.SESSION_COOKIE_NAME)}".encode()
