"""Functions that are fragments: their documents, the ids of their nodes, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_compiler.graphs.fragments import resolved
from millrace_runtime import (
    MillraceError,
    Processor,
    ProcessorContext,
    Record,
    Stream,
    Table,
    Topology,
    fragment,
    fragment_output,
    global_table_input,
    json,
    key_value_store,
    parameter,
    stream_input,
    string,
    table_input,
)
from millrace_runtime.program import load_program


@fragment(
    "Large counts",
    version=2,
    inputs={"in": stream_input(value="STRUCT<n: INT>")},
    parameters={"low": parameter(10, description="Smallest"), "rows": parameter("rows")},
    description="Counts large records",
)
def large_counts(records: Stream, low: str, rows: str) -> Table:
    # Only what counts
    kept = records.filter(f"value.n > {low}", name="large")
    return kept.group_by_key().count(store=key_value_store(rows), name="count")


def counted(**about: Any) -> Topology:
    topology = Topology("counted")
    orders = topology.stream("orders", key=string(), value=json("n INT, item STRING"))
    large_counts(orders, **about).to_stream().to("counts")
    return topology


def test_a_function_is_a_fragment_of_the_document() -> None:
    document = counted(arguments={"low": 5}, name="counts").document()
    assert document["nodes"][1] == {
        "id": "counts", "kind": "fragment", "label": "Counts",
        "params": {"fragment": "Large counts@2", "arguments": {"low": 5}},
    }  # fmt: skip
    assert document["fragments"] == {
        "Large counts@2": {
            "description": "Counts large records",
            "parameters": {
                "low": {"type": "number", "default": 10, "description": "Smallest"},
                "rows": {"type": "text", "default": "rows"},
            },
            "nodes": [
                {"id": "in", "kind": "fragment.input",
                 "params": {"role": "stream", "value": "STRUCT<n: INT>"}},
                {"id": "large", "kind": "filter", "label": "Only what counts",
                 "params": {"predicate": "value.n > ${low}"}},
                {"id": "count", "kind": "count", "label": "Count", "params": {}},
                {"id": "rows", "kind": "store.key_value", "params": {"name": "${rows}"}},
                {"id": "out", "kind": "fragment.output", "params": {}},
            ],
            "edges": [
                {"source": "in", "target": "large"},
                {"source": "large", "target": "count"},
                {"source": "rows", "target": "count", "target_port": "store"},
                {"source": "count", "target": "out"},
            ],
        }
    }  # fmt: skip


def test_ports_have_texts_for_people() -> None:
    @fragment(
        "Titled",
        inputs={"in": stream_input(label="Orders", description="All of them")},
        outputs={"out": fragment_output(label="Large")},
    )
    def titled(records: Stream) -> Stream:
        return records.filter("value.n > 3")

    topology = Topology("titled")
    titled(topology.stream("orders", key=string(), value=json("n INT"))).to("large")
    first, _, last = topology.document()["fragments"]["Titled@1"]["nodes"]
    assert (first.get("label"), first.get("description")) == ("Orders", "All of them")
    assert last.get("label") == "Large"


def test_its_nodes_run_under_the_ids_that_they_have_on_the_canvas() -> None:
    topology = counted(identities={"count": "count"})
    runs = topology.runnable()
    ids = [each["id"] for each in resolved(topology.document())["nodes"]]
    assert [each["id"] for each in runs.document["nodes"]] == ids
    assert ids == [
        "orders",
        "large-counts--large",
        "count",
        "large-counts--rows",
        "to-stream",
        "out",
    ]
    file = Path(__file__).name
    line = large_counts.function.__code__.co_firstlineno
    assert runs.places["large-counts--large"].startswith(f"{file}, line ")
    assert int(runs.places["count"].rpartition(" ")[2]) > line


def test_a_fragment_is_used_twice_and_in_another_fragment() -> None:
    @fragment("Twice", outputs=("large", "small"))
    def twice(records: Stream) -> dict[str, Stream]:
        kept = large_counts(records, arguments={"rows": "inner"}).to_stream()
        return {"large": kept.filter("value > 5", name="many"), "small": records.filter("true")}

    topology = Topology("twice")
    orders = topology.stream("orders", key=string(), value=json("n INT"))
    found = twice(orders)
    found["large"].to("large")
    found["small"].merge(twice(orders, name="other")["small"]).to("small")
    document = topology.document()
    assert set(document["fragments"]) == {"Large counts@2", "Twice@1"}
    ids = [each["id"] for each in resolved(document)["nodes"]]
    assert "twice--large-counts--count" in ids
    assert "other--large-counts--count" in ids
    assert set(ids) <= set(topology.places)


class Marked(Processor):
    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record.replace(value={"n": 1}))


def test_functions_and_processors_are_written_as_outside_of_fragments() -> None:
    @fragment("Typed", inputs={"in": stream_input(value="STRUCT<n: INT>")})
    def typed(records: Stream) -> Stream:
        kept = records.filter(lambda value: value["n"] is not None and value["n"] > 3, name="kept")
        return kept.process(Marked, value_type="STRUCT<n: INT>", name="marked")

    topology = Topology("typed")
    orders = topology.stream("orders", key=string(), value=json("n INT"))
    typed(orders).filter(lambda value: value["n"] is not None and value["n"] > 1, name="last").to(
        "out"
    )
    document = topology.document()
    inner = {each["id"]: each["params"] for each in document["fragments"]["Typed@1"]["nodes"]}
    assert inner["kept"] == {
        "predicate": "if(value IS NULL, raise_error('TypeError: value is None'), value.n) "
        "IS NOT NULL AND value.n > 3"
    }
    # The type behind the fragment is that of its output.
    outer = {each["id"]: each["params"] for each in document["nodes"]}
    assert outer["last"] == {
        "predicate": "if(value IS NULL, raise_error('TypeError: value is None'), value.n) "
        "IS NOT NULL AND value.n > 1"
    }
    assert list(topology.outside.codes) == ["typed--marked"]


def test_a_type_that_an_input_does_not_declare_is_unknown() -> None:
    @fragment("Untyped")
    def untyped(records: Stream) -> Stream:
        return records.filter(lambda value: value["n"] > 3, name="kept")

    topology = Topology("untyped")
    untyped(topology.stream("orders", key=string(), value=json("n INT"))).to("out")
    kinds = [each["kind"] for each in topology.document()["fragments"]["Untyped@1"]["nodes"]]
    assert "filter" not in kinds  # it runs in Python


REFUSED = """from millrace_runtime import Topology, fragment, json, parameter, string


@fragment("Part"{options})
def part({parameters}):
    {body}


topology = Topology("refused")
orders = topology.stream("orders", key=string(), value=json("n INT"))
{call}
"""


@pytest.mark.parametrize(
    ("changed", "line", "message"),
    [
        ({"call": "part()"}, 11, "Part takes 1 inputs (in), found 0"),
        ({"call": "part('orders')"}, 11, "takes streams and tables, found 'o'"),
        ({"call": "part(orders, arguments={'low': 1})"}, 11,
         "Part has no parameter 'low'. Its parameters: none."),
        ({"call": "part(orders, nam='a')"}, 11, "part() has no argument 'nam'. Did you mean name?"),
        ({"body": "return None"}, 11,
         "part (part.py, line 4) returns a stream or a table, found None"),
        ({"body": "return orders"}, 11, "returns orders, which is not in the fragment"),
        ({"body": "return part(a)"}, 6, "the fragment contains itself: Part@1 → Part@1"),
        ({"body": "return a.filter('true', nam='b')"}, 6, "no argument 'nam'"),
        ({"options": ", inputs={}"}, 4, "needs an input"),
        ({"options": ", outputs=['in']"}, 4, "the port 'in' is used twice"),
        ({"options": ", outputs=['b', 'c']"}, 11, "returns a dict of its outputs (b, c)"),
        ({"options": ", version='2'"}, 4, "a whole number, found '2'"),
        ({"options": ", parameters={'Low': parameter(1)}"}, 4, "'Low' is not a name"),
        ({"body": "a.foreach_batch(print); return a"}, 11, "cannot call a function"),
    ],
)  # fmt: skip
def test_what_is_refused_names_the_line(
    changed: dict[str, str], line: int, message: str, tmp_path: Path
) -> None:
    parts = {"options": "", "parameters": "a", "body": "return a", "call": "part(orders).to('b')"}
    file = tmp_path / "part.py"
    file.write_text(REFUSED.format(**{**parts, **changed}), encoding="utf-8")
    with pytest.raises(MillraceError) as found:
        load_program(file)
    assert message in str(found.value)
    assert f"part.py, line {line}:" in str(found.value)


def test_tables_are_inputs() -> None:
    @fragment("Enriched", inputs={"left": stream_input(), "right": table_input(),
                                  "all": global_table_input(value="STRUCT<b: INT>")})  # fmt: skip
    def enriched(left: Stream, right: Table, every: Any) -> Stream:
        joined = left.join(right, joiner="named_struct('a', left.n)")
        return joined.join(every, key="key", joiner="right.b")

    topology = Topology("enriched")
    value = json("n INT")
    left = topology.stream("left", key=string(), value=value)
    right = topology.table("right", key=string(), value=value)
    every = topology.global_table("every", key=string(), value=json("b INT"))
    enriched(left, right, every).to("out")
    document = topology.document()
    assert [each["target_port"] for each in document["edges"][:3]] == ["left", "right", "all"]
    kinds = [each["kind"] for each in resolved(document)["nodes"]]
    assert kinds[3:5] == ["join.stream_table", "join.stream_global_table"]
