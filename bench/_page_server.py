"""A server of the built page, with a generated topology of any size and live figures."""

from __future__ import annotations

import json
import mimetypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from millrace_compiler import catalog

from bench._api import answer, made
from launcher import places

#: the folder of the built page
BUILT = places.REPOSITORY / "frontend" / "dist"
LANE = 8
TASKS = 4
_STEPS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("filter", "Large ones", {"predicate": "length(value) > 3"}),
    ("map_values", "Lower case", {"value": "lower(value)"}),
    ("map_values", "Trimmed", {"value": "trim(value)"}),
    ("filter", "Not empty", {"predicate": "value <> ''"}),
    ("select_key", "By word", {"key": "value"}),
    ("count", "Count", {"group_by": {"key": "value"}}),
)


def document(nodes: int, bent: bool = False) -> dict[str, Any]:
    """Return lanes of eight nodes, each from a topic to a topic.

    `bent`: each edge has two bends.
    """
    made: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    bends: list[dict[str, Any]] = []
    for number in range(nodes):
        lane, place = divmod(number, LANE)
        if place == 0:
            kind, label = "source.stream", f"Orders {lane}"
            text = {"format": "string"}
            params: dict[str, Any] = {"topics": [f"orders-{lane}"], "key": text, "value": text}
        elif place == LANE - 1:
            kind, label, params = "sink.topic", f"Counts {lane}", {"topic": f"counts-{lane}"}
        else:
            kind, label, params = _STEPS[place - 1]
        # Three columns of lanes make the picture about as wide as it is high.
        column, row = lane % 3, lane // 3
        position = {"x": (column * LANE + place) * 264, "y": row * 112}
        node = {"id": f"n{number}", "kind": kind, "label": label, "params": params}
        made.append({**node, "position": position})
        if place > 0:
            edge = {"source": f"n{number - 1}", "target": f"n{number}"}
            edges.append(edge)
            below = position["y"] + 84
            points = [{"x": position["x"] + by, "y": below} for by in (-36, -12)]
            bends.append({**edge, "points": points})
    return {
        "format": "millrace.topology/1",
        "name": f"{nodes} nodes",
        "nodes": made,
        "edges": edges,
        **({"drawing": {"bends": bends}} if bent else {}),
    }


def compiled(shown: dict[str, Any]) -> dict[str, Any]:
    """Return a compiler's answer: no diagnostics, a summary and types for each node, and a plan."""
    port = made("PortType", role="stream", key="STRING", value="STRING")
    said = {"form": "one sentence about what it does", "values": {}}
    names = [node["id"] for node in shown["nodes"]]
    part = made("Subtopology", nodes=names, tasks=TASKS, levels=[0])
    runs = made("NodePlan", runs_as="stream_task", subtopologies=[0])
    plan = made("Plan", subtopologies=[part], nodes=dict.fromkeys(names, runs))
    return made(
        "CompileResult",
        ports={name: {"out": port} for name in names},
        summary=dict.fromkeys(names, said),
        plan=plan,
    )


class PageServer:
    """Serves ``frontend/dist`` and answers for one running topology."""

    def __init__(self, nodes: int, every: float, bent: bool = False) -> None:
        self.document = document(nodes, bent)
        self.compiled = compiled(self.document)
        self.every = every
        self.closed = threading.Event()
        self.reports = 0

    def answer(self, method: str, path: str) -> Any:
        """The API's response to a request, or None if it has no content."""
        user = made("User", id=1, username="bench", display_name="Bench")
        workspace = made("Workspace", id=1, slug="main", name="Main", role="admin")
        answers: dict[str, Any] = {
            "/api/session": made("Session", user=user, workspaces=[workspace]),
            "/api/catalog": catalog(),
            "/api/topologies/1": self.topology(),
            "/api/topologies/1/draft": made("Draft", document=self.document, revision="1"),
            "/api/topologies/1/versions/1": made("Version", number=1, document=self.document),
            "/api/workspaces/main/compile": self.compiled,
        }
        return answers[path] if path in answers else answer(method, path)

    def response(self, method: str, path: str, built: Path) -> tuple[int, str, bytes]:
        """Return status, type and body: of the API, or of a file of the page."""
        if path.startswith("/api/"):
            found = self.answer(method, path)
            body = b"" if found is None else json.dumps(found).encode()
            return 204 if found is None else 200, "application/json", body
        file = built / path.lstrip("/")
        shown = file if "." in file.name else built / "index.html"
        if not shown.is_file():
            return 404, "text/plain", b"Not found."
        kind = mimetypes.guess_type(shown.name)[0] or "application/octet-stream"
        return 200, kind, shown.read_bytes()

    def topology(self) -> dict[str, Any]:
        """Return the topology in the form of the list."""
        running = made("DeploymentBrief", id=1, observed="running", desired="running", version=1)
        return made(
            "Topology",
            id=1,
            workspace="main",
            name=self.document["name"],
            latest_version=1,
            deployment=running,
            deployments=[running],
            node_count=len(self.document["nodes"]),
        )

    def deployment(self) -> dict[str, Any]:
        """Return a running deployment."""
        return made(
            "Deployment",
            id=1,
            topology=1,
            topology_name=self.document["name"],
            version=1,
            desired="running",
            observed="running",
            run=made("Run", id=1, epoch=1, version=1, pid=1, host="here", report_id="1-1"),
        )

    def report(self) -> dict[str, Any]:
        """Return figures that all differ from those of the previous report."""
        self.reports += 1
        done = self.reports * 1000
        now = int(time.time() * 1000)
        return made(
            "Runtime",
            deployment=1,
            run="1-1",
            at=now,
            batch=self.reports,
            duration_ms=400,
            input_rate=1000.0,
            process_rate=1000.0,
            nodes={
                node["id"]: made(
                    "NodeFigures",
                    **{"in": done, "out": done},
                    in_rate=float(done % 997 + index),
                    out_rate=float(done % 991 + index),
                )
                for index, node in enumerate(self.document["nodes"])
            },
            tasks=[
                made(
                    "Task",
                    task=f"0_{number}",
                    partition=number,
                    executor="driver",
                    host="here",
                    thread=f"stream-{number}",
                    records=done,
                    rate=float(done % (991 + number)),
                    stream_time=now,
                    last_active=now,
                )
                for number in range(TASKS)
            ],
        )

    def events(self) -> Iterator[bytes]:
        """Yield a snapshot, then a report every so many seconds."""
        running = self.deployment()
        snapshot = made(
            "LiveSnapshot",
            topology=self.topology(),
            deployment=running,
            deployments=[running],
            runtime=self.report(),
        )
        yield _event("snapshot", snapshot)
        while not self.closed.wait(self.every):
            yield _event("runtime.progress", self.report())


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


@contextmanager
def page_server(
    nodes: int, every: float = 0.1, bent: bool = False, built: Path = BUILT
) -> Iterator[str]:
    """Run a server with a topology of this size; yield the address of its page.

    `every`: seconds between two reports of live figures; `bent`: each edge has two bends;
    `built`: the folder of the page.
    """
    content = PageServer(nodes, every, bent)

    class Handler(BaseHTTPRequestHandler):
        """Serves the page's files, API responses and a stream of events."""

        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer()

        def do_HEAD(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            if path == "/api/live":
                self._stream()
            else:
                self._send(*content.response(self.command.lower(), path, built))

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            # The browser may have gone to another page.
            with suppress(OSError):
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            try:
                for text in content.events():
                    self.wfile.write(text)
                    self.wfile.flush()
            except OSError:
                # The browser has closed the page.
                return

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/w/main/t/1"
    finally:
        content.closed.set()
        server.shutdown()
        server.server_close()
        thread.join()
