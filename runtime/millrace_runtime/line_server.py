"""A server on this machine for requests of one line of JSON each, answered with one line."""

from __future__ import annotations

import contextlib
import json
import socketserver
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
    """One thread for each connection. `refuse`: the answer to a line that is no request."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(
        self, port: int, answer: Callable[[Answer], Answer], refuse: Callable[[str], Answer]
    ) -> None:
        self.answer, self.refuse = answer, refuse
        super().__init__(("127.0.0.1", port), _Connection)
