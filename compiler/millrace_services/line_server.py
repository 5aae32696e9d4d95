"""A local service on a Unix socket: every request and response is one line of JSON.

The clients are in `millrace_services.local_services`. Every service answers `{"do": "awake"}`
itself, and requests with `"probe": true` do not count as its use.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import os
import secrets
import signal
import socket
import socketserver
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from millrace_services.local_services import (
    LONGEST_LINE,
    Connection,
    idle_seconds,
    inherited,
    secret_file,
    short_path,
)

#: Returns the response to a request, of a shape of its own for each service.
Handler = Callable[[Any], object]
#: printed by a service that ends because nobody uses it
IDLE_LINE = "IDLE"
#: seconds between two checks for a requested end
POLL_SECONDS = 0.5
#: seconds within which the first request follows a connection
_ON_ITS_WAY = 2.0


class LineConnection(socketserver.StreamRequestHandler):
    """A connection of a client, in a thread of its own."""

    server: LineServer

    def handle(self) -> None:
        """Answer requests until the client closes the connection."""
        with contextlib.suppress(ConnectionError):
            while line := self.rfile.readline(LONGEST_LINE):
                request = self.request_in(line)
                if request is None:
                    # Whoever sends such a line, perhaps a browser, must not try the next one.
                    return
                with self.server.use.during(counts=not request.pop("probe", False)):
                    self.reply(self._answer(request))

    def _answer(self, request: dict[str, object]) -> object:
        return {"awake": True} if request == {"do": "awake"} else self.server.answer(request)

    def reply(self, answer: object) -> None:
        """Send a line to the client. Raises OSError if it has gone."""
        self.wfile.write(json.dumps(answer).encode() + b"\n")
        self.wfile.flush()

    def request_in(self, line: bytes) -> dict[str, object] | None:
        """Return the request in a line, or None if it is not one or lacks the secret."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not line.endswith(b"\n") or not isinstance(request, dict):
            return None
        given = request.pop("secret", None)
        known = isinstance(given, str) and hmac.compare_digest(
            given.encode("utf-8", "surrogatepass"), self.server.secret.encode()
        )
        return request if known else None


class Use:
    """Records when a service was last used. Requests that do not count are those of a probe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._last = time.monotonic()
        #: when the last connection was accepted, whose request may still be on its way
        self.connected = self._last

    @contextlib.contextmanager
    def during(self, *, counts: bool) -> Iterator[None]:
        """Wrap a request."""
        with self._lock:
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if counts:
                    self._last = time.monotonic()

    def idle(self, seconds: float) -> bool:
        """Return whether there was no request for this many seconds."""
        now = time.monotonic()
        with self._lock:
            used = self._running > 0 or now - self._last < seconds
        return not used and now - self.connected >= min(seconds, _ON_ITS_WAY)


class Idle(Exception):
    """Ends a server that nobody has used for a while."""


class LineServer(socketserver.ThreadingUnixStreamServer):
    """A service with one thread per connection, which handles its requests.

    Raises OSError if the socket cannot be created. A socket that the process inherits is used as it
    is. Its service ends when it is idle, because whoever created the socket starts it again with
    the next connection.
    """

    daemon_threads = True
    # Connecting to a Unix socket fails immediately if the queue is full.
    request_queue_size = 128

    def __init__(
        self,
        path: str,
        answer: Handler,
        connection: type[LineConnection] = LineConnection,
    ) -> None:
        self.path, self.answer = path, answer
        self.use = Use()
        given = inherited()
        self.idle_seconds = None if given is None else idle_seconds()
        self._own = given is None
        super().__init__(path, connection, bind_and_activate=False)
        self.socket.close()
        self.socket = listen(path, self.request_queue_size) if given is None else given
        self.secret = secret_file(path).read_text(encoding="ascii")

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Note the time of a connection, and accept it."""
        self.use.connected = time.monotonic()
        return super().verify_request(request, client_address)

    def service_actions(self) -> None:
        """Raise Idle if nobody has used the service for a while."""
        if self.idle_seconds is not None and self.use.idle(self.idle_seconds):
            # In the thread that accepts connections: one that comes now starts the next process.
            raise Idle

    def server_close(self) -> None:
        """Close the socket; delete it unless it was inherited."""
        super().server_close()
        if self._own:
            Path(self.path).unlink(missing_ok=True)


def listen(path: str, queue: int = LineServer.request_queue_size) -> socket.socket:
    """Return a new listening socket, and write its secret; both only this user can use.

    Raises OSError if the socket cannot be created.
    """
    _require_private(Path(path).parent)
    _remove_unused(path)
    _write(secret_file(path), secrets.token_urlsafe(32))
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        with short_path(path) as name:
            made.bind(name)
        made.listen(queue)
    except OSError:
        made.close()
        raise
    finally:
        os.umask(mask)
    return made


def _require_private(folder: Path) -> None:
    """Create a folder that only this user can open. Raises OSError if others can open it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(
            errno.EPERM, "its folder is not one that only this user can open (mode 0700)"
        )


def _remove_unused(path: str) -> None:
    """Delete the socket of a service that has ended. Raises OSError if it has not."""
    try:
        found = Path(path).lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise FileExistsError(errno.EEXIST, "it is a file that is not a socket")
    try:
        Connection(path, 5.0).close()
    except OSError:
        Path(path).unlink()
        return
    raise OSError(errno.EADDRINUSE, "another process uses it")


def _write(file: Path, secret: str) -> None:
    """Write the secret to a file that only this user can read, at once."""
    aside = file.with_name(f"{file.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(secret)
    aside.replace(file)


def serve(create: Callable[[], LineServer], path: str) -> int:
    """Serve until a stop is requested; print READY when the server accepts requests.

    Return the exit code: 2 if the socket cannot be created.
    """
    try:
        server = create()
    except OSError as error:
        print(
            f"The socket {path} cannot be created ({error.strerror}). Choose another with "
            "--socket, or stop what uses it.",
            file=sys.stderr,
        )
        return 2
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(
            number, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start()
        )
    print("READY", flush=True)
    with server:
        try:
            server.serve_forever(poll_interval=POLL_SECONDS)
        except Idle:
            print(IDLE_LINE, flush=True)
    return 0
