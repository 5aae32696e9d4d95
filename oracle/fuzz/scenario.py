"""The generator of recorded scenarios: for each seed, its output must never change."""

from __future__ import annotations

import random
from collections.abc import Callable

from millrace_model.documents import TopologyDocument
from millrace_model.scenarios import Scenario as ScenarioJson

from oracle.fuzz.aggregations import Aggregations
from oracle.fuzz.inputs import Inputs
from oracle.fuzz.joins import Joins
from oracle.fuzz.parts import SourceRole


class Scenario(Aggregations, Joins, Inputs):
    """One random scenario."""

    def __init__(self, rng: random.Random, name: str) -> None:
        super().__init__(rng, name)
        self.build()

    def build(self) -> None:
        """Draw sources, steps and sinks."""
        r = self.r
        self.source("stream" if r.random() < 0.7 else "table")
        while r.random() < 0.65 and len(self.topics) < 4:
            roles: list[SourceRole] = ["stream", "table", "global_table"]
            self.source(r.choices(roles, [5, 4, 1])[0])
        steps: list[tuple[Callable[[], None], int]] = [
            (self.stateless, 9),
            (self.table_stateless, 3),
            (self.aggregate_stream, 12),
            (self.aggregate_table, 4),
            (self.join_ss, 6),
            (self.join_st, 5),
            (self.join_global, 3),
            (self.join_tt, 6),
            (self.join_fk, 5),
            (self.suppress, 5),
            (self.cogroup, 3),
            (self.split, 2),
            (self.merge, 2),
            (self.to_table, 3),
            (self.to_stream, 3),
            (self.repartition, 2),
        ]
        want, tries = r.randint(2, 12), 0
        while (
            len([n for n in self.nodes if not n["kind"].startswith(("store.", "source."))]) < want
            and tries < 80
        ):
            tries += 1
            r.choices([s for s, _ in steps], [w for _, w in steps])[0]()
        count = 0
        for o in list(self.outs):
            if o.role != "global" and (o.used == 0 or r.random() < 0.1):
                count += 1
                self.node("sink.topic", {"topic": f"out{count}"}, [(o, "in")], f"sink{count}")
        for o in list(self.outs):  # A global table without joins is valid, but tests nothing.
            if o.role == "global" and o.used == 0:
                self.outs.remove(o)
                self.nodes = [n for n in self.nodes if n["id"] != o.node]
                self.topics = {t: v for t, v in self.topics.items() if t not in o.topics}

    def json(self) -> ScenarioJson:
        """The scenario, without results."""
        lines, ordered = self.inputs()
        topology: TopologyDocument = {
            "format": "millrace.topology/1",
            "name": self.name.lower(),
            "nodes": self.nodes,
            "edges": self.edges,
        }
        if self.risky:
            topology["settings"] = {"processing_handler": "continue"}
        hops = max((o.hops + o.rekeyed for o in self.outs), default=0)
        both = not self.each_only and (len(self.topics) == 1 or (ordered and hops == 0))
        kinds = sorted(
            {
                n["kind"]
                for n in self.nodes
                if not n["kind"].startswith(("store.", "sink.", "source."))
            }
        )
        return {
            "id": self.name,
            "title": "Random: " + ", ".join(kinds),
            "topology": topology,
            "inputs": lines,
            "compare": self.compare,
            "cuts": ["each", "all"] if both else ["each"],
        }
