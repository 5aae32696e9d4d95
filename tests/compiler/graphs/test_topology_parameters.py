"""Parameters of a topology: values in place of `${name}`, with diagnostics at both ends."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from millrace_compiler import Analyzer, ExpressionRequest, ExpressionResult, compile_document
from millrace_compiler.diagnostics.diagnostics import Diagnostics, Position
from millrace_compiler.graphs.fragments import resolved
from millrace_compiler.graphs.topology_parameters import resolve
from millrace_compiler.inference.analysis import ExpressionError

PARAMETERS: dict[str, Any] = {
    "orders": {"type": "topic", "default": "orders", "values": {"prod": "orders-2"}},
    "size": {"type": "duration", "default": "1 hour", "values": {"dev": 60_000}},
    "low": {"type": "number", "default": 10, "description": "Smallest order"},
    "city": {"type": "text", "default": "O'Hara \\ co"},
    "all": {"type": "boolean", "default": False},
}


def document(**parameters: Any) -> Any:
    """Return a document that uses each parameter."""
    predicate = "value.n > ${low} AND value.city <> ${city} AND NOT ${all} AND '${low}' <> `${low}`"
    return {
        "format": "millrace.topology/1",
        "name": "parameters",
        "parameters": {**copy.deepcopy(PARAMETERS), **parameters},
        "settings": {"dead_letter_topic": "${orders}-dead"},
        "topics": {"${orders}": {"partitions": 3}},
        "nodes": [
            {"id": "in", "kind": "source.stream", "label": "${low}",
             "params": {"topics": ["${orders}"], "key": {"format": "string"},
                        "value": {"format": "json", "schema": "n INT, city STRING"}}},
            {"id": "large", "kind": "filter", "params": {"predicate": predicate}},
            {"id": "count", "kind": "count",
             "params": {"window": {"type": "tumbling", "size": "${size}"}}},
            {"id": "step", "kind": "process",
             "params": {"code": "# ${low}", "class_name": "A", "arguments": {"n": "${low}"}}},
        ],
        "edges": [],
    }  # fmt: skip


def params(made: Any, node: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each["params"] for each in made["nodes"] if each["id"] == node)
    return found


def test_values_are_filled_in_by_the_kind_of_place() -> None:
    made = resolved(document(), "prod")
    assert "parameters" not in made
    assert made["topics"] == {"orders-2": {"partitions": 3}}
    assert made["settings"] == {"dead_letter_topic": "orders-2-dead"}
    assert params(made, "in")["topics"] == ["orders-2"]
    assert params(made, "large")["predicate"] == (
        r"value.n > 10 AND value.city <> 'O\'Hara \\ co' AND NOT false AND '${low}' <> `${low}`"
    )
    assert params(made, "count")["window"]["size"] == "1 hour"
    # Python code is left as it is; its class gets values as arguments.
    assert params(made, "step") == {"code": "# ${low}", "class_name": "A", "arguments": {"n": 10}}
    assert made["nodes"][0]["label"] == "${low}"


@pytest.mark.parametrize(
    ("environment", "topic", "size"),
    [(None, "orders", "1 hour"), ("dev", "orders", 60_000), ("prod", "orders-2", "1 hour")],
)
def test_an_environment_without_a_value_has_the_default(
    environment: str | None, topic: str, size: object
) -> None:
    made = resolved(document(), environment)
    assert params(made, "in")["topics"] == [topic]
    assert params(made, "count")["window"]["size"] == size


def test_a_duration_in_an_expression_is_in_milliseconds() -> None:
    made = document()
    params(made, "large")["predicate"] = "value.n > ${size}"
    assert params(resolved(made), "large")["predicate"] == "value.n > 3600000"


def test_a_document_without_parameters_is_not_changed() -> None:
    made = document()
    del made["parameters"]
    assert resolved(made, "prod") == made
    report = Diagnostics()
    assert resolve(made, report).document is made
    assert list(report) == []


@pytest.mark.parametrize(
    ("declared", "code", "place"),
    [
        ({"Low": {"type": "number", "default": 1}}, "parameter_name", "parameters.Low"),
        ({"low": 3}, "document_shape", "parameters.low"),
        ({"low": {"type": "int", "default": 1}}, "document_shape", "parameters.low.type"),
        ({"low": {"type": {}, "default": 1}}, "document_shape", "parameters.low.type"),
        ({"low": {"type": "number"}}, "parameter_value", "parameters.low.default"),
        (
            {"low": {"type": "number", "default": 1, "values": {"prod": "x"}}},
            "parameter_value",
            "parameters.low.values.prod",
        ),
        (
            {"size": {"type": "duration", "default": "1 hours or so"}},
            "parameter_value",
            "parameters.size.default",
        ),
        (
            {"orders": {"type": "topic", "default": "a b"}},
            "parameter_value",
            "parameters.orders.default",
        ),
        ({"all": {"type": "boolean", "default": 1}}, "parameter_value", "parameters.all.default"),
        (
            {"low": {"type": "number", "default": 1e400}},
            "parameter_value",
            "parameters.low.default",
        ),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_reported_and_nothing_is_filled_in(
    declared: dict[str, Any], code: str, place: str
) -> None:
    report = Diagnostics()
    made = document(**declared)
    resolve(made, report)
    errors = [(each.code, each.parameter) for each in report if each.severity == "error"]
    assert errors == [(code, place)]
    assert resolved(made) == made


def test_an_unknown_parameter_is_reported_where_it_is_used() -> None:
    made = document(rest={"type": "text", "default": "x"})
    params(made, "large")["predicate"] = "value.n > ${lo}"
    report = Diagnostics()
    resolve(made, report)
    unknown, unused, *_ = sorted(report, key=lambda each: each.severity)
    assert (unknown.node, unknown.parameter) == ("large", "predicate")
    assert unknown.position is not None
    assert (unknown.position.start, unknown.position.stop) == (10, 15)
    assert "Did you mean low?" in unknown.hint
    assert (unused.code, unused.severity) == ("parameter_unused", "warning")


class Refusing:
    """A double that refuses every expression."""

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        return [ExpressionResult(None, ExpressionError("no")) for _ in requests]


def test_a_place_without_a_value_has_no_other_faults() -> None:
    made = document(low={"type": "number", "default": "x"})
    made["nodes"] = made["nodes"][:2]
    made["edges"] = [{"source": "in", "target": "large"}]
    params(made, "in")["topics"] = ["${ordres}"]
    found = compile_document(made, Refusing()).diagnostics
    assert sorted((each.code, str(each.node)) for each in found if each.severity == "error") == [
        ("parameter_value", "None"),
        ("placeholder_unknown", "in"),
    ]


def test_faults_behind_a_value_are_marked_in_the_text_that_was_written() -> None:
    made = document()
    text = "value.n > ${low} AND ${city} = value.${low}"
    params(made, "large")["predicate"] = text
    report = Diagnostics()
    resolution = resolve(made, report)
    filled = params(resolution.document, "large")["predicate"]
    for part, written in (("10", "${low}"), ("= value.", "= value."), ("value.n", "value.n")):
        start = filled.index(part)
        report = Diagnostics()
        position = Position(start, start + len(part))
        report.add("expression_syntax", "large", "predicate", position=position, reason="x")
        (found,) = resolution.original(report)
        assert found.position is not None
        assert text[found.position.start : found.position.stop] == written


def test_the_compiler_reports_a_declaration_and_compiles_with_the_defaults(
    analyzer: Analyzer,
) -> None:
    made = document()
    made["nodes"] = made["nodes"][:1]
    compilation = compile_document(made, analyzer)
    assert {each.code for each in compilation.diagnostics} >= {"parameter_unused"}
    assert compilation.plan is not None
    assert compilation.plan.subtopologies[0].sources == ["orders"]
