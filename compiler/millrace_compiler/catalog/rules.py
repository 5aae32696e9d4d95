"""The rules of Kafka Streams that operators follow, by the ids used in code and tests."""

from __future__ import annotations

RULES: dict[str, str] = {
    "PL1": "A task processes the record with the smallest timestamp among the next records of its "
    "partitions; records of one partition are processed in offset order.",
    "PL8": "The partition is computed by murmur2 from the bytes of the key; a windowed key is "
    "partitioned by its inner key.",
    "EH1": "Records that cannot be deserialized go to the deserialization handler: fail, drop and "
    "count, or write a dead letter and continue or fail.",
    "ST1": "A filter forwards a record unchanged or drops it.",
    "ST2": "Timestamp and headers are kept; a changed key marks the stream for repartitioning.",
    "ST10": "Two sources with the same topics are one source; lists of topics that overlap without "
    "being equal are refused.",
    "NU1": "If an aggregate becomes null, the row is deleted and null is forwarded; the next "
    "record starts with the initializer again.",
    "NU2": "A null array is a processing error; an empty array produces no record.",
    "RP1": "A stream whose key has changed is repartitioned before the next grouping or join, and "
    "only there.",
    "RP2": "Repartitioning uses an internal topic, named after the node.",
    "RP3": "The internal topic has the configured number of partitions, or else the largest number "
    "among its upstream topics.",
    "RP4": "Topics that are joined by key must have the same number of partitions.",
    "RP5": "A repartition drops records with a null key without counting them, unless a left or "
    "outer join of a stream follows downstream, which produces results for them.",
    "AG1": "Each record updates the aggregate of its key, starting with the initializer (or the "
    "first value), and the new result is forwarded immediately.",
    "AG2": "The timestamp of an aggregate is the highest timestamp of its records.",
    "AG3": "Without a window, no record is late.",
    "AG5": "All inputs of a cogroup update the same aggregate, in the order in which records are "
    "processed.",
    "SE2": "All sessions that a record connects are merged, oldest first; then the record is "
    "added.",
    "GT1": "When a table row changes, the old value is removed from its group before the new value "
    "is added to its group; within one group, both are a single update.",
    "GT2": "The subtractor is applied to the old value, then the adder to the new value; unchanged "
    "results are forwarded as well.",
    "TW1": "Windows start at multiples of the advance since the epoch, plus their offset, or at "
    "the days of a calendar; never before the epoch. The end of a window is exclusive.",
    "TW2": "A window accepts records until stream time passes its end plus grace period; later "
    "records are dropped and counted.",
    "TW3": "A record updates its windows in the order of their start times.",
    "KT1": "Every record of the topic is an update, even if it is older than the row or equal to "
    "it.",
    "KT2": "A table is materialized only if an operator needs its rows.",
    "KT3": "A row that no longer matches the predicate is forwarded as a delete; if the old row is "
    "known not to match either, nothing is forwarded.",
    "KT4": "The expression is applied to the value of an update; deletes are forwarded without "
    "evaluating it.",
    "KT5": "With a time limit, updates of a key are held back until the limit has passed since the "
    "first of them; then the latest is forwarded.",
    "KT6": "A full buffer emits its oldest record early, or stops the job.",
    "KT7": "With “Window closes”, each window emits one result when stream time passes its end "
    "plus grace period; deletes are omitted.",
    "KT8": "Sliding and session windows can emit a second result in exactly the millisecond in "
    "which they close.",
    "KT9": "Downstream joins and aggregations see only the updates that were emitted.",
    "GK1": "A record is joined with the row of the key that the expression returns; a null key "
    "never matches, and in a left join the joiner gets null.",
    "GK2": "A global table is loaded completely before the first record is processed; after that, "
    "it follows its topic independently of stream time.",
    "GK3": "Updates of a global table are not forwarded; joins and processors look up its rows.",
    "ST-1": "Only records of the stream produce results; changes of the table affect later "
    "records.",
    "ST-2": "A record is joined with the row at the time of processing, whatever the timestamps "
    "are.",
    "ST-3": "With a versioned table and a grace period, a record waits until stream time passes "
    "its timestamp plus the grace period, and is joined with the row as of its timestamp.",
    "ST-4": "If there is no row, an inner join produces no result, and a left join calls the "
    "joiner with null.",
    "TT1": "An update of either side is joined with the current row of the other side; the result "
    "has the later of both timestamps.",
    "TT2": "Inner join: there is no result while one side has no row, and a delete when one side "
    "is deleted.",
    "TT3": "Left join: there is a result for each left row; the right row may be null.",
    "TT4": "Outer join: there is a result while either side has a row, and a delete when both are "
    "deleted.",
    "TT5": "A result that is equal to the previous one is forwarded as well.",
    "TT6": "Both tables must have the same number of partitions.",
    "SJ1": "Two records match if their keys are equal and the timestamp of the right record is "
    "between left - before and left + after, inclusive.",
    "SJ2": "A record is joined with the earlier records of the other side in the order of their "
    "timestamps; a result has the later of both timestamps.",
    "SJ3": "Each pair of records produces a result: two equal records match twice.",
    "SJ4": "Left and outer joins: a record without a match is forwarded with its own timestamp "
    "when its window and grace period have passed.",
    "SJ5": "Left and outer joins: a record that is already too late for a match is forwarded "
    "immediately.",
    "SJ6": "An inner join also joins late records with all records that the other side still "
    "stores.",
    "FK1": "An insert on the left produces a result if the right row exists; in a left join, "
    "always.",
    "FK2": "If the right row of a left update is missing, an inner join produces a delete.",
    "FK3": "A delete on the left produces a delete, or nothing if the row did not exist.",
    "FK4": "A change on the right produces one result for each left row that refers to it, in the "
    "order of the bytes of their keys.",
    "FK5": "If the foreign key of a left row becomes null, an inner join produces a delete.",
    "FK6": "A change of a right row without references produces no result.",
    "FK7": "A result caused by the right side has the timestamp of the right record.",
    "FK8": "Updates of a versioned table that are not the latest are omitted.",
    "VS1": "A version older than the history retention is dropped and counted.",
    "VS2": "A stream record is joined with the version that was valid at its timestamp.",
    "VS3": "Table joins and aggregations ignore updates that are not the latest.",
    "SS2": "Iteration is in the order of the serialized keys, as unsigned bytes; both ends of a "
    "range are inclusive.",
    "SS3": "A null value deletes the row; rows older than the retention are removed and not "
    "returned.",
    "PA2": "There is one instance for each task: init is called first, then process for each "
    "record, then close.",
    "PA3": "forward sends a record to all ports in the order of the edges, or to the named port.",
    "PA4": "A stream-time punctuation first fires with the first record, then at multiples of the "
    "interval; it fires once even if several intervals have passed.",
    "PA5": "A punctuation runs after the record that advanced the time; it has no topic, partition "
    "or offset.",
}
