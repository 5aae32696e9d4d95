"""The parts of Kubernetes that Spark's driver needs: an API server that runs pods as processes."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from millrace_compiler.export.image import ENTRYPOINT

Pod = dict[str, Any]


class Kubelet:
    """Runs the first container of each created pod by the entry point of the image.

    `environment`: the image's own variables. Executors are created by POST, found by GET and ended
    by DELETE, with real paths and responses; watches are not supported.
    """

    def __init__(
        self, folder: Path, environment: dict[str, str], driver: str, check: Callable[[Pod], None]
    ) -> None:
        self.folder = folder
        self.environment = environment
        self.check = check
        self.pods: dict[str, Pod] = {driver: _ready(driver)}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        #: methods and paths of the requests, and the validation errors
        self.asked: set[tuple[str, str]] = set()
        self.invalid: list[str] = []
        self.lock = threading.Lock()
        (folder / "entrypoint.sh").write_text(ENTRYPOINT, "utf-8")

    def create(self, pod: Pod) -> Pod:
        """Start a pod."""
        try:
            self.check({key: value for key, value in pod.items() if key != "status"})
        except Exception as error:  # noqa: BLE001 - the test shows it
            self.invalid.append(str(error)[:500])
        name = pod["metadata"]["name"]
        container = pod["spec"]["containers"][0]
        fields = {"metadata.name": name, "status.podIP": "127.0.0.1", "spec.nodeName": "here"}
        variables = {
            each["name"]: str(each.get("value") or "")
            if "valueFrom" not in each
            else fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in container["env"]
        }
        home = self.folder / name
        home.mkdir()
        with (home / "log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                ["/bin/sh", str(self.folder / "entrypoint.sh"), *container["args"]],
                cwd=home, env={**self.environment, **variables, "SPARK_LOCAL_DIRS": str(home)},
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        pod["metadata"]["uid"] = name
        self.pods[name] = pod
        return self.seen(name)

    def seen(self, name: str) -> Pod:
        """Return a pod with its current status."""
        pod, process = self.pods[name], self.processes.get(name)
        if process is not None:
            code = process.poll()
            phase = "Running" if code is None else "Succeeded" if code == 0 else "Failed"
            pod["status"] = {"phase": phase, "podIP": "127.0.0.1", "containerStatuses": []}
        return pod

    def end(self, name: str) -> None:
        """Kill a pod at once, as a lost machine would."""
        process = self.processes.get(name)
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    @property
    def executors(self) -> list[str]:
        """Names of the executor pods that run."""
        return [name for name, process in self.processes.items() if process.poll() is None]

    def logs(self) -> str:
        """Return the ends of all pods' logs."""
        found = ((name, self.folder / name / "log") for name in self.processes)
        return "\n".join(f"{name}: {log.read_text('utf-8')[-2000:]}" for name, log in found)


def _ready(name: str) -> Pod:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
        "spec": {"containers": [{"name": "driver", "image": "none"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _matches(pod: Pod, selector: str) -> bool:
    labels = pod["metadata"].get("labels", {})
    for each in filter(None, selector.split(",")):
        key, _, value = each.replace("!=", "\0").replace("==", "=").partition("=")
        if "\0" in key:
            key, _, value = key.partition("\0")
            if labels.get(key) == value:
                return False
        elif key.startswith("!"):
            if key[1:] in labels:
                return False
        elif labels.get(key) != value:
            return False
    return True


@contextmanager
def serving(kubelet: Kubelet) -> Iterator[str]:
    """Run the API server and yield its address; all pods end afterwards."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}")
            parts = urlsplit(self.path)
            with kubelet.lock:
                status, found = self._found(parts.path, parse_qs(parts.query), body)
            data = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _found(self, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
            root, _, rest = path.partition("/namespaces/default/")
            kind, _, name = rest.partition("/")
            kubelet.asked.add((self.command, f"{root}/namespaces/default/{kind}"))
            selector = ",".join(query.get("labelSelector", []))
            if kind != "pods":
                return (201 if self.command == "POST" else 200), body
            if self.command == "POST":
                return 201, kubelet.create(body)
            if name:
                if name not in kubelet.pods:
                    missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
                    return 404, {**missing, "reason": "NotFound", "code": 404}
                if self.command == "DELETE":
                    kubelet.end(name)
                return 200, kubelet.seen(name)
            names = [each for each in kubelet.pods if _matches(kubelet.pods[each], selector)]
            if self.command == "DELETE":
                for each in names:
                    kubelet.end(each)
            items = [kubelet.seen(each) for each in names]
            listed = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}}
            return 200, {**listed, "items": items}

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the base's names

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        for name in kubelet.processes:
            kubelet.end(name)
