"""How each node runs, what it guarantees, and why it is not done the usual way in Spark."""

from __future__ import annotations

from dataclasses import dataclass

from millrace_compiler.operator import Operator


@dataclass(frozen=True)
class Guarantee:
    """What a node promises, and why it runs as it does."""

    guarantee: str
    why: str


_FRAME = "One record at a time, in the order of the topic."
_PREFIX = (
    "Nothing before it keeps state, so it is a plain DataFrame step, optimised by Spark with its "
    "neighbours."
)
_TASK = "It runs inside the stream task, record by record and depth first, because "
_KINDS: dict[str, Guarantee] = {
    "source.stream": Guarantee(
        "Records of a partition in the order of their offsets; of several, the earliest [PL1].",
        "Spark reads partitions side by side without an order between them; the stream task puts "
        "them into Kafka Streams' order.",
    ),
    "source.table": Guarantee(
        "Every update in the order of offsets, with the row before it [KT1].",
        "Spark has no table that changes within a micro-batch; a stream–static join would see one "
        "state for the whole batch.",
    ),
    "source.global_table": Guarantee(
        "All rows on every task; not in step with the streams' time [GK2].",
        "A broadcast in Spark is read once; this one follows its topic.",
    ),
    "count": Guarantee(
        "Every update of every key, in order, with the time of the latest record [AG2].",
        "Spark's groupBy().count() gives one row per key and micro-batch: updates in between and "
        "their times are lost.",
    ),
    "reduce": Guarantee(
        "Every update of every key, in order; values are folded in the order of the records [AG1].",
        "Spark's aggregates fold in no order and give one row per key and micro-batch.",
    ),
    "aggregate": Guarantee(
        "Every update of every key, in order; values are folded in the order of the records [AG1].",
        "Spark's aggregates fold in no order and give one row per key and micro-batch.",
    ),
    "cogroup": Guarantee(
        "One aggregate fed by all inputs in the order of the records [AG5].",
        "Spark's cogroup sees a whole micro-batch of each side at once, not their order.",
    ),
    "join.stream_stream": Guarantee(
        "Both ends of the window included, late pairs until grace is over, in order [SJ1][SJ4].",
        "Spark's stream–stream joins emit outer rows when a watermark of a whole batch passes, and "
        "drop late rows by it.",
    ),
    "join.stream_table": Guarantee(
        "The row as it was when the record came, or as of its time for versioned tables [ST-2].",
        "Spark joins a stream with one state of a table for the whole micro-batch.",
    ),
    "join.stream_global_table": Guarantee(
        "The row as it was when the record came; no shuffle [GK1].",
        "Spark joins a stream with one state of a table for the whole micro-batch.",
    ),
    "join.table_table": Guarantee(
        "Every update of either side makes the row anew, deletes included [TT1].",
        "Spark cannot join two changing tables without windows.",
    ),
    "join.foreign_key": Guarantee(
        "Updates of both sides reach the result; an overtaken answer is dropped [FK].",
        "Spark has no join of changing tables by a foreign key.",
    ),
    "suppress": Guarantee(
        "One final result per window, or the latest update per limit, by stream time [KT7].",
        "Spark's append mode gives final rows by a watermark that moves once per micro-batch.",
    ),
    "process": Guarantee(
        "The class sees one record at a time, in order; stores and punctuation are exact [PA2].",
        "Spark's Python state API sees a key's rows of a batch, without order or stream time.",
    ),
}
_KINDS["process_values"] = _KINDS["process"]


def guarantee_of(operator: Operator, runs: str) -> Guarantee:
    """The entry of the table for a node that runs in a certain way."""
    found = _KINDS.get(operator.kind)
    if runs == "dataframe":
        if operator.kind == "source.stream":
            return Guarantee("Records of a partition in the order of their offsets.", _PREFIX)
        return Guarantee(_FRAME, _PREFIX)
    if found:
        return found
    reason = "what comes before it keeps state, is shared by several, or has several inputs."
    return Guarantee(_FRAME, _TASK + reason)
