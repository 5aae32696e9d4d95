"""Names the nodes and edges of a document with fragments in the results of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from millrace_compiler.compilation.running_part import Ends
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.expansion import edge_ends
from millrace_compiler.graphs.fragments import expand
from millrace_compiler.graphs.topology_parameters import resolve
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import TopologyDocument
from millrace_model.simulations import SimulationResult
from millrace_model.traces import NodeCounts, RunProgress


class Fragments:
    """The fragments of a document that was expanded to be simulated."""

    def __init__(self, document: TopologyDocument) -> None:
        report = Diagnostics()
        self._found = expand(resolve(document, report).document, report)
        self._edges = document["edges"]
        self._nodes = sorted({origin.node for origin in self._found.origins.values()})

    def __bool__(self) -> bool:
        return bool(self._found.origins)

    def _top(self, node: str | None) -> str | None:
        origin = self._found.origins.get(node or "")
        return node if origin is None else origin.node

    def nodes(self) -> dict[str, list[str]]:
        """Return the nodes within each fragment node of the document."""
        found: dict[str, list[str]] = {}
        for id_, origin in self._found.origins.items():
            found.setdefault(origin.node, []).append(id_)
        return found

    def stands(self) -> dict[Ends, list[Ends]]:
        """Return what runs in place of each edge that begins or ends at a fragment node."""
        found: dict[Ends, list[Ends]] = {}
        for index, edge in zip(self._found.edges or (), self._edges_that_run(), strict=False):
            whole = None if index is None else edge_ends(self._edges[index])
            if whole is not None and edge is not None and whole != edge:
                found.setdefault(whole, []).append(edge)
        return found

    def _edges_that_run(self) -> list[Ends | None]:
        document = self._found.document
        return list(map(edge_ends, document["edges"] if isinstance(document, dict) else ()))

    def diagnostics(self, found: list[DiagnosticJson]) -> list[DiagnosticJson]:
        """Return the diagnostics at the nodes of fragments; `inner` is the node within."""
        told = []
        for each in found:
            top = self._top(each["node"])
            inner: DiagnosticJson = {**each, "node": top}
            if top != each["node"] and each["node"] is not None:
                inner["inner"] = each["node"]
            told.append(inner)
        return told

    def reporting(self, progress: Callable[[RunProgress], None]) -> Callable[[RunProgress], None]:
        """Return a function that reports progress with the counts of the document."""

        def report(found: RunProgress) -> None:
            if "edges" in found and "nodes" in found:
                edges = self._counted(found["edges"])
                found = {**found, "edges": edges, "nodes": self._counts(found["nodes"], edges)}
            progress(found)

        return report

    def show(self, result: SimulationResult) -> None:
        """Name the document's nodes and edges; what is within fragments keeps its counts."""
        result["inner_edges"] = [
            {
                "source": edge[0], "source_port": edge[1],
                "target": edge[2], "target_port": edge[3], "records": records,
            }
            for edge, records in zip(self._edges_that_run(), result["edges"], strict=True)
            if edge is not None
        ]  # fmt: skip
        result["edges"] = self._counted(result["edges"])
        result["nodes"] = self._counts(result["nodes"], result["edges"])
        for step in result["steps"]:
            top = self._top(step["node"]) or step["node"]
            if top != step["node"]:
                step["inner"], step["node"] = step["node"], top
            origin, index = step.get("from"), step.get("edge")
            if origin is not None:
                step["from"] = self._top(origin)
            if index is not None and self._found.edges is not None:
                step["inner_edge"] = index
                step["edge"] = self._found.edges[index]
        error = result["error"]
        if error is not None and error.get("node"):
            error["node"] = self._top(error["node"])
        part = result.get("part")
        if part is not None:
            part["nodes"] = list(dict.fromkeys(self._top(id_) or id_ for id_ in part["nodes"]))

    def _counted(self, counts: Sequence[int]) -> list[int]:
        """Records over each edge; one that leads to several nodes of a fragment counts once."""
        found = [0] * len(self._edges)
        for index, count in zip(self._found.edges or (), counts, strict=True):
            if index is not None:
                found[index] = max(found[index], count)
        return found

    def _counts(
        self, nodes: Mapping[str, NodeCounts], edges: Sequence[int]
    ) -> dict[str, NodeCounts]:
        found = dict(nodes)
        for node in self._nodes:
            dropped: dict[str, int] = {}
            for id_, origin in self._found.origins.items():
                if origin.node == node and id_ in nodes:
                    for reason, count in nodes[id_]["dropped"].items():
                        dropped[reason] = dropped.get(reason, 0) + count
            out: dict[str, int] = {}
            came = 0
            for edge, count in zip(self._edges, edges, strict=True):
                if edge["target"] == node:
                    came += count
                if edge["source"] == node:
                    port = edge.get("source_port") or "out"
                    out[port] = max(out.get(port, 0), count)
            found[node] = {"in": came, "out": sum(out.values()), "dropped": dropped}
        return found
