"""A broker is reached, or said to be away with its address, before Spark starts."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from millrace_runtime import Topology, json, reader, string
from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka import reaching
from millrace_runtime.kafka.reaching import require_reachable, uses_broker

from cli import main


def test_one_of_several_addresses_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        require_reachable(f"127.0.0.1:1, PLAINTEXT://127.0.0.1:{port}")
        require_reachable(f"[::ffff:127.0.0.1]:{port}")
    require_reachable("no address")  # Kafka's client says what is wrong
    require_reachable(None)


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
