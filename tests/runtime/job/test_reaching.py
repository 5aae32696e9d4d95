"""A broker answers, or is said to be away with its address, before Spark starts."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_runtime import Topology, json, reader, string
from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka import reaching
from millrace_runtime.kafka.reaching import require_reachable, uses_broker

from cli import main


@pytest.fixture
def answering() -> Iterator[tuple[int, list[bytes]]]:
    """The port of a server that answers the first bytes of each connection, and these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        heard: list[bytes] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        heard.append(connection.recv(100))
                        connection.sendall(b"?")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], heard


def test_one_of_several_addresses_is_enough(answering: tuple[int, list[bytes]]) -> None:
    port, heard = answering
    require_reachable(f"127.0.0.1:1, PLAINTEXT://127.0.0.1:{port}")
    require_reachable(f"[::ffff:127.0.0.1]:{port}")
    require_reachable(f"127.0.0.1:{port}", "SASL_SSL")
    # The key of the request ApiVersions with its version, and a handshake of TLS.
    assert [each[4:8] for each in heard[:2]] == [b"\0\x12\0\0"] * 2
    assert heard[2][:2] == b"\x16\x03"
    require_reachable("no address")  # Kafka's client says what is wrong
    require_reachable(None)


@pytest.mark.parametrize("protocol", [None, "SSL"])
def test_a_broker_that_accepts_and_never_answers_is_named(
    monkeypatch: pytest.MonkeyPatch, protocol: str | None
) -> None:
    monkeypatch.setattr(reaching, "ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        servers = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(MillraceError, match=f"The broker at {servers} does not respond"):
            require_reachable(servers, protocol)


def test_a_broker_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "ANSWER_SECONDS", 0.3)
    servers = "127.0.0.1:1,broker.invalid:9092,127.0.0.1:99999"
    with pytest.raises(MillraceError, match=f"The broker at {servers} does not respond") as away:
        require_reachable(servers)
    assert away.value.code == "broker_unreachable"


def orders(**source: Any) -> Topology:
    topology = Topology("orders")
    topology.stream("orders", key=string(), value=json("n INT"), **source).filter("value.n > 1")
    return topology


def test_a_topology_without_topics_needs_none() -> None:
    files = reader("parquet", options={"path": "/data"}, schema="n INT", columns={})
    assert not uses_broker(orders(reader=files).document())
    assert uses_broker(orders().document())
    assert not uses_broker({"nodes": [3, {"kind": 3}]})


def test_the_command_says_it_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reaching, "ANSWER_SECONDS", 0.3)
    (tmp_path / "job.py").write_text(
        "from millrace_runtime import Topology, string\n"
        "topology = Topology('alone')\n"
        "topology.stream('in', key=string(), value=string()).to('out')\n",
        encoding="utf-8",
    )
    words = [str(tmp_path / "job.py"), "--bootstrap-servers", "127.0.0.1:1"]
    assert main(["run", *words, "--checkpoint", str(tmp_path / "c")]) == 1
    assert "The broker at 127.0.0.1:1 does not respond" in "".join(capsys.readouterr())
