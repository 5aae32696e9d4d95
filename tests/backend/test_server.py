"""The backend as a server process: events over real HTTP, and a prompt shutdown."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest
import redis

from .conftest import RedisServer
from .serving import Installation, installed, serving

pytestmark = pytest.mark.services


@dataclass(frozen=True)
class Server:
    """A running backend: its installation, process id, and a client that has opened the page."""

    installation: Installation
    pid: int
    browser: httpx.Client

    def change(self, method: str, path: str, **body: object) -> httpx.Response:
        """Send a request that changes something."""
        headers = {
            "X-CSRFToken": self.browser.cookies["csrftoken"],
            "Origin": self.installation.address,
        }
        return self.browser.request(method, path, json=body, headers=headers)

    def sign_in(self) -> None:
        """Use the link, which signs in once."""
        answer = self.change("POST", "/api/session/link", token=self.installation.token)
        assert answer.status_code == 200


@contextmanager
def started(folder: Path, redis_url: str) -> Iterator[Server]:
    made = installed(folder / "data", redis_url)
    client = httpx.Client(base_url=made.address, timeout=20)
    with serving(made, folder) as pid, client as browser:
        browser.get("/api/session")
        yield Server(made, pid, browser)


@pytest.fixture(scope="module")
def server(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("server"), redis_server.url) as made:
        made.sign_in()
        yield made


def test_events_arrive_at_once_and_the_server_stops_with_a_page_open(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    with started(tmp_path, redis_server.url) as server:
        server.sign_in()
        made = server.change("POST", "/api/workspaces/main/topologies", name="One").json()
        with server.browser.stream("GET", "/api/live", params={"topology": made["id"]}) as stream:
            lines = stream.iter_lines()
            while next(lines) != "event: snapshot":
                pass
            began = time.monotonic()
            server.change("PATCH", f"/api/topologies/{made['id']}", name="Two")
            while next(lines) != "event: topology.changed":
                pass
            assert '"name":"Two"' in next(lines)
            assert time.monotonic() - began < 5
            began = time.monotonic()
            os.kill(server.pid, signal.SIGTERM)
            # The stream may be cut off or closed in an orderly way.
            with suppress(httpx.TransportError):
                for _ in lines:
                    pass
            assert time.monotonic() - began < 10


def test_the_server_itself_believes_no_forwarded_address(server: Server) -> None:
    with httpx.Client(base_url=server.installation.address, timeout=20) as browser:
        browser.get("/api/session")
        codes = [
            browser.post(
                "/api/session",
                json={"username": "admin", "password": "wrong"},
                headers={
                    "X-CSRFToken": browser.cookies["csrftoken"],
                    "Origin": server.installation.address,
                    "X-Forwarded-For": f"203.0.113.{number}",
                },
            ).status_code
            for number in range(9)
        ]
    assert codes[0] == 400
    assert codes[-1] == 429


def test_requests_use_the_connections_of_those_before(
    server: Server, redis_server: RedisServer
) -> None:
    counted = redis.Redis.from_url(redis_server.url)

    def connections() -> int:
        return int(counted.info("stats")["total_connections_received"])

    server.browser.get("/api/session")
    before, threads = connections(), len(psutil.Process(server.pid).threads())
    assert {server.browser.get("/api/session").status_code for _ in range(40)} == {200}
    assert connections() - before <= 2
    assert len(psutil.Process(server.pid).threads()) - threads <= 2


def test_requests_that_wait_do_not_hold_up_others(server: Server) -> None:
    with ThreadPoolExecutor(12) as people:
        began = time.monotonic()
        # Nobody listens on the port of the broker, so that each of these waits.
        path = "/api/workspaces/main/topics?search=x"
        waiting = [people.submit(server.browser.get, path) for _ in range(12)]
        assert server.browser.get("/api/session").status_code == 200
        assert time.monotonic() - began < 2
        assert len({each.result().status_code for each in waiting}) == 1
