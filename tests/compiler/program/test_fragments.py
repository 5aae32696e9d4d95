"""Fragments as functions: that a program and its document can be recovered from each other."""

from __future__ import annotations

import ast
import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import compile_document
from millrace_compiler.declarations.operator import registry
from millrace_compiler.parameters.parameters import Duration
from millrace_runtime.program import load_program

from tests.compiler.graphs.test_fragments import (
    COUNTED,
    SCENARIOS,
    counted,
    definition,
    middle,
    selected,
    use,
)
from tests.compiler.kit import OneTypeAnalyzer, document, node, sink, store, stream
from tests.compiler.program.test_writer import ruffed

INT = re.compile(r"(?<![\w.'])\d{1,9}(?![\w.'])")
LENGTHS = ("size", "advance", "grace", "inactivity_gap")


def compiled(raw: Any) -> Any:
    return compile_document(raw, OneTypeAnalyzer()).require()


def program(raw: Any) -> str:
    return str(compiled(raw).code["job.py"])


def read_back(raw: Any, folder: Path) -> Any:
    """Return the document that is recovered from a document's program."""
    return loaded(compiled(raw), folder)


def loaded(made: Any, folder: Path) -> Any:
    """Return the document of a compiled program."""
    for path, text in made.code.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return load_program(folder).document()


def parametrised(raw: Any) -> Any:
    """Return a document whose fragment has a parameter for each number, duration and store name."""
    part = raw["fragments"]["part@1"]
    declared: dict[str, Any] = part["parameters"]

    def place(type_: str, value: Any) -> str:
        name = f"{type_}_{len(declared)}"
        declared[name] = {"type": type_, "default": value, "description": f"Was {value}"}
        return f"${{{name}}}"

    def filled(value: Any, *, sql: bool) -> Any:
        if isinstance(value, str) and sql:
            quoted = "'" in value or '"' in value
            return value if quoted else INT.sub(lambda n: place("number", int(n[0])), value)
        if isinstance(value, list):
            return [filled(each, sql=sql) for each in value]
        if isinstance(value, dict):
            return {
                name: place("duration", each) if name in LENGTHS and not sql
                else each if name in ("port", "name", "type")
                else filled(each, sql=sql)
                for name, each in value.items()
            }  # fmt: skip
        return value

    for each in part["nodes"]:
        operator = registry().get(each["kind"])
        for name, value in each.get("params", {}).items():
            parameter = operator.parameters[name] if operator else None
            if parameter is None or parameter.widget == "code":
                continue
            if isinstance(parameter, Duration) and value:
                each["params"][name] = place("duration", value)
            elif each["kind"].startswith("store.") and name == "name":
                each["params"][name] = place("text", value)
            else:
                each["params"][name] = filled(value, sql=parameter.expression() is not None)
    return raw


def content(raw: Any) -> Any:
    """What round trips keep: ids, kinds, texts, parameters, ports and uses; order aside."""

    def nodes(rows: Any) -> Any:
        found = {}
        for each in rows:
            params = json.dumps(each.get("params") or {})
            places = sorted(set(re.findall(r"\$\{\w+\}", params)))
            fragment = json.loads(params) if each["kind"].startswith("fragment") else places
            texts = each.get("label") or "", each.get("description") or ""
            found[each["id"]] = each["kind"], texts, fragment
        return found

    def edges(rows: Any) -> Any:
        return sorted(
            (each["source"], each.get("source_port") or "out", each["target"],
             each.get("target_port") or "in")
            for each in rows
        )  # fmt: skip

    definitions = {
        name: (nodes(each["nodes"]), edges(each["edges"]), each.get("parameters") or {},
               each.get("description"))
        for name, each in raw.get("fragments", {}).items()
    }  # fmt: skip
    return nodes(raw["nodes"]), edges(raw["edges"]), definitions


def tasks(made: Any) -> Any:
    """The steps of a compiled topology by id, and the children of each, whose order matters."""
    graph = made.require_task_graph()
    steps = {each["id"]: {**each, "sub": 0} for each in graph["nodes"]}
    return steps, {**graph, "nodes": 0}


def test_recorded_topologies_and_programs_with_a_fragment_are_each_other(tmp_path: Path) -> None:
    tried, places = 0, 0
    for path in SCENARIOS:
        raw = json.loads(path.read_text("utf-8"))["topology"]
        inner = middle(raw)
        if not inner or compile_document(raw, OneTypeAnalyzer()).code is None:
            continue
        raw = parametrised(selected(raw, inner))
        raw["fragments"]["part@1"]["description"] = "Its *middle*"
        made = compiled(raw)
        if "@fragment" not in made.code["job.py"]:
            assert (raw.get("settings") or {}).get("optimization"), path.stem
            continue
        back = loaded(made, tmp_path / path.stem)
        again = compiled(back)
        assert content(back) == content(raw), path.stem
        assert tasks(again) == tasks(made), path.stem
        assert again.code == made.code, path.stem
        places += json.dumps(raw).count("${")
        tried += 1
    assert tried > 100
    assert places > 100


def test_a_fragment_is_a_function_that_the_topology_calls() -> None:
    text = program(counted(arguments={"shortest": 5}))
    assert ruffed(text) == text
    assert (
        text.partition("\n\n\n")[2]
        == """@fragment(
    "counted", inputs={"in": stream_input(key="STRING")}, parameters={"shortest": parameter(3)}
)
def counted(records: Stream, shortest: str) -> Table:
    return records.filter(f"length(value) > {shortest}", name="keep").group_by_key().count()


topology = Topology("test", labels=False)

in_ = topology.stream("in", key=string(), value=string())
counted_2 = counted(in_, arguments={"shortest": 5})
counted_2.to("out")


if __name__ == "__main__":
    topology.main()
"""
    )


def nested() -> Any:
    """A document whose fragments are used twice, have labels, and names that Python uses."""
    outer = definition(
        [
            {**node("class", "fragment.input", role="table"), "label": "Words"},
            {**node("store", "filter", predicate="value != '${type}'"), "label": "Kept"},
            node("stream", "to_stream"),
            use("topology", "counted@1", arguments={"shortest": "${least}"}),
            {**node("counts", "fragment.output"), "description": "By word"},
            node("rest", "fragment.output"),
        ],
        ["class > store", "store > stream", "stream > topology", "topology > counts",
         "stream > rest"],
        parameters={"least": {"type": "number", "default": 7},
                    "type": {"type": "text", "default": "x"}},
        description="Two outputs",
    )  # fmt: skip
    uses = [use("a", "fragment@3"), use("b", "fragment@3", arguments={"least": 1, "type": "y"})]
    table = node("in", "source.table", topic="in", key={"format": "string"},
                 value={"format": "string"})  # fmt: skip
    return document(
        [table, *uses, sink(), sink("others")],
        ["in > a.class", "in > b.class", "a.counts > out", "b.counts > out", "b.rest > others"],
        fragments={"fragment@3": outer, "counted@1": COUNTED},
    )


def test_fragments_in_fragments_with_names_that_python_uses(tmp_path: Path) -> None:
    raw, back = nested(), read_back(nested(), tmp_path)
    assert content(back) == content(raw)
    assert tasks(compiled(back)) == tasks(compiled(raw))
    text = program(raw)
    assert ruffed(text) == text
    # Each fragment is defined once, before it is used.
    names = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert names == ["counted", "fragment_2"]


@pytest.mark.parametrize(
    "text",
    ["value.n > ${low} -- {braces} \"both\" 'quotes'", "m['{a}'] = \"${low}\" or n = ${low}",
     "first\n  > ${low}", "x" * 90 + " > ${low} and " + "y" * 90, "'${unknown}' > ${low}"],
    ids=["braces", "quotes", "lines", "long", "unknown"],
)  # fmt: skip
def test_texts_with_parameters_come_back(text: str, tmp_path: Path) -> None:
    fragment = definition(
        [node("in", "fragment.input"), node("keep", "filter", predicate=text),
         node("out", "fragment.output")],
        ["in > keep", "keep > out"],
        parameters={"low": {"type": "number", "default": 3}},
    )  # fmt: skip
    raw = document([stream(), use("f", "f@1"), sink()], ["in > f", "f > out"],
                   fragments={"f@1": fragment})  # fmt: skip
    made = read_back(raw, tmp_path)
    assert made["fragments"]["f@1"]["nodes"][1]["params"] == {"predicate": text}
    assert ruffed(program(raw)) == program(raw)


def test_lines_of_a_function_belong_to_its_nodes_and_to_those_that_use_it() -> None:
    found = compiled(nested())
    lines = found.code["job.py"].split("\n")
    shown: dict[str, list[str]] = {}
    for span in found.source_map:
        shown.setdefault(span.node, []).append("\n".join(lines[span.start - 1 : span.end]))
    assert [each.partition("(")[0] for each in shown["a"]] == [
        "@fragment",
        "@fragment",
        "a = fragment_2",
    ]
    assert "length(value)" in shown["b--topology--keep"][0]
    assert shown["a--store"] == shown["b--store"]
    assert set(found.graph.operators) <= set(shown)


def changed(change: str) -> Any:
    raw = copy.deepcopy(counted())
    made = raw["fragments"]["counted@1"]
    if change == "a source":
        made["nodes"].append(stream("more", ["more"]))
        made["nodes"].append(sink("less"))
        made["edges"].append({"source": "more", "target": "less"})
    elif change == "an output before another edge":
        made["nodes"].append(node("last", "to_stream"))
        made["nodes"].append(sink("less"))
        made["edges"] += [
            {"source": "count", "target": "last"},
            {"source": "last", "target": "less"},
        ]
    elif change == "a port without an id":
        made["nodes"] += [{"kind": "fragment.output"}, node("last", "fragment.output")]
        made["nodes"][-1]["params"] = "none"
    elif change == "a boolean":
        made["parameters"]["kept"] = {"type": "boolean", "default": True}
        made["nodes"].append(store("rows", name="rows", caching="${kept}"))
        made["edges"].append({"source": "rows", "target": "count", "target_port": "store"})
    return raw


@pytest.mark.parametrize(
    "change", ["a source", "an output before another edge", "a port without an id", "a boolean"]
)
def test_what_a_function_cannot_say_is_written_where_it_is_used(
    change: str, tmp_path: Path
) -> None:
    raw = changed(change)
    made = read_back(raw, tmp_path)
    assert "fragments" not in made
    assert {"counted--keep", "counted--count"} <= {each["id"] for each in made["nodes"]}
    assert tasks(compiled(made)) == tasks(compiled(raw))
    # Another fragment of the same document is a function.
    raw["fragments"]["kept@1"] = COUNTED
    raw["nodes"].append(use("kept", "kept@1"))
    raw["edges"].append({"source": "in", "target": "kept"})
    assert "@fragment" in program(raw)
