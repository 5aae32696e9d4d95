"""The REST API as a program uses it, signed in by a one-time link."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import httpx
from playwright.sync_api import Page


class Api:
    """A session with the running backend. An error response fails the test."""

    def __init__(self, address: str, link: str) -> None:
        self._client = httpx.Client(base_url=f"{address}/api", timeout=30)
        self.call("GET", "/session")
        self.call("POST", "/session/link", {"token": link.rsplit("/", 1)[-1]})

    @classmethod
    def of(cls, address: str, page: Page) -> Self:
        """Use the session that a page is signed in with."""
        made = cls.__new__(cls)
        cookies = {each["name"]: each["value"] for each in page.context.cookies(address)}
        made._client = httpx.Client(base_url=f"{address}/api", timeout=30, cookies=cookies)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the JSON of the response."""
        token = self._client.cookies.get("csrftoken") or ""
        answer = self._client.request(
            method, path, json=body, headers={"X-CSRFToken": token, "Origin": self._origin()}
        )
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    @contextmanager
    def events(self, path: str) -> Iterator[Iterator[str]]:
        """The lines of an event stream while the block runs."""
        with self._client.stream("GET", path, timeout=None) as answer:
            assert answer.is_success, f"GET {path}: {answer.status_code}"
            yield answer.iter_lines()

    def answer(
        self, method: str, path: str, seconds: float, body: dict[str, Any] | None = None
    ) -> Any:
        """Return the JSON of the response, retrying while it is 503 because a part is starting."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.call(method, path, body)
            except AssertionError as error:
                if " 503 " not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def deploy(self, name: str, document: dict[str, Any], **settings: Any) -> int:
        """Deploy a document as version 1 of a new topology and return the deployment's id."""
        topology = self.call("POST", "/workspaces/main/topologies", {"name": name})["id"]
        version = self.call(
            "POST",
            f"/topologies/{topology}/versions",
            {"document": document, "message": "to be killed", "base_version": None},
        )
        made = self.call(
            "POST",
            "/workspaces/main/deployments",
            {
                "topology": topology,
                "version": version["number"],
                "target": "local",
                "settings": {"create_topics": True, **settings},
            },
        )
        return int(made["id"])

    def until(self, deployment: int, state: str, seconds: float) -> dict[str, Any]:
        """Wait until the deployment has this observed state and return it."""
        deadline = time.monotonic() + seconds
        found: dict[str, Any] = {}
        while time.monotonic() < deadline:
            try:
                found = self.call("GET", f"/deployments/{deployment}")
            except httpx.TransportError as error:
                found = {"observed": f"no answer: {error}"}
            if found["observed"] == state:
                return found
            time.sleep(0.3)
        raise AssertionError(f"not {state} within {seconds:.0f} s, but {found}")

    def _origin(self) -> str:
        return f"{self._client.base_url.scheme}://{self._client.base_url.netloc.decode()}"
