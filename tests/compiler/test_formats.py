"""Formats with schemas of their own, in place or in a registry."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.registries import HttpSchemas, NoSchema

from tests.compiler.kit import OneTypeAnalyzer, document, faults, sink, stream

ORDER = json.dumps(
    {"type": "record", "name": "Order", "fields": [{"name": "item", "type": "string"}]}
)


class RegistryDouble(ThreadingHTTPServer):
    """Speaks as much of a schema registry's HTTP as is asked of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.subjects: dict[str, Any] = {"orders-value": {"schema": ORDER, "version": 3}}
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: RegistryDouble

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        subject = self.path.removeprefix("/subjects/").removesuffix("/versions/latest")
        found = self.server.subjects.get(subject)
        body = json.dumps(found if found is not None else {"error_code": 40401}).encode()
        self.send_response(200 if found is not None else 404)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def registry() -> Iterator[RegistryDouble]:
    server = RegistryDouble()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def reading(format_: dict[str, Any]) -> dict[str, Any]:
    return document([stream(value=format_), sink()], ["in > out"])


def test_a_schema_in_place_gives_the_type() -> None:
    result = compile_document(reading({"format": "avro", "schema": ORDER}), OneTypeAnalyzer())
    assert result.ok
    assert result.ports["in", "out"].value is not None
    assert result.ports["in", "out"].value.text == "STRUCT<item: STRING>"
    assert "value=avro(" in (result.code or {})["job.py"]


def test_a_registry_gives_the_type_and_is_asked_once(registry: RegistryDouble) -> None:
    raw = reading({"format": "avro", "registry": registry.url, "subject": "orders-value"})
    schemas = HttpSchemas()
    for _ in range(3):
        result = compile_document(raw, OneTypeAnalyzer(), schemas)
    assert result.ok
    assert result.ports["in", "out"].value is not None
    assert result.ports["in", "out"].value.text == "STRUCT<item: STRING>"
    assert registry.asked == [("/subjects/orders-value/versions/latest", None)]
    assert (
        f'avro(registry="{registry.url}", subject="orders-value")' in (result.code or {})["job.py"]
    )


def test_a_password_in_the_address_is_sent_as_a_header(registry: RegistryDouble) -> None:
    address = registry.url.replace("//", "//me:secret@")
    HttpSchemas().latest(address, "orders-value")
    assert registry.asked[0][1] == "Basic bWU6c2VjcmV0"


def test_a_subject_that_is_not_there_is_named_at_the_format(registry: RegistryDouble) -> None:
    raw = reading({"format": "avro", "registry": registry.url, "subject": "nothing"})
    result = compile_document(raw, OneTypeAnalyzer(), HttpSchemas())
    [found] = result.diagnostics
    assert (found.code, found.node, found.parameter) == ("registry", "in", "value")
    assert "nothing" in found.message
    assert not result.ok


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1", "ftp://somewhere", "nonsense", "http://[", "http://a:b:c"]
)
def test_a_registry_that_cannot_be_asked_is_refused_with_a_reason(address: str) -> None:
    with pytest.raises(NoSchema) as caught:
        HttpSchemas(timeout=1).latest(address, "orders")
    assert str(caught.value)


@pytest.mark.parametrize("answer", [{}, [], {"schema": 3}])
def test_an_answer_without_a_schema_is_refused(registry: RegistryDouble, answer: Any) -> None:
    registry.subjects["odd"] = answer
    with pytest.raises(NoSchema, match="no schema"):
        HttpSchemas().latest(registry.url, "odd")


def test_only_allowed_registries_are_asked(
    registry: RegistryDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", "https://schemas.example, http://other")
    with pytest.raises(NoSchema, match="may be asked"):
        HttpSchemas().latest(registry.url, "orders-value")
    assert registry.asked == []


@pytest.mark.parametrize("name", ["avro", "protobuf"])
def test_neither_schema_nor_registry_is_refused(name: str) -> None:
    assert faults(reading({"format": name})) == [("format_schema_or_registry", "in", "value")]
    half = {"format": name, "registry": "http://127.0.0.1:1"}
    assert faults(reading(half)) == [("format_schema_or_registry", "in", "value")]


def test_a_sink_may_leave_the_schema_to_the_registry() -> None:
    format_ = {"format": "avro", "registry": "http://registry", "subject": "out-value"}
    raw = document([stream(), sink(value=format_)], ["in > out"])
    result = compile_document(raw, OneTypeAnalyzer())
    assert result.ok
    assert (
        'value=avro(registry="http://registry", subject="out-value")'
        in (result.code or {})["job.py"]
    )


def test_a_part_of_another_format_is_refused() -> None:
    assert faults(reading({"format": "string", "schema": "a INT"})) == [
        ("format_part", "in", "value")
    ]
