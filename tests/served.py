"""Local services behind Unix sockets, as the compiler's processes and the backend use them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from millrace_compiler import Analyzer, ExpressionRequest
from millrace_services.line_server import LineServer as RealServer

RUNTIME = Path(__file__).parents[1] / "runtime"

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]


class LineServer(RealServer):
    """A local service that records its requests; an answer of None closes the connection."""

    def __init__(self, path: str, answer: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self._answer = answer
        super().__init__(path, self._record)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def _record(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        found = self._answer(request)
        if found is None:
            raise ConnectionAbortedError
        return found


@contextmanager
def socket_path(name: str = "service") -> Iterator[str]:
    """The path of a socket in a new folder that only this user can open."""
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder, name))


@contextmanager
def serving(answer: Answer, path: str | None = None) -> Iterator[LineServer]:
    """Run a server until the end of the block, by default at a socket of its own."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(LineServer(path or stack.enter_context(socket_path()), answer))
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


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
        yield server.path


@contextmanager
def running_analyzer(path: str) -> Iterator[subprocess.Popen[str]]:
    """Run a real analyzer at this socket, in a process of its own, which the test may kill."""
    with running("millrace_runtime.analyzer", path) as process:
        yield process
    assert process.returncode in {0, -signal.SIGKILL}


@contextmanager
def running(module: str, path: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run a module of the runtime as a local service at this socket."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *options, "--socket", path],
        env={**os.environ, "PYTHONPATH": f"{RUNTIME}{os.pathsep}{RUNTIME.parent / 'compiler'}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "READY\n"
        yield process
    finally:
        process.terminate()
        process.wait(30)
