"""The backend as a server process, as the launcher starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

from launcher.services import System, backend
from tests.conftest import unused_port

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installation:
    """A migrated installation: its environment, port, and the token of its first sign-in link."""

    environment: dict[str, str]
    port: int
    token: str

    @property
    def address(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"


def installed(folder: Path, redis_url: str, **more: str) -> Installation:
    """Set up an installation with its data in a folder; ``more`` are environment variables."""
    port = unused_port()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            str(ROOT / room) for room in ("compiler", "runtime", "backend", "workers")
        ),
        "MILLRACE_DATA": str(folder),
        "MILLRACE_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "REDIS_URL": redis_url,
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        **more,
    }
    environment.pop("DATABASE_URL", None)
    link = subprocess.run(
        [sys.executable, str(ROOT / "backend" / "manage.py"), "millrace_setup"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return Installation(environment, port, link.rsplit("/", 1)[1])


@contextmanager
def serving(
    installation: Installation, folder: Path, log: IO[bytes] | None = None
) -> Iterator[int]:
    """Run the backend until the end of the block; the value is its process id."""
    system = System(
        data=folder,
        run=folder,
        python=sys.executable,
        web_port=installation.port,
        ports={},
        redis_password="",
        outside=frozenset(),
    )
    server = subprocess.Popen(
        backend.service(system).command, env=installation.environment, stderr=log
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{installation.address}/api/health", timeout=10).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.2)
        yield server.pid
    finally:
        server.kill()
        server.wait()


class Person:
    """A browser that is signed in by a link."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self.browser = httpx.Client(base_url=address, timeout=30)
        self.browser.get("/api/session")
        assert self.send("POST", "/api/session/link", token=token).status_code == 200

    def send(self, method: str, path: str, **body: object) -> httpx.Response:
        """Send a request with a JSON body and return the response."""
        headers = {"X-CSRFToken": self.browser.cookies["csrftoken"], "Origin": self._address}
        return self.browser.request(method, path, json=body, headers=headers)

    def close(self) -> None:
        """Close the connections."""
        self.browser.close()
