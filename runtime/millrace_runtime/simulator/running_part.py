"""Simulation of a part of a topology, with results in terms of the whole topology."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from millrace_compiler import Compilation
from millrace_compiler.compilation.running_part import Ends, NoPart, part_of
from millrace_compiler.declarations.ports import Port
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import DocumentEdge, TopologyDocument
from millrace_model.simulations import PartRequest, SimulationResult
from millrace_model.traces import NodeCounts, RunProgress

from millrace_runtime.errors import MillraceError
from millrace_runtime.results.input_lines import invalid_line
from millrace_runtime.simulator.fragments import Fragments


class RunningPart:
    """The part that a request names. Raises MillraceError `part_*` or `pin_*` if it cannot run.

    `fragments`: those that the document had before it was expanded.
    """

    def __init__(
        self,
        whole: Compilation,
        document: TopologyDocument,
        request: PartRequest,
        fragments: Fragments,
    ) -> None:
        pins = [_ends(each) for each in request.get("pins") or []]
        try:
            self._part = part_of(
                whole, document, pins, to=request.get("to"), muted=request.get("muted") or [],
                doubles=request.get("doubles") or [],
                stands=fragments.stands(), within=fragments.nodes(),
            )  # fmt: skip
        except NoPart as error:
            raise MillraceError(error.code, str(error), facts=error.facts) from None
        self._pins = frozenset(pins)
        self._whole = document
        self._nodes = {node["id"] for node in self.document["nodes"]}

    @property
    def document(self) -> TopologyDocument:
        """The document of the part."""
        return self._part.document

    @property
    def ports(self) -> Mapping[str, Port]:
        """The ports for which its own sources stand."""
        return self._part.ports

    def runs(self, node: str) -> bool:
        """Whether a node of the whole is in the part, and neither muted nor one with a double."""
        replaced = node in self._part.muted or node in self._part.doubles
        return node in self._nodes and not replaced

    def lines(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the input lines with a topic in place of each edge.

        Records of edges that the part does not have, because a node after them is muted or not
        needed, are of a topic that nothing reads, like records of a topic without a source.
        """
        return [self._line(line, f"Input {number}") for number, line in enumerate(inputs, 1)]

    def _line(self, line: Any, where: str) -> Any:
        if not isinstance(line, dict) or "edge" not in line:
            return line
        edge = line["edge"]
        named = isinstance(edge, dict) and all(
            isinstance(edge.get(end), str) for end in ("source", "target")
        )
        if not named or _ends(edge) not in self._pins:
            raise invalid_line(where, "its edge is not one of the pins")
        topic = self._part.topics.get(_ends(edge), "pinned")
        return {**{name: each for name, each in line.items() if name != "edge"}, "topic": topic}

    def diagnostics(self, found: Iterable[DiagnosticJson]) -> list[DiagnosticJson]:
        """Return the diagnostics at nodes of the whole; that nothing is written is no fault."""
        return [
            {**each, "node": self._origin(each["node"])}
            for each in found
            if each["code"] != "no_results"
        ]

    def reporting(self, progress: Callable[[RunProgress], None]) -> Callable[[RunProgress], None]:
        """Return a function that reports progress with the counts of the whole."""

        def report(found: RunProgress) -> None:
            counts: Any = {**found}
            if "edges" in found:
                counts["edges"] = self._edges(found["edges"])
            if "nodes" in found:
                counts["nodes"] = self._counts(found["nodes"])
            progress(counts)

        return report

    def show(self, result: SimulationResult) -> None:
        """Name the whole's nodes and edges in a result."""
        result["edges"] = self._edges(result["edges"])
        result["nodes"] = self._counts(result["nodes"])
        for step in result["steps"]:
            node, origin = step["node"], step.get("from")
            step["node"] = self._origin(node) or node
            if origin is not None and origin in self._part.origins:
                step["from"], step["port"] = self._part.origins[origin]
            index = step.get("edge")
            if index is not None:
                step["edge"] = self._part.edges[index]
        error = result["error"]
        if error is not None and error.get("node"):
            error["node"] = self._origin(error["node"])
        whole = [node["id"] for node in self._whole["nodes"]]
        result["part"] = {
            "nodes": [id_ for id_ in whole if id_ in self._nodes],
            "muted": dict(self._part.muted),
            "doubles": list(self._part.doubles),
        }

    def _origin(self, node: str | None) -> str | None:
        return node if node is None else self._part.origins.get(node, (node, ""))[0]

    def _edges(self, counts: Sequence[int]) -> list[int]:
        found = [0] * len(self._whole["edges"])
        for index, count in zip(self._part.edges, counts, strict=True):
            if index is not None:
                found[index] = count
        return found

    def _counts(self, counts: Mapping[str, NodeCounts]) -> dict[str, NodeCounts]:
        """Return the counts of all nodes; pinned records do not count at the node before them."""
        return {
            node["id"]: counts.get(node["id"], {"in": 0, "out": 0, "dropped": {}})
            for node in self._whole["nodes"]
        }


def _ends(edge: DocumentEdge) -> Ends:
    return (
        edge["source"],
        edge.get("source_port") or "out",
        edge["target"],
        edge.get("target_port") or "in",
    )
