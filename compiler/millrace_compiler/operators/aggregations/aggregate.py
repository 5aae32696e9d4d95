"""``aggregate``: combines the values of each key into an aggregate of any type."""

from __future__ import annotations

from millrace_compiler.declarations.calls import Call, call
from millrace_compiler.declarations.operator import Ask, Scope
from millrace_compiler.operators.aggregations.base import Aggregation, Folding, aggregate_columns
from millrace_compiler.parameters.parameters import Expression, optional
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import DataType


class Aggregate(Folding, Aggregation):
    "Combines the values of each key into an aggregate of any type."

    kind = "aggregate"
    title = "Aggregate"
    icon = "stack-2"
    place = 3
    help = (
        "Starts with the initializer and applies the aggregator to each value of a key [AG1]. A "
        "null result deletes the row [NU1]. The merger combines sessions that overlap [SE2]."
    )
    guarantee = "Every update of every key, in order; values are combined in record order [AG1]."
    why = "Spark aggregates in no fixed order and returns one row per key and micro-batch."
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

    aggregator = Expression(
        "Aggregator",
        "The new aggregate, an expression over `agg`, `key`, `value` and `timestamp`.",
        columns="aggregate",
    )
    subtractor = optional(
        Expression(
            "Subtractor",
            "For a table: removes the old `value` of a changed row from `agg`.",
            columns="aggregate",
        )
    )

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

    def final_call(self) -> Call:
        return call(
            "aggregate",
            self.raw("type"),
            initializer=self.initializer,
            aggregator=self.aggregator,
            subtractor=self.subtractor,
            merger=self.merger,
        )

    def summary(self) -> Sentence:
        return self.described("{what}", what=self.aggregator)
