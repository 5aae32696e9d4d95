"""The backend as a server process: events over real HTTP, and a prompt shutdown."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
import redis

from .conftest import RedisServer
from .serving import Installation, installed, serving

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def installation(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    return installed(tmp_path_factory.mktemp("data"), redis_server.url)


@pytest.fixture
def address(installation: Installation, tmp_path: Path) -> Iterator[tuple[str, str, int]]:
    """Base URL, sign-in token and process id of a running backend."""
    with serving(installation, tmp_path) as pid:
        yield installation.address, installation.token, pid


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
            # The stream may be cut off or closed in an orderly way.
            with suppress(httpx.TransportError):
                for _ in lines:
                    pass
            assert time.monotonic() - began < 10


def test_the_server_itself_believes_no_forwarded_address(address: tuple[str, str, int]) -> None:
    base, _, _ = address
    with httpx.Client(base_url=base, timeout=20) as browser:
        browser.get("/api/session")
        codes = [
            browser.post(
                "/api/session",
                json={"username": "admin", "password": "wrong"},
                headers={
                    "X-CSRFToken": browser.cookies["csrftoken"],
                    "Origin": base,
                    "X-Forwarded-For": f"203.0.113.{number}",
                },
            ).status_code
            for number in range(9)
        ]
    assert codes[0] == 400
    assert codes[-1] == 429


def test_requests_use_the_connections_of_those_before(
    address: tuple[str, str, int], redis_server: RedisServer
) -> None:
    base, _, pid = address
    counted = redis.Redis.from_url(redis_server.url)

    def connections() -> int:
        return int(counted.info("stats")["total_connections_received"])

    with httpx.Client(base_url=base, timeout=20) as browser:
        browser.get("/api/session")
        before, threads = connections(), len(psutil.Process(pid).threads())
        assert {browser.get("/api/session").status_code for _ in range(40)} == {200}
        assert connections() - before <= 2
        assert len(psutil.Process(pid).threads()) - threads <= 2


def test_requests_that_wait_do_not_hold_up_others(
    redis_server: RedisServer, tmp_path: Path
) -> None:
    # Its own, since a link signs in once.
    own = installed(tmp_path, redis_server.url)
    with serving(own, tmp_path), httpx.Client(base_url=own.address, timeout=20) as browser:
        browser.get("/api/session")
        headers = {"X-CSRFToken": browser.cookies["csrftoken"], "Origin": own.address}
        signed_in = browser.post("/api/session/link", json={"token": own.token}, headers=headers)
        assert signed_in.status_code == 200
        with ThreadPoolExecutor(20) as people:
            began = time.monotonic()
            # Nobody listens on this port, so that each check of the broker waits.
            waiting = [
                people.submit(browser.get, "/api/workspaces/main/topics?search=x")
                for _ in range(20)
            ]
            assert browser.get("/api/session").status_code == 200
            assert time.monotonic() - began < 2
            assert len({each.result().status_code for each in waiting}) == 1
