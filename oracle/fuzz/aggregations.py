"""Generates aggregations with their windows, cogroups and suppressions."""

from __future__ import annotations

from millrace_model.documents import Params

from oracle.fuzz.graph import RandomTopology
from oracle.fuzz.parts import Columns, Out


class Aggregations(RandomTopology):
    """Generates aggregations with their windows, cogroups and suppressions."""

    def window(self) -> tuple[str, Params, int, int]:
        """Draw a window: its kind, parameters, size and grace."""
        r, grace = self.r, self.r.choice([0, 0, 1, 5, 10])
        kind = self.one(["tumbling", "hopping", "sliding", "session", "unlimited"], [5, 4, 3, 4, 1])
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

    def aggregate_stream(self) -> None:
        """Add an aggregation of a stream."""
        r = self.r
        o = self.choose(lambda o: o.role == "stream" and not o.unordered)
        if not o:
            return
        kind = self.one(["count", "count", "reduce", "aggregate", "aggregate"])
        params: Params = {}
        env = self.env(o)
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
        aenv: Columns = {"key": key, "value": o.value}
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
                    "aggregator": self.combine(value, aenv),
                }
            )
            if not w and r.random() < 0.2:
                test = self.expr("BOOLEAN", aenv, 1)
                params["aggregator"] = f"CASE WHEN {test} THEN NULL ELSE {params['aggregator']} END"
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
        unordered = w is not None and w[0] == "sliding"
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

    def aggregate_table(self) -> None:
        """Add an aggregation of a table."""
        r, o = self.r, self.choose(lambda o: o.role == "table" and not o.unordered)
        if not o:
            return
        env, kind = self.env(o), self.one(["count", "reduce", "aggregate"])
        value = r.choice(["BIGINT", "STRING"]) if kind == "aggregate" else "BIGINT"
        inner = r.choice(["BIGINT", "STRING"]) if kind != "reduce" else "BIGINT"
        params: Params = {
            "group_by": {"key": self.key_expr(env), "value": self.expr(inner, env, 1)}
        }
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

    def cogroup(self) -> None:
        """Add a cogroup of two streams."""
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = (
            None
            if a is None
            else self.choose(
                lambda o: (
                    o is not a
                    and o.role == "stream"
                    and not o.window
                    and not o.unordered
                    and o.key == a.key
                    and not self.race(a, o, a.rekeyed, o.rekeyed)
                )
            )
        )
        if a is None or b is None:
            return
        value = r.choice(["BIGINT", "STRING"])
        inputs = [
            {
                "port": p,
                "aggregator": self.combine(value, {"key": o.key, "value": o.value}),
            }
            for p, o in (("one", a), ("two", b))
        ]
        params: Params = {
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
        unordered = w is not None and w[0] == "sliding"
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

    def suppress(self) -> None:
        """Add a suppression."""
        r, o = self.r, self.choose(lambda o: o.role == "table" and not o.versioned and not o.final)
        if not o:
            return
        if o.window and o.window != "unlimited" and r.random() < 0.75:
            params: Params = {"until": "window_closes"}
        elif o.unordered:
            return
        else:
            params = {"until": "time_limit", "limit": r.choice([0, 2, 5, 10, 20])}
            if r.random() < 0.4:
                params.update({"max_records": r.choice([1, 2, 3]), "when_full": "emit"})
        self.add(
            o.like(self.node("suppress", params, [(o, "in")]), final=True, unordered=o.unordered)
        )
