"""Avro and Protobuf records, with and without a registry: generated, sampled, masked, simulated."""

from __future__ import annotations

import base64
import io
import json
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from records import encoding

from tests.registry import Registry
from tests.runtime import topics

from .schemas import AVRO, SCHEMAS, format_of
from .writing import row_when, writing

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]

BEGIN = 1_767_225_600_000


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
    if name == "protobuf":
        made = next(line["value"] for line in read if line["value"])
        assert [list(made[each]) for each in ("names", "flags", "kinds")] == [
            ["1"],
            ["true"],
            ["1"],
        ]
    assert [each["value"] for each in result["outputs"]] == [line["value"] for line in read]
    assert None in [line["value"] for line in read]
    # The deserialization handler drops exactly the malformed records.
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
    topic: str,
) -> None:
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
    # Unreadable records are returned as bytes if no field is masked.
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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("registered", [False, True])
def test_a_generator_writes_a_topic_by_its_schema(
    name: str,
    registered: bool,
    editor: Any,
    operator: Any,
    registry: Registry,
    simulate: Any,
    broker: Any,
    topic: str,
) -> None:
    value = format_of(name, registry if registered else None)
    recipe = {"key": {"format": "string"}, "value": value, "nulls": 10, "malformed": 10}
    body = {"topic": topic, "recipe": recipe, "rate": 20, "most": 60}
    answer = operator.post("/api/workspaces/main/generators", body)
    assert answer.status_code == 201, answer.content
    with writing():
        row = row_when(answer.json(), lambda row: row.state != "running")
    assert (row.state, row.written, row.problem) == ("done", 60, None)
    if registered:
        # Once for the types, in the compiler's process, and once to encode all records.
        asked = f"GET /subjects/{name}-value/versions/latest"
        assert registry.paths() == [asked, asked]
    made = [row.recipe_of().made(number, 0) for number in range(60)]
    raw = [message.value() for message in topics.consume(broker.address, topic, 60)]
    if registered:
        begin = b"\0" + registry.subjects[f"{name}-value"][0].to_bytes(4, "big")
        sound = [each for each, record in zip(raw, made, strict=True) if record.raw is None]
        assert all(each is None or each.startswith(begin) for each in sound)
    path = f"/api/workspaces/main/topics/{topic}/samples"
    lines = editor.post(path, {"value": value, "count": 60, "start": "earliest"}).json()["lines"]
    # The same seed gives the same records, except for the times in them.
    assert [timeless(line.get("value")) for line in lines] == [timeless(r.value) for r in made]
    assert [line["key"] for line in lines] == [record.key for record in made]
    bad = [base64.b64decode(line["value_bytes"]) for line in lines if "value_bytes" in line]
    assert bad == [record.raw for record in made if record.raw is not None] != []
    times = [line["timestamp"] for line in lines]
    assert times == sorted(times)
    assert 2_900 <= times[-1] - times[0] <= 10_000


def timeless(value: Any) -> Any:
    return value and {**value, "at": None}


@pytest.mark.django_db(transaction=True)
def test_what_does_not_fit_a_schema_is_refused_or_ends_the_generator(
    editor: Any,
    operator: Any,
    simulate: Any,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = format_of("avro", None)

    def recipe(fields: Any, seed: int = 1) -> dict[str, Any]:
        return {"key": {"format": "string"}, "value": value, "fields": fields, "seed": seed}

    def start(*given: Any) -> Any:
        body = {"topic": topic, "recipe": recipe(*given), "rate": 20}
        return operator.post("/api/workspaces/main/generators", body)

    refused = start({"value.kind": {"values": ["GONE"]}})
    assert refused.status_code == 400
    assert "kind is `GONE`, which is not a symbol of Kind" in refused.json()["error"]["message"]
    # The first record has a valid symbol of the enum, a later one does not.
    fields = {"value.kind": {"values": ["NEW", "GONE"]}}
    for seed in range(100):
        body = {"topic": topic, "recipe": recipe(fields, seed), "count": 1}
        (first,) = editor.post("/api/workspaces/main/generated-records", body).json()["lines"]
        if first["value"]["kind"] == "NEW":
            break
    later = start(fields, seed)
    assert later.status_code == 201, later.content
    with writing():
        row = row_when(later.json(), lambda row: row.state != "running")
    assert row.state == "failed"
    assert row.problem is not None
    assert row.problem["code"] == "value_unfit"
    assert "not a symbol of Kind" in row.problem["message"]
    monkeypatch.setattr(encoding, "ask", lambda _: {"state": "starting"})
    waits = start({})
    assert waits.status_code == 503
    assert waits.json()["error"]["code"] == "simulator_starting"


def test_a_registry_that_cannot_be_reached_is_named_with_what_would_help(
    editor: Any, topic: str
) -> None:
    value = {"format": "avro", "registry": "http://127.0.0.1:1", "subject": "orders-value"}
    answer = editor.post(f"/api/workspaces/main/topics/{topic}/samples", {"value": value})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "registry_not_allowed"
    assert "not in the list of permitted registries" in error["message"]
    assert "enter the schema here as well" in error["hint"]
