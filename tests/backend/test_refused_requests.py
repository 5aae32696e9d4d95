"""Requests that make no sense: the right status, and at most one line in the log."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from millrace_backend.logs import mask

from .conftest import RedisServer
from .serving import Installation, installed, serving

pytestmark = pytest.mark.services

LINK = "/api/session/link"


@dataclass(frozen=True)
class Server:
    """A running backend with its log."""

    port: int
    log: Path

    def send(self, *parts: bytes, ends: bool = False) -> int | None:
        """Send a request as it is; return the status, or None if `ends` closes it early."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            for part in parts:
                client.sendall(part)
            if ends:
                return None
            answer = b""
            while b"\r\n" not in answer and (more := client.recv(1 << 16)):
                answer += more
        found = re.match(rb"HTTP/1.1 (\d+) ", answer)
        assert found, answer
        return int(found.group(1))

    def lines(self, since: int) -> list[str]:
        """The lines of the log after a position, once it has stopped growing."""
        before = -1
        while (size := self.log.stat().st_size) != before:
            before = size
            time.sleep(0.15)
        return self.log.read_bytes()[since:].decode().splitlines()


@pytest.fixture(scope="module")
def server(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("data")
    (folder / "index.html").write_text("page")
    installation: Installation = installed(folder, redis_server.url, MILLRACE_PAGE=str(folder))
    with (folder / "log").open("wb") as log, serving(installation, folder, log):
        found = Server(installation.port, folder / "log")
        found.send(request("GET", "/api/session"))
        found.lines(0)
        yield found


def request(
    method: str, path: str, body: bytes = b"", *, host: str = "127.0.0.1", **headers: str
) -> bytes:
    """A request with the length of its body, unless a header says otherwise."""
    given = {"Host": host, "Content-Length": str(len(body)), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def posted(body: bytes, kind: str = "application/json", **headers: str) -> bytes:
    proof = {"Cookie": f"csrftoken={'a' * 32}", "X_CSRFToken": "a" * 32}
    return request("POST", LINK, body, Content_Type=kind, **proof, **headers)


FORM, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
CHUNK = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
PART = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n'
REFUSED = {
    "a wrong host": (400, request("GET", "/api/session", host="evil.example")),
    "a host that is none": (400, request("GET", "/", host="a b/c")),
    "a host with a wrong port": (400, request("GET", "/", host="127.0.0.1:port")),
    "a host that is not closed": (400, request("GET", "/", host="[::1")),
    "a large body": (413, posted(b'"' + b"x" * 9_000_000 + b'"')),
    "a large form": (413, posted(b"a=" + b"x" * 9_000_000, FORM)),
    "a large announced body": (413, posted(b"{}", Content_Length=str(10**15))),
    "a large body to a page": (413, request("POST", "/", b"x" * 9_000_000)),
    "a form with many fields": (415, posted(b"&".join([b"a=1"] * 2000), FORM)),
    "broken parts": (415, posted(b"--x\r\nnonsense", PARTS)),
    "parts without a boundary": (415, posted(b"--x\r\n", "multipart/form-data")),
    "parts with many files": (415, posted(PART * 200 + b"--x--\r\n", PARTS)),
    "a form with a charset that is none": (415, posted(b"a=1", f"{FORM}; charset=nonsense")),
    "broken JSON": (400, posted(b"{")),
    "JSON that is not UTF-8": (400, posted(b'{"token": "\xff"}')),
    "JSON that is nested deeply": (400, posted(b"[" * 100_000)),
    "JSON of another charset": (403, posted(b'{"token": 1}', "application/json; charset=no")),
    "no JSON at all": (400, posted(b"\x00\x01")),
    "a path that is not UTF-8": (404, request("GET", "/api/%ff%00")),
    "a page that is not UTF-8": (200, request("GET", "/%ff%00")),
    "a query that is not UTF-8": (401, request("GET", "/api/tokens?search=%ff%00")),
    "cookies that are none": (200, request("GET", "/api/session", Cookie='sessionid="\\; =;;')),
    "an unknown method": (405, request("DANCE", LINK)),
    "a format that is not known": (406, request("GET", "/api/session", Accept="text/dance")),
    "a range that is none": (200, request("GET", "/", Range="bytes=z-")),
    "a length that is none": (400, posted(b"{}", Content_Length="many")),
    "no HTTP": (400, b"\x16\x03\x01\x02\x00\r\n\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_without_sense_has_its_status_and_one_line(server: Server, name: str) -> None:
    status, sent = REFUSED[name]
    since = server.log.stat().st_size
    try:
        found = server.send(sent)
    except (BrokenPipeError, ConnectionResetError):
        # The response to a body that is not read comes while it is still being sent.
        found = 413
    lines = server.lines(since)
    assert len(lines) <= 1, "\n".join(lines)
    assert "Traceback" not in "".join(lines)
    assert found == status


@pytest.mark.parametrize(
    "parts",
    [
        (request("POST", LINK, Content_Length="100", Content_Type="application/json"), b"{"),
        (request("POST", LINK, Content_Length="100", Content_Type=PARTS), PART),
        (request("POST", LINK, Transfer_Encoding="chunked")[:-20], b""),
    ],
)
def test_a_disconnect_in_the_middle_leaves_no_trace(server: Server, parts: list[bytes]) -> None:
    since = server.log.stat().st_size
    assert server.send(*parts, ends=True) is None
    assert len(server.lines(since)) <= 1
    assert server.send(request("GET", "/api/session")) == 200


def test_the_log_of_a_request_hides_sign_in_and_api_tokens(server: Server) -> None:
    page = server.log.parent / "index.html"
    page.rename(page.with_suffix(".away"))
    since = server.log.stat().st_size
    try:
        # Requests without a page are logged, as slow ones are.
        assert server.send(request("GET", "/sign-in/AbC_123-d?next=/sign-in/AbC_123-d")) == 503
    finally:
        page.with_suffix(".away").rename(page)
    [line] = server.lines(since)
    assert json.loads(line)["path"] == "/sign-in/…"
    shown = mask(None, "", {"event": "mr_0123456789ab", "more": [{"at": "http://x/sign-in/Ab?a"}]})
    assert shown == {"event": "…", "more": [{"at": "http://x/sign-in/…?a"}]}


def test_a_large_body_without_a_length_is_not_read_to_its_end(server: Server) -> None:
    head = b"\r\n".join(
        [f"POST {LINK} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Transfer-Encoding: chunked",
         b"Content-Type: application/json", b"", b""]
    )  # fmt: skip
    since = server.log.stat().st_size
    assert server.send(head, *[CHUNK] * 9) == 413
    [line] = server.lines(since)
    assert json.loads(line)["event"] == "body too large"
