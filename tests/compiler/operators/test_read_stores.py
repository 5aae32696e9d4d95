"""Processors that read the stores of tables, aggregations and global tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.program import load_program

from tests.compiler.kit import (
    STRING,
    Raw,
    compiled,
    document,
    global_table,
    node,
    sink,
    store,
    stream,
    table,
)
from tests.compiler.refused.made import CODE, process

COUNT = node("count", "count")
BOTH = ["in > count", "orders > run", "run > out"]


def reading(*edges: str, nodes: tuple[Raw, ...] = (), **more: Any) -> Raw:
    made = [stream(), stream("orders"), COUNT, process(), sink(), *nodes]
    return document(made, [*BOTH, *edges], **more)


BY_NODE = reading("count > run.store")
BY_STORE = reading("rows > count.store", "rows > run.store", nodes=(store(),))


def codes(raw: Raw) -> list[tuple[str, str | None]]:
    return [(each.code, each.node) for each in compiled(raw).diagnostics]


def step(raw: Raw, id_: str) -> Any:
    graph = compiled(raw).require().task_graph
    assert graph is not None
    return next(each for each in graph["nodes"] if each["id"] == id_)


@pytest.mark.parametrize(("raw", "name"), [(BY_NODE, "count"), (BY_STORE, "rows")])
def test_a_processor_reads_the_store_of_an_aggregation(raw: Raw, name: str) -> None:
    assert codes(raw) == []
    params = step(raw, "run")["params"]
    assert (params["tables"], params["stores"]) == ([{"name": name, "step": "count"}], [])


@pytest.mark.parametrize(("raw", "name"), [(BY_NODE, "count"), (BY_STORE, "rows")])
def test_the_code_may_ask_for_the_store_of_a_table(raw: Raw, name: str) -> None:
    asking = process(code=CODE.replace("pass", f'self.context.store("{name}")'))
    own = {**raw, "nodes": [asking if each["id"] == "run" else each for each in raw["nodes"]]}
    assert codes(own) == []
    other = CODE.replace("pass", 'self.context.store("rowz")')
    own["nodes"] = [process(code=other) if each["id"] == "run" else each for each in raw["nodes"]]
    assert codes(own) == [("code_store", "run")]


@pytest.mark.parametrize("raw", [BY_NODE, BY_STORE])
def test_a_processor_and_the_table_that_it_reads_are_one_subtopology(raw: Raw) -> None:
    plan = compiled(raw).require().plan
    assert plan is not None
    assert [sub.sources for sub in plan.subtopologies] == [["in", "orders"]]


def test_a_table_that_a_processor_reads_is_materialized() -> None:
    raw: Any = document(
        [table(), stream(), process(), sink()], ["table > run.store", "in > run", "run > out"]
    )
    plan = compiled(raw).require().plan
    assert plan is not None
    assert plan.subtopologies[0].stores == ["table"]
    assert "Processor: run (stores: [table])" in compiled(raw).to_json()["plan"]["text"]  # type: ignore[index]


def test_a_global_table_is_read_from_its_copy_in_each_subtopology() -> None:
    raw = document(
        [global_table(), stream(), stream("b"), process(), process() | {"id": "also"}, sink()],
        ["global > run.store", "global > also.store", "in > run", "b > also", "run > out"],
    )
    read = [step(raw, id_)["params"]["tables"] for id_ in ("run", "also")]
    assert read == [
        [{"name": "global", "step": "global"}],
        [{"name": "global", "step": "global-1"}],
    ]


def test_a_table_precedes_the_processor_that_reads_it() -> None:
    raw = BY_NODE | {"nodes": [BY_NODE["nodes"][1], process(), COUNT, stream(), sink()]}
    assert compiled(raw).graph.order.index("count") < compiled(raw).graph.order.index("run")


def test_a_processor_runs_on_the_level_of_the_table_that_it_reads() -> None:
    raw = reading("count > run.store")
    raw["nodes"][2] = node("count", "count", group_by={"key": "value"})
    assert step(raw, "run")["level"] == step(raw, "count")["level"] == 1


def test_other_partitions_of_a_read_table_are_a_warning() -> None:
    raw = reading("count > run.store", topics={"in": 3, "orders": 6})
    result = compiled(raw)
    assert result.ok
    [found] = result.diagnostics
    assert (found.code, found.severity, found.node) == ("store_partitions", "warning", "run")
    assert found.data["topics"] == "in has 3, orders has 6"


def faults() -> dict[str, tuple[Raw, tuple[str, str]]]:
    behind = document(
        [stream(), process(kind="process_values"), COUNT, sink()],
        ["in > run", "run > count", "count > out", "count > run.store"],
    )
    after = document(
        [stream(), COUNT, node("again", "to_stream"), node("by", "repartition"), process(), sink()],
        ["in > count", "count > again", "again > by", "by > run", "run > out", "count > run.store"],
    )
    after["nodes"][4]["params"]["output"] = {}
    rows = document(
        [table(), node("keep", "filter", predicate="true"), stream(), process(), sink()],
        ["table > keep", "keep > run.store", "in > run", "run > out"],
    )
    flow = document(
        [stream(), node("keep", "filter", predicate="true"), process(), sink()],
        ["in > keep", "keep > run.store", "in > run", "run > out"],
    )
    twice = reading("count > run.store", "rows > run.store", nodes=(store(name="count"),))
    for each in twice["nodes"][-1:]:
        each["params"] |= {"key_type": "STRING", "value_type": "STRING"}
    return {
        "its own results": (behind, ("store_cycle", "run")),
        "a table before a repartition": (after, ("store_read_across", "run")),
        "a table without rows": (rows, ("store_none", "run")),
        "a stream": (flow, ("store_of_stream", "run")),
        "a source": (reading("in > run.store"), ("edge_no_store", "run")),
        "two of a name": (twice, ("store_name_twice", "run")),
    }


@pytest.mark.parametrize("what", faults())
def test_stores_that_a_processor_cannot_read_are_refused(what: str) -> None:
    raw, expected = faults()[what]
    assert codes(raw) == [expected]


# ---- global stores -------------------------------------------------------------------------------


def with_global_store() -> Raw:
    rates = node(
        "rates", "source.global_store", topic="rates", key=STRING, value=STRING, code=CODE,
        class_name="Run",
    )  # fmt: skip
    rows = store(key_type="STRING", value_type="STRING")
    made = [rates, rows, stream(), stream("b"), process(), process() | {"id": "also"}, sink()]
    edges = ["rows > rates.store", "rows > run.store", "rows > also.store"]
    return document(made, [*edges, "in > run", "b > also", "run > out", "also > out"])


def test_each_subtopology_keeps_rows_of_a_global_store_of_its_own() -> None:
    raw = with_global_store()
    assert codes(raw) == []
    kept = [step(raw, id_)["params"]["stores"][0] for id_ in ("rates", "rates-1")]
    assert [each.get("state", each["node"]) for each in kept] == ["rows", "rates-1-rows"]
    assert step(raw, "also")["params"]["tables"] == [{"name": "rows", "step": "rates-1"}]


def test_a_global_store_has_no_tasks_and_no_changelog() -> None:
    plan = compiled(with_global_store()).require().plan
    assert plan is not None
    assert [sub.sources for sub in plan.subtopologies] == [["in"], ["b"]]
    assert plan.changelogs == []


@pytest.mark.parametrize("raw", [BY_NODE, BY_STORE, with_global_store()])
def test_a_program_reads_stores_as_the_document_does(raw: Raw, tmp_path: Path) -> None:
    for path, text in (compiled(raw).require().code or {}).items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    made = load_program(tmp_path).document()

    def edges(of: Raw) -> list[str]:
        return sorted(str(sorted(each.items())) for each in of["edges"])

    assert edges(made) == edges(raw)
    assert compiled(made).require().task_graph == compiled(raw).require().task_graph
