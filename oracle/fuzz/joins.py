"""Generates the five kinds of joins."""

from __future__ import annotations

from millrace_model.documents import Params

from oracle.fuzz.graph import RandomTopology
from oracle.fuzz.parts import Out


class Joins(RandomTopology):
    """Generates the five kinds of joins."""

    def join_ss(self) -> None:
        """Add a join of two streams."""
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = (
            None
            if a is None
            else self.choose(
                lambda o: (
                    o.role == "stream"
                    and not o.window
                    and not o.unordered
                    and o.key == a.key
                    and not self.race(a, o, a.rekeyed, o.rekeyed)
                )
            )
        )
        if a is None or b is None:
            return
        joiner, t = self.joiner(a, b, a.key, timestamp=True)
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

    def join_st(self) -> None:
        """Add a join of a stream with a table."""
        r = self.r
        a = self.choose(lambda o: o.role == "stream" and not o.window and not o.unordered)
        b = (
            None
            if a is None
            else self.choose(
                lambda o: (
                    o.role == "table"
                    and not o.window
                    and o.key == a.key
                    and not self.race(a, o, a.rekeyed)
                    and not o.unordered
                )
            )
        )
        if a is None or b is None:
            return
        left = a
        joiner, t = self.joiner(a, b, a.key, timestamp=True)
        params: Params = {"type": r.choice(["inner", "left"]), "joiner": joiner}
        if b.versioned and r.random() < 0.5:
            params["grace"] = r.choice([0, 2, 10])
            # Kafka Streams' join buffer throws an exception for a null key.
            left = a.like(self.node("filter", {"predicate": "key IS NOT NULL"}, [(a, "in")]))
        n = self.node("join.stream_table", params, [(left, "left"), (b, "right")])
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

    def join_global(self) -> None:
        """Add a join of a stream with a global table."""
        a = self.choose(lambda o: o.role == "stream" and not o.unordered)
        b = None if a is None else self.choose(lambda o: o.role == "global" and o.key == "STRING")
        if a is None or b is None:
            return
        env = self.env(a)
        joiner, t = self.joiner(a, b, ("windowed", a.key) if a.window else a.key, timestamp=True)
        n = self.node(
            "join.stream_global_table",
            {"type": self.r.choice(["inner", "left"]), "key": self.key_expr(env), "joiner": joiner},
            [(a, "left"), (b, "right")],
        )
        self.each_only = True
        self.add(a.like(n, value=t, topics=a.topics | b.topics))

    def join_tt(self) -> None:
        """Add a join of two tables."""
        # Kafka Streams cannot join a windowed cogroup's table: the join finds an unknown store.
        a = self.choose(lambda o: o.role == "table" and not o.unordered and not o.cogrouped)
        b = (
            None
            if a is None
            else self.choose(
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
        )
        if a is None or b is None:
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

    def join_fk(self) -> None:
        """Add a join of two tables by a foreign key."""
        a = self.choose(
            lambda o: o.role == "table" and not o.window and not o.unordered and not o.final
        )
        b = (
            None
            if a is None
            else self.choose(
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
        )
        if a is None or b is None:
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
