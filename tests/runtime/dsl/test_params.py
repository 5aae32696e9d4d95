"""Parameters of a program: texts in the document, values where it runs."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime import Topology, json, string, tumbling


def program() -> Topology:
    """Return a program that names a topic, a number and a window by parameters."""
    topology = Topology("large-orders")
    source = topology.param("orders", "orders", type="topic", prod="orders-2")
    low = topology.param("low", 100, prod=1000, description="Smallest large order")
    size = topology.param("size", "1 hour", type="duration", dev="1 minute")
    orders = topology.stream(source, key=string(), value=json("amount INT"))
    large = orders.filter(f"value.amount > {low}", name="large")
    large.group_by_key().windowed_by(tumbling(size)).count(name="count").to_stream().to("large")
    return topology


def params(document: Any, node: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each["params"] for each in document["nodes"] if each["id"] == node)
    return found


def test_the_document_of_a_program_keeps_its_parameters() -> None:
    document = program().document()
    assert document["parameters"] == {
        "orders": {"type": "topic", "default": "orders", "values": {"prod": "orders-2"}},
        "low": {
            "type": "number",
            "default": 100,
            "values": {"prod": 1000},
            "description": "Smallest large order",
        },
        "size": {"type": "duration", "default": "1 hour", "values": {"dev": "1 minute"}},
    }
    assert params(document, "large") == {"predicate": "value.amount > ${low}"}
    assert params(document, "count")["window"]["size"] == "${size}"


def test_a_rule_says_what_happens_to_rejected_records() -> None:
    topology = Topology("checked")
    orders = topology.stream("orders", key=string(), value=json("amount DOUBLE"))
    orders.filter("value.amount >= 0", rejected="warn", name="rule").to("out")
    expected = {"predicate": "value.amount >= 0", "rejected": "warn"}
    assert params(topology.document(), "rule") == expected


@pytest.mark.parametrize(
    ("environment", "topic", "predicate", "size"),
    [
        (None, "orders", "value.amount > 100", "1 hour"),
        ("dev", "orders", "value.amount > 100", "1 minute"),
        ("prod", "orders-2", "value.amount > 1000", "1 hour"),
    ],
)
def test_a_program_runs_with_the_values_of_its_environment(
    monkeypatch: pytest.MonkeyPatch,
    environment: str | None,
    topic: str,
    predicate: str,
    size: str,
) -> None:
    monkeypatch.delenv("MILLRACE_ENVIRONMENT", raising=False)
    if environment is not None:
        monkeypatch.setenv("MILLRACE_ENVIRONMENT", environment)
    document = program().runnable().document
    assert document["nodes"][0]["params"]["topics"] == [topic]
    assert params(document, "large") == {"predicate": predicate}
    assert params(document, "count")["window"]["size"] == size


def test_a_parameter_is_declared_once() -> None:
    topology = Topology("twice")
    assert topology.param("low", 1) == topology.param("low", 1) == "${low}"
    with pytest.raises(ValueError, match="the parameter low is declared twice"):
        topology.param("low", 2)
