"""POST requests to addresses that people gave, which must not reach into the private network.

The name is resolved once, each address is checked, and only a checked one is connected to: a
later answer of the name server is not used. Redirects are not followed.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from millrace_backend.addresses import Network, may_reach, resolve

#: limit for the whole request, from resolving the name to reading the response
DEADLINE_SECONDS = 5.0
MOST_ANSWER = 2_000


class Undeliverable(Exception):
    """A request was not sent or not accepted; the message is a sentence."""


class Refused(Undeliverable):
    """The host has an address that requests must not reach."""


def problem_of(url: str) -> str | None:
    """What is wrong with an address, as far as its text shows; None if nothing is."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"It is not a valid address: {error}."
    if parts.scheme not in {"http", "https"}:
        return "It must begin with https:// or http://."
    if not parts.hostname:
        return "It has no host."
    if parts.username is not None or parts.password is not None:
        return "It must not contain a user name or a password."
    if port == 0 or any(ord(each) <= 32 or ord(each) == 127 for each in url):
        return "It contains an invalid port or invalid characters."
    return None


def refusal_of(url: str, allowed: Sequence[Network]) -> str | None:
    """Why an address is not accepted for a rule; None if it is.

    A host that cannot be resolved now is accepted. `post` checks again, because a name may have
    another address later.
    """
    problem = problem_of(url)
    if problem is not None:
        return problem
    parts = urlsplit(url)
    try:
        _addresses(parts.hostname or "", parts.port or 443, allowed, DEADLINE_SECONDS)
    except Refused as refused:
        return str(refused)
    except Undeliverable:
        return None
    return None


def masked(url: str) -> str:
    """Return the address without parts that may be secret: scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/…" if url else ""


def post(
    url: str,
    content: Mapping[str, object],
    allowed: Sequence[Network],
    deadline: float = DEADLINE_SECONDS,
) -> int:
    """Send JSON and return the status of the response.

    Raises Undeliverable, also for any status other than 2xx.
    """
    problem = problem_of(url)
    if problem is not None:
        raise Undeliverable(problem)
    parts = urlsplit(url)
    host = parts.hostname or ""
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    until = time.monotonic() + deadline
    addresses = _addresses(host, port, allowed, deadline)
    left = max(0.0, until - time.monotonic())
    connection = _Connection(host, port, addresses, secure, left)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    late = threading.Event()

    def give_up() -> None:
        late.set()
        connection.abort()

    timer = threading.Timer(left, give_up)
    timer.start()
    try:
        body = json.dumps(content).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "Millrace"}
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        answer.read(MOST_ANSWER)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            raise Undeliverable(f"{host} did not respond within {deadline:g} seconds.") from error
        raise Undeliverable(f"{host} cannot be reached: {error}.") from error
    finally:
        timer.cancel()
        connection.close()
    if late.is_set():
        raise Undeliverable(f"{host} did not respond within {deadline:g} seconds.")
    if not 200 <= answer.status < 300:
        raise Undeliverable(f"{host} responded with {answer.status} {answer.reason[:100]}.")
    return answer.status


def _addresses(host: str, port: int, allowed: Sequence[Network], seconds: float) -> list[str]:
    try:
        addresses = resolve(host, port, seconds)
    except TimeoutError as error:
        raise Undeliverable(f"{host} was not resolved within {seconds:g} seconds.") from error
    except (OSError, UnicodeError) as error:
        raise Undeliverable(f"{host} cannot be resolved: {error}.") from error
    for each in addresses:
        if not may_reach(ipaddress.ip_address(each.partition("%")[0]), allowed):
            found = f"{each} is" if host == each else f"{host} is {each},"
            raise Refused(
                f"{found} an address in a private network. List it in "
                "MILLRACE_WEBHOOK_NETWORKS to permit notifications to it."
            )
    return addresses


class _Connection(http.client.HTTPConnection):
    """A connection to one of the checked addresses, under the original host name."""

    def __init__(
        self, host: str, port: int, addresses: Sequence[str], secure: bool, deadline: float
    ) -> None:
        super().__init__(host, port, timeout=deadline)
        self._addresses, self._secure, self._deadline = addresses, secure, deadline
        if secure:
            self.default_port = 443

    def connect(self) -> None:
        """Connect to the first address that accepts."""
        refused: OSError | None = None
        for address in self._addresses:
            try:
                plain = socket.create_connection((address, self.port), self._deadline)
                break
            except OSError as error:
                refused = error
        else:
            raise refused or OSError("it has no address")
        self.sock = plain
        if self._secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(plain, server_hostname=self.host)

    def abort(self) -> None:
        """Wake the thread that waits for the other side."""
        if self.sock is not None:
            try:
                self.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                # It is already closed.
                return
