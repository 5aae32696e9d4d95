"""Figures of plain sub-topologies, completed from what the operator counted."""

from __future__ import annotations

from typing import Any

from millrace_runtime.lineage import figures


def counted() -> dict[str, Any]:
    """A word count: plain source and words, a stream task that counts."""
    return {
        "nodes": {
            "words": {"in": 0, "out": 40, "dropped": {}},
            "count": {"in": 0, "out": 40, "dropped": {}},
        },
        "tasks": [
            task(-1, 0, 6, [("lines", 0, 5)]),
            task(-1, 1, 4, [("lines", 1, 3)]),
            task(1, 0, 40, []),
        ],
    }


def task(subtopology: int, partition: int, records: int, places: list[Any]) -> dict[str, Any]:
    """A task as the operator tells it."""
    return {
        "task": f"{subtopology}_{partition}",
        "subtopology": subtopology,
        "partition": partition,
        "records": records,
        "topic_partitions": [
            {"topic": topic, "partition": number, "offset": offset}
            for topic, number, offset in places
        ],
    }


def summary(**changes: Any) -> dict[str, Any]:
    """The lineage of that word count."""
    return {
        "readers": [{"id": "lines", "subtopology": 0, "joined": False}],
        "before": {
            "lines": None,
            "words": "lines",
            "count-key": "words",
            "count-repartition": "count-key",
        },
        "nodes": {
            "lines": "lines",
            "words": "words",
            "count-key": "count",
            "count-repartition": "count",
        },
        "ends": {"lines": 1, "words": 1, "count-key": 1},
        **changes,
    }


def test_a_plain_source_has_a_task_for_each_partition() -> None:
    """Numbered as Kafka Streams numbers them."""
    found = counted()
    figures(found, summary())
    assert [each["task"] for each in found["tasks"]] == ["0_0", "0_1", "1_0"]


def test_records_into_a_node_are_those_out_of_the_one_before() -> None:
    """Steps inside a node (its key) are not nodes of their own."""
    found = counted()
    figures(found, summary())
    totals = {node: (each["in"], each["out"]) for node, each in found["nodes"].items()}
    assert totals == {"lines": (10, 10), "words": (10, 40), "count": (40, 40)}


def test_what_two_ends_evaluate_is_counted_once() -> None:
    """Each sink behind a step runs it anew."""
    found = counted()
    figures(found, summary(ends={"lines": 2, "words": 2, "count-key": 1}))
    assert found["nodes"]["words"]["out"] == 20
    assert [each["records"] for each in found["tasks"]] == [3, 2, 40]


def test_a_source_that_goes_on_in_a_stream_task_is_part_of_that_task() -> None:
    """The task's line gets the source's partitions."""
    found = counted()
    found["tasks"] = [task(-1, 0, 6, [("lines", 0, 5)]), task(0, 0, 6, [])]
    readers = [{"id": "lines", "subtopology": 0, "joined": True}]
    figures(found, summary(readers=readers))
    (line,) = found["tasks"]
    assert line["task"] == "0_0"
    assert line["topic_partitions"] == [{"topic": "lines", "partition": 0, "offset": 5}]
