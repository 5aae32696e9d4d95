"""Clients of the local services: the analyzer, the simulator and the store reader.

A service listens on a Unix socket that only its own user can open. Requests and responses are lines
of JSON. Each request contains the secret that the service creates at each of its starts, in a file
beside the socket; the service closes the connection at the first line that is no such request.

A service may be started by the first connection to its socket (`launcher.activation`): whoever
starts it creates the socket and the secret, and a request waits until the service has started.
Such a service ends when nobody has used it for a while.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: maximum number of bytes of a request and of a response
LONGEST_LINE = 64 * 1024 * 1024
#: bytes of a socket's path that every system accepts (Linux: 107, macOS: 103)
_LONGEST_PATH = 100
_RETRY_SECONDS = 0.01
#: environment variable with the descriptor of the listening socket that a service inherits
INHERITED = "MILLRACE_LISTEN_FD"
#: setting: seconds without a request after which a service that inherits its socket ends; 0: never
IDLE = "MILLRACE_IDLE_SECONDS"
_IDLE_SECONDS = 600
#: maximum seconds until a service that starts with a request answers
STARTING_SECONDS = 90.0


def secret_file(path: str) -> Path:
    """Return the file with the secret of the service at this socket."""
    return Path(f"{path}.secret")


@contextmanager
def short_path(path: str) -> Iterator[str]:
    """Yield a path of this socket that is short enough for the system.

    For a long path, it leads through a link in a private temporary folder, which is deleted
    afterwards.
    """
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        yield path
        return
    folder = tempfile.mkdtemp(prefix="millrace-")
    try:
        link = Path(folder, "l")
        link.symlink_to(Path(path).parent.absolute())
        yield str(link / Path(path).name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Connection:
    """A connection to a service, used by one thread at a time. Raises OSError if it fails."""

    def __init__(self, path: str, timeout: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(timeout)
            with short_path(path) as name:
                _connect(self._socket, name, time.monotonic() + timeout)
            # A service writes its new secret before it listens.
            self._secret = secret_file(path).read_text(encoding="ascii")
        except BaseException:
            self._socket.close()
            raise
        self._lines = self._socket.makefile("rb")

    def ask(self, request: Mapping[str, object]) -> dict[str, Any]:
        """Return the response. Raises OSError or ValueError if the connection cannot be used."""
        line = json.dumps({**request, "secret": self._secret}).encode() + b"\n"
        if len(line) > LONGEST_LINE:
            raise ValueError(f"the request is larger than {LONGEST_LINE >> 20} MB")
        self._socket.sendall(line)
        answer = self._lines.readline(LONGEST_LINE)
        if not answer:
            raise ConnectionError("the connection was closed")
        found = json.loads(answer)
        if not isinstance(found, dict):
            raise ValueError("the response is not an object")
        return found

    def line(self) -> bytes:
        """Wait for a line that the service sends by itself; empty when it closes the connection."""
        self._socket.settimeout(None)
        return self._lines.readline(LONGEST_LINE)

    def shutdown(self) -> None:
        """End the connection, also for a thread that waits for a response."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()


def _connect(to: socket.socket, name: str, until: float) -> None:
    """Connect, and wait while the service has no room in its queue."""
    while True:
        try:
            to.connect(name)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise TimeoutError("too many connections are waiting") from None
            time.sleep(_RETRY_SECONDS)


def ask(path: str, request: Mapping[str, object], timeout: float) -> dict[str, Any]:
    """Return the response to a single request. Raises OSError or ValueError."""
    connection = Connection(path, timeout)
    try:
        return connection.ask(request)
    finally:
        connection.close()


def wake(path: str) -> None:
    """Start the service at this socket if it starts with a connection; does not wait for it."""
    with contextlib.suppress(OSError):
        Connection(path, 1.0).close()


def wait_until_awake(path: str, seconds: float = STARTING_SECONDS) -> None:
    """Wait until the service at this socket has started. One that cannot be reached is no error."""
    with contextlib.suppress(OSError, ValueError):
        ask(path, {"do": "awake"}, seconds)


def inherited() -> socket.socket | None:
    """Return the listening socket that this process inherits; None if it has to create its own."""
    number = os.environ.pop(INHERITED, None)
    return None if number is None else socket.socket(fileno=int(number))


def idle_seconds(environ: Mapping[str, str] = os.environ) -> float | None:
    """Return the seconds without a request after which a service ends; None for never.

    Raises ValueError for an invalid setting.
    """
    text = environ.get(IDLE) or str(_IDLE_SECONDS)
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f"{IDLE} is {text!r}, not a number of seconds (0: never).")
    return float(text) or None
