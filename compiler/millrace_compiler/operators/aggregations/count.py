"""``count``: counts the records of each key."""

from __future__ import annotations

from millrace_compiler.operators.aggregations.base import Aggregation
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import BIGINT, DataType


class Count(Aggregation):
    "Counts records by key and, optionally, by window."

    kind = "count"
    title = "Count"
    icon = "tallymarks"
    place = 1
    help = (
        "Adds one for each record of a key and forwards every new count [AG1]. Grouping by an "
        "expression repartitions first [RP1]. Records with a null key or value are dropped and "
        "counted; in time and session windows, null values count."
    )
    guarantee = (
        "Every update of every key, in order, with the highest timestamp of its records [AG2]."
    )
    why = (
        "Spark's groupBy().count() returns one row per key and micro-batch: updates in between "
        "and their timestamps are lost."
    )
    synonyms = ("number of", "frequency", "per hour", "histogram", "计数", "每小时计数", "统计")
    rules = ("AG1", "AG2", "AG3", "TW1", "TW2", "TW3", "RP1", "GT1")
    first = ("group_by", "window", "emit")

    def result_type(self, value: DataType | None) -> DataType | None:
        return BIGINT

    def summary(self) -> Sentence:
        return self.described("counts")
