"""Avro and Protobuf with a schema registry, exchanged with confluent-kafka's own clients."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import functools
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from millrace_compiler.inference.registries import HttpSchemas
from millrace_compiler.types.protobuf import read_protobuf
from millrace_runtime import columns
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.cuts import Cut
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from tests.registry import Registry, redirecting, running

# confluent-kafka's registry client needs these; `./millrace` installs them from the lock.
for package in ("authlib", "cachetools", "httpx2"):
    pytest.importorskip(package)

from confluent_kafka.schema_registry import SchemaRegistryClient  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer  # noqa: E402
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9,
                                   "scale": 2}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {"name": "buyer", "type": {"type": "record", "name": "Buyer", "fields": [
            {"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"]}]}},
        {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 2}},
        {"name": "either", "type": ["null", "string", "long"]},
    ],
}  # fmt: skip
VALUE = {
    "id": 5, "note": "soon", "state": "PAID",
    "at": dt.datetime(2024, 2, 29, 12, 0, 0, 5000, tzinfo=dt.UTC), "day": dt.date(2024, 2, 29),
    "price": decimal.Decimal("12.50"), "tags": ["a", "b"], "counts": {"x": 1},
    "buyer": {"name": "Ann", "age": None}, "code": b"\x01\x02", "either": 7,
}  # fmt: skip
CONTEXT = SerializationContext("orders", MessageField.VALUE)


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running() as server:
        yield server


def client(registry: Registry) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry.url})


def format_of(registry: Registry, kind: str = "avro", **more: str) -> Any:
    found = {"format": kind, "registry": registry.url, "subject": "orders-value", **more}
    if kind != "protobuf":
        return found
    schema = HttpSchemas().latest(registry.url, "orders-value")  # as the compiler reads it
    return found | {"message": read_protobuf(schema.text, schema.imported).message}


def read(warm: Any, data: bytes, format_: Any) -> Any:
    """Read the bytes as a DataFrame source does: return the value, or the fault."""
    decoded = columns.decode(F.lit(data), format_)
    tried = columns.attempt(decoded, "source", "value", "deserialization").alias("tried")
    row = warm.spark.range(1).select(tried).first()["tried"]
    return json.loads(row["fault"]) if row["fault"] is not None else row["value"]


def rewritten(warm: Any, data: bytes, format_: Any) -> bytes:
    """Return the bytes that a sink writes for what a source read."""
    value = columns.decode(F.lit(data), format_)
    row = warm.spark.range(1).select(columns.encode(value, format_).alias("v")).first()
    return bytes(row["v"])


# ---- Avro ----------------------------------------------------------------------------------------


def test_avro_of_confluents_serializer_is_read(warm: Any, registry: Registry) -> None:
    data = AvroSerializer(client(registry), json.dumps(ORDER))(VALUE, CONTEXT)
    value = read(warm, data, format_of(registry))
    found = value.asDict(recursive=True)
    assert found["either"] == {"member0": None, "member1": 7}
    assert bytes(found["code"]) == b"\x01\x02"
    assert found["at"] == dt.datetime.fromisoformat("2024-02-29T12:00:00.005")
    same = ("id", "note", "state", "day", "price", "tags", "counts", "buyer")
    assert {name: found[name] for name in same} == {name: VALUE[name] for name in same}


def test_avro_that_we_write_is_read_by_confluents_deserializer(
    warm: Any, registry: Registry
) -> None:
    data = AvroSerializer(client(registry), json.dumps(ORDER))(VALUE, CONTEXT)
    written = rewritten(warm, data, format_of(registry))
    assert AvroDeserializer(client(registry))(written, CONTEXT) == VALUE
    assert written == data


def test_a_schema_in_place_is_registered_by_the_sink(warm: Any, registry: Registry) -> None:
    schema = {"type": "record", "name": "N", "fields": [{"name": "n", "type": "long"}]}
    format_ = format_of(registry, schema=json.dumps(schema))
    value = F.expr("named_struct('n', 4L)")
    row = warm.spark.range(1).select(columns.encode(value, format_).alias("v")).first()
    assert "POST /subjects/orders-value/versions" in registry.paths()
    assert AvroDeserializer(client(registry))(bytes(row["v"]), CONTEXT) == {"n": 4}


def test_records_of_older_and_newer_writers_are_read_by_the_latest_schema(
    warm: Any, registry: Registry
) -> None:
    def schema(*fields: Any) -> str:
        return json.dumps({"type": "record", "name": "R", "fields": list(fields)})

    old = schema({"name": "a", "type": "int"}, {"name": "gone", "type": "string"})
    new = schema({"name": "a", "type": "long"}, {"name": "b", "type": "string", "default": "?"})
    first = AvroSerializer(client(registry), old)({"a": 1, "gone": "x"}, CONTEXT)
    second = AvroSerializer(client(registry), new)({"a": 2, "b": "y"}, CONTEXT)
    format_ = format_of(registry)
    assert tuple(read(warm, first, format_)) == (1, "?")
    assert tuple(read(warm, second, format_)) == (2, "y")


def test_an_incompatible_schema_is_refused_in_the_registrys_words(
    warm: Any, registry: Registry
) -> None:
    def schema(field: str) -> str:
        fields = [{"name": field, "type": "long"}]
        return json.dumps({"type": "record", "name": "R", "fields": fields})

    registry.register("orders-value", schema("a"))
    encoded = columns.encode(
        F.expr("named_struct('b', 1L)"), format_of(registry, schema=schema("b"))
    )
    row = warm.spark.range(1).select(columns.attempt(encoded, "out", "value").alias("t")).first()
    fault = json.loads(row["t"]["fault"])
    assert fault["kind"] == "registry"
    assert (
        "rejects the request (status 409): Schema being registered is incompat" in fault["message"]
    )
    cause = fault["cause"]
    assert (cause["code"], cause["message"]) == ("registry_answer", fault["message"])
    assert (cause["facts"]["registry"], cause["facts"]["status"]) == (registry.url, "409")
    assert cause["facts"]["reason"].startswith("Schema being registered")


# ---- Protobuf ------------------------------------------------------------------------------------


def proto_file() -> descriptor_pb2.FileDescriptorProto:
    """Return Order (nested, repeated, map, oneof, enum, timestamp, wrapper) and Other in a file."""
    kind, label = descriptor_pb2.FieldDescriptorProto, descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", package="shop", syntax="proto3")
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    order = file.message_type.add(name="Order")
    item = order.nested_type.add(name="Item")
    item.field.add(name="name", number=1, type=kind.TYPE_STRING, label=label.LABEL_OPTIONAL)
    item.field.add(name="price", number=2, type=kind.TYPE_DOUBLE, label=label.LABEL_OPTIONAL)
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=kind.TYPE_STRING, label=label.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=kind.TYPE_INT32, label=label.LABEL_OPTIONAL)
    state = order.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    state.value.add(name="PAID", number=1)
    order.oneof_decl.add(name="payment")

    def field(name: str, number: int, type_: int, repeated: bool = False, **more: Any) -> None:
        order.field.add(
            name=name, number=number, type=type_,
            label=label.LABEL_REPEATED if repeated else label.LABEL_OPTIONAL, **more,
        )  # fmt: skip

    field("id", 1, kind.TYPE_INT64)
    field("items", 2, kind.TYPE_MESSAGE, True, type_name=".shop.Order.Item")
    field("counts", 3, kind.TYPE_MESSAGE, True, type_name=".shop.Order.CountsEntry")
    field("numbers", 4, kind.TYPE_SINT32, True)
    field("state", 5, kind.TYPE_ENUM, type_name=".shop.Order.State")
    field("card", 6, kind.TYPE_STRING, oneof_index=0)
    field("cash", 7, kind.TYPE_BOOL, oneof_index=0)
    field("at", 8, kind.TYPE_MESSAGE, type_name=".google.protobuf.Timestamp")
    field("nick", 9, kind.TYPE_MESSAGE, type_name=".google.protobuf.StringValue")
    field("big", 10, kind.TYPE_FIXED64)
    other = file.message_type.add(name="Other")
    other.field.add(name="x", number=1, type=kind.TYPE_INT64, label=label.LABEL_OPTIONAL)
    return file


@functools.cache
def message_class(name: str) -> Any:
    from google.protobuf import timestamp_pb2, wrappers_pb2

    pool = descriptor_pool.DescriptorPool()
    for module in (timestamp_pb2, wrappers_pb2):
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    pool.Add(proto_file())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def order() -> Any:
    made = message_class("shop.Order")(
        id=150, counts={"a": 1}, numbers=[3, -270], state=1, cash=True, big=9
    )
    made.items.add(name="pen", price=1.5)
    made.items.add(name="ink")
    made.at.FromMilliseconds(1709208000250)
    made.nick.value = "Ann"
    return made


def test_protobuf_of_confluents_serializer_is_read(warm: Any, registry: Registry) -> None:
    data = ProtobufSerializer(message_class("shop.Order"), client(registry))(order(), CONTEXT)
    found = read(warm, data, format_of(registry, "protobuf")).asDict(recursive=True)
    assert found == {
        "id": 150, "items": [{"name": "pen", "price": 1.5}, {"name": "ink", "price": 0.0}],
        "counts": {"a": 1}, "numbers": [3, -270], "state": "PAID", "card": None, "cash": True,
        "at": dt.datetime.fromisoformat("2024-02-29T12:00:00.250"), "nick": {"value": "Ann"},
        "big": 9,
    }  # fmt: skip


def test_protobuf_that_we_write_is_read_by_confluents_deserializer(
    warm: Any, registry: Registry
) -> None:
    kind = message_class("shop.Order")
    data = ProtobufSerializer(kind, client(registry))(order(), CONTEXT)
    written = rewritten(warm, data, format_of(registry, "protobuf"))
    back = ProtobufDeserializer(kind, {}, client(registry))(written, CONTEXT)
    assert back.SerializeToString(deterministic=True) == order().SerializeToString(
        deterministic=True
    )


def test_the_record_of_another_message_of_the_file_is_refused(
    warm: Any, registry: Registry
) -> None:
    other = message_class("shop.Other")
    data = ProtobufSerializer(other, client(registry))(other(x=1), CONTEXT)
    fault = read(warm, data, format_of(registry, "protobuf"))
    assert fault["message"] == "the record is a shop.Other, not a shop.Order"


# ---- what goes wrong -----------------------------------------------------------------------------

N = json.dumps({"type": "record", "name": "N", "fields": [{"name": "n", "type": "long"}]})


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the schema registry's header is missing (a zero byte and a number): there are no b"),
        (
            b"\x01\x00\x00\x00\x01\x02",
            "the schema registry's header is missing (a zero byte and a ",
        ),
        (
            b"\x00\x00\x00\x00\x63\x02",
            "the schema registry has no schema 99, to which the record refe",
        ),
        (b"\x00\x00\x00\x00\x01", "the bytes are shorter than the Avro schema requires"),
        (b"\x00\x00\x00\x00\x01\x02\x02", "the bytes are longer than the Avro schema allows"),
    ],
)
def test_bytes_that_cannot_be_read_are_the_records_fault(
    warm: Any, registry: Registry, data: bytes, says: str
) -> None:
    registry.register("orders-value", N)
    fault = read(warm, data, format_of(registry))
    assert fault["kind"] == "deserialization"
    assert fault["message"].startswith(says)


def document(value: Any, out: Any | None = None, **more: Any) -> Any:
    """Return a document with the node `middle`, by default a filter, which needs no stream task."""
    middle = more.pop("middle", {"kind": "filter", "params": {"predicate": "value.n > 0"}})
    return {
        "format": "millrace.topology/1", "name": "registered", "settings": more,
        "topics": {"orders": {"partitions": 1}},
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["orders"], "key": {"format": "string"}, "value": value}},
            {"id": "step", **middle},
            {"id": "out", "kind": "sink.topic",
             "params": {"topic": "out", **({"value": out} if out else {})}},
        ],
        "edges": [{"source": "in", "target": "step"}, {"source": "step", "target": "out"}],
    }  # fmt: skip


PLACES = {
    "plain": {"kind": "filter", "params": {"predicate": "value.n > 0"}},
    "task": {"kind": "peek", "params": {"message": "'seen'"}},
}


def lines(*values: bytes) -> list[Any]:
    return [
        {"topic": "orders", "key": "k", "value_bytes": base64.b64encode(value).decode(),
         "timestamp": number}
        for number, value in enumerate(values, 1)
    ]  # fmt: skip


def n(number: int, schema: int = 1) -> bytes:
    return b"\x00" + schema.to_bytes(4, "big") + bytes([2 * number])


@pytest.mark.parametrize("place", PLACES)
def test_a_simulation_reads_and_writes_registered_records(
    warm: Any, registry: Registry, place: str
) -> None:
    registry.register("orders-value", N)
    raw = document(format_of(registry), format_of(registry), middle=PLACES[place])
    result = warm.simulate(raw, warm.compile(raw).require(), lines(n(3), n(4)), Cut.parse("each"))
    assert result.error is None
    assert [out["value"] for out in result.outputs] == [{"n": 3}, {"n": 4}]


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_schema_is_dropped_where_the_handler_allows_it(
    warm: Any, registry: Registry, place: str
) -> None:
    registry.register("orders-value", N)
    raw = document(format_of(registry), middle=PLACES[place], deserialization_handler="continue")
    given = lines(n(3), n(3, schema=77), n(4))
    result = warm.simulate(raw, warm.compile(raw).require(), given, Cut.parse("each"))
    assert [out["value"]["n"] for out in result.outputs] == [3, 4]
    assert result.dropped == 1


@pytest.mark.parametrize("place", PLACES)
def test_a_registry_that_fails_stops_the_job_and_drops_no_record(
    warm: Any, registry: Registry, place: str
) -> None:
    registry.register("orders-value", N)
    later = json.loads(N)
    later["fields"].append({"name": "m", "type": "int", "default": 0})
    registry.register("orders-value", json.dumps(later))
    raw = document(format_of(registry), middle=PLACES[place], deserialization_handler="continue")
    compiled = warm.compile(raw).require()
    [first] = lines(n(3))
    registry.failing, registry.failing_at = 503, "/schemas/ids"
    result = warm.simulate(raw, compiled, [first], Cut.parse("each"))
    assert result.outputs == []
    assert result.dropped == 0
    assert result.error is not None
    assert (result.error["node"], result.error["code"]) == ("in", "registry")
    assert "responds with status 503: Error in the backend" in result.error["message"]
    assert result.error["cause"]["code"] == "registry_answer"
    assert result.error["record"]["offset"] == 0


@pytest.mark.parametrize("place", PLACES)
def test_a_registry_that_is_away_at_the_start_is_reported_at_its_node(
    warm: Any, registry: Registry, place: str
) -> None:
    registry.register("orders-value", N)
    raw = document(format_of(registry), middle=PLACES[place])
    compiled = warm.compile(raw).require()
    registry.failing = 503
    with pytest.raises(MillraceError) as caught:
        warm.simulate(raw, compiled, lines(n(3)), Cut.parse("each"))
    error = caught.value
    assert (error.code, error.node, error.parameter) == ("registry", "in", "value")
    port = registry.server_port
    assert error.message == (
        f"the schema registry at 127.0.0.1:{port} responds with status 503: "
        "Error in the backend data store"
    )
    assert error.cause is not None
    assert (error.cause.code, error.cause.facts["status"]) == ("registry_answer", "503")


def test_credentials_open_the_registry_and_are_shown_nowhere(
    warm: Any,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    registry.register("orders-value", N)
    registry.user = "me:s3cret"
    raw = document(format_of(registry), format_of(registry))
    monkeypatch.setenv("MILLRACE_REGISTRY_PASSWORDS", json.dumps({registry.url: "me:s3cret"}))
    compiled = warm.compile(raw).require()
    result = warm.simulate(raw, compiled, lines(n(3)), Cut.parse("each"))
    assert [out["value"] for out in result.outputs] == [{"n": 3}]
    monkeypatch.setenv("MILLRACE_REGISTRY_PASSWORDS", json.dumps({registry.url: "me:wr0ng"}))
    with pytest.raises(MillraceError) as caught:
        warm.simulate(raw, compiled, lines(n(3)), Cut.parse("each"))
    assert "rejects the credentials (status 401)" in caught.value.message
    shown = capfd.readouterr()
    texts = [json.dumps(compiled.code), str(caught.value.as_dict()), shown.out, shown.err]
    for text in [*texts, caplog.text]:
        assert "s3cret" not in text
        assert "wr0ng" not in text
        assert base64.b64encode(b"me:s3cret").decode() not in text


# ---- which registries a job uses -----------------------------------------------------------------


@pytest.fixture
def allowed(warm: Any) -> Iterator[Any]:
    """A function that sets the permitted registries, as MILLRACE_SCHEMA_REGISTRIES does."""
    yield columns.gateway().Registry.allow
    columns.gateway().Registry.allow(None)


def refusal(warm: Any, format_: Any) -> str:
    """Return the reason why a job that reads this format does not start."""
    with pytest.raises(Exception, match="schema registry") as caught:
        read(warm, n(3), format_)
    return str(caught.value)


@pytest.mark.parametrize("listed", ["", "https://a.b", "http://127.0.0.1:1", "http://localhost:@"])
def test_a_job_does_not_ask_a_registry_that_is_not_listed(
    warm: Any, registry: Registry, allowed: Any, listed: str
) -> None:
    registry.register("orders-value", N)
    allowed(listed.replace("@", str(registry.server_port)))
    assert "not in the list of permitted registries" in refusal(warm, format_of(registry))
    assert registry.asked == []


def test_a_job_asks_a_listed_host_and_no_longer_name(
    warm: Any, registry: Registry, allowed: Any
) -> None:
    registry.register("orders-value", N)
    allowed(f"https://a.b, {registry.url}/any/path")
    assert tuple(read(warm, n(3), format_of(registry))) == (3,)
    longer = f"{registry.url}0", f"{registry.url}@evil"
    for address in ("https://a.b.evil", "https://a.b@evil", "https://a.b:444", "http://a.b",
                    "https://sub.a.b", *longer):  # fmt: skip
        format_ = {**format_of(registry), "registry": address}
        assert "not in the list of permitted registries" in refusal(warm, format_)


def test_a_job_follows_no_redirect(warm: Any, registry: Registry) -> None:
    registry.register("orders-value", N)
    with redirecting(f"{registry.url}/subjects/orders-value/versions/latest") as address:
        printed = refusal(warm, {**format_of(registry), "registry": address})
    assert "redirects the request (status 302); redirects are not followed" in printed
    assert registry.asked == []


def test_a_job_asks_a_bounded_number_of_times_for_one_schema(warm: Any, registry: Registry) -> None:
    texts = [json.dumps({"type": "record", "name": f"R{i}", "fields": []}) for i in range(30)]
    for index, text in enumerate(texts):
        registry.register(f"r{index}", text)
    referred = [{"name": f"R{i}", "subject": f"r{i}", "version": 1} for i in range(30)]
    registry.register("orders-value", N, references=referred)
    assert "refers to too many others" in refusal(warm, format_of(registry))
    assert len(registry.asked) == 20


def test_a_job_reads_a_bounded_number_of_bytes_for_one_schema(
    warm: Any, registry: Registry
) -> None:
    registry.register("orders-value", json.dumps({**json.loads(N), "doc": "x" * 3_000_000}))
    assert "returns a schema that is too large" in refusal(warm, format_of(registry))
