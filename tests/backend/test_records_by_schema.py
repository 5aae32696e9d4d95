"""Records of Avro and Protobuf, plain and of a registry: made up, sampled, masked, simulated."""

from __future__ import annotations

import base64
import io
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from deployments.actions import create_deployment
from django.db import connection
from millrace_backend.errors import ApiError
from millrace_compiler.isolated import Pool
from records import decoding, encoding
from records.models import Generator
from records.writing import Writer
from topologies import compiling
from topologies.actions import create_topology

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
  map<int32, string> names = 7;
  map<bool, int64> flags = 8;
  map<uint64, Kind> kinds = 9;
}
"""
SCHEMAS = {"avro": AVRO, "protobuf": PROTOBUF}
VALUES: dict[str, dict[str, Any]] = {
    "avro": {
        "item": "tea", "n": 2, "kind": "OLD", "code": "YWJj",
        "either": {"member0": None, "member1": "x"}, "at": 1_000, "price": 1.25,
        "days": {"first": "2026-01-01"},
    },
    "protobuf": {
        "item": "tea", "n": 2, "kind": "SOME", "counts": [1, 2], "at": 1_000, "size": 2**64 - 1,
        "names": {"-7": "seven"}, "flags": {"true": 2**63 - 1}, "kinds": {str(2**64 - 1): "SOME"},
    },
}  # fmt: skip


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
    from millrace_runtime.simulating import answer

    def ask(request: Any) -> Any:
        answered = answer(warm.spark, warm.analyzer, request)["answer"]
        if error := answered.get("error"):
            raise ApiError(error["code"], error["message"])
        return answered

    for module in (decoding, encoding):
        monkeypatch.setattr(module, "ask", ask)

    def simulated(value: Any, topic: str, lines: Any) -> Any:
        document = decoding.reading({"format": "string"}, value, topic)
        document["nodes"][-1]["params"]["value"] = {"format": "json"}
        found = ask({"document": document, "inputs": lines, "trace": 0, "expected": None})
        assert found["diagnostics"] == []
        assert found["result"]["error"] is None
        return found["result"]

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
    if name == "protobuf":
        made = next(line["value"] for line in read if line["value"])
        assert [list(made[each]) for each in ("names", "flags", "kinds")] == [
            ["1"],
            ["true"],
            ["1"],
        ]
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


@contextmanager
def writing() -> Iterator[None]:
    """The process of generators, as a thread."""
    ended = threading.Event()

    def run() -> None:
        try:
            Writer(ended.is_set).run()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(20)


def row_when(made: Any, condition: Callable[[Generator], bool]) -> Generator:
    deadline = time.monotonic() + 60
    while not condition(row := Generator.objects.get(pk=made["id"])):
        assert time.monotonic() < deadline, vars(row)
        time.sleep(0.1)
    return row


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("registered", [False, True])
def test_a_generator_writes_a_topic_by_its_schema(
    name: str,
    registered: bool,
    editor: Any,
    people: People,
    client_of: Client,
    registry: Registry,
    simulate: Any,
    broker: Any,
    millrace_settings: Any,
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    topic = f"g{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {topic: 1})
    value = format_of(name, registry if registered else None)
    recipe = {"key": {"format": "string"}, "value": value, "nulls": 10, "malformed": 10}
    operator: Any = client_of(people.operator)
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
    # The same seed gives the same records, but for the times in them.
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
    people: People,
    client_of: Client,
    simulate: Any,
    broker: Any,
    millrace_settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    topic = f"g{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {topic: 1})
    operator: Any = client_of(people.operator)
    value = format_of("avro", None)

    def recipe(fields: Any, seed: int = 1) -> dict[str, Any]:
        return {"key": {"format": "string"}, "value": value, "fields": fields, "seed": seed}

    def start(*given: Any) -> Any:
        body = {"topic": topic, "recipe": recipe(*given), "rate": 20}
        return operator.post("/api/workspaces/main/generators", body)

    refused = start({"value.kind": {"values": ["GONE"]}})
    assert refused.status_code == 400
    assert "kind is `GONE`, which is not a symbol of Kind" in refused.json()["error"]["message"]
    # The first record has a symbol of the enum, a later one has none.
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


@pytest.fixture
def topic(broker: Any, millrace_settings: Any) -> str:
    """An empty topic of one partition."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    name = f"p{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {name: 1})
    return name


def records_of(topic: str) -> str:
    return f"/api/workspaces/main/topics/{topic}/records"


def search_of(topic: str) -> str:
    return f"{records_of(topic)}/search"


def query_of(part: str, format: dict[str, str]) -> dict[str, str]:
    return {f"{part}_{name}": text for name, text in format.items()}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("registered", [False, True])
def test_a_record_is_written_by_a_schema_and_read_by_the_same(
    name: str, registered: bool, editor: Any, people: People, client_of: Client, topic: str,
    registry: Registry, simulate: Any, broker: Any,
) -> None:  # fmt: skip
    format = format_of(name, registry if registered else None)
    operator: Any = client_of(people.operator)
    value = {**format, "text": json.dumps(VALUES[name])}
    for n in range(2):
        key = {"format": "string", "text": f"k{n}"}
        written = operator.post(records_of(topic), {"key": key, "value": value})
        assert (written.status_code, written.json()) == (201, {"partition": 0, "offset": n})
    if registered:
        begin = b"\0" + registry.subjects[f"{name}-value"][0].to_bytes(4, "big")
        raw = [message.value() for message in topics.consume(broker.address, topic, 2)]
        assert all(each.startswith(begin) for each in raw)
    query = query_of("value", format)

    def keys(**more: str) -> list[str]:
        answer = editor.post(search_of(topic), {**query, **more})
        assert answer.status_code == 200, answer.content
        for each in answer.json()["records"]:
            assert (each["value"]["format"], each["value"]["error"]) == (name, None)
            assert json.loads(each["value"]["text"]) == VALUES[name]
        return [each["key"]["text"] for each in answer.json()["records"]]

    assert keys() == ["k1", "k0"]
    assert keys(field="value.n", equals="3") == []
    # In an expression the value has the type of its schema.
    assert keys(where="value.n = 2 AND key = 'k0'") == ["k0"]
    one = editor.post(f"{records_of(topic)}/0/0", query).json()
    assert (one["key"]["format"], json.loads(one["value"]["text"])) == ("string", VALUES[name])
    if registered:
        assert editor.get(f"{records_of(topic)}/0/0", query).json() == one
        page = editor.get(records_of(topic), query).json()
        assert page == editor.post(search_of(topic), query).json()


def test_keys_have_schemas_too_and_what_is_not_of_one_is_shown_as_bytes(
    editor: Any, people: People, client_of: Client, topic: str, registry: Registry, simulate: Any
) -> None:
    operator: Any = client_of(people.operator)
    key = {"format": "avro", "schema": '"string"'}
    written = operator.post(
        records_of(topic), {"key": {**key, "text": '"a"'}, "value": {"format": "long", "text": "7"}}
    )
    assert written.status_code == 201, written.content
    plain = {"key": {"format": "bytes", "text": "ff"}, "value": {"format": "long", "text": "8"}}
    assert operator.post(records_of(topic), plain).status_code == 201
    query = {**query_of("key", key), "value_format": "long"}
    page = editor.post(search_of(topic), query).json()
    bad, good = page["records"]
    assert (good["key"]["text"], good["value"]["text"]) == ('"a"', "7")
    # The value is read all the same.
    assert (bad["key"]["text"], bad["key"]["format"], bad["value"]["text"]) == ("ff", "bytes", "8")
    assert "avro" in bad["key"]["error"]


UNFIT = {
    '{"item": "tea"': ("invalid", "Not JSON"),
    "null": ("value_null", "null is no value"),
    json.dumps({**VALUES["avro"], "itme": 1}): ("unknown_field", "has no field itme"),
    json.dumps({**VALUES["avro"], "kind": "GONE"}): ("value_unfit", "not a symbol of Kind"),
    json.dumps({**VALUES["avro"], "n": "two"}): ("value_unfit", "needs INT"),
    json.dumps({"item": "tea"}): ("value_unfit", "does not allow null"),
}


@pytest.mark.parametrize("text", UNFIT)
def test_a_value_that_does_not_fit_its_schema_is_not_written(
    text: str, editor: Any, people: People, client_of: Client, topic: str, simulate: Any
) -> None:
    operator: Any = client_of(people.operator)
    value = {**format_of("avro", None), "text": text}
    answer = operator.post(records_of(topic), {"value": value})
    error = answer.json()["error"]
    code, message = UNFIT[text]
    assert (answer.status_code, error["code"]) == (400, code)
    assert message in error["message"]
    assert list(error["fields"]) == ["value"]
    assert editor.get(records_of(topic)).json()["records"] == []


@pytest.mark.parametrize(
    "entry",
    [{"names": {"x": "a"}}, {"names": {"1.5": "a"}}, {"flags": {"1": 1}}, {"kinds": {"": "SOME"}}],
)
def test_the_keys_of_a_map_have_the_type_of_its_schema(
    entry: dict[str, Any], people: People, client_of: Client, editor: Any, topic: str, simulate: Any
) -> None:
    operator: Any = client_of(people.operator)
    value = {**format_of("protobuf", None), "text": json.dumps(entry)}
    answer = operator.post(records_of(topic), {"value": value})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "value_unfit")


GONE = "http://127.0.0.1:1"
UNUSABLE: dict[str, tuple[dict[str, str], int, str]] = {
    "format_schema_or_registry": ({}, 400, "needs a schema or a schema registry"),
    "format_bad_schema": ({"schema": "{no"}, 400, "it is not JSON"),
    "registry": ({"registry": "{url}", "subject": "none"}, 400, "does not have this subject"),
    "registry_not_allowed": (
        {"registry": "http://127.0.0.1:2", "subject": "avro-value"}, 400, "list of permitted"
    ),
    "registry_unreachable": ({"registry": GONE, "subject": "avro-value"}, 503, "does not answer"),
}  # fmt: skip


@pytest.mark.parametrize("code", UNUSABLE)
def test_a_schema_that_cannot_be_had_is_refused_before_anything_is_written_or_read(
    code: str, editor: Any, people: People, client_of: Client, topic: str, registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", f"{registry.url},{GONE}")
    given, status, message = UNUSABLE[code]
    format = {"format": "avro", **given}
    if format.get("registry") == "{url}":
        format["registry"] = registry.url
    operator: Any = client_of(people.operator)
    for answer in (
        operator.post(records_of(topic), {"value": {**format, "text": "{}"}}),
        editor.post(search_of(topic), query_of("value", format)),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (status, code)
        assert message in error["message"]
        assert error["hint"]
        # With these the page says the same in its own language.
        assert isinstance(error["facts"], dict)
    assert editor.get(records_of(topic)).json()["records"] == []


def test_viewers_read_by_a_schema_that_is_typed_and_ask_no_registry(
    editor: Any, people: People, client_of: Client, topic: str, registry: Registry, simulate: Any
) -> None:
    viewer: Any = client_of(people.viewer)
    registered = format_of("avro", registry)
    refused = viewer.get(records_of(topic), query_of("value", registered))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "registry_unasked")
    assert registry.asked == []
    typed = viewer.post(search_of(topic), query_of("value", format_of("avro", None)))
    assert typed.status_code == 200
    value = {**registered, "text": "{}"}
    for client in (viewer, editor):
        answer = client.post(records_of(topic), {"value": value})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "role_too_small")
    assert registry.asked == []


def test_a_schema_may_be_long_and_how_long_is_said(
    editor: Any, people: People, client_of: Client, topic: str, simulate: Any
) -> None:
    """Wherever it is typed."""
    operator: Any = client_of(people.operator)
    short = json.loads(AVRO)
    format = {"format": "avro", "schema": json.dumps({**short, "doc": "x" * 190_000})}
    value = {**format, "text": json.dumps(VALUES["avro"])}
    assert operator.post(records_of(topic), {"value": value}).status_code == 201
    for path in (search_of(topic), f"{records_of(topic)}/0/0"):
        answer = editor.post(path, query_of("value", format))
        assert answer.status_code == 200, answer.content
    format["schema"] = json.dumps({**short, "doc": "x" * 200_000})
    recipe = {"key": {"format": "string"}, "value": format}
    workspace = "/api/workspaces/main"
    for path, body in {
        search_of(topic): query_of("value", format),
        f"{records_of(topic)}/0/0": query_of("value", format),
        records_of(topic): {"value": {**format, "text": "{}"}},
        f"{workspace}/topics/{topic}/samples": {"value": format},
        f"{workspace}/format-types": recipe,
        f"{workspace}/generators": {"topic": topic, "recipe": recipe},
        f"{workspace}/generated-records": {"topic": topic, "recipe": recipe},
    }.items():
        answer = operator.post(path, body)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "schema_too_long"), path
        assert f"has {len(format['schema']):,} characters; 200,000 are possible" in error["message"]
        assert error["most"] == "200,000"


def test_a_record_waits_for_the_simulator_that_encodes_it(
    editor: Any, people: People, client_of: Client, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "ask", lambda _: {"state": "starting"})
    operator: Any = client_of(people.operator)
    value = {**format_of("avro", None), "text": json.dumps(VALUES["avro"])}
    waits = operator.post(records_of(topic), {"value": value})
    assert (waits.status_code, waits.json()["error"]["code"]) == (503, "simulator_starting")


@pytest.mark.parametrize("registered", [False, True])
def test_followed_records_are_masked_by_their_schemas(
    registered: bool, editor: Any, people: People, client_of: Client, registry: Registry,
    simulate: Any, broker: Any, millrace_settings: Any,
) -> None:  # fmt: skip
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    orders, users = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("orders", "users"))
    topics.create(broker.address, {orders: 1, users: 1})
    formats = {name: format_of(name, registry if registered else None) for name in SCHEMAS}
    text = {"format": "string"}
    document = {
        "format": "millrace.topology/1", "name": "follow", "edges": [],
        "nodes": [
            {"id": "orders", "kind": "source.stream",
             "params": {"topics": [orders], "key": text, "value": formats["avro"]}},
            {"id": "users", "kind": "source.table",
             "params": {"topic": users, "key": text, "value": formats["protobuf"]}},
        ],
    }  # fmt: skip
    topology = create_topology(people.editor, people.workspace, "F", document)
    deployment = create_deployment(people.operator, topology, 1, "local", {})
    operator: Any = client_of(people.operator)

    def write(topic: str, name: str, at: int) -> None:
        value = {**formats[name], "text": json.dumps(VALUES[name])}
        key = {"format": "string", "text": "anna"}
        body = {"key": key, "value": value, "timestamp": BEGIN + at}
        answer = operator.post(records_of(topic), body)
        assert answer.status_code == 201, answer.content

    write(users, "protobuf", 0)
    write(orders, "avro", 1)
    broken = {"key": "anna", "value": b"{no Avro", "timestamp": BEGIN + 2}
    topics.produce(broker.address, orders, [broken])
    write(orders, "avro", 3)
    # A viewer may: the formats are those of the version that is deployed.
    viewer: Any = client_of(people.viewer)

    def follow(status: int = 200, **body: Any) -> Any:
        path = f"/api/deployments/{deployment.pk}/followed-record"
        answer = viewer.post(path, {"topic": orders, "before": 10, "after": 10, **body})
        assert answer.status_code == status, answer.content
        return answer.json()

    masks = {
        "key": {"how": "hash"},
        "value.item": {"how": "hash"},
        "value.names": {"how": "replace", "by": {"1": "one"}},
        "value.either.member1": {"how": "replace", "by": "y"},
    }
    found = follow(partition=0, offset=2, masks=masks)
    assert (found["skipped"], found["input"], len(found["lines"])) == (1, 3, 3)
    shown = json.dumps(found["lines"])
    assert not any(secret in shown for secret in ("tea", "anna", "seven", '"x"'))
    user, *both = (line["value"] for line in found["lines"])
    # Equal values have equal hashes, in whichever format they are.
    assert {user["item"], *(each["item"] for each in both)} == {user["item"]}
    assert user == {**VALUES["protobuf"], "item": user["item"], "names": {"1": "one"}}
    either = {"member0": None, "member1": "y"}
    assert both == [{**VALUES["avro"], "item": user["item"], "either": either}] * 2
    for topic, value in ((users, formats["protobuf"]), (orders, formats["avro"])):
        lines = [line for line in found["lines"] if line["topic"] == topic]
        result = simulate(value, topic, lines)
        assert [each["value"] for each in result["outputs"]] == [line["value"] for line in lines]
    # What cannot be read cannot be masked, and is there as bytes without masks.
    assert follow(400, partition=0, offset=1, masks=masks)["error"]["code"] == "unreadable_record"
    plain = follow(partition=0, offset=1)["lines"]
    assert base64.b64decode(plain[2]["value_bytes"]) == b"{no Avro"
    assert follow(contains="TEA", masks=masks)["record"]["offset"] == 2


def test_a_registry_that_cannot_be_reached_is_named_with_what_would_help(
    editor: Any, broker: Any, millrace_settings: Any
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    value = {"format": "avro", "registry": "http://127.0.0.1:1", "subject": "orders-value"}
    answer = editor.post("/api/workspaces/main/topics/orders/samples", {"value": value})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "registry_not_allowed"
    assert "not in the list of permitted registries" in error["message"]
    assert "enter the schema here as well" in error["hint"]
