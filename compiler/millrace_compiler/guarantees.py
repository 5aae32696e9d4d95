"""How each node runs, what it guarantees, and why the usual Spark operation is not used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """What a node guarantees, and why it runs as it does."""

    guarantee: str
    why: str


_TASK = (
    "The stream task processes records one by one, depth first, so order, timestamps and errors "
    "are those of each record. DataFrame operations do not keep them."
)
_STORE = (
    "Spark's state stores are bound to the query plan and cannot be scanned in key order. These "
    "are stored under the store's name, so they survive changes of the topology."
)
_ONE_TO_ONE = "One result for each record, in order, with its timestamp and headers [ST2]."
_SAME_KEY = "One result for each record, in order, with its key, timestamp and headers [ST2]."
_ONE_TO_MANY = "The results of a record stay together, in the order of the array [ST2]."
TABLE: dict[str, Guarantee] = {
    "filter": Guarantee("Keeps the order of records [ST1].", _TASK),
    "filter_not": Guarantee("Keeps the order of records [ST1].", _TASK),
    "map": Guarantee(_ONE_TO_ONE, _TASK),
    "map_values": Guarantee(
        _SAME_KEY,
        _TASK,
    ),
    "select_key": Guarantee(_ONE_TO_ONE, _TASK),
    "flat_map": Guarantee(_ONE_TO_MANY, _TASK),
    "flat_map_values": Guarantee(_ONE_TO_MANY, _TASK),
    "peek": Guarantee(
        "One line for each record, in order; after a crash, lines may be repeated.",
        "Spark may evaluate a DataFrame operation more than once; the stream task does not.",
    ),
    "merge": Guarantee(
        "Records of all inputs, in the order in which they are processed.",
        "Spark's union reads one input after the other; the stream task keeps record order.",
    ),
    "split": Guarantee(
        "Each record goes to one branch and is processed there before the next record.",
        "With a filter for each branch, Spark would read the input once for each of them.",
    ),
    "repartition": Guarantee(
        "All records of a key go to the same task, in order [RP2].",
        "Spark's repartition does not keep the order, and its hash differs from Kafka's.",
    ),
    "to_table": Guarantee(
        "Every update in order, with the previous row [KT1].",
        "Spark has no table that changes within a micro-batch.",
    ),
    "to_stream": Guarantee(
        "Every update as a record, in order; deletes have null values [KT1].", _TASK
    ),
    "sink.topic": Guarantee(
        "Records keep their order, timestamps and headers and go to the partition that Kafka "
        "Streams would choose; at least once, or exactly once if set [PL8].",
        "Spark's Kafka sink writes no timestamps and has no transactions.",
    ),
    "sink.print": Guarantee(
        "One line for each record, in order; after a crash, lines may be repeated.",
        "Spark's console sink prints a micro-batch as a table, and only its first rows.",
    ),
    "store.key_value": Guarantee(
        "The rows as of the last micro-batch, in the order of the serialized keys [SS2].", _STORE
    ),
    "store.window": Guarantee(
        "The rows as of the last micro-batch, within the retention [SS3].", _STORE
    ),
    "store.session": Guarantee(
        "The sessions as of the last micro-batch, within the retention [SS3].", _STORE
    ),
    "store.versioned": Guarantee(
        "The versions within the history retention, looked up by timestamp [VS1][VS2].", _STORE
    ),
    "source.stream": Guarantee(
        "Offset order within a partition; across partitions, smallest timestamp first [PL1].",
        "Spark reads partitions in parallel, without an order between them; the stream task "
        "restores the order of Kafka Streams.",
    ),
    "source.table": Guarantee(
        "Every update in offset order, with the previous row [KT1].",
        "Spark has no table that changes within a micro-batch; a stream–static join uses one state "
        "of the table for the whole batch.",
    ),
    "source.global_table": Guarantee(
        "All rows in every task; not synchronized with stream time [GK2].",
        "A broadcast in Spark is read once; a global table follows its topic.",
    ),
    "count": Guarantee(
        "Every update of every key, in order, with the highest timestamp of its records [AG2].",
        "Spark's groupBy().count() returns one row per key and micro-batch: updates in between and "
        "their timestamps are lost.",
    ),
    "reduce": Guarantee(
        "Every update of every key, in order; values are combined in record order [AG1].",
        "Spark aggregates in no fixed order and returns one row per key and micro-batch.",
    ),
    "aggregate": Guarantee(
        "Every update of every key, in order; values are combined in record order [AG1].",
        "Spark aggregates in no fixed order and returns one row per key and micro-batch.",
    ),
    "cogroup": Guarantee(
        "One aggregate, updated by all inputs in record order [AG5].",
        "Spark's cogroup gets the whole micro-batch of each side, without their common order.",
    ),
    "join.stream_stream": Guarantee(
        "All pairs within the window, inclusive, and late ones within the grace period [SJ1][SJ4].",
        "Spark's stream–stream joins emit outer rows and drop late rows by a watermark that is set "
        "between micro-batches.",
    ),
    "join.stream_table": Guarantee(
        "The row at processing time, or as of the record's timestamp if versioned [ST-2].",
        "Spark joins a whole micro-batch with one state of the table.",
    ),
    "join.stream_global_table": Guarantee(
        "The row at processing time, without a repartition [GK1].",
        "Spark joins a whole micro-batch with one state of the table.",
    ),
    "join.table_table": Guarantee(
        "Every update of either side recomputes the row, including deletes [TT1].",
        "Spark cannot join two changing tables without windows.",
    ),
    "join.foreign_key": Guarantee(
        "Updates of both sides update the result; outdated responses are dropped [FK].",
        "Spark has no foreign-key join of changing tables.",
    ),
    "suppress": Guarantee(
        "One final result per window, or the latest update per time limit, by stream time [KT7].",
        "Spark's append mode emits final rows by a watermark that is set once per micro-batch.",
    ),
    "process": Guarantee(
        "The class gets one record at a time, in order; stores and punctuations are exact [PA2].",
        "Spark's Python state API gets the rows of a key in a batch, without order or stream time.",
    ),
}
TABLE["process_values"] = TABLE["process"]


def guarantee_of(kind: str) -> Guarantee:
    """The entry of the table for a kind."""
    return TABLE[kind]
