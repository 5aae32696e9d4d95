"""Analyzers behind a socket, as the compiler's processes use them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millrace_compiler import Analyzer, ExpressionRequest

RUNTIME = Path(__file__).parents[1] / "runtime"

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


class LineServer:
    """Answers lines of JSON over TCP; an answer of None closes the connection."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as stream:
            for text in stream:
                request = json.loads(text)
                self.requests.append(request)
                answer = self.answer(request)
                if answer is None:
                    return
                stream.write(json.dumps(answer).encode() + b"\n")
                stream.flush()


@contextmanager
def serving(answer: Answer) -> Iterator[LineServer]:
    """Run a server until the end of the block."""
    server = LineServer(answer)
    try:
        yield server
    finally:
        server.socket.close()


@contextmanager
def serving_analyzer(analyzer: Analyzer) -> Iterator[str]:
    """Serve an analyzer of this process; the value is its address."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        asked = [
            ExpressionRequest(each["text"], tuple(each["columns"].items()), each["expects"])
            for each in request["expressions"]
        ]
        found = [each.to_json() for each in analyzer.analyze(asked)]
        return {"id": request["id"], "expressions": found, "types": []}

    with serving(answer) as server:
        yield server.address


@contextmanager
def running_analyzer(port: int) -> Iterator[subprocess.Popen[str]]:
    """Run a real analyzer on this port, in a process of its own, which the test may kill."""
    process = subprocess.Popen(
        [sys.executable, "-m", "millrace_runtime.analyzer", "--port", str(port)],
        env={**os.environ, "PYTHONPATH": str(RUNTIME)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "READY\n"
        yield process
    finally:
        process.terminate()
        code = process.wait(30)
    assert code in {0, -signal.SIGKILL}
