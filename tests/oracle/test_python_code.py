"""Code in Python runs in Kafka Streams itself, and gives what Kafka Streams' own classes gave.

A sample; with MILLRACE_CONFORMANCE=whole every scenario that has such classes.
"""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.comparing import differences

from cli.oracle import Oracle
from tests.conformance.called_functions import with_functions, with_handlers
from tests.registry import running

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[1] / "conformance"
SCENARIOS: dict[str, Any] = {
    path.stem: json.loads(path.read_text("utf-8"))
    for folder in ("scenarios", "random", "semantics")
    for path in sorted((ROOT / folder).glob("*.json"))
}
#: recorded with classes of Kafka Streams' own in place of the code in Python that they also have
CODED = [
    name
    for name, scenario in SCENARIOS.items()
    if scenario.get("oracle_processors") and scenario.get("compare") != "describe"
]
#: with each kind of node whose expressions can call functions
CALLED = ["C03", "C04", "D02", "D10", "D53", "E02a", "G01b", "K01a", "K05b", "L53"]
#: with handlers of records that fail
HANDLED = [
    name
    for name, scenario in SCENARIOS.items()
    if any(key.endswith("ing_handler") for key in scenario["topology"].get("settings") or {})
    and scenario.get("compare") not in ("describe", "refused")
]
if os.environ.get("MILLRACE_CONFORMANCE") != "whole":
    chosen = random.Random(4)
    CODED, CALLED, HANDLED = (chosen.sample(names, 6) for names in (CODED, CALLED, HANDLED))


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with Oracle(python=True) as started:
        yield started


@pytest.mark.parametrize("name", CODED)
def test_a_class_in_python_gives_what_one_in_java_gave(oracle: Oracle, name: str) -> None:
    scenario = dict(SCENARIOS[name])
    del scenario["oracle_processors"]
    answer = oracle.run(cast(Any, scenario))
    assert differences(cast(Any, scenario), cast(Any, answer), "each") == []


@pytest.mark.parametrize("name", CALLED)
def test_a_function_in_python_gives_what_an_expression_gave(oracle: Oracle, name: str) -> None:
    scenario = SCENARIOS[name]
    changed: Any = {**scenario, "topology": with_functions(scenario["topology"])}
    assert changed["topology"] is not None
    answer = oracle.run(changed)
    assert differences(scenario, cast(Any, answer), "each") == []


@pytest.mark.parametrize("name", HANDLED)
def test_a_handler_in_python_gives_what_one_by_name_gave(oracle: Oracle, name: str) -> None:
    scenario = SCENARIOS[name]
    changed: Any = {**scenario, "topology": with_handlers(scenario["topology"])}
    answer = oracle.run(changed)
    assert differences(scenario, cast(Any, answer), "each") == []


HANDLE = """
def handle(record, error):
    if record.headers and record.headers[0] == ("skip", b"1"):
        return Response.resume()
    place = f"{record.topic}/{record.partition}/{record.offset}@{record.timestamp}"
    facts = f"{place} {record.key} {error.kind} {error.node} {error.exception}"
    letter = DeadLetter(record.key, facts, [("a", "é")])
    return Response.resume(letter, DeadLetter(None, None, (), 7))
"""


def handled(code: str, kind: str = "processing") -> Any:
    """A topology whose second record fails: in a node or, as it has one byte, in the source."""
    topology = {
        "format": "millrace.topology/1",
        "name": "shares",
        "settings": {
            f"{kind}_handler": "function", f"{kind}_function": code, "dead_letter_topic": "dead",
        },
        "nodes": [
            {"id": "in", "kind": "source.stream", "params": {
                "topics": ["numbers"], "key": {"format": "string"},
                "value": {"format": "integer"}}},
            {"id": "share", "kind": "map_values", "params": {"value": "100 DIV value"}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "shares"}},
        ],
        "edges": [{"source": "in", "target": "share"}, {"source": "share", "target": "out"}],
    }  # fmt: skip
    failing = {"value": 0} if kind == "processing" else {"value_bytes": "AA=="}
    inputs = [
        {"topic": "numbers", "key": "a", "value": 5, "timestamp": 1},
        {"topic": "numbers", "key": "b", "timestamp": 2, **failing},
        {"topic": "numbers", "key": "c", "timestamp": 3, "headers": {"skip": "1"}, **failing},
    ]
    return {"id": "x", "topology": topology, "inputs": inputs}


def test_a_handler_sees_the_record_and_answers_with_others(oracle: Oracle) -> None:
    answer: Any = oracle.run(handled(HANDLE))
    assert answer["error"] is None
    shown = [(each["topic"], each["timestamp"], each["after"]) for each in answer["outputs"]]
    assert shown == [("shares", 1, 1), ("dead", 2, 2), ("dead", 7, 2)]
    letter = answer["outputs"][1]
    assert letter["headers"] == {"a": "é"}
    assert base64.b64decode(letter["value"]).decode() == (
        "numbers/0/1@2 b'b' processing share org.apache.spark.SparkArithmeticException"
    )


@pytest.mark.parametrize(
    ("read", "field"),
    [
        ("error.message", "message"),
        ("getattr(error, 'task' + '_id', None)", "task_id"),
        ("error", "parameter"),
        ("error.__dict__", "message"),
        ("[each for each in map(error.__getattribute__, ('kind', 'stacktrace'))]", "stacktrace"),
    ],
)
def test_a_handler_may_not_read_what_kafka_streams_words(
    oracle: Oracle, read: str, field: str
) -> None:
    code = HANDLE.replace("{error.exception}", f"{{{read}!r}}")
    tolerant = code.replace("    facts =", "    try:\n        facts =").replace(
        "    letter =", "    except Exception:\n        facts = ''\n    letter ="
    )
    for each in (code, tolerant):
        with pytest.raises(MillraceError, match=f"a handler that reads the error's {field}"):
            oracle.run(handled(each))


def test_a_field_that_is_not_read_is_no_reason_to_refuse(oracle: Oracle) -> None:
    unread = "    # not error.message\n    if record.key is None:\n        print(error.message)\n"
    changed = HANDLE.replace("    place =", f"{unread}    place =", 1)
    assert oracle.run(handled(changed)) == oracle.run(handled(HANDLE))
    letters = "def handle(record, error):\n    return Response.resume(record.dead_letter(error))\n"
    assert len(oracle.run(handled(letters))["outputs"]) == 3


def test_the_exception_of_a_source_is_not_that_of_kafka_streams(oracle: Oracle) -> None:
    with pytest.raises(MillraceError, match="a handler that reads the error's exception"):
        oracle.run(handled(HANDLE, "deserialization"))
    changed = HANDLE.replace("{error.exception}", "?")
    found: Any = oracle.run(handled(changed, "deserialization"))
    assert [each["topic"] for each in found["outputs"]] == ["shares", "dead", "dead"]


def test_a_schema_of_a_registry_is_requested() -> None:
    fields = [{"name": "n", "type": "int"}]
    schema = json.dumps({"type": "record", "name": "Number", "fields": fields})
    with running() as registry:
        registry.register("numbers-value", schema)
        written = {"format": "avro", "registry": registry.url, "subject": "numbers-value"}
        scenario: Any = {
            "id": "x",
            "topology": {
                "format": "millrace.topology/1",
                "name": "doubled",
                "nodes": [
                    {"id": "in", "kind": "source.stream", "params": {
                        "topics": ["numbers"], "key": {"format": "string"}, "value": written}},
                    {"id": "twice", "kind": "map_values", "params": {"value": "2 * value.n"}},
                    {"id": "out", "kind": "sink.topic", "params": {"topic": "doubled"}},
                ],
                "edges": [
                    {"source": "in", "target": "twice"}, {"source": "twice", "target": "out"},
                ],
            },
            "inputs": [{"topic": "numbers", "key": "a", "value": {"n": 4}, "timestamp": 1}],
        }  # fmt: skip
        with Oracle() as others, pytest.raises(MillraceError):
            others.run(scenario)
        assert registry.asked == []
        with Oracle(python=True) as own:
            found: Any = own.run(scenario)
    assert [each["value"] for each in found["outputs"]] == [8]


def test_without_leave_no_code_runs() -> None:
    scenario = dict(SCENARIOS["M01"])
    del scenario["oracle_processors"]
    with Oracle() as started, pytest.raises(MillraceError, match="the Python code of count-words"):
        started.run(cast(Any, scenario))
