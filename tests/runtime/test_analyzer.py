"""The analyzer: a server that returns the type of an expression."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import unused_port
from tests.served import running_analyzer

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    chosen = unused_port()
    with running_analyzer(chosen):
        yield chosen


def ask(port: int, text: str) -> dict[str, Any]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(text.encode() + b"\n")
        answer: dict[str, Any] = json.loads(connection.makefile().readline())
        return answer


def analyze(port: int, text: str, expects: str | None = None, **columns: str) -> dict[str, Any]:
    request = {"expressions": [{"text": text, "columns": columns, "expects": expects}]}
    found: dict[str, Any] = ask(port, json.dumps(request))["expressions"][0]
    return found


def test_an_expression_has_sparks_own_type(port: int) -> None:
    found = analyze(port, "value.a * 2", value="a DECIMAL(10,2), b STRING")
    assert found["type"].startswith("DECIMAL(")
    assert found["columns"] == ["value"]
    assert found["error"] is None


def test_a_narrower_type_is_accepted_where_a_wider_is_needed(port: int) -> None:
    assert analyze(port, "value + 1", "BIGINT", value="INT")["type"] == "BIGINT"
    assert analyze(port, "value", "INT", value="BIGINT")["error"]["message"]


def test_an_unknown_column_is_reported_with_its_place(port: int) -> None:
    error = analyze(port, "key = nope", key="STRING")["error"]
    assert (error["start"], error["stop"]) == (6, 10)
    assert "nope" in error["message"]


@pytest.mark.parametrize(
    "text", ["rand()", "current_timestamp()", "sum(value)", "explode(array(1))"]
)
def test_what_a_replay_would_not_repeat_or_one_record_cannot_give_is_refused(
    port: int, text: str
) -> None:
    assert analyze(port, text, value="INT")["error"]["message"]


@pytest.mark.parametrize("line", ["{", "[]", '{"expressions": [{}]}'])
def test_a_request_that_is_none_gets_an_answer_and_the_server_goes_on(port: int, line: str) -> None:
    assert "error" in json.dumps(ask(port, line))
    assert analyze(port, "1")["type"] == "INT"
