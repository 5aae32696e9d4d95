"""How each node runs, what it guarantees, and why it is not done the usual way in Spark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """What a node promises, and why it runs as it does."""

    guarantee: str
    why: str


_TASK = (
    "It runs inside the stream task, record by record and depth first: its order, time and errors "
    "are those of single records, which no step of a DataFrame keeps."
)
_STORE = (
    "Spark's own state stores are keyed by the query's plan and cannot be scanned in the order of "
    "keys; these are bytes under the store's name, so they survive edits of the design."
)
TABLE: dict[str, Guarantee] = {
    "filter": Guarantee("The records that it keeps stay in their order [ST1].", _TASK),
    "filter_not": Guarantee("The records that it keeps stay in their order [ST1].", _TASK),
    "map": Guarantee("One record for each, in order; time and headers stay [ST2].", _TASK),
    "map_values": Guarantee("One record for each, in order; key, time, headers stay [ST2].", _TASK),
    "select_key": Guarantee("One record for each, in order; time and headers stay [ST2].", _TASK),
    "flat_map": Guarantee("The records of one stay together, in the list's order [ST2].", _TASK),
    "flat_map_values": Guarantee(
        "The records of one stay together, in the list's order [ST2].", _TASK
    ),
    "peek": Guarantee(
        "Every record once, in order; after a crash a line may be written again.",
        "Spark may evaluate a step of a DataFrame more than once; the stream task does not.",
    ),
    "merge": Guarantee(
        "Records of all inputs, each of them wholly before the next.",
        "Spark's union takes one input after the other; the stream task keeps the records' order.",
    ),
    "split": Guarantee(
        "Every record to one branch, and through it before the next record.",
        "As separate filters Spark would read the input once for each branch.",
    ),
    "repartition": Guarantee(
        "Records of a key stay in order and meet in one task [RP2].",
        "Spark's repartition keeps no order and places keys by a hash of its own, not Kafka's.",
    ),
    "to_table": Guarantee(
        "Every update in order, with the row before it [KT1].",
        "Spark has no table that changes within a micro-batch.",
    ),
    "to_stream": Guarantee("Every update as a record, in order, deletes as nulls [KT1].", _TASK),
    "sink.topic": Guarantee(
        "In order to the partition that Kafka would choose, with time and headers; at least once, "
        "or exactly once by the setting [PL8].",
        "Spark's Kafka sink writes no timestamps and knows no transactions.",
    ),
    "sink.print": Guarantee(
        "Every record in order; after a crash a line may be written again.",
        "Spark's console sink shows a micro-batch as a table, and only its first rows.",
    ),
    "store.key_value": Guarantee(
        "The rows of the last micro-batch, in the order of the keys' bytes [SS2].", _STORE
    ),
    "store.window": Guarantee(
        "The rows of the last micro-batch that the retention still covers [SS3].", _STORE
    ),
    "store.session": Guarantee(
        "The sessions of the last micro-batch that the retention still covers [SS3].", _STORE
    ),
    "store.versioned": Guarantee(
        "The versions that the history still covers, found by time [VS1][VS2].", _STORE
    ),
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
TABLE["process_values"] = TABLE["process"]


def guarantee_of(kind: str) -> Guarantee:
    """The entry of the table for a kind."""
    return TABLE[kind]
