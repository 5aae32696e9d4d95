# mypy: ignore-errors
"""Generates type-correct Spark SQL over the columns of a record."""

from oracle.fuzz.parts import KEYS, STRUCT


class Expressions:
    """Mixin that generates type-correct Spark SQL over the columns of a record."""

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

    def key_expr(self, env):
        """A key expression with few distinct results; otherwise hardly any records would match."""
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

    def combine(self, agg, env):
        """An aggregator of the type `agg`, over `agg` and the columns `env`."""
        if agg == "BIGINT":
            return f"agg + coalesce({self.expr('BIGINT', env, 1)}, 0L)"
        return f"substr(concat(agg, '{self.r.choice('+,')}', coalesce({self.expr('STRING', env, 1)}, '~')), 1, 60)"

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
