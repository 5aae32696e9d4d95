"""Local services: only their own user can open them, and only requests with the secret count."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from millrace_services import line_server, local_services
from millrace_services.line_server import LineServer
from millrace_services.local_services import Connection, secret_file, short_path

from tests.served import running, serving, socket_path

NOBODY = 65534
#: connects as another user, and reads the secret; prints what each attempt results in
ATTEMPTS = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
path = sys.argv[1]
try:
    socket.socket(socket.AF_UNIX).connect(path)
    print("connected")
except OSError as error:
    print(error.strerror)
try:
    print(open(path + ".secret").read())
except OSError as error:
    print(error.strerror)
"""


def echo(request: dict[str, Any]) -> dict[str, Any]:
    return {"echo": request}


@contextmanager
def served(path: str) -> Iterator[LineServer]:
    with LineServer(path, echo) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def sent(path: str, *lines: bytes) -> bytes:
    """Everything that a service sends before it closes the connection."""
    with socket.socket(socket.AF_UNIX) as client, short_path(path) as name:
        client.settimeout(10)
        client.connect(name)
        client.sendall(b"".join(lines))
        return b"".join(iter(lambda: client.recv(1 << 16), b""))


def line_of(**request: Any) -> bytes:
    return json.dumps(request).encode() + b"\n"


def test_a_request_with_the_secret_is_answered_without_showing_it() -> None:
    with serving(echo) as server:
        connection = Connection(server.path, 10)
        assert [connection.ask({"n": n}) for n in (1, 2)] == [
            {"echo": {"n": 1}},
            {"echo": {"n": 2}},
        ]
        connection.close()


@pytest.mark.parametrize(
    "first",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\n\r\n",
        b"{\n", b"[]\n", b"\n", b"[" * 100_000 + b"\n", b'"\xff"\n', line_of(do="simulate"),
        line_of(secret=""), line_of(secret="guess"), line_of(secret=None), line_of(secret="\ud800"),
        line_of(secret=["guess"]), b'{"secret": ',
    ],
)  # fmt: skip
def test_the_first_line_without_the_secret_closes_the_connection(first: bytes) -> None:
    with serving(echo) as server:
        valid = line_of(secret=server.secret)
        if first.endswith(b"\n"):
            assert sent(server.path, first, valid) == b""
        assert server.requests == []
        assert local_services.ask(server.path, {"still": 1}, 10) == {"echo": {"still": 1}}


def test_a_line_above_the_limit_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_server, "LONGEST_LINE", 1000)
    with serving(echo) as server:
        assert sent(server.path, line_of(secret=server.secret, more="x" * 1000)) == b""
        assert server.requests == []


def test_each_start_has_a_secret_of_its_own_in_a_private_file() -> None:
    found = []
    with socket_path() as path:
        for _ in range(2):
            with served(path) as server:
                found.append(secret_file(path).read_text(encoding="ascii"))
                assert found[-1] == server.secret
                assert stat.S_IMODE(secret_file(path).stat().st_mode) == 0o600
                assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    assert found[0] != found[1]
    assert min(map(len, found)) >= 40


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_can_neither_connect_nor_read_the_secret() -> None:
    with socket_path() as path, served(path):
        command = [sys.executable, "-c", ATTEMPTS, path]
        for mode in (0o700, 0o755):
            # The socket's own mode holds even in a folder that others can open.
            Path(path).parent.chmod(mode)
            shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            assert shown.splitlines() == ["Permission denied"] * 2


def test_a_folder_that_others_can_open_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = f"{folder}/service"
        assert line_server.serve(lambda: LineServer(path, echo), path) == 2
        assert "mode 0700" in capsys.readouterr().err
        assert list(Path(folder).iterdir()) == []


def test_a_socket_in_use_is_kept_and_one_left_behind_is_replaced() -> None:
    with socket_path() as path:
        with served(path):
            with pytest.raises(OSError, match="another process uses it"):
                LineServer(path, echo)
            assert local_services.ask(path, {"n": 1}, 10) == {"echo": {"n": 1}}
        left = socket.socket(socket.AF_UNIX)
        left.bind(path)
        left.close()
        with served(path):
            assert local_services.ask(path, {"n": 2}, 10) == {"echo": {"n": 2}}


def test_a_data_folder_with_a_long_path_works(tmp_path: Path) -> None:
    path = str(tmp_path / ("a" * 100) / ("b" * 100) / "service")
    assert len(path) > 200
    with served(path):
        assert stat.S_ISSOCK(Path(path).lstat().st_mode)
        assert local_services.ask(path, {"n": 1}, 10) == {"echo": {"n": 1}}
    assert not Path(path).exists()


def test_two_hundred_connections_at_once_are_all_served() -> None:
    with serving(echo) as server:
        connections = [Connection(server.path, 10) for _ in range(200)]
        assert all(each.ask({"n": 1}) == {"echo": {"n": 1}} for each in connections)
        for each in connections:
            each.close()


@pytest.mark.parametrize("options", [[], ["--stores-only"]])
def test_a_simulator_listens_on_no_port(options: list[str]) -> None:
    with (
        socket_path() as path,
        running("millrace_runtime.simulator", path, *options) as process,
    ):
        assert local_services.ask(path, {"do": "cancel"}, 10) == {"cancelled": False}
        assert psutil.Process(process.pid).net_connections("inet") == []
