"""Parameters of a topology in its program: `low = topology.param("low", 100)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from millrace_model.documents import DocumentParameter, FragmentDefinition, TopologyDocument

from millrace_compiler.declarations.calls import Call
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import read_document
from millrace_compiler.graphs.expansion import Expansion
from millrace_compiler.graphs.fragments import expanded_but
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.program.fragments import Fragments, keeps_parameters, read_fragments
from millrace_compiler.program.placeholders import Placeholders
from millrace_compiler.program.used import InputPort, OutputPort, Use

_ENVIRONMENTS = ("dev", "test", "prod")
#: the type that `Topology.param` gives a default
_IMPLIED = {bool: "boolean", int: "number", float: "number", str: "text"}


@dataclass
class Parameters:
    """The parameters that a program declares, with the texts of settings that name them."""

    rows: Mapping[str, DocumentParameter]
    placeholders: Placeholders
    settings: Mapping[str, object]
    topics: Mapping[str, object]

    def call(self, name: str) -> Call:
        """The declaration of a parameter, a method of the topology."""
        row = self.rows[name]
        default = row["default"]
        type_ = row["type"] if row["type"] != _IMPLIED[type(default)] else None
        values = row.get("values") or {}
        keywords = {"type": type_, **{each: values.get(each) for each in _ENVIRONMENTS}}
        keywords["description"] = row.get("description") or None
        given = tuple((key, value) for key, value in keywords.items() if value is not None)
        return Call("param", (name, default), given)


def read_parameters(
    raw: object,
    filled: TopologyDocument,
    expansion: Expansion,
    expanded: Graph,
    settings: Mapping[str, object],
) -> tuple[Fragments, Parameters] | None:
    """Return what a program with the parameters of a document consists of.

    `raw`: a document that compiles; `filled`: the same with the values of its parameters. None if
    it has no parameters, or uses one where a program cannot.
    """
    given = cast(TopologyDocument, raw)
    rows = given.get("parameters")
    if not rows:
        return None
    placeholders = Placeholders({each: each for each in rows})
    definition = cast(FragmentDefinition, {"nodes": given["nodes"], "parameters": rows})
    marked = cast(TopologyDocument, {**filled, "nodes": placeholders.mark(definition)})
    fragments = None
    if expansion.origins:
        fragments = read_fragments(marked, expansion, expanded, settings)
    if fragments is None:
        report = Diagnostics()
        graph = Graph(read_document(expanded_but(marked, set()), report), report)
        if report.failed:
            return None
        fragments = Fragments(graph, {}, {}, {})
    nodes = {each["id"]: each for each in given["nodes"]}
    for id_, operator in fragments.graph.operators.items():
        if id_ not in nodes or isinstance(operator, Use | InputPort | OutputPort):
            continue
        if not keeps_parameters(nodes[id_], fragments.graph, placeholders):
            return None
    written = _texts(given.get("settings"), settings)
    topics = {name: row["partitions"] for name, row in (given.get("topics") or {}).items()}
    made = Parameters(rows, placeholders, written, topics)
    return (fragments, made) if _whole(given, fragments, placeholders) else None


def _texts(raw: object, settings: Mapping[str, object]) -> dict[str, object]:
    """The settings, with the text of those that name a parameter."""
    given = raw if isinstance(raw, dict) else {}
    named = {name: value for name, value in given.items() if "${" in str(value)}
    return {**settings, **{name: value for name, value in named.items() if name in settings}}


def _whole(raw: TopologyDocument, fragments: Fragments, placeholders: Placeholders) -> bool:
    """Whether the values of fragments' parameters that name one are in the program."""
    uses = {id_: each for id_, each in fragments.graph.operators.items() if isinstance(each, Use)}
    for node in raw["nodes"]:
        named = placeholders.names(cast(Any, node.get("params") or {}))
        if not named or (node["id"] in fragments.graph.operators and node["id"] not in uses):
            continue
        use = uses.get(node["id"])
        words = [] if use is None else [(each.args, each.keywords) for each in use.words()]
        if named != placeholders.names(words):
            return False
    return True
