"""Fragments: expanded documents, what their nodes were, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.expander import MOST_NODES
from millrace_compiler.graphs.fragments import expand, resolved
from millrace_compiler.graphs.kinds import runs_only_expressions, runs_python
from millrace_compiler.state.state_changes import compare
from millrace_compiler.state.state_schema import state_schema

from tests.compiler.kit import OneTypeAnalyzer, document, edge, node, sink, store, stream

SCENARIOS = sorted((Path(__file__).parents[2] / "conformance" / "scenarios").glob("*.json"))


def definition(nodes: list[Any], edges: list[str], **more: Any) -> Any:
    return {"nodes": nodes, "edges": [edge(each) for each in edges], **more}


def use(id_: str, fragment: str, **params: Any) -> Any:
    return node(id_, "fragment", fragment=fragment, **params)


COUNTED = definition(
    [
        node("in", "fragment.input", role="stream", key="STRING"),
        node("keep", "filter", predicate="length(value) > ${shortest}"),
        node("count", "count"),
        node("out", "fragment.output"),
    ],
    ["in > keep", "keep > count", "count > out"],
    parameters={"shortest": {"type": "number", "default": 3}},
)


def counted(**params: Any) -> Any:
    """Return a document with a fragment between its source and its sink."""
    nodes = [stream(), use("counted", "counted@1", **params), sink()]
    return document(nodes, ["in > counted", "counted > out"], fragments={"counted@1": COUNTED})


def compiled(raw: Any, analyzer: Analyzer | None = None) -> Compilation:
    return compile_document(raw, analyzer or OneTypeAnalyzer())


def order(raw: Any) -> dict[str, list[str]]:
    """Return the children of each node, in their order."""
    found: dict[str, list[str]] = {}
    for each in raw["edges"]:
        found.setdefault(each["source"], []).append(each["target"])
    return found


def codes(raw: Any) -> list[tuple[str, str | None, str | None]]:
    return [(each.code, each.node, each.parameter) for each in compiled(raw).diagnostics]


def test_nodes_of_a_fragment_get_the_id_of_its_node() -> None:
    made: Any = resolved(counted(arguments={"shortest": 5}))
    assert "fragments" not in made
    assert [each["id"] for each in made["nodes"]] == [
        "in",
        "counted--keep",
        "counted--count",
        "out",
    ]
    assert made["nodes"][1]["params"] == {"predicate": "length(value) > 5"}
    assert order(made) == {
        "in": ["counted--keep"], "counted--keep": ["counted--count"], "counted--count": ["out"],
    }  # fmt: skip
    default: Any = resolved(counted())
    assert default["nodes"][1]["params"] == {"predicate": "length(value) > 3"}


def test_a_document_without_fragments_is_not_changed() -> None:
    raw = document([stream(), sink()], ["in > out"])
    assert expand(raw, Diagnostics()).document is raw


def test_a_compilation_shows_what_a_fragment_contains() -> None:
    found = compiled(counted()).to_json()
    assert found["diagnostics"] == []
    assert found["ports"]["counted"]["out"]["role"] == "table"
    inner = found["fragments"]["counted"]
    assert [(each["id"], each["local"], each["kind"]) for each in inner["nodes"]] == [
        ("counted--keep", "keep", "filter"), ("counted--count", "count", "count"),
    ]  # fmt: skip
    assert inner["edges"] == [{"source": "counted--keep", "target": "counted--count"}]
    plan = found["plan"]
    assert plan is not None
    assert [each["index"] for each in plan["edges"]] == [0, 1]
    assert "counted--count-changelog" in {each["name"] for each in plan["internal_topics"]}


def selected(raw: Any, inner: set[str]) -> Any:
    """Return a document in which nodes are a fragment, with the ids that they have."""
    made: dict[str, Any] = {"parameters": {}, "nodes": [], "edges": []}
    outer: list[Any] = []
    ports: dict[tuple[str, ...], str] = {}

    def port(kind: str, *end: str) -> str:
        name = ports.setdefault(end, f"port-{len(ports)}")
        if all(each["id"] != name for each in made["nodes"]):
            made["nodes"].append(node(name, kind))
        return name

    for each in raw["edges"]:
        start = (each["source"], each.get("source_port") or "out")
        stop = (each["target"], each.get("target_port") or "in")
        inside = start[0] in inner, stop[0] in inner
        if inside == (True, True):
            made["edges"].append(each)
        elif inside == (False, False):
            outer.append(each)
        elif inside[1]:
            # The node before may have several children in the fragment and outside of it, in turn.
            name = port("fragment.input", *start, *stop)
            made["edges"].append({"source": name, "target": stop[0], "target_port": stop[1]})
            outer.append({"source": start[0], "source_port": start[1], "target": "part",
                          "target_port": name})  # fmt: skip
        else:
            name = port("fragment.output", *start, *stop)
            made["edges"].append({"source": start[0], "source_port": start[1], "target": name})
            outer.append({"source": "part", "source_port": name, "target": stop[0],
                          "target_port": stop[1]})  # fmt: skip
    roles = {each["id"]: each["kind"].removeprefix("source.") for each in raw["nodes"]}
    for ends, name in ports.items():
        row = next(each for each in made["nodes"] if each["id"] == name)
        if row["kind"] == "fragment.input":
            row["params"] = {"role": roles[ends[0]]}
    made["nodes"] += [each for each in raw["nodes"] if each["id"] in inner]
    part = use("part", "part@1", identities={each: each for each in inner})
    before = [each for each in raw["nodes"] if each["id"] not in inner]
    return {**raw, "nodes": [*before, part], "edges": outer, "fragments": {"part@1": made}}


def middle(raw: Any) -> set[str]:
    """Return the nodes between sources and sinks, which then come last; none if they use others."""
    kinds = {each["id"]: str(each["kind"]) for each in raw["nodes"]}
    sources = {id_ for id_, kind in kinds.items() if kind.startswith("source.")}
    stored = {each["source"] for each in raw["edges"] if each["target"] in sources}
    inner = {id_ for id_, kind in kinds.items() if not kind.startswith(("source.", "sink."))}
    inner -= stored
    outside = stored | {
        each["source"]
        for each in raw["edges"]
        if each["source"] not in inner and each.get("target_port") == "store"
    }
    first = [each for each in raw["nodes"] if each["id"] not in inner]
    raw["nodes"] = first + [each for each in raw["nodes"] if each["id"] in inner]
    return set() if outside else inner


def test_recorded_topologies_are_the_same_with_a_fragment(
    analyzer: Analyzer,
) -> None:
    tried = 0
    for path in SCENARIOS:
        raw = json.loads(path.read_text("utf-8"))["topology"]
        inner = middle(raw)
        if not inner:
            continue
        whole = compile_document(raw, analyzer)
        if not whole.ok:
            continue
        made = compile_document(selected(raw, inner), analyzer)
        assert made.ok, (path.stem, [each.to_text() for each in made.diagnostics])
        assert made.task_graph == whole.task_graph, path.stem
        tried += 1
    assert tried > 100


def test_state_stays_when_the_version_changes() -> None:
    changed = json.loads(json.dumps(COUNTED).replace("length(value)", "2 * length(value)"))
    before, after = counted(), counted()
    after["fragments"] = {"counted@2": changed}
    after["nodes"][1]["params"]["fragment"] = "counted@2"
    old, new = (state_schema(compiled(each)) for each in (before, after))
    [found] = compare(old, new).stores
    assert (found.id, found.verdict) == ("counted--count", "kept")
    given = counted(identities={"count": "totals"})
    [first] = compiled(given).require().expansion.to_json()["counted"]["nodes"][1:]
    assert first["id"] == "totals"


def test_a_fragment_in_a_fragment() -> None:
    outer = definition(
        [
            node("words", "fragment.input"),
            use("inner", "counted@1", arguments={"shortest": "${least}"}),
            node("counts", "fragment.output"),
        ],
        ["words > inner", "inner > counts"],
        parameters={"least": {"type": "number", "default": 7}},
    )
    raw = document(
        [stream(), use("a", "outer@3"), use("b", "outer@3", arguments={"least": 1}), sink()],
        ["in > a.words", "in > b.words", "a.counts > out", "b.counts > out"],
        fragments={"outer@3": outer, "counted@1": COUNTED},
    )
    made = compiled(raw)
    assert [each.to_text() for each in made.diagnostics] == []
    nodes: Any = made.document.raw["nodes"]
    texts = {each["id"]: each["params"].get("predicate") for each in nodes}
    assert texts["a--inner--keep"] == "length(value) > 7"
    assert texts["b--inner--keep"] == "length(value) > 1"
    assert made.expansion.origins["b--inner--count"].node == "b"
    assert made.to_json()["ports"]["a"]["counts"]["role"] == "table"


def test_children_keep_their_order_around_a_port() -> None:
    fragment = definition(
        [node("in", "fragment.input"), node("a", "peek", message="'a'"),
         node("b", "peek", message="'b'"), node("out", "fragment.output")],
        ["in > a", "a > out", "a > b"],
    )  # fmt: skip
    raw = document(
        [stream(), use("f", "f@1"), sink("one"), sink("two")],
        ["f > one", "in > f", "in > two"],
        fragments={"f@1": fragment},
    )
    made: Any = resolved(raw)
    assert order(made) == {"in": ["f--a", "two"], "f--a": ["one", "f--b"]}


def test_faults_within_are_shown_at_the_node_of_the_fragment() -> None:
    fragment = json.loads(json.dumps(COUNTED).replace("length(value) > ${shortest}", "${shortest}"))
    fragment["nodes"][1]["params"]["predicat"] = "true"
    raw = counted()
    raw["fragments"] = {"counted@1": fragment}
    found = [each for each in compiled(raw).diagnostics if each.code == "parameter_unknown"]
    assert [(each.node, each.inner, each.parameter) for each in found] == [
        ("counted", "counted--keep", "predicat")
    ]
    assert found[0].to_json()["inner"] == "counted--keep"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"fragment": "counted"}, ("fragment_reference", "counted", "fragment")),
        ({"fragment": "counted@2"}, ("fragment_unknown", "counted", "fragment")),
        ({"arguments": {"longest": 3}}, ("fragment_argument", "counted", "arguments")),
        ({"arguments": {"shortest": "x"}}, ("parameter_value", "counted", "arguments")),
        ({"arguments": 3}, ("node_part", "counted", "arguments")),
        ({"identities": {"count": "A b"}}, ("node_id", "counted", "identities")),
        ({"size": 3}, ("parameter_unknown", "counted", "size")),
    ],
)
def test_a_node_that_is_not_valid(change: Any, found: tuple[str, str, str]) -> None:
    raw = counted()
    raw["nodes"][1]["params"].update(change)
    assert found in codes(raw)


def test_what_does_not_fit_the_ports_is_refused() -> None:
    raw = counted()
    raw["edges"] = [edge("in > counted.left"), edge("counted > out")]
    assert ("port_unknown", "counted", "left") in codes(raw)
    raw["edges"] = [edge("counted > out")]
    assert codes(raw) == [("input_missing", "counted", "in")]
    raw = counted()
    raw["nodes"][0] = node("in", "source.table", topic="in", key={"format": "long"},
                           value={"format": "string"})  # fmt: skip
    assert ("fragment_input_type", "counted", "in") in codes(raw)


def test_a_fragment_that_contains_itself_is_refused() -> None:
    fragment = definition([node("in", "fragment.input"), use("again", "f@1")], ["in > again"])
    raw = document([stream(), use("f", "f@1")], ["in > f"], fragments={"f@1": fragment})
    assert ("fragment_cycle", "f", "fragment") in codes(raw)
    through = definition(
        [node("in", "fragment.input"), node("out", "fragment.output")], ["in > out"]
    )
    raw = document(
        [use("a", "t@1"), use("b", "t@1"), stream(), sink()],
        ["in > a", "a > b", "b > a", "b > out"], fragments={"t@1": through},
    )  # fmt: skip
    assert "fragment_loop" in {code for code, _, _ in codes(raw)}


IN, OUT = node("in", "fragment.input"), node("out", "fragment.output")


def passing(uses: int, edges: int) -> Any:
    """A chain of fragments that only pass records on, with so many edges from one to the next."""
    links = [f"f{n} > f{n + 1}" for n in range(uses - 1) for _ in range(edges)]
    fragments = {"f@1": definition([IN, OUT], ["in > out"])}
    nodes = [stream(), *(use(f"f{n}", "f@1") for n in range(uses))]
    return document(nodes, ["in > f0", *links], fragments=fragments)


def wrong_names(count: int) -> Any:
    """Edges to as many ports that do not exist as there are others."""
    ports = [node(f"i{n}", "fragment.input") for n in range(count)]
    raw = document([stream(), use("f", "f@1")], [], fragments={"f@1": definition(ports, [])})
    edges = [{"source": "in", "target": "f", "target_port": f"x{n}"} for n in range(count)]
    return {**raw, "edges": edges}


@pytest.mark.parametrize(
    "raw",
    [passing(40, 2), passing(1_500, 1), wrong_names(6_000)],
    ids=["paths that double", "a long chain", "guesses of names"],
)
def test_work_that_yields_no_node_is_bounded(raw: Any) -> None:
    began = time.monotonic()
    assert "fragment_too_large" in {code for code, _, _ in codes(raw)}
    assert time.monotonic() - began < 20


def test_hostile_fragments_are_refused_in_bounded_time() -> None:
    def tenfold(inner: str) -> Any:
        uses = [use(f"n{index}", inner) for index in range(10)]
        return definition([node("in", "fragment.input"), *uses],
                          [f"in > n{index}" for index in range(10)])  # fmt: skip

    fragments = {f"f@{level}": tenfold(f"f@{level + 1}") for level in range(1, 7)}
    leaf = [node("in", "fragment.input"), node("p", "peek", message="'a'")]
    fragments["f@7"] = definition(leaf, ["in > p"])
    raw = document([stream(), use("f", "f@1")], ["in > f"], fragments=fragments)
    began = time.monotonic()
    assert "fragment_too_large" in {code for code, _, _ in codes(raw)}
    assert time.monotonic() - began < 20
    deep = {f"f@{level}": definition([use("n", f"f@{level + 1}")], []) for level in range(1, 12)}
    raw = document([stream(), use("f", "f@1")], ["in > f"], fragments=deep)
    assert ("fragment_depth", "f", "fragment") in codes(raw)
    huge = definition([node(f"p{index}", "peek", message="'a'") for index in range(MOST_NODES)], [])
    raw = document([stream(), use("f", "f@1")], ["in > f"], fragments={"f@1": huge})
    assert "fragment_too_large" in {code for code, _, _ in codes(raw)}
    port = {"kind": "fragment.input", "params": 3}
    broken_edge = {"nodes": [{}], "edges": [{"source": 3}], "parameters": 3}
    broken: Any
    for broken in (
        3, [], {"f": 3}, {"f@1": {}}, {"f@1": {"nodes": [3], "edges": [{}]}},
        {"f@1": broken_edge}, {"f@1": {"nodes": [port], "edges": []}},
    ):  # fmt: skip
        raw = document([stream(), use("f", "f@1")], ["in > f"], fragments=broken)
        assert not compiled(raw).ok


def test_python_in_a_fragment_counts() -> None:
    code = definition([node("p", "process", code="", class_name="A")], [])
    raw = document([stream(), sink()], ["in > out"], fragments={"p@1": code})
    assert runs_python(raw)
    assert not runs_only_expressions(raw)
    assert not runs_python(counted())


def test_a_fragment_alone_reads_a_topic_for_each_input() -> None:
    raw = {**document([], []), **COUNTED}
    made = compiled(raw)
    assert [each.to_text() for each in made.diagnostics] == []
    assert made.to_json()["plan"]["subtopologies"][0]["sources"] == ["in"]  # type: ignore[index]
    raw = {**document([], []), **definition([node("in", "fragment.input", role="x")], [])}
    assert ("fragment_role", "in", "role") in codes(raw)
    raw = {**document([], []), **definition([node("in", "fragment.input", value="INTT<")], [])}
    assert ("fragment_type", "in", "value") in codes(raw)


def test_stores_of_a_fragment_that_is_used_twice_have_names_by_a_parameter() -> None:
    fragment = definition(
        [node("in", "fragment.input"), node("count", "count"), store("rows", name="${rows}")],
        ["in > count", "rows > count.store"],
        parameters={"rows": {"type": "text", "default": "rows"}},
    )
    uses = [use("a", "f@1"), use("b", "f@1")]
    raw = document([stream(), *uses], ["in > a", "in > b"], fragments={"f@1": fragment})
    assert ("store_name_twice", "b", "name") in codes(raw)
    uses[1]["params"]["arguments"] = {"rows": "others"}
    assert codes(raw) == []
