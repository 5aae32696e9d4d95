# mypy: ignore-errors
# A table of small generators: one line each reads better than what the formatter makes of them.
"""Random valid scenarios, without expected results. The same seed gives the same scenarios.

A scenario is a random graph of 2-12 operators over all kinds but the Processor API, with type-correct expressions, few keys,
timestamps at the edges of the windows, nulls, about a fifth of the records out of order, and ties.
Left out on purpose: two paths from one input record to one join, merge or cogroup where one of them crosses a repartition
topic (a race in a real cluster), and order-sensitive operators behind outputs whose order is not defined.
"""

import random

KEYS = ["a", "b", "c", "d"]
STRUCT = "STRUCT<g: STRING, n: BIGINT, s: STRING>"


class Out:
    """One output port: what it carries and where it comes from."""

    def __init__(
        self,
        node,
        role,
        key,
        value,
        port="out",
        topics=frozenset(),
        hops=0,
        rekeyed=False,
        window=None,
        grace=0,
        final=False,
        versioned=0,
        unordered=False,
        windowset=None,
        cogrouped=False,
    ):
        self.node, self.role, self.key, self.value, self.port = node, role, key, value, port
        self.topics, self.hops, self.rekeyed, self.window, self.grace = (
            topics,
            hops,
            rekeyed,
            window,
            grace,
        )
        self.final, self.versioned, self.unordered, self.windowset, self.cogrouped = (
            final,
            versioned,
            unordered,
            windowset,
            cogrouped,
        )
        self.used = 0

    def like(self, node, **change):
        o = Out(self.node, self.role, self.key, self.value)
        o.__dict__.update(self.__dict__)
        o.__dict__.update({"node": node, "port": "out", "used": 0, **change})
        return o


class Scenario:
    def __init__(self, rng, name):
        self.r, self.name = rng, name
        self.nodes, self.edges, self.outs, self.topics = [], [], [], {}
        self.compare, self.each_only, self.serial, self.risky = (
            "sequence",
            False,
            {},
            rng.random() < 0.06,
        )
        self.build()

    # ---- expressions ---------------------------------------------------------------------------------------------
    def atoms(self, env, t):
        found = []
        for name, ct in env.items():
            if ct == t:
                found.append(name)
            if ct == STRUCT:
                found += [
                    f"{name}.{f}"
                    for f, ft in (("g", "STRING"), ("n", "BIGINT"), ("s", "STRING"))
                    if ft == t
                ]
            if isinstance(ct, tuple):  # a windowed key
                if ct[1] == t:
                    found.append(f"{name}.key")
                if t == "BIGINT":
                    found.append(f"unix_millis({name}.window.start)")
        return found

    def expr(self, t, env, depth=2):
        r, atoms = self.r, self.atoms(env, t)
        if t == STRUCT:
            if atoms and r.random() < 0.4:
                return r.choice(atoms)
            return f"named_struct('g', {self.expr('STRING', env, 1)}, 'n', {self.expr('BIGINT', env, 1)}, 's', {self.expr('STRING', env, 1)})"
        if depth == 0 or r.random() < 0.25:
            if atoms and r.random() < 0.85:
                return r.choice(atoms)
            return {
                "STRING": lambda: f"'{r.choice(KEYS)}'",
                "BIGINT": lambda: f"{r.randint(-2, 9)}L",
                "BOOLEAN": lambda: r.choice(["true", "true", "false"]),
                "DOUBLE": lambda: f"{r.randint(-4, 9)}.5D",
            }[t]()
        e = lambda x: self.expr(x, env, depth - 1)
        n, s, b = (lambda: e("BIGINT")), (lambda: e("STRING")), (lambda: e("BOOLEAN"))
        if t == "STRING":
            made = r.choice(
                [
                    lambda: f"concat({s()}, '{r.choice('+-/')}', {s()})",
                    lambda: f"coalesce({s()}, 'none')",
                    lambda: f"upper({s()})",
                    lambda: f"CAST({n()} AS STRING)",
                    lambda: f"CASE WHEN {b()} THEN {s()} ELSE {s()} END",
                    lambda: f"substr({s()}, 1, 1)",
                ]
            )()
            return f"substr({made}, 1, 40)" if depth == 2 else made
        if t == "BIGINT":
            return r.choice(
                [
                    lambda: f"({n()} + 1)",
                    lambda: f"({n()} - {n()}) % 100",
                    lambda: f"coalesce({n()}, 0L)",
                    lambda: f"CAST(length({s()}) AS BIGINT)",
                    lambda: f"abs({n()}) % 5",
                    lambda: f"CASE WHEN {b()} THEN {n()} ELSE {n()} END",
                ]
            )()
        if t == "BOOLEAN":
            return r.choice(
                [
                    lambda: f"{n()} % 2 = 0",
                    lambda: f"{n()} > {r.randint(0, 6)}",
                    lambda: f"{s()} = '{r.choice(KEYS)}'",
                    lambda: f"{s()} IS NOT NULL",
                    lambda: f"({b()} OR {b()})",
                    lambda: f"NOT ({b()})",
                    lambda: f"{s()} LIKE '%{r.choice(KEYS)}%'",
                    lambda: f"{n()} IS NULL",
                ]
            )()
        return f"({n()} / 4)"

    def env(self, o):
        e = {"key": ("windowed", o.key) if o.window else o.key, "value": o.value}
        if o.role == "stream" and self.r.random() < 0.08:
            e["unix_millis(timestamp)"] = "BIGINT"
        if o.role == "stream" and self.r.random() < 0.05:
            e["CAST(headers['h'] AS STRING)"] = "STRING"
        return e

    def pick_type(self):
        return self.r.choice(["STRING", "STRING", "BIGINT", "BIGINT", STRUCT, "DOUBLE"])

    # ---- graph -----------------------------------------------------------------------------------------------------
    def id(self, kind):
        base = kind.replace("source.", "").replace("join.", "").replace("_", "-").replace(".", "-")
        self.serial[base] = self.serial.get(base, 0) + 1
        return f"{base}{self.serial[base]}"

    def node(self, kind, params, ins, name=None):
        name = name or self.id(kind)
        self.nodes.append({"id": name, "kind": kind, "params": params})
        for o, port in ins:
            edge = {"source": o.node, "target": name}
            if o.port != "out":
                edge["source_port"] = o.port
            if port != "in":
                edge["target_port"] = port
            self.edges.append(edge)
            o.used += 1
        return name

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

    def choose(self, test):
        found = [o for o in self.outs if test(o)]
        if not found:
            return None
        return self.r.choices(found, [4 if o.used == 0 else 1 for o in found])[0]

    def race(self, a, b, hop_a=0, hop_b=0):
        return bool(a.topics & b.topics) and (a.hops + hop_a > 0 or b.hops + hop_b > 0)

    def build(self):
        r = self.r
        self.source("stream" if r.random() < 0.7 else "table")
        while r.random() < 0.65 and len(self.topics) < 4:
            self.source(r.choices(["stream", "table", "global_table"], [5, 4, 1])[0])
        steps = [
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
        for o in list(self.outs):  # a global table that nobody joins is legal, but dull
            if o.role == "global" and o.used == 0:
                self.outs.remove(o)
                self.nodes = [n for n in self.nodes if n["id"] != o.node]
                self.topics = {t: v for t, v in self.topics.items() if t not in o.topics}

    def add(self, o):
        self.outs.append(o)

    def stateless(self):
        r, o = self.r, self.choose(lambda o: o.role == "stream")
        if not o:
            return
        env = self.env(o)
        kind = r.choice(
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

    def key_expr(self, env):
        """Keys must stay few, or nothing ever meets."""
        atoms = self.atoms(env, "STRING")
        base = self.r.choice(atoms) if atoms else self.expr("STRING", env, 1)
        return self.r.choice(
            [
                base,
                f"substr({base}, 1, 1)",
                f"coalesce(substr({base}, 1, 1), 'z')",
                f"lower(substr({base}, 1, 1))",
            ]
        )

    def table_stateless(self):
        o = self.choose(lambda o: o.role == "table")
        if not o:
            return
        env = self.env(o)
        if self.r.random() < 0.5:
            n = self.node(
                self.r.choice(["filter", "filter", "filter_not"]),
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

    # ---- windows and aggregations ------------------------------------------------------------------------------------
    def window(self):
        r, grace = self.r, self.r.choice([0, 0, 1, 5, 10])
        kind = r.choices(
            ["tumbling", "hopping", "sliding", "session", "unlimited"], [5, 4, 3, 4, 1]
        )[0]
        if kind == "tumbling":
            return kind, {"type": kind, "size": 10, "grace": grace}, 10, grace
        if kind == "hopping":
            return (
                kind,
                {"type": kind, "size": 10, "advance": r.choice([5, 5, 3, 10]), "grace": grace},
                10,
                grace,
            )
        if kind == "sliding":
            d = r.choice([10, 5, 1])
            return kind, {"type": kind, "difference": d, "grace": grace}, d, grace
        if kind == "session":
            gap = r.choice([5, 10])
            return kind, {"type": kind, "gap": gap, "grace": grace}, gap, grace
        return kind, {"type": kind, "start": r.choice([0, 10, 20])}, 0, 0

    def combine(self, agg, t, env, unordered):
        """An aggregator; commutative where the order of its inputs is not defined."""
        if agg == "BIGINT":
            return f"agg + coalesce({self.expr('BIGINT', env, 1)}, 0L)"
        return f"substr(concat(agg, '{self.r.choice('+,')}', coalesce({self.expr('STRING', env, 1)}, '~')), 1, 60)"

    def aggregate_stream(self):
        r = self.r
        o = self.choose(lambda o: o.role == "stream" and not o.unordered)
        if not o:
            return
        kind, params, env = (
            r.choice(["count", "count", "reduce", "aggregate", "aggregate"]),
            {},
            self.env(o),
        )
        key, hop = o.key, o.rekeyed
        if o.window or r.random() < 0.35:
            params["group_by"] = {
                "key": self.key_expr({k: v for k, v in env.items() if "(" not in k})
            }
            key, hop = "STRING", True
        if kind == "reduce" and o.value not in ("BIGINT", "STRING"):
            kind = "count"
        value = {"count": "BIGINT", "reduce": o.value, "aggregate": r.choice(["BIGINT", "STRING"])}[
            kind
        ]
        aenv = {"key": key, "value": o.value}
        if r.random() < 0.05:
            aenv["unix_millis(timestamp)"] = "BIGINT"
        w = self.window() if r.random() < 0.7 else None
        if kind == "reduce":
            params["reducer"] = (
                "coalesce(agg, 0L) + coalesce(value, 0L)"
                if value == "BIGINT"
                else "substr(concat(coalesce(agg, '~'), coalesce(value, '~')), 1, 60)"
            )
        if kind == "aggregate":
            params.update(
                {
                    "type": value,
                    "initializer": r.choice(["0L", "1L"]) if value == "BIGINT" else "''",
                    "aggregator": self.combine(value, o.value, aenv, False),
                }
            )
            if not w and r.random() < 0.2:
                params["aggregator"] = (
                    f"CASE WHEN {self.expr('BOOLEAN', aenv, 1)} THEN NULL ELSE {params['aggregator']} END"
                )
            if w and w[0] == "session":
                params["merger"] = (
                    "left + right" if value == "BIGINT" else "concat(left, '&', right)"
                )
        close = False
        if w:
            params["window"] = w[1]
            close = w[0] != "unlimited" and r.random() < 0.25
            if close:
                params["emit"] = "window_close"
        n = self.node(kind, params, [(o, "in")])
        if w:
            self.store("store.session" if w[0] == "session" else "store.window", n)
        else:
            self.store("store.key_value", n)
        unordered = bool(w) and w[0] == "sliding"
        if unordered:
            self.compare = "set_per_input"
        self.add(
            o.like(
                n,
                role="table",
                key=key,
                value=value,
                hops=o.hops + hop,
                rekeyed=False,
                window=w[0] if w else None,
                grace=w[3] if w else 0,
                final=close,
                versioned=0,
                unordered=unordered,
                windowset=n if w else None,
            )
        )

    def aggregate_table(self):
        r, o = self.r, self.choose(lambda o: o.role == "table" and not o.unordered)
        if not o:
            return
        env, kind = self.env(o), self.r.choice(["count", "reduce", "aggregate"])
        value = r.choice(["BIGINT", "STRING"]) if kind == "aggregate" else "BIGINT"
        inner = r.choice(["BIGINT", "STRING"]) if kind != "reduce" else "BIGINT"
        params = {"group_by": {"key": self.key_expr(env), "value": self.expr(inner, env, 1)}}
        if kind == "reduce":
            params.update({"reducer": "agg + value", "subtractor": "agg - value"})
        if kind == "aggregate":
            v = (
                "value"
                if inner == value
                else "length(value)"
                if value == "BIGINT"
                else "CAST(value AS STRING)"
            )
            if value == "BIGINT":
                params.update(
                    {
                        "type": value,
                        "initializer": "0L",
                        "aggregator": f"agg + {v}",
                        "subtractor": f"agg - {v}",
                    }
                )
            else:
                params.update(
                    {
                        "type": value,
                        "initializer": "'0'",
                        "aggregator": f"substr(concat(agg, '+', {v}), 1, 60)",
                        "subtractor": f"substr(concat(agg, '-', {v}), 1, 60)",
                    }
                )
        n = self.node(kind, params, [(o, "in")])
        self.store("store.key_value", n)
        self.add(
            o.like(
                n,
                key="STRING",
                value=value,
                hops=o.hops + 1,
                window=None,
                windowset=None,
                versioned=0,
                final=False,
            )
        )

    def cogroup(self):
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = a and self.choose(
            lambda o: (
                o is not a
                and o.role == "stream"
                and not o.window
                and not o.unordered
                and o.key == a.key
                and not self.race(a, o, a.rekeyed, o.rekeyed)
            )
        )
        if not b:
            return
        value = r.choice(["BIGINT", "STRING"])
        inputs = [
            {
                "port": p,
                "aggregator": self.combine(value, o.value, {"key": o.key, "value": o.value}, False),
            }
            for p, o in (("one", a), ("two", b))
        ]
        params = {
            "type": value,
            "initializer": "0L" if value == "BIGINT" else "''",
            "inputs": inputs,
        }
        w = self.window() if r.random() < 0.5 else None
        if w:
            params["window"] = w[1]
            if w[0] == "session":
                params["merger"] = (
                    "left + right" if value == "BIGINT" else "concat(left, '&', right)"
                )
        n = self.node("cogroup", params, [(a, "one"), (b, "two")])
        unordered = bool(w) and w[0] == "sliding"
        if unordered:
            self.compare = "set_per_input"
        self.add(
            Out(
                n,
                "table",
                a.key,
                value,
                topics=a.topics | b.topics,
                hops=max(a.hops + a.rekeyed, b.hops + b.rekeyed),
                window=w[0] if w else None,
                grace=w[3] if w else 0,
                unordered=unordered,
                windowset=n if w else None,
                cogrouped=bool(w),
            )
        )

    def suppress(self):
        r, o = self.r, self.choose(lambda o: o.role == "table" and not o.versioned and not o.final)
        if not o:
            return
        if o.window and o.window != "unlimited" and r.random() < 0.75:
            params = {"until": "window_closes"}
        elif o.unordered:
            return
        else:
            params = {"until": "time_limit", "limit": r.choice([0, 2, 5, 10, 20])}
            if r.random() < 0.4:
                params.update({"max_records": r.choice([1, 2, 3]), "when_full": "emit"})
        self.add(
            o.like(self.node("suppress", params, [(o, "in")]), final=True, unordered=o.unordered)
        )

    # ---- joins ---------------------------------------------------------------------------------------------------------
    def joiner(self, l, r_, key, timestamp=False):
        t = self.pick_type()
        env = {"left": l.value, "right": r_.value}
        if self.r.random() < 0.15:
            env["key"] = key
        if timestamp and self.r.random() < 0.06:
            env["unix_millis(timestamp)"] = "BIGINT"
        if self.r.random() < 0.5 and "DOUBLE" not in (l.value, r_.value):
            text = lambda n, o: (
                f"coalesce({n if o.value == 'STRING' else n + '.s' if o.value == STRUCT else f'CAST({n} AS STRING)'}, 'null')"
            )
            return f"substr(concat({text('left', l)}, '+', {text('right', r_)}), 1, 60)", "STRING"
        return self.expr(t, env), t

    def join_ss(self):
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = a and self.choose(
            lambda o: (
                o.role == "stream"
                and not o.window
                and not o.unordered
                and o.key == a.key
                and not self.race(a, o, a.rekeyed, o.rekeyed)
            )
        )
        if not b:
            return
        joiner, t = self.joiner(a, b, a.key, True)
        before, after = r.choice(
            [(10, 10), (10, 10), (5, 5), (0, 10), (10, 0), (0, 0), (-2, 8), (20, -5)]
        )
        params = {
            "type": r.choice(["inner", "left", "outer"]),
            "before": before,
            "after": after,
            "grace": r.choice([0, 0, 1, 5, 10]),
            "joiner": joiner,
        }
        n = self.node("join.stream_stream", params, [(a, "left"), (b, "right")])
        self.add(
            Out(
                n,
                "stream",
                a.key,
                t,
                topics=a.topics | b.topics,
                hops=max(a.hops + a.rekeyed, b.hops + b.rekeyed),
            )
        )

    def join_st(self):
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = a and self.choose(
            lambda o: (
                o.role == "table"
                and not o.window
                and o.key == a.key
                and not self.race(a, o, a.rekeyed)
                and not o.unordered
            )
        )
        if not b:
            return
        joiner, t = self.joiner(a, b, a.key, True)
        params = {"type": r.choice(["inner", "left"]), "joiner": joiner}
        if b.versioned and r.random() < 0.5:
            params["grace"] = r.choice([0, 2, 10])
            # Kafka Streams' join buffer throws at a null key
            a = a.like(self.node("filter", {"predicate": "key IS NOT NULL"}, [(a, "in")]))
        n = self.node("join.stream_table", params, [(a, "left"), (b, "right")])
        self.add(
            Out(
                n,
                "stream",
                a.key,
                t,
                topics=a.topics | b.topics,
                hops=max(a.hops + a.rekeyed, b.hops),
            )
        )

    def join_global(self):
        a = self.choose(lambda o: o.role == "stream" and not o.unordered)
        b = a and self.choose(lambda o: o.role == "global" and o.key == "STRING")
        if not b:
            return
        env = self.env(a)
        joiner, t = self.joiner(a, b, ("windowed", a.key) if a.window else a.key, True)
        n = self.node(
            "join.stream_global_table",
            {"type": self.r.choice(["inner", "left"]), "key": self.key_expr(env), "joiner": joiner},
            [(a, "left"), (b, "right")],
        )
        self.each_only = True
        self.add(a.like(n, value=t, topics=a.topics | b.topics))

    def join_tt(self):
        # Kafka Streams cannot join a windowed cogroup's table: the join finds a store that it does not know
        a = self.choose(lambda o: o.role == "table" and not o.unordered and not o.cogrouped)
        b = a and self.choose(
            lambda o: (
                o is not a
                and o.role == "table"
                and not o.unordered
                and not o.cogrouped
                and o.key == a.key
                and o.windowset == a.windowset
                and o.window == a.window
                and not self.race(a, o)
            )
        )
        if not b:
            return
        joiner, t = self.joiner(a, b, ("windowed", a.key) if a.window else a.key)
        n = self.node(
            "join.table_table",
            {"type": self.r.choice(["inner", "left", "outer"]), "joiner": joiner},
            [(a, "left"), (b, "right")],
        )
        if not a.window:
            self.store("store.key_value", n)
        self.add(
            a.like(
                n,
                value=t,
                topics=a.topics | b.topics,
                hops=max(a.hops, b.hops),
                versioned=0,
                final=a.final or b.final,
            )
        )

    def join_fk(self):
        a = self.choose(
            lambda o: o.role == "table" and not o.window and not o.unordered and not o.final
        )
        b = a and self.choose(
            lambda o: (
                o is not a
                and o.role == "table"
                and not o.window
                and not o.unordered
                and o.key == "STRING"
                and not o.final
                and not (a.topics & o.topics)
            )
        )
        if not b:
            return
        joiner, t = self.joiner(a, b, a.key)
        n = self.node(
            "join.foreign_key",
            {
                "type": self.r.choice(["inner", "left"]),
                "foreign_key": self.key_expr(self.env(a)),
                "joiner": joiner,
            },
            [(a, "left"), (b, "right")],
        )
        self.store("store.key_value", n)
        self.compare = "set_per_input"
        self.add(
            Out(
                n,
                "table",
                a.key,
                t,
                topics=a.topics | b.topics,
                hops=max(a.hops, b.hops) + 1,
                unordered=True,
            )
        )

    # ---- inputs ------------------------------------------------------------------------------------------------------------
    def value(self, role, t):
        r = self.r
        if r.random() < (0.18 if role != "stream" else 0.07):
            return None
        text = lambda: r.choice(KEYS + ["x", "y1", "12", "5"])
        if t == "STRING":
            return text()
        if t == "BIGINT":
            return r.randint(-1, 9)
        null = lambda v: None if r.random() < 0.08 else v
        return {"g": null(r.choice(KEYS)), "n": null(r.randint(-1, 9)), "s": null(text())}

    def inputs(self):
        r, now, lines = self.r, 0, []
        ordered = r.random() < 0.3
        for _ in range(r.randint(12, 40)):
            topic = r.choice(list(self.topics))
            role, key, value = self.topics[topic]
            now += (
                r.choice([1, 1, 2, 5, 9])
                if ordered
                else r.choice([0, 0, 1, 1, 2, 4, 5, 6, 9, 10, 11])
            )
            ts = (
                now
                if ordered or r.random() >= 0.2
                else max(0, now - r.choice([1, 2, 4, 5, 6, 9, 10, 11, 15, 20, 21, 30]))
            )
            k = (
                r.choice(KEYS[:3] + KEYS[: r.randint(1, 4)])
                if key == "STRING"
                else r.randint(-1, 2)
            )
            line = {
                "topic": topic,
                "key": None if r.random() < 0.05 else k,
                "value": self.value(role, value),
                "timestamp": ts,
            }
            if r.random() < 0.07:
                line["headers"] = {"h": r.choice(["u", "v"])}
            lines.append(line)
        for topic, (
            role,
            key,
            value,
        ) in self.topics.items():  # a last record far ahead closes what is open
            if role == "stream" and r.random() < 0.7:
                now += 100
                lines.append(
                    {
                        "topic": topic,
                        "key": "a" if key == "STRING" else 0,
                        "value": self.value(role, value),
                        "timestamp": now,
                    }
                )
        return lines, ordered

    def json(self):
        lines, ordered = self.inputs()
        topology = {
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


def scenario(seed: int, number: int) -> dict:
    """One scenario; `number` counts from 0 within a seed."""
    return Scenario(random.Random(f"{seed}/{number}"), f"R{seed}-{number:04d}").json()
