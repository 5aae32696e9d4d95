"""``aggregate``: values of each key folded into one of any type."""

from __future__ import annotations

from millrace_compiler.diagnostics import Report
from millrace_compiler.operator import Ask, Scope
from millrace_compiler.operators.aggregations.base import Aggregation, aggregate_columns
from millrace_compiler.parameters import Expression, optional
from millrace_compiler.parts import TypeOf
from millrace_compiler.types import DataType


class Aggregate(Aggregation):
    """Folds the values of each key into a value of a type of its own."""

    kind = "aggregate"
    title = "Aggregate"
    icon = "stack-2"
    place = 3
    help = (
        "Starts each key with the initializer and combines it with each value [AG1]. A null result "
        "deletes the row [NU1]. Sessions that grow together are combined by the merger [SE2]."
    )
    synonyms = ("fold", "collect", "average", "statistics", "accumulate", "聚合", "平均")
    rules = ("AG1", "AG2", "AG3", "NU1", "SE2", "RP1", "GT1", "GT2")
    first = (
        "type",
        "initializer",
        "aggregator",
        "subtractor",
        "merger",
        "group_by",
        "window",
        "emit",
    )
    for_tables = ("subtractor",)

    type = TypeOf("Type", "Spark type of the aggregate.")
    initializer = Expression(
        "Initializer", "The aggregate of a key without values.", columns="none"
    )
    aggregator = Expression(
        "Aggregator",
        "The new aggregate from `agg`, `key`, `value` and `timestamp`.",
        columns="aggregate",
    )
    subtractor = optional(
        Expression(
            "Subtractor",
            "For a table: takes the old `value` of a changed row out of `agg`.",
            columns="aggregate",
            required=False,
        )
    )
    merger = optional(
        Expression(
            "Merger",
            "For sessions: one aggregate from `left` and `right`.",
            columns="merger",
            required=False,
        )
    )

    def check(self, report: Report) -> None:
        super().check(report)
        self.check_merger(report, self.merger)

    def result_type(self, value: DataType | None) -> DataType | None:
        return self.type

    def questions(self, scope: Scope, key: DataType | None, value: DataType | None) -> list[Ask]:
        columns = aggregate_columns(self.type, key, value)
        asks = [
            scope.ask("initializer", self.initializer, (), self.type),
            scope.ask("aggregator", self.aggregator, columns, self.type),
        ]
        if self.subtractor:
            asks.append(scope.ask("subtractor", self.subtractor, columns, self.type))
        if self.merger:
            sides = (("key", key), ("left", self.type), ("right", self.type))
            asks.append(scope.ask("merger", self.merger, sides, self.type))
        return asks

    def arguments(self, *, table: bool) -> dict[str, object]:
        found: dict[str, object] = {
            "type": self.type.text if self.type else "",
            "initializer": self.initializer,
            "aggregator": self.aggregator,
        }
        return found | ({"subtractor": self.subtractor} if table else {"merger": self.merger})

    def summary(self) -> str:
        return f"{self.aggregator}{self.how()}"
