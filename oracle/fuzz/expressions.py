"""Generates type-correct Spark SQL over the columns of a record."""

from __future__ import annotations

from collections.abc import Callable

from oracle.fuzz.parts import KEYS, STRUCT, Columns, Generator, Out, Type

#: Draws an expression.
Form = Callable[[], str]


class Expressions(Generator):
    """Generates type-correct Spark SQL over the columns of a record."""

    def atoms(self, env: Columns, t: str) -> list[str]:
        """The columns and fields of a type."""
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

    def expr(self, t: str, env: Columns, depth: int = 2) -> str:
        """Draw an expression of a type."""
        r, atoms = self.r, self.atoms(env, t)
        if t == STRUCT:
            if atoms and r.random() < 0.4:
                return r.choice(atoms)
            g, number = self.expr("STRING", env, 1), self.expr("BIGINT", env, 1)
            return f"named_struct('g', {g}, 'n', {number}, 's', {self.expr('STRING', env, 1)})"
        if depth == 0 or r.random() < 0.25:
            if atoms and r.random() < 0.85:
                return r.choice(atoms)
            constants: dict[str, Form] = {
                "STRING": lambda: f"'{r.choice(KEYS)}'",
                "BIGINT": lambda: f"{r.randint(-2, 9)}L",
                "BOOLEAN": lambda: r.choice(["true", "true", "false"]),
                "DOUBLE": lambda: f"{r.randint(-4, 9)}.5D",
            }
            return constants[t]()

        def n() -> str:
            return self.expr("BIGINT", env, depth - 1)

        def s() -> str:
            return self.expr("STRING", env, depth - 1)

        def b() -> str:
            return self.expr("BOOLEAN", env, depth - 1)

        if t == "STRING":
            texts: list[Form] = [
                lambda: f"concat({s()}, '{r.choice('+-/')}', {s()})",
                lambda: f"coalesce({s()}, 'none')",
                lambda: f"upper({s()})",
                lambda: f"CAST({n()} AS STRING)",
                lambda: f"CASE WHEN {b()} THEN {s()} ELSE {s()} END",
                lambda: f"substr({s()}, 1, 1)",
            ]
            made = r.choice(texts)()
            return f"substr({made}, 1, 40)" if depth == 2 else made
        if t == "BIGINT":
            numbers: list[Form] = [
                lambda: f"({n()} + 1)",
                lambda: f"({n()} - {n()}) % 100",
                lambda: f"coalesce({n()}, 0L)",
                lambda: f"CAST(length({s()}) AS BIGINT)",
                lambda: f"abs({n()}) % 5",
                lambda: f"CASE WHEN {b()} THEN {n()} ELSE {n()} END",
            ]
            return r.choice(numbers)()
        if t == "BOOLEAN":
            tests: list[Form] = [
                lambda: f"{n()} % 2 = 0",
                lambda: f"{n()} > {r.randint(0, 6)}",
                lambda: f"{s()} = '{r.choice(KEYS)}'",
                lambda: f"{s()} IS NOT NULL",
                lambda: f"({b()} OR {b()})",
                lambda: f"NOT ({b()})",
                lambda: f"{s()} LIKE '%{r.choice(KEYS)}%'",
                lambda: f"{n()} IS NULL",
            ]
            return r.choice(tests)()
        return f"({n()} / 4)"

    def env(self, o: Out) -> Columns:
        """Draw the columns that expressions over the records of an output use."""
        e: Columns = {"key": ("windowed", o.key) if o.window else o.key, "value": o.value}
        if o.role == "stream" and self.r.random() < 0.08:
            e["unix_millis(timestamp)"] = "BIGINT"
        if o.role == "stream" and self.r.random() < 0.05:
            e["CAST(headers['h'] AS STRING)"] = "STRING"
        return e

    def pick_type(self) -> str:
        """Draw the type of a value."""
        return self.r.choice(["STRING", "STRING", "BIGINT", "BIGINT", STRUCT, "DOUBLE"])

    def key_expr(self, env: Columns) -> str:
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

    def combine(self, agg: str, env: Columns) -> str:
        """An aggregator of the type `agg`, over `agg` and the columns `env`."""
        if agg == "BIGINT":
            return f"agg + coalesce({self.expr('BIGINT', env, 1)}, 0L)"
        sign = self.r.choice("+,")
        added = f"coalesce({self.expr('STRING', env, 1)}, '~')"
        return f"substr(concat(agg, '{sign}', {added}), 1, 60)"

    def joiner(
        self, left: Out, right: Out, key: Type, *, timestamp: bool = False
    ) -> tuple[str, str]:
        """Draw a joiner and the type of its result."""
        t = self.pick_type()
        env: Columns = {"left": left.value, "right": right.value}
        if self.r.random() < 0.15:
            env["key"] = key
        if timestamp and self.r.random() < 0.06:
            env["unix_millis(timestamp)"] = "BIGINT"
        if self.r.random() < 0.5 and "DOUBLE" not in (left.value, right.value):
            both = f"{_text('left', left)}, '+', {_text('right', right)}"
            return f"substr(concat({both}), 1, 60)", "STRING"
        return self.expr(t, env), t


def _text(name: str, o: Out) -> str:
    """A side of a join as text."""
    text = f"CAST({name} AS STRING)"
    if o.value in ("STRING", STRUCT):
        text = name if o.value == "STRING" else f"{name}.s"
    return f"coalesce({text}, 'null')"
