"""Registered records on a real broker: written by confluent-kafka, copied by `run`, read back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Broker
from tests.registry import running
from tests.runtime import topics

# confluent-kafka's registry client needs these; `./millrace` installs them from the lock.
for package in ("authlib", "cachetools", "httpx2"):
    pytest.importorskip(package)

from confluent_kafka.schema_registry import SchemaRegistryClient  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

ORDER = json.dumps(
    {"type": "record", "name": "Order",
     "fields": [{"name": "item", "type": "string"}, {"name": "n", "type": ["null", "int"]}]}
)  # fmt: skip


def document(registry: str) -> dict[str, Any]:
    value = {"format": "avro", "registry": registry, "subject": "reg-in-value"}
    return {
        "format": "millrace.topology/1",
        "name": "registered",
        "topics": {"reg-in": {"partitions": 1}},
        # `run` names the environment in which the results go to `reg-out`.
        "parameters": {
            "results": {"type": "topic", "default": "reg-none", "values": {"prod": "reg-out"}},
        },
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["reg-in"], "key": {"format": "string"}, "value": value}},
            {"id": "last", "kind": "to_table", "params": {}},
            {"id": "rows", "kind": "to_stream", "params": {}},
            {"id": "out", "kind": "sink.topic",
             "params": {"topic": "${results}", "value": {**value, "subject": "reg-out-value"}}},
        ],
        "edges": [{"source": "in", "target": "last"}, {"source": "last", "target": "rows"},
                  {"source": "rows", "target": "out"}],
    }  # fmt: skip


def run(path: Path, broker: Broker, passwords: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-m", "cli", "run", str(path), "--available-now", "--environment", "prod",
         "--bootstrap-servers", broker.address, "--checkpoint", str(path.parent / "c")],
        cwd=root, capture_output=True, text=True, check=False, timeout=400,
        env={**os.environ, "MILLRACE_REGISTRY_PASSWORDS": passwords, "SPARK_MASTER": "local[1]",
             "PYTHONPATH": os.pathsep.join([str(root / "compiler"), str(root / "runtime"),
                                            *filter(None, sys.path)])},
    )  # fmt: skip


def test_registered_records_use_credentials_that_are_not_shown(
    broker: Broker, tmp_path: Path
) -> None:
    topics.create(broker.address, {"reg-in": 1, "reg-out": 1})
    given = [{"item": "pen", "n": 3}, {"item": "ink", "n": None}]
    with running() as registry:
        client = SchemaRegistryClient({"url": registry.url})
        client_writes = AvroSerializer(client, ORDER)
        context = SerializationContext("reg-in", MessageField.VALUE)
        records = [{"key": b"k", "value": client_writes(value, context)} for value in given]
        topics.produce(broker.address, "reg-in", records)
        registry.register("reg-out-value", ORDER)
        registry.user = "me:s3cret"
        path = tmp_path / "doc.json"
        path.write_text(json.dumps(document(registry.url)), encoding="utf-8")
        passwords = json.dumps({registry.url: "me:s3cret"})

        refused = run(path, broker, json.dumps({registry.url: "me:wr0ng"}))
        assert refused.returncode == 2
        assert "rejects the credentials" in refused.stderr

        done = run(path, broker, passwords)
        assert done.returncode == 0, done.stderr
        for shown in (refused, done):
            for word in ("s3cret", "wr0ng"):
                assert word not in shown.stdout + shown.stderr

        registry.user = None
        reader = AvroDeserializer(SchemaRegistryClient({"url": registry.url}))
        context = SerializationContext("reg-out", MessageField.VALUE)
        written = topics.consume(broker.address, "reg-out", len(given))
        assert [reader(message.value(), context) for message in written] == given
