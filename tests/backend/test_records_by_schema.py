"""Records of Avro and Protobuf, plain and of a registry: made up, sampled, masked, simulated."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from millrace_compiler.isolated import Pool
from records import decoding
from topologies import compiling

from cli.simulating import Warm
from tests.registry import Registry, running
from tests.runtime import topics

from .conftest import Client, People

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]

BEGIN = 1_767_225_600_000
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "item", "type": "string"},
            {"name": "n", "type": ["null", "int"]},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
            {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 3}},
            {"name": "either", "type": ["int", "string"]},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {
                "name": "price",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2},
            },
            {"name": "days", "type": {"type": "map", "values": {"type": "int", "logicalType":
             "date"}}},
        ],
    }
)  # fmt: skip
PROTOBUF = """syntax = "proto3";
import "google/protobuf/timestamp.proto";
enum Kind { NONE = 0; SOME = 1; }
message Order {
  string item = 1;
  optional int32 n = 2;
  Kind kind = 3;
  repeated int64 counts = 4;
  google.protobuf.Timestamp at = 5;
  uint64 size = 6;
}
"""
SCHEMAS = {"avro": AVRO, "protobuf": PROTOBUF}


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    session = Warm()
    yield session
    session.close()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with running() as server:
        monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", server.url)
        for name, schema in SCHEMAS.items():
            server.register(f"{name}-value", schema, name.upper())
        yield server


@pytest.fixture
def simulate(warm: Warm, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The simulator's own code, without its process and socket; the result of lines."""
    from millrace_runtime.simulating import simulate

    def ask(request: Any) -> Any:
        return simulate(warm.spark, warm.analyzer, request)

    monkeypatch.setattr(decoding, "ask", ask)

    def simulated(value: Any, topic: str, lines: Any) -> Any:
        document = decoding.reading({"format": "string"}, value, topic)
        document["nodes"][-1]["params"]["value"] = {"format": "json"}
        answer = ask({"document": document, "inputs": lines, "trace": 0, "expected": None})
        assert answer["diagnostics"] == []
        assert answer["result"]["error"] is None
        return answer["result"]

    return simulated


@pytest.fixture
def editor(
    people: People, client_of: Client, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> Iterator[Any]:
    """An editor of a server whose processes may ask the registry."""
    pool = Pool(1)
    monkeypatch.setattr(compiling, "pool", lambda: pool)
    yield client_of(people.editor)
    pool.close()


def format_of(name: str, registry: Registry | None) -> dict[str, str]:
    if registry is None:
        return {"format": name, "schema": SCHEMAS[name]}
    return {"format": name, "registry": registry.url, "subject": f"{name}-value"}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("registered", [False, True])
def test_generated_records_pass_through_their_format_as_they_are(
    name: str, registered: bool, editor: Any, registry: Registry, simulate: Any
) -> None:
    value = format_of(name, registry if registered else None)
    recipe = {"key": {"format": "string"}, "value": value, "nulls": 10, "malformed": 10}
    body = {"topic": "orders", "recipe": recipe, "count": 40}
    lines = editor.post("/api/workspaces/main/generated-records", body).json()["lines"]
    malformed = [line for line in lines if "value_bytes" in line]
    assert malformed
    result = simulate(value, "orders", lines)
    read = [line for line in lines if "value" in line]
    assert [each["value"] for each in result["outputs"]] == [line["value"] for line in read]
    assert None in [line["value"] for line in read]
    # The deserialization handler leaves out exactly those that are malformed.
    assert result["dropped"] == len(malformed)


def bytes_of(order: dict[str, Any], number: int | None) -> bytes:
    out = io.BytesIO()
    if number is not None:
        out.write(b"\0" + number.to_bytes(4, "big"))
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(AVRO)), order)
    return out.getvalue()


@pytest.mark.parametrize("registered", [False, True])
def test_a_sample_of_a_topic_is_decoded_masked_and_simulated(
    registered: bool,
    editor: Any,
    registry: Registry,
    simulate: Any,
    broker: Any,
    millrace_settings: Any,
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    topic = f"s{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {topic: 1})
    number = registry.subjects["avro-value"][0] if registered else None
    order = {
        "item": "tea", "n": 2, "kind": "OLD", "code": b"abc", "either": "x", "at": 1_000,
        "price": Decimal("1.25"), "days": {},
    }  # fmt: skip
    rows: list[dict[str, Any]] = [
        {"key": b"a", "value": bytes_of(order, number), "timestamp": BEGIN},
        {"key": b"b", "value": b"{no Avro", "timestamp": BEGIN + 1},
        {"key": b"c", "value": None, "timestamp": BEGIN + 2},
        {"key": b"d", "value": bytes_of({**order, "n": None}, number), "timestamp": BEGIN + 3},
    ]
    topics.produce(broker.address, topic, rows)
    value = format_of("avro", registry if registered else None)
    path = f"/api/workspaces/main/topics/{topic}/samples"
    plain = editor.post(path, {"value": value}).json()
    assert [line["timestamp"] - BEGIN for line in plain["lines"]] == [0, 1, 2, 3]
    assert plain["skipped"] == 0
    assert plain["lines"][0]["value"] == {
        "item": "tea", "n": 2, "kind": "OLD", "code": "YWJj",
        "either": {"member0": None, "member1": "x"}, "at": 1_000, "price": 1.25, "days": {},
    }  # fmt: skip
    # What cannot be read stays as its bytes are, where no field of it is masked.
    assert "value_bytes" in plain["lines"][1]
    masks = {"value.item": {"how": "hash"}, "value.n": {"how": "replace", "by": 7}}
    masked = editor.post(path, {"value": value, "masks": masks}).json()
    assert masked["skipped"] == 1
    assert "tea" not in json.dumps(masked)
    first, none, last = (line["value"] for line in masked["lines"])
    assert (none, first["n"], last["n"]) == (None, 7, None)
    assert first["item"] == last["item"]
    result = simulate(value, topic, masked["lines"])
    assert [each["value"] for each in result["outputs"]] == [first, None, last]


def test_a_registry_that_cannot_be_reached_is_named_with_what_would_help(
    editor: Any, broker: Any, millrace_settings: Any
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    value = {"format": "avro", "registry": "http://127.0.0.1:1", "subject": "orders-value"}
    answer = editor.post("/api/workspaces/main/topics/orders/samples", {"value": value})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "not among the registries that may be asked" in error["message"]
    assert "enter the schema here as well" in error["hint"]
