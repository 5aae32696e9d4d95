"""A local server: every request and response is one line of JSON."""

from __future__ import annotations

import contextlib
import json
import signal
import socketserver
import sys
import threading
from collections.abc import Callable
from typing import Any

LONGEST_REQUEST = 16 * 1024 * 1024

Answer = dict[str, Any]


class _Connection(socketserver.StreamRequestHandler):
    server: LineServer

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := self.rfile.readline(LONGEST_REQUEST):
                self.wfile.write(json.dumps(self._answer(line)).encode() + b"\n")
                self.wfile.flush()

    def _answer(self, line: bytes) -> Answer:
        try:
            request = json.loads(line)
        except ValueError as error:
            return self.server.refuse(f"The request is not JSON: {error}.")
        if not isinstance(request, dict):
            return self.server.refuse("The request must be a JSON object.")
        return self.server.answer(request)


class LineServer(socketserver.ThreadingTCPServer):
    """A server with one thread per connection. `refuse`: the response to an invalid request."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(
        self, port: int, answer: Callable[[Answer], Answer], refuse: Callable[[str], Answer]
    ) -> None:
        self.answer, self.refuse = answer, refuse
        super().__init__(("127.0.0.1", port), _Connection)


def serve(create: Callable[[], LineServer], port: int) -> int:
    """Serve until a stop is requested; print READY when the server accepts requests.

    Return the exit code: 2 if the port cannot be used.
    """
    try:
        server = create()
    except OSError as error:
        print(
            f"Port {port} cannot be used ({error.strerror}). Choose another with --port, or stop "
            "what uses it.",
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
