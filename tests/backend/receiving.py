"""Servers that receive notifications: one for webhooks, one for mail."""

from __future__ import annotations

import json
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class Hook(ThreadingHTTPServer):
    """Records what is posted; answers with the statuses in turn, and repeats the last one."""

    daemon_threads = True

    def __init__(self, *statuses: int, slow: float = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Posted)
        self.statuses = list(statuses or [204])
        self.slow = slow
        self.received: list[dict[str, Any]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/hook?a=b"


class _Posted(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received = {
            "path": self.path,
            "type": self.headers["Content-Type"],
            "body": json.loads(body),
        }
        self.server.received.append(received)
        statuses = self.server.statuses
        status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
        if self.server.slow:
            # Each byte arrives in time, but the response as a whole does not.
            for each in b"HTTP/1.0 204 No Content\r\nX-Long: " + b"x" * 200:
                time.sleep(self.server.slow)
                try:
                    self.wfile.write(bytes([each]))
                except OSError:
                    return
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class MailServer(socketserver.ThreadingTCPServer):
    """Accepts mail as an SMTP server does, but refuses the recipients in `refused`."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mails: list[tuple[list[str], str]] = []
        self.refused = "nobody@example.org"


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 test")
        receivers: list[str] = []
        while line := self.rfile.readline().decode().strip():
            verb = line[:4].upper()
            if verb == "RCPT":
                address = line.partition("<")[2].partition(">")[0]
                if address == self.server.refused:
                    self._say("550 no such mailbox")
                    continue
                receivers.append(address)
            if verb == "DATA":
                self._say("354 go on")
                lines = []
                while (text := self.rfile.readline().decode().rstrip("\r\n")) != ".":
                    lines.append(text)
                self.server.mails.append((receivers, "\n".join(lines)))
                receivers = []
            self._say("221 bye" if verb == "QUIT" else "250 ok")
            if verb == "QUIT":
                return

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


Server = TypeVar("Server", bound=socketserver.TCPServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """A server that runs until the end of the block."""
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
