"""A topology whose results go nowhere gets a warning that blocks nothing."""

from __future__ import annotations

import pytest

from tests.compiler.kit import (
    LONG,
    Raw,
    compiled,
    document,
    global_table,
    node,
    sink,
    store,
    stream,
    table,
)  # fmt: skip

KEEP = node("keep", "filter", predicate="true")
CODE = "class Run(Processor):\n    def process(self, record): ...\n"


def found(raw: Raw) -> list[tuple[str, str | None, object]]:
    result = compiled(raw)
    assert result.ok
    return [(each.code, each.node, each.blocks) for each in result.diagnostics]


@pytest.mark.parametrize(
    "raw",
    [
        document([stream()], []),
        document([stream(), KEEP], ["in > keep"]),
        document([table()], []),
        document([table(), KEEP], ["table > keep"]),
        document(
            [stream("l"), stream("r"),
             node("join", "join.stream_stream", joiner="left", before=5, after=5)],
            ["l > join.left", "r > join.right"],
        ),
    ],
)  # fmt: skip
def test_results_that_go_nowhere_are_a_warning(raw: Raw) -> None:
    assert found(raw) == [("no_results", None, None)]


@pytest.mark.parametrize(
    "raw",
    [
        document([stream(), sink()], ["in > out"]),
        document([stream(), node("log", "sink.print")], ["in > log"]),
        document([stream(), node("seen", "peek", message="value")], ["in > seen"]),
        document(
            [stream(), node("run", "process", code=CODE, class_name="Run", output={})],
            ["in > run"],
        ),
        document([stream(), node("count", "count")], ["in > count"]),
        document([table(), store()], ["rows > table.store"]),
        document([global_table()], []),
        document([stream(), KEEP, sink()], ["in > keep", "in > out"]),
    ],
)
def test_a_sink_a_store_or_a_processor_is_enough(raw: Raw) -> None:
    assert found(raw) == []


def test_an_unfinished_topology_reports_only_its_errors() -> None:
    raw = document([stream(value=LONG), node("keep", "filter")], ["in > keep"])
    assert [each.code for each in compiled(raw).diagnostics] == ["parameter_missing"]
