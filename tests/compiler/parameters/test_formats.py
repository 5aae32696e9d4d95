"""Formats with schemas, inline or from a registry."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.inference.registries import HttpSchemas, NoSchema

from tests.compiler.kit import OneTypeAnalyzer, document, faults, sink, stream
from tests.registry import Registry, redirecting, running

ORDER = json.dumps(
    {"type": "record", "name": "Order", "fields": [{"name": "item", "type": "string"}]}
)


@pytest.fixture
def registry() -> Iterator[Registry]:
    with running() as server:
        server.register("orders-value", ORDER)
        yield server


def reading(format_: Any) -> Any:
    return document([stream(value=format_), sink()], ["in > out"])


def test_a_schema_in_place_gives_the_type() -> None:
    result = compile_document(reading({"format": "avro", "schema": ORDER}), OneTypeAnalyzer())
    assert result.ok
    assert result.ports["in", "out"].value is not None
    assert result.ports["in", "out"].value.text == "STRUCT<item: STRING>"
    assert "value=avro(" in (result.code or {})["job.py"]


def test_a_registry_gives_the_type_and_is_asked_once(registry: Registry) -> None:
    raw = reading({"format": "avro", "registry": registry.url, "subject": "orders-value"})
    schemas = HttpSchemas()
    for _ in range(3):
        result = compile_document(raw, OneTypeAnalyzer(), schemas)
    assert result.ok
    assert result.ports["in", "out"].value is not None
    assert result.ports["in", "out"].value.text == "STRUCT<item: STRING>"
    assert registry.asked == [("GET", "/subjects/orders-value/versions/latest", None)]
    assert (
        f'avro(registry="{registry.url}", subject="orders-value")' in (result.code or {})["job.py"]
    )


def test_a_password_goes_to_the_registry_that_it_is_for_and_to_no_other(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.user = "me:s3cret"
    monkeypatch.setenv("MILLRACE_REGISTRY_PASSWORDS", json.dumps({registry.url: "me:s3cret"}))
    assert HttpSchemas().latest(registry.url, "orders-value").text == ORDER.replace(" ", "")
    with running() as other:
        other.register("orders-value", ORDER)
        HttpSchemas().latest(other.url, "orders-value")
        assert [sign for _, _, sign in other.asked] == [None]


def test_refused_credentials_are_reported_without_showing_them(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.user = "me:s3cret"
    monkeypatch.setenv("MILLRACE_REGISTRY_PASSWORDS", json.dumps({registry.url: "me:wr0ng"}))
    with pytest.raises(NoSchema, match=r"^registry_credentials status=401$"):
        HttpSchemas().latest(registry.url, "orders-value")


def test_a_password_in_the_address_is_refused_and_shown_nowhere(registry: Registry) -> None:
    address = registry.url.replace("//", "//me:s3cret@")
    raw = reading({"format": "avro", "registry": address, "subject": "orders-value"})
    result = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    assert ("format_registry_secret", "in", "value") in [
        (each.code, each.node, each.parameter) for each in result.diagnostics
    ]
    assert "s3cret" not in json.dumps([each.to_json() for each in result.diagnostics])
    assert registry.asked == []


def test_a_schema_that_refers_to_others_is_read_with_them(registry: Registry) -> None:
    item = {"type": "record", "name": "Item", "namespace": "shop",
            "fields": [{"name": "price", "type": "double"}]}  # fmt: skip
    order = {"type": "record", "name": "Order", "namespace": "shop",
             "fields": [{"name": "item", "type": "shop.Item"}]}  # fmt: skip
    registry.register("items", json.dumps(item))
    known = [{"name": "shop.Item", "subject": "items", "version": 1}]
    registry.register("shop-orders", json.dumps(order), references=known)
    raw = reading({"format": "avro", "registry": registry.url, "subject": "shop-orders"})
    result = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    assert result.ports["in", "out"].value is not None
    assert result.ports["in", "out"].value.text == "STRUCT<item: STRUCT<price: DOUBLE>>"


def test_a_sinks_schema_in_the_registry_is_compared_with_the_data(registry: Registry) -> None:
    format_ = {"format": "avro", "registry": registry.url, "subject": "orders-value"}
    raw = document([stream(), sink(value=format_)], ["in > out"])
    result = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    [found] = result.diagnostics
    assert (found.code, found.node, found.parameter) == ("sink_format", "out", "value")


def test_a_subject_that_is_not_there_is_named_at_the_format(registry: Registry) -> None:
    raw = reading({"format": "avro", "registry": registry.url, "subject": "nothing"})
    result = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    [found] = result.diagnostics
    assert (found.code, found.node, found.parameter) == ("registry_subject", "in", "value")
    assert "nothing" in found.message
    assert not result.ok


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "ftp://somewhere", "nonsense", "http://[", "http://a:b:c"]
)
def test_a_registry_that_cannot_be_asked_is_refused_with_a_reason(address: str) -> None:
    with pytest.raises(NoSchema) as caught:
        HttpSchemas(timeout=1).latest(address, "orders")
    assert str(caught.value)


def test_a_schema_is_asked_for_again_when_the_answer_is_old(registry: Registry) -> None:
    schemas = HttpSchemas(good_for=1.0)
    first = schemas.latest(registry.url, "orders-value")
    assert first.id == registry.subjects["orders-value"][0]
    fields = [*json.loads(first.text)["fields"], {"name": "new", "type": "int", "default": 0}]
    number = registry.register(
        "orders-value", json.dumps({**json.loads(first.text), "fields": fields})
    )
    assert schemas.latest(registry.url, "orders-value") == first
    assert len(registry.asked) == 1
    time.sleep(1.1)
    assert schemas.latest(registry.url, "orders-value").id == number
    assert len(registry.asked) == 2


@pytest.mark.parametrize("answer", [{}, [], {"schema": 3}])
def test_an_answer_without_a_schema_is_refused(registry: Registry, answer: Any) -> None:
    registry.odd_answer = answer
    with pytest.raises(NoSchema, match="registry_response"):
        HttpSchemas().latest(registry.url, "orders-value")


@pytest.mark.parametrize(
    "listed",
    [
        "",
        "https://schemas.example, http://other",
        "http://127.0.0.1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1.evil:{port}",
    ],
)
def test_a_registry_that_is_not_listed_is_not_asked(
    listed: str, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = registry.url.rpartition(":")[2]
    monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", listed.format(port=port))
    with pytest.raises(NoSchema, match="registry_not_allowed"):
        HttpSchemas().latest(registry.url, "orders-value")
    assert registry.asked == []


def test_a_listed_registry_is_asked_and_a_longer_name_is_not(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", f"https://a.b, {registry.url}")
    assert HttpSchemas().latest(f"{registry.url}/", "orders-value")
    for address in ("https://a.b.evil", "https://a.b@evil", "https://a.b:444", "http://a.b"):
        with pytest.raises(NoSchema, match="registry_not_allowed"):
            HttpSchemas().latest(address, "orders-value")


def test_a_redirect_is_not_followed(registry: Registry) -> None:
    target = f"{registry.url}/subjects/orders-value/versions/latest"
    refused = pytest.raises(NoSchema, match="registry_redirects status=302")
    with redirecting(target) as address, refused:
        HttpSchemas().latest(address, "orders-value")
    assert registry.asked == []


def test_one_compilation_asks_for_a_bounded_number_of_schemas(registry: Registry) -> None:
    values = [
        {"format": "avro", "registry": registry.url, "subject": f"s{n}-value"} for n in range(30)
    ]
    nodes = [stream(f"in{n}", value=value) for n, value in enumerate(values)]
    raw = document([*nodes, sink()], [f"in{n} > out" for n in range(30)])
    found = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    assert len(registry.asked) == 20
    assert "too many schemas" in str([each.message for each in found.diagnostics])


def test_one_compilation_reads_a_bounded_number_of_bytes(registry: Registry) -> None:
    registry.register("orders-value", json.dumps({"type": "string", "doc": "x" * 3_000_000}))
    with pytest.raises(NoSchema, match="registry_size"):
        HttpSchemas().latest(registry.url, "orders-value")


@pytest.mark.parametrize("name", ["avro", "protobuf"])
def test_neither_schema_nor_registry_is_refused(name: str) -> None:
    assert faults(reading({"format": name})) == [("format_schema_or_registry", "in", "value")]
    half = {"format": name, "registry": "http://127.0.0.1:1"}
    assert faults(reading(half)) == [("format_schema_or_registry", "in", "value")]


def test_a_sink_may_leave_the_schema_to_the_registry() -> None:
    format_ = {"format": "avro", "registry": "http://schemas.example", "subject": "out-value"}
    raw = document([stream(), sink(value=format_)], ["in > out"])
    result = compile_document(raw, OneTypeAnalyzer())
    assert result.ok
    assert (
        'value=avro(registry="http://schemas.example", subject="out-value")'
        in (result.code or {})["job.py"]
    )


@pytest.mark.parametrize(
    ("name", "file", "type_"),
    [
        ("Duration", "duration", "STRUCT<seconds: BIGINT, nanos: INT>"),
        ("Timestamp", "timestamp", "TIMESTAMP"),
        ("StringValue", "wrappers", "STRUCT<value: STRING>"),
        ("UInt32Value", "wrappers", "STRUCT<value: BIGINT>"),
        ("Any", "any", "STRUCT<type_url: STRING, value: BINARY>"),
        ("FieldMask", "field_mask", "STRUCT<paths: ARRAY<STRING>>"),
    ],
)
def test_googles_own_messages_have_the_types_of_their_fields(
    name: str, file: str, type_: str
) -> None:
    imported = f'syntax = "proto3"; import "google/protobuf/{file}.proto";'
    schema = f"{imported} message R {{ google.protobuf.{name} a = 1; }}"
    raw = reading({"format": "protobuf", "schema": schema})
    found = compile_document(raw, OneTypeAnalyzer()).ports["in", "out"].value
    assert found is not None
    assert found.text == f"STRUCT<a: {type_}>"


@pytest.mark.parametrize("name", ["Struct", "Value", "ListValue"])
def test_a_message_that_contains_itself_is_refused_with_the_reason(name: str) -> None:
    schema = f'syntax = "proto3"; message R {{ google.protobuf.{name} a = 1; }}'
    [found] = compile_document(
        reading({"format": "protobuf", "schema": schema}), OneTypeAnalyzer()
    ).diagnostics
    assert f"google.protobuf.{name} contains itself" in found.message


def test_a_part_of_another_format_is_refused() -> None:
    assert faults(reading({"format": "string", "schema": "a INT"})) == [
        ("format_part", "in", "value")
    ]
