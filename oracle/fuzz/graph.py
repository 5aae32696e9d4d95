# mypy: ignore-errors
"""Generates nodes, edges, sources, and steps without windows or joins."""

from oracle.fuzz.parts import STRUCT, Out


class RandomTopology:
    """Mixin that generates nodes, edges, sources, and steps without windows or joins."""

    def id(self, kind):
        base = kind.replace("source.", "").replace("join.", "").replace("_", "-").replace(".", "-")
        self.serial[base] = self.serial.get(base, 0) + 1
        return f"{base}{self.serial[base]}"

    def node(self, kind, params, ins, name=None):
        name = name or self.id(kind)
        self.nodes.append({"id": name, "kind": kind, "params": params})
        for o, port in ins:
            self.connect(o, name, port)
        return name

    def connect(self, o, target, port):
        edge = {"source": o.node, "target": target}
        if o.port != "out":
            edge["source_port"] = o.port
        if port != "in":
            edge["target_port"] = port
        self.edges.append(edge)
        o.used += 1

    def store(self, kind, target, params=None, chance=0.3):
        if self.r.random() >= chance:
            return
        name = f"{target}-store"
        p = {"name": f"{target}-rows", **(params or {})}
        if self.r.random() < 0.2 and kind != "store.versioned":
            p["persistent"] = False
        self.nodes.append({"id": name, "kind": kind, "params": p})
        self.edges.append({"source": name, "target": target, "target_port": "store"})

    def source(self, role):
        topic = f"t{len(self.topics) + 1}"
        value = self.r.choice(["STRING", "BIGINT", STRUCT, STRUCT])
        key = "BIGINT" if self.r.random() < 0.08 else "STRING"
        formats = {
            "STRING": {"format": "string"},
            "BIGINT": {"format": "long"},
            STRUCT: {"format": "json", "schema": "g STRING, n BIGINT, s STRING"},
        }
        self.topics[topic] = (role, key, value)
        params = {"key": formats[key], "value": formats[value]}
        if role == "stream":
            params["topics"] = [topic]
        else:
            params["topic"] = topic
        name = self.node(f"source.{role}", params, [])
        o = Out(
            name, {"global_table": "global"}.get(role, role), key, value, topics=frozenset([topic])
        )
        if role == "table":
            if self.r.random() < 0.2:
                o.versioned = self.r.choice([20, 1000])
                self.store("store.versioned", name, {"history_retention": o.versioned}, 1.0)
            else:
                self.store("store.key_value", name)
        self.outs.append(o)
        return o

    def one(self, choices, weights=None):
        """Draw one of several kinds. Other generators override this to choose a specific one."""
        return self.r.choices(choices, weights)[0] if weights else self.r.choice(choices)

    def choose(self, test):
        found = [o for o in self.outs if test(o)]
        if not found:
            return None
        return self.r.choices(found, [4 if o.used == 0 else 1 for o in found])[0]

    def race(self, a, b, hop_a=0, hop_b=0):
        return bool(a.topics & b.topics) and (a.hops + hop_a > 0 or b.hops + hop_b > 0)

    def add(self, o):
        self.outs.append(o)

    def stateless(self):
        r, o = self.r, self.choose(lambda o: o.role == "stream")
        if not o:
            return None
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
            return None
        if kind in ("filter", "filter_not"):
            return self.add(
                o.like(self.node(kind, {"predicate": self.expr("BOOLEAN", env)}, [(o, "in")]))
            )
        if kind == "peek":
            return self.add(
                o.like(self.node(kind, {"message": self.expr("STRING", env)}, [(o, "in")]))
            )
        if kind == "map_values":
            t = self.pick_type()
            e = self.expr(t, env)
            if self.risky and o.value == "STRING" and t == "BIGINT":
                e = "CAST(value AS BIGINT)"
            return self.add(o.like(self.node(kind, {"value": e}, [(o, "in")]), value=t))
        if kind == "flat_map_values":
            t = r.choice(["STRING", "BIGINT"])
            n = self.node(
                kind,
                {
                    "values": f"array({', '.join(self.expr(t, env, 1) for _ in range(r.randint(1, 3)))})"
                },
                [(o, "in")],
            )
            return self.add(o.like(n, value=t))
        if kind == "flat_map":
            t = r.choice(["STRING", "BIGINT"])
            recs = ", ".join(
                f"named_struct('key', {self.expr('STRING', env, 1)}, 'value', {self.expr(t, env, 1)})"
                for _ in range(r.randint(1, 2))
            )
            return self.add(
                o.like(
                    self.node(kind, {"records": f"array({recs})"}, [(o, "in")]),
                    key="STRING",
                    value=t,
                    window=None,
                    rekeyed=True,
                )
            )
        if kind == "map":
            t = self.pick_type()
            n = self.node(
                kind, {"key": self.key_expr(env), "value": self.expr(t, env)}, [(o, "in")]
            )
            return self.add(o.like(n, key="STRING", value=t, window=None, rekeyed=True))
        return self.add(
            o.like(
                self.node("select_key", {"key": self.key_expr(env)}, [(o, "in")]),
                key="STRING",
                window=None,
                rekeyed=True,
            )
        )

    def table_stateless(self):
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

    def to_table(self):
        o = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        if o:
            n = self.node("to_table", {}, [(o, "in")])
            self.store("store.key_value", n)
            self.add(o.like(n, role="table", hops=o.hops + o.rekeyed, rekeyed=False))

    def to_stream(self):
        o = self.choose(lambda o: o.role == "table")
        if o:
            self.add(o.like(self.node("to_stream", {}, [(o, "in")]), role="stream", versioned=0))

    def repartition(self):
        o = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        if o:
            self.add(
                o.like(self.node("repartition", {}, [(o, "in")]), hops=o.hops + 1, rekeyed=False)
            )

    def merge(self):
        a = self.choose(lambda o: o.role == "stream" and not o.window)
        b = a and self.choose(
            lambda o: (
                o is not a
                and o.role == "stream"
                and not o.window
                and (o.key, o.value) == (a.key, a.value)
                and not self.race(a, o)
                and not (o.unordered or a.unordered)
            )
        )
        if b:
            n = self.node("merge", {}, [(a, "in"), (b, "in")])
            self.add(
                a.like(
                    n,
                    topics=a.topics | b.topics,
                    hops=max(a.hops, b.hops),
                    rekeyed=a.rekeyed or b.rekeyed,
                )
            )

    def split(self):
        o = self.choose(lambda o: o.role == "stream")
        if not o:
            return
        env = self.env(o)
        ports = [f"p{i + 1}" for i in range(self.r.randint(1, 3))]
        params = {"branches": [{"port": p, "predicate": self.expr("BOOLEAN", env)} for p in ports]}
        if self.r.random() < 0.6:
            params["default_port"] = "rest"
            ports.append("rest")
        n = self.node("split", params, [(o, "in")])
        for p in ports:
            self.add(o.like(n, port=p))
