"""The backend as a server process: events over real HTTP, and an end that nobody waits for."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from .conftest import RedisServer

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.services


@pytest.fixture
def address(redis_server: RedisServer, tmp_path: Path) -> Iterator[tuple[str, str, int]]:
    """Address, token of a sign-in link and pid of a running backend."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            str(ROOT / room) for room in ("compiler", "runtime", "backend", "workers")
        ),
        "MILLRACE_DATA": str(tmp_path / "data"),
        "MILLRACE_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "REDIS_URL": redis_server.url,
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
    }
    environment.pop("DATABASE_URL", None)
    link = subprocess.run(
        [sys.executable, str(ROOT / "backend" / "manage.py"), "millrace_setup"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    command = [sys.executable, "-m", "uvicorn", "millrace_backend.asgi:application"]
    options = ["--port", str(port), "--timeout-graceful-shutdown", "3", "--log-level", "critical"]
    server = subprocess.Popen([*command, *options], env=environment)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"http://127.0.0.1:{port}/api/health", timeout=10).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", link.rsplit("/", 1)[1], server.pid
    finally:
        server.kill()
        server.wait()


def test_events_arrive_at_once_and_the_server_stops_with_a_page_open(
    address: tuple[str, str, int],
) -> None:
    base, token, pid = address
    with httpx.Client(base_url=base, timeout=20) as browser:
        browser.get("/api/session")

        def change(method: str, path: str, **body: object) -> httpx.Response:
            headers = {"X-CSRFToken": browser.cookies["csrftoken"], "Origin": base}
            return browser.request(method, path, json=body, headers=headers)

        assert change("POST", "/api/session/link", token=token).status_code == 200
        made = change("POST", "/api/workspaces/main/topologies", name="One").json()
        with browser.stream("GET", "/api/live", params={"topology": made["id"]}) as stream:
            lines = stream.iter_lines()
            while next(lines) != "event: snapshot":
                pass
            began = time.monotonic()
            change("PATCH", f"/api/topologies/{made['id']}", name="Two")
            while next(lines) != "event: topology.changed":
                pass
            assert '"name":"Two"' in next(lines)
            assert time.monotonic() - began < 5
            began = time.monotonic()
            os.kill(pid, signal.SIGTERM)
            # Cut off or closed in good order: either way the stream is over.
            with suppress(httpx.TransportError):
                for _ in lines:
                    pass
            assert time.monotonic() - began < 10
