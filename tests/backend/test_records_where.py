"""Records of a topic filtered by an expression, which a real simulator evaluates."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from records import expressions

from tests.runtime import hostile, topics
from tests.served import running, socket_path

from .conftest import Client, People, document

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def simulating() -> Iterator[str]:
    """The socket of a simulator."""
    with socket_path() as path, running("millrace_runtime.simulator", path, "--most", "1"):
        yield path


@pytest.fixture(scope="module")
def topic(broker: Any) -> str:
    """Forty records in two partitions; every tenth has a header, and the last is not JSON."""
    name = f"where-{uuid.uuid4()}"
    topics.create(broker.address, {name: 2})
    records = [
        {
            "key": f"k{n % 4}",
            "value": json.dumps({"n": n, "item": {"price": n * 1.5}}),
            "timestamp": 1_000 * (n + 1),
            "partition": n % 2,
            "headers": {"tenth": b"yes"} if n % 10 == 0 else {},
        }
        for n in range(40)
    ]
    records[39]["value"] = "no JSON"
    topics.produce(broker.address, name, records)
    return name


@pytest.fixture
def ask(
    people: People,
    client_of: Client,
    topic: str,
    broker: Any,
    simulating: str,
    millrace_settings: Any,
) -> Any:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    millrace_settings.MILLRACE_SIMULATOR = simulating
    client = client_of(people.viewer)

    def asked(where: str, status: int = 200, **query: Any) -> Any:
        deadline = time.monotonic() + 180
        while True:
            found: Any = client.get(
                f"/api/workspaces/main/topics/{topic}/records", {"where": where, **query}
            )
            error = found.json().get("error") or {}
            if error.get("code") != "simulator_starting":
                assert found.status_code == status, found.content
                return found.json()
            assert time.monotonic() < deadline
            time.sleep(0.5)

    return asked


def numbers(page: Any) -> list[int]:
    return [json.loads(each["value"]["text"])["n"] for each in page["records"]]


def test_an_expression_chooses_records_by_all_that_they_have(
    ask: Any, people: People, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from topologies import actions

    assert numbers(ask("key = 'k1' AND get_json_object(value, '$.n') > 30")) == [37, 33]
    assert numbers(ask("partition = 1 AND offset BETWEEN 3 AND 5", start="earliest")) == [7, 9, 11]
    assert numbers(ask("unix_millis(timestamp) < 2500")) == [1, 0]
    assert numbers(ask("CAST(headers['tenth'] AS STRING) = 'yes'")) == [30, 20, 10, 0]
    assert numbers(ask(f"topic = '{topic}'", contains='"n": 12')) == [12]
    assert ask("value = 'no JSON'")["records"][0]["value"]["text"] == "no JSON"

    formats = {
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "n INT, item STRUCT<price: DOUBLE>"},
    }
    source = {"id": "in", "kind": "source.stream", "params": {"topics": [topic], **formats}}
    drawn: Any = {**document(), "nodes": [source], "edges": []}
    made = actions.create_topology(people.editor, people.workspace, "Typed", drawn)
    reader = {"reader": f"{made.pk}:in"}
    # The expression is not true for a record where it raises or the bytes do not fit the format.
    assert numbers(ask("1 / (value.n - 38) < 0 AND value.item.price >= 54", **reader)) == [37, 36]

    monkeypatch.setattr(expressions, "MOST_ASKED", 15)
    monkeypatch.setattr("records.queries.MOST_ASKED", 15)
    found: list[int] = []
    scanned, cursor = 0, ""
    while True:
        page = ask("get_json_object(value, '$.n') IN (3, 35)", cursor=cursor)
        found, scanned, cursor = found + numbers(page), scanned + page["scanned"], page["next"]
        assert page["scanned"] <= 15
        if page["stopped"] == "end":
            break
    assert (found, scanned) == ([35, 3], 40)


def test_an_expression_has_a_value_or_an_error_for_each_sample(
    ask: Any, people: People, client_of: Client
) -> None:
    ask("true")  # the simulator has started

    def tried(expression: str, records: Any, status: int = 200, **types: str) -> Any:
        body = {
            "expression": expression,
            "types": {"key": "STRING", "value": "n INT, at TIMESTAMP", **types},
            "records": records,
        }
        path = "/api/workspaces/main/expression-values"
        found: Any = client_of(people.editor).post(path, body, format="json")
        assert found.status_code == status, found.content
        return found.json()

    records: list[dict[str, Any]] = [
        {"key": "a", "value": {"n": 4, "at": 1_000}, "timestamp": 7, "topic": "orders"},
        {"key": None, "value": {"n": 0}},
        {"key": "c", "value": "no struct"},
        {"key": "d", "value": None},
    ]
    values = tried("100 / value.n", records)["values"]
    assert [each["value"] for each in values] == [25.0, None, None, None]
    assert [each["error"] is None for each in values] == [True, False, False, True]
    assert "zero" in values[1]["error"]
    whole = "struct(topic, timestamp, headers['h'] AS h, value.at)"
    records[1]["headers"] = {"h": "x"}
    first, second = tried(whole, records)["values"][:2]
    assert first["value"] == {"topic": "orders", "timestamp": 7, "h": None, "at": 1_000}
    assert second["value"] == {"topic": "records", "timestamp": 0, "h": "eA==", "at": None}
    (nested,) = tried("key.key", [{"key": {"key": 3}}], key="STRUCT<key: INT>")["values"]
    assert nested["value"] == 3

    wrong = tried("value.m", records, 400)["error"]
    assert (wrong["code"], list(wrong["fields"])) == ("invalid_expression", ["expression"])
    assert list(tried("1", records, 400, key="NO_TYPE")["error"]["fields"]) == ["types"]
    assert "records" in tried("1", records * 2, 400)["error"]["fields"]


def test_what_is_no_expression_is_reported_with_its_reason(ask: Any) -> None:
    wrong = ask("amount > 3", 400)["error"]
    assert wrong["code"] == "invalid_expression"
    assert "amount" in wrong["fields"]["where"][0]
    assert ask("value", 400)["error"]["code"] == "invalid_expression"
    assert ask("reflect('java.lang.System', 'exit', 1) IS NULL", 400)["error"]["fields"]["where"]


def test_a_viewers_hostile_expressions_are_refused_without_a_request(
    ask: Any, tmp_path: Path
) -> None:
    with hostile.listening(tmp_path) as attacker:
        for text in hostile.expressions(attacker).values():
            refused = ask(f"({text}) IS NOT NULL", 400)
            assert refused["error"]["code"] == "invalid_expression", text
            assert "s3cret" not in json.dumps(refused)
        assert attacker.received == []
