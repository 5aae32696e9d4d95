"""``reduce``: combines the values of each key into one of the same type."""

from __future__ import annotations

from millrace_compiler.declarations.calls import Call, call
from millrace_compiler.declarations.functions import RECORD, REDUCER
from millrace_compiler.declarations.operator import Ask, Scope
from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.parameters.parameters import Expression, optional
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import DataType


class Reduce(Aggregation):
    "Combines the values of each key into one value of the same type."

    kind = "reduce"
    title = "Reduce"
    icon = "fold-down"
    place = 2
    help = (
        "The first value of a key becomes the result; each further value is combined with the "
        "current result [AG1]. A null result deletes the row [NU1]."
    )
    guarantee = "Every update of every key, in order; values are combined in record order [AG1]."
    why = "Spark aggregates in no fixed order and returns one row per key and micro-batch."
    synonyms = ("sum", "max", "min", "total", "fold", "combine", "latest", "归约", "求和", "最大")
    rules = ("AG1", "AG2", "AG3", "NU1", "RP1", "GT1", "GT2")
    first = ("reducer", "subtractor", "group_by", "window", "emit")
    for_tables = ("subtractor",)
    initializes = False
    bindings = {"reducer": REDUCER, "subtractor": REDUCER, "key": RECORD, "value": RECORD}

    reducer = Expression(
        "Reducer", "Combines `agg`, the current result, and `value`.", columns="reduce"
    )
    subtractor = optional(
        Expression(
            "Subtractor",
            "For a table: removes the old `value` of a changed row from `agg`.",
            columns="reduce",
        )
    )

    def result_type(self, value: DataType | None) -> DataType | None:
        return value

    def questions(self, scope: Scope, key: DataType | None, value: DataType | None) -> list[Ask]:
        columns = (("agg", value), ("value", value))
        asks = [scope.ask("reducer", self.reducer, columns, value)]
        if self.subtractor:
            asks.append(scope.ask("subtractor", self.subtractor, columns, value))
        return asks

    def arguments(self, *, table: bool) -> dict[str, object]:
        found: dict[str, object] = {"reducer": self.reducer}
        if table:
            found["subtractor"] = self.subtractor
        return found

    def final_call(self) -> Call:
        return call("reduce", self.reducer, subtractor=self.subtractor)

    def summary(self) -> Sentence:
        return self.described("{what}", what=self.reducer)
