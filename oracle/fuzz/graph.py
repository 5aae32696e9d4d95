"""Generates nodes, edges, sources, and steps without windows or joins."""

from __future__ import annotations

from millrace_model.documents import DocumentEdge, Params

from oracle.fuzz.expressions import Expressions
from oracle.fuzz.parts import STRUCT, Columns, Ins, Out, SourceRole


class RandomTopology(Expressions):
    """Generates nodes, edges, sources, and steps without windows or joins."""

    def id(self, kind: str) -> str:
        """A new id for a node of a kind."""
        base = kind.replace("source.", "").replace("join.", "").replace("_", "-").replace(".", "-")
        self.serial[base] = self.serial.get(base, 0) + 1
        return f"{base}{self.serial[base]}"

    def node(self, kind: str, params: Params, ins: Ins, name: str | None = None) -> str:
        """Add a node with its edges, and return its id."""
        name = name or self.id(kind)
        self.nodes.append({"id": name, "kind": kind, "params": params})
        for o, port in ins:
            self.connect(o, name, port)
        return name

    def connect(self, o: Out, target: str, port: str) -> None:
        """Add an edge."""
        edge: DocumentEdge = {"source": o.node, "target": target}
        if o.port != "out":
            edge["source_port"] = o.port
        if port != "in":
            edge["target_port"] = port
        self.edges.append(edge)
        o.used += 1

    def store(
        self, kind: str, target: str, params: Params | None = None, chance: float = 0.3
    ) -> None:
        """Perhaps connect a store to a node."""
        if self.r.random() >= chance:
            return
        name = f"{target}-store"
        p: Params = {"name": f"{target}-rows", **(params or {})}
        if self.r.random() < 0.2 and kind != "store.versioned":
            p["persistent"] = False
        self.nodes.append({"id": name, "kind": kind, "params": p})
        self.edges.append({"source": name, "target": target, "target_port": "store"})

    def source(self, role: SourceRole, key: str | None = None, value: str | None = None) -> Out:
        """Add a source of a new topic."""
        topic = f"t{len(self.topics) + 1}"
        value = self.r.choice(["STRING", "BIGINT", STRUCT, STRUCT])
        key = "BIGINT" if self.r.random() < 0.08 else "STRING"
        formats = {
            "STRING": {"format": "string"},
            "BIGINT": {"format": "long"},
            STRUCT: {"format": "json", "schema": "g STRING, n BIGINT, s STRING"},
        }
        self.topics[topic] = (role, key, value)
        params: Params = {"key": formats[key], "value": formats[value]}
        if role == "stream":
            params["topics"] = [topic]
        else:
            params["topic"] = topic
        name = self.node(f"source.{role}", params, [])
        o = Out(
            name,
            "global" if role == "global_table" else role,
            key,
            value,
            topics=frozenset([topic]),
        )
        if role == "table":
            if self.r.random() < 0.2:
                o.versioned = self.r.choice([20, 1000])
                self.store("store.versioned", name, {"history_retention": o.versioned}, 1.0)
            else:
                self.store("store.key_value", name)
        self.outs.append(o)
        return o

    def stateless(self) -> None:
        """Add a step of a stream without state."""
        o = self.choose(lambda o: o.role == "stream")
        if not o:
            return
        env = self.env(o)
        kind = self.one(
            [
                "filter",
                "filter_not",
                "map",
                "map_values",
                "map_values",
                "select_key",
                "select_key",
                "flat_map",
                "flat_map_values",
                "peek",
            ]
        )
        if kind in ("map", "select_key", "flat_map") and o.unordered:
            return
        self.add(self._stateless(kind, o, env))

    def _stateless(self, kind: str, o: Out, env: Columns) -> Out:
        r = self.r
        if kind in ("filter", "filter_not"):
            return o.like(self.node(kind, {"predicate": self.expr("BOOLEAN", env)}, [(o, "in")]))
        if kind == "peek":
            return o.like(self.node(kind, {"message": self.expr("STRING", env)}, [(o, "in")]))
        if kind == "map_values":
            t = self.pick_type()
            e = self.expr(t, env)
            if self.risky and o.value == "STRING" and t == "BIGINT":
                e = "CAST(value AS BIGINT)"
            return o.like(self.node(kind, {"value": e}, [(o, "in")]), value=t)
        if kind == "flat_map_values":
            t = r.choice(["STRING", "BIGINT"])
            values = ", ".join(self.expr(t, env, 1) for _ in range(r.randint(1, 3)))
            n = self.node(kind, {"values": f"array({values})"}, [(o, "in")])
            return o.like(n, value=t)
        if kind == "flat_map":
            t = r.choice(["STRING", "BIGINT"])
            pairs = [
                (self.expr("STRING", env, 1), self.expr(t, env, 1)) for _ in range(r.randint(1, 2))
            ]
            made = ", ".join(
                f"named_struct('key', {key}, 'value', {value})" for key, value in pairs
            )
            return o.like(
                self.node(kind, {"records": f"array({made})"}, [(o, "in")]),
                key="STRING",
                value=t,
                window=None,
                rekeyed=True,
            )
        if kind == "map":
            t = self.pick_type()
            n = self.node(
                kind, {"key": self.key_expr(env), "value": self.expr(t, env)}, [(o, "in")]
            )
            return o.like(n, key="STRING", value=t, window=None, rekeyed=True)
        return o.like(
            self.node("select_key", {"key": self.key_expr(env)}, [(o, "in")]),
            key="STRING",
            window=None,
            rekeyed=True,
        )

    def table_stateless(self) -> None:
        """Add a step of a table without state."""
        o = self.choose(lambda o: o.role == "table")
        if not o:
            return
        env = self.env(o)
        if self.r.random() < 0.5:
            n = self.node(
                self.one(["filter", "filter", "filter_not"]),
                {"predicate": self.expr("BOOLEAN", env)},
                [(o, "in")],
            )
            t = o.value
        else:
            t = self.pick_type()
            n = self.node("map_values", {"value": self.expr(t, env)}, [(o, "in")])
        had = len(self.nodes)
        if not o.window:
            self.store("store.key_value", n)
        self.add(o.like(n, value=t, versioned=0 if len(self.nodes) > had else o.versioned))

    def to_table(self) -> None:
        """Add a table of a stream."""
        o = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        if o:
            n = self.node("to_table", {}, [(o, "in")])
            self.store("store.key_value", n)
            self.add(o.like(n, role="table", hops=o.hops + o.rekeyed, rekeyed=False))

    def to_stream(self) -> None:
        """Add the stream of the updates of a table."""
        o = self.choose(lambda o: o.role == "table")
        if o:
            self.add(o.like(self.node("to_stream", {}, [(o, "in")]), role="stream", versioned=0))

    def repartition(self) -> None:
        """Add a repartition."""
        o = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        if o:
            self.add(
                o.like(self.node("repartition", {}, [(o, "in")]), hops=o.hops + 1, rekeyed=False)
            )

    def merge(self) -> None:
        """Add a merge of two streams."""
        a = self.choose(lambda o: o.role == "stream" and not o.window)
        b = (
            None
            if a is None
            else self.choose(
                lambda o: (
                    o is not a
                    and o.role == "stream"
                    and not o.window
                    and (o.key, o.value) == (a.key, a.value)
                    and not self.race(a, o)
                    and not (o.unordered or a.unordered)
                )
            )
        )
        if a is not None and b is not None:
            n = self.node("merge", {}, [(a, "in"), (b, "in")])
            self.add(
                a.like(
                    n,
                    topics=a.topics | b.topics,
                    hops=max(a.hops, b.hops),
                    rekeyed=a.rekeyed or b.rekeyed,
                )
            )

    def split(self) -> None:
        """Add a split into branches."""
        o = self.choose(lambda o: o.role == "stream")
        if not o:
            return
        env = self.env(o)
        ports = [f"p{i + 1}" for i in range(self.r.randint(1, 3))]
        branches = [{"port": p, "predicate": self.expr("BOOLEAN", env)} for p in ports]
        params: Params = {"branches": branches}
        if self.r.random() < 0.6:
            params["default_port"] = "rest"
            ports.append("rest")
        n = self.node("split", params, [(o, "in")])
        for p in ports:
            self.add(o.like(n, port=p))
