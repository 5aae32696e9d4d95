"""What builder calls become: the task graph that the operator reads."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.formats import json, long, string
from millrace_runtime.graph import Graph
from millrace_runtime.stores import key_value_store, versioned_store, window_store
from millrace_runtime.streams import Stream
from millrace_runtime.task import Task


class NotedJob:
    """Stands for a Job where no Spark is needed: keeps what tasks tell it."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.read: list[tuple[str, tuple[str, ...]]] = []
        self.received: list[tuple[str, str]] = []

    def reads(self, task: Task, id: str, **where: Any) -> None:
        self.read.append((id, tuple(where["topics"])))

    def noted(self, *_: Any) -> None:
        return None

    def receives(self, repartition: str, id: str) -> None:
        self.received.append((repartition, id))


@pytest.fixture
def job() -> NotedJob:
    return NotedJob()


def task_of(job: NotedJob, sub: int = 0, level: int = 0) -> Task:
    return Task(job, sub, level, 4)  # type: ignore[arg-type]


def test_nodes_stand_in_the_order_of_their_calls_with_their_parents(job: NotedJob) -> None:
    with task_of(job) as task:
        orders = task.stream("orders", topics=["orders"], key=string(), value=json("n INT"))
        orders.filter("big", "value.n > 10").to("out", topic="big", key=string(), value=string())
    assert [(node["id"], node["op"], node["parents"]) for node in job.graph.nodes] == [
        ("orders", "stream", []),
        ("big", "filter", [["orders", "out"]]),
        ("out", "to", [["big", "out"]]),
    ]
    assert job.read == [("orders", ("orders",))]


def test_a_node_of_the_document_may_have_another_name_than_its_step(job: NotedJob) -> None:
    with task_of(job) as task:
        task.stream("in", topics=["t"], key=string(), value=string()).select_key(
            "count-key", "value", node="count"
        )
    assert job.graph.nodes[1]["node"] == "count"
    assert job.graph.nodes[0]["node"] == "in"


def test_parameters_that_are_not_given_are_left_out(job: NotedJob) -> None:
    with task_of(job) as task:
        stream = task.stream("in", topics=["t"], key=string(), value=long())
        stream.count("count", store=key_value_store("counts", node="store"))
    assert job.graph.nodes[1]["params"] == {
        "emit": "every_update",
        "store": {"kind": "key_value", "name": "counts", "node": "store"},
    }


def test_a_split_gives_one_stream_for_each_port(job: NotedJob) -> None:
    with task_of(job) as task:
        stream = task.stream("in", topics=["t"], key=string(), value=long())
        ports = stream.split("s", [("low", "value < 5"), ("high", "value > 9")], "rest")
    assert {port: (found.id, found.port) for port, found in ports.items()} == {
        "low": ("s", "low"),
        "high": ("s", "high"),
        "rest": ("s", "rest"),
    }


def test_what_a_repartition_sends_arrives_as_its_child(job: NotedJob) -> None:
    with task_of(job) as task:
        task.stream("in", topics=["t"], key=string(), value=long()).repartition("r", 4)
    with task_of(job, sub=1, level=1) as task:
        received = task.repartitioned("r", node="count")
    assert isinstance(received, Stream)
    node = job.graph.nodes[-1]
    assert (node["id"], node["parents"], node["level"]) == ("r-source", [["r", "out"]], 1)


def test_parts_of_a_foreign_key_join_know_each_other(job: NotedJob) -> None:
    with task_of(job) as task:
        left = task.table("l", topic="l", key=string(), value=string())
        right = task.table("r", topic="r", key=string(), value=string())
        left.foreign_key_subscribe("ask", foreign_key="value", type="inner", partitions=2)
        task.foreign_key_lookup(
            "answer", subscription="ask", right=right, type="inner", partitions=2
        )
        task.foreign_key_resolve(
            "join", response="answer", left=left, type="inner", joiner="concat(left, right)"
        )
    parents = {node["id"]: node["parents"] for node in job.graph.nodes}
    assert parents["answer"] == [["ask", "out"], ["r", "out"]]
    assert parents["join"] == [["answer", "out"], ["l", "out"]]


def test_a_physical_id_is_used_once(job: NotedJob) -> None:
    with task_of(job) as task:
        stream = task.stream("in", topics=["t"], key=string(), value=long())
        with pytest.raises(ValueError, match="used twice"):
            stream.count("in")


def test_stores_say_their_kind_and_how_long_they_remember() -> None:
    assert window_store("w", retention=10)["retention"] == 10
    assert versioned_store("v", history_retention=7)["history_retention"] == 7
    assert key_value_store("k")["node"] == "k"
