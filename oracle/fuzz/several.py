"""Generates steps with several inputs: processors, merges and cogroups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from millrace_model.documents import DocumentNode, Params

from oracle.fuzz.parts import Columns, Out
from oracle.fuzz.processors import TWINS, StoreOf
from oracle.fuzz.scenario import Scenario


class Reach(TypedDict):
    """Topics and number of internal topics of an output."""

    topics: frozenset[str]
    hops: int


class Several(Scenario):
    """Generates steps with several inputs: processors, merges and cogroups."""

    #: whether processors may schedule by stream time, the clocks that some use, their classes
    ticks: bool
    clocks: set[str]
    twins: dict[str, str]

    def to_stream_before(self, o: Out) -> None:
        """Insert a `to_stream` before a kind that does not accept tables."""
        raise NotImplementedError

    def together(self, o: Out) -> list[Out]:
        """A stream with one or two others of the same types, sometimes from new topics."""
        found = [o]
        for _ in range(self.r.choice([1, 1, 2])):
            other = self.choose(
                lambda x: (
                    x not in found and x.role == "stream" and not x.window and not x.unordered
                    and (x.key, x.value) == (o.key, o.value)
                    and not any(self.race(x, y) for y in found)
                )
            )  # fmt: skip
            if len(self.topics) < 6 and (other is None or self.r.random() < 0.3):
                other = self.source("stream", o.key, o.value)
            if other:
                found.append(other)
        return found

    def reach(self, into: Sequence[Out]) -> Reach:
        """Topics and number of repartitions of an output with several inputs."""
        topics = frozenset[str]().union(*(x.topics for x in into))
        return {"topics": topics, "hops": max(x.hops for x in into)}

    def merge(self) -> None:
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        into = self.together(a) if a else []
        if a is not None and len(into) > 1:
            name = self.node("merge", {}, [(x, "in") for x in into])
            rekeyed = any(x.rekeyed for x in into)
            self.add(a.like(name, rekeyed=rekeyed, **self.reach(into)))

    def process(self) -> None:
        """Add a processor with its stores."""
        o = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        if not o:
            return
        fit = [
            t
            for t in TWINS
            if o.value in t.takes
            and (self.ticks or t.clock != "stream")
            and (o.key == "STRING" or not (t.stores or t.rekeys))
        ]
        if not fit:
            return
        sharing = [t for t in fit if t.stores and all(self.held(s, o) for s in t.stores)]
        twin = self.r.choice(sharing if sharing and self.r.random() < 0.7 else fit)
        kind = "process_values" if twin.fixed else "process"
        name = self.id(kind)
        stores = [self.shared(s, o) or f"{name}-state{n}" for n, s in enumerate(twin.stores)]
        code = twin.code
        for n, store in enumerate(stores):
            code = code.replace(f"{{{n}}}", store)
        value = twin.value or o.value
        key = "STRING" if twin.rekeys else o.key
        params: Params = {
            "code": code,
            "class_name": twin.name,
            "output": {"key": key, "value": value},
        }
        if twin.outputs:
            params["outputs"] = list(twin.outputs)
        into = self.together(o) if self.r.random() < 0.4 else [o]
        self.node(kind, params, [(x, "in") for x in into], name)
        self.twins[name] = twin.name
        if twin.clock:
            self.clocks.add(twin.clock)
        for store, (store_kind, properties) in zip(stores, twin.stores, strict=True):
            if store in {n["id"] for n in self.nodes}:  # Another processor has it too.
                self.edges.append({"source": store, "target": name, "target_port": "store"})
                continue
            params = {"name": store, **properties}
            if store_kind != "store.versioned" and self.r.random() < 0.3:
                params["persistent"] = False
            self.nodes.append({"id": store, "kind": store_kind, "params": params})
            self.edges.append({"source": store, "target": name, "target_port": "store"})
        rekeyed = any(x.rekeyed for x in into) or not twin.fixed
        made = o.like(name, key=key, value=value, rekeyed=rekeyed, **self.reach(into))
        for port in twin.outputs or ["out"]:
            self.add(made.like(name, port=port))

    def shared(self, store: StoreOf, o: Out) -> str | None:
        """Draw a store of another processor, or None."""
        fits = self.held(store, o)
        return self.r.choice(fits) if fits and self.r.random() < 0.8 else None

    def held(self, store: StoreOf, o: Out) -> list[str]:
        """Stores to share: those of processors that, like this one, follow no repartition."""
        kind, properties = store
        if o.hops or self.r.random() < 0.1:
            return []
        straight = {x.node for x in self.outs if not x.hops}
        held = {
            e["source"]
            for e in self.edges
            if e.get("target_port") == "store" and e["target"] in straight
        }
        return [
            n["id"]
            for n in self.nodes
            if n["kind"] == kind and n["id"] in held and "-state" in n["id"]
            and properties.items() <= n["params"].items()
        ]  # fmt: skip

    def cogroup(self) -> None:
        r, had = self.r, len(self.nodes)
        super().cogroup()
        made = self.nodes[had:]
        if not made:
            return
        node = next(n for n in made if n["kind"] == "cogroup")
        out = next(o for o in self.outs if o.node == node["id"])
        self.third(node, out)
        if r.random() > 0.3:
            return
        into = {
            (e["source"], e.get("source_port", "out"))
            for e in self.edges
            if e["target"] == node["id"] and e.get("target_port") != "store"
        }
        known = [o.topics for o in self.outs if (o.node, o.port) in into]
        if out.key != "STRING" or sum(map(len, known)) != len(out.topics):
            return  # After two internal topics, the order of one record's inputs is not defined.
        for part in node["params"]["inputs"]:
            part["group_by"] = {"key": "substr(key, 1, 1)"}
        out.hops += 1

    def third(self, node: DocumentNode, out: Out) -> None:
        """Add a third input to a cogroup, from topics that it does not read yet."""
        x = self.choose(
            lambda x: (
                x.role == "stream" and not x.window and not x.unordered
                and x.key == out.key and not x.topics & out.topics
            )
        )  # fmt: skip
        if not x or self.r.random() < 0.5:
            return
        type_ = node["params"]["type"]
        seen: Columns = {"key": x.key, "value": x.value}
        aggregator = self.combine(type_, seen)
        node["params"]["inputs"].append({"port": "three", "aggregator": aggregator})
        self.to_stream_before(x)
        self.connect(x, node["id"], "three")
        out.topics |= x.topics
        out.hops = max(out.hops, x.hops + x.rekeyed)
