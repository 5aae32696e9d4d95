"""A local service on a Unix socket: every request and response is one line of JSON.

The clients are in `millrace_compiler.local_services`.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import os
import secrets
import signal
import socketserver
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from millrace_compiler.local_services import LONGEST_LINE, Connection, secret_file, short_path

Answer = dict[str, Any]


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
                self.reply(self.server.answer(request))

    def reply(self, answer: Answer) -> None:
        """Send a line to the client. Raises OSError if it has gone."""
        self.wfile.write(json.dumps(answer).encode() + b"\n")
        self.wfile.flush()

    def request_in(self, line: bytes) -> Answer | None:
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


class LineServer(socketserver.ThreadingUnixStreamServer):
    """A service with one thread per connection, which handles its requests.

    Raises OSError if the socket cannot be created.
    """

    daemon_threads = True
    # Connecting to a Unix socket fails immediately if the queue is full.
    request_queue_size = 128

    def __init__(
        self,
        path: str,
        answer: Callable[[Answer], Answer],
        connection: type[LineConnection] = LineConnection,
    ) -> None:
        self.path, self.answer = path, answer
        self.secret = secrets.token_urlsafe(32)
        _require_private(Path(path).parent)
        _remove_unused(path)
        _write(secret_file(path), self.secret)
        super().__init__(path, connection)

    def server_bind(self) -> None:
        """Create the socket, readable and writable only for this user."""
        mask = os.umask(0o177)
        try:
            with short_path(self.path) as name:
                self.socket.bind(name)
        finally:
            os.umask(mask)

    def server_close(self) -> None:
        """Close and delete the socket."""
        super().server_close()
        Path(self.path).unlink(missing_ok=True)


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
        server.serve_forever(poll_interval=0.2)
    return 0
