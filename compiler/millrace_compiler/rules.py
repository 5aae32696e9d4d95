"""The rules of Kafka Streams that operators keep, by the ids that code and tests name."""

from __future__ import annotations

RULES: dict[str, str] = {
    "PL1": "Of several partitions a task takes the record whose head has the smallest timestamp; "
    "within a partition records stay in the order of their offsets.",
    "PL8": "A record goes to the partition that murmur2 of its key's bytes gives, a windowed key "
    "by its inner key.",
    "EH1": "Bytes that cannot be read go to the deserialization handler: stop, drop and count, or "
    "dead letter.",
    "ST1": "A filter forwards the record as it is, or nothing.",
    "ST2": "Timestamp and headers stay; a new key marks the stream for a shuffle.",
    "ST10": "Two sources of the same topics are one source; topics that overlap without being "
    "equal are refused.",
    "NU1": "An aggregate that becomes null deletes the row and forwards null; the next record "
    "starts anew.",
    "NU2": "A null list of records is a processing error, an empty one gives nothing.",
    "RP1": "A stream whose key has changed is shuffled before it is grouped or joined, and not "
    "before.",
    "RP2": "The shuffle goes through a topic of its own, called after the node.",
    "RP3": "That topic has the partitions that are asked for, else as many as the widest topic "
    "above it.",
    "RP4": "Topics whose records meet by key must have the same number of partitions.",
    "AG1": "Each record makes one update: the first from the initializer (or the first value), "
    "every other from the row so far; it is forwarded at once.",
    "AG2": "An update has the highest timestamp among the records that are in it.",
    "AG3": "Without a window every record counts, however late it comes.",
    "AG5": "All inputs of a cogroup feed one row, in the order of the records.",
    "SE2": "Sessions that a record joins are merged, oldest first, and the record is added last.",
    "GT1": "A changed row of a table is taken out of its old group before it is put into its new "
    "one; in the same group both happen at once.",
    "GT2": "The subtractor is asked for the old value, then the adder for the new one; a result "
    "that did not change is forwarded too.",
    "TW1": "Windows begin at multiples of the advance from 1970 on, never before; the end is "
    "exclusive.",
    "TW2": "A window takes records until stream time has passed its end and grace; later ones are "
    "dropped and counted.",
    "TW3": "A record updates its windows in the order of their starts.",
    "KT1": "Every record of the topic is an update, also one that is older than the row or equal "
    "to it.",
    "KT2": "A table keeps rows only where something needs them.",
    "KT3": "A row that the predicate rejects is a delete downstream; one that was never there is "
    "not forwarded a second time where the old row is known.",
    "KT4": "The value of an update is mapped; a delete stays a delete, without asking the "
    "expression.",
    "KT5": "With a time limit an update waits from the first one held back for its key; the "
    "latest one goes out.",
    "KT6": "A full buffer lets the oldest go early, or stops the job.",
    "KT7": "Held until windows close, each window gives one result, when stream time has passed "
    "its end and grace; deletes are left out.",
    "KT8": "For sliding and session windows a second result is possible on exactly the closing "
    "millisecond.",
    "KT9": "A join or grouping behind it sees the updates that were let out.",
    "GK1": "A record joins by the key that the expression gives; null never matches, and in a "
    "left join the joiner sees null.",
    "GK2": "A global table is complete before the first record, and then follows its topic "
    "without regard to stream time.",
    "GK3": "Its updates go nowhere else: it is there to be looked up.",
    "ST-1": "Only records of the stream give results; changes of the table count from then on.",
    "ST-2": "What counts is the row when the record is processed, whatever the timestamps.",
    "ST-3": "With a versioned table and grace, records wait until stream time has passed them by "
    "the grace, and join the row of their own time.",
    "ST-4": "Without a row an inner join gives nothing, a left join asks the joiner with null.",
    "TT1": "An update of either side meets the other side's row; the result has the later of "
    "their timestamps.",
    "TT2": "Inner: nothing while the other side has no row; a delete where one side goes.",
    "TT3": "Left: the left row decides; the right one may be null.",
    "TT4": "Outer: a result while either side has a row, a delete when the last one goes.",
    "TT5": "Results that are equal to the last one are forwarded too.",
    "TT6": "Both tables must have the same number of partitions.",
    "SJ1": "Two records match with equal keys and the right one's time within before and after "
    "of the left one's, both ends included.",
    "SJ2": "A record meets the matches that came before it, in the order of their timestamps; the "
    "result has the later timestamp.",
    "SJ3": "Records are pairs one by one: two equal records match twice.",
    "SJ4": "Left and outer: a record without a match goes out alone when its window and grace "
    "have passed, with its own timestamp.",
    "SJ5": "A record that is already too late to be matched goes out alone at once.",
    "SJ6": "An inner join does not ask whether a record is late: what the other side still keeps "
    "is found.",
    "FK1": "An insert on the left gives a result if the right row exists, in a left join always.",
    "FK2": "An update on the left whose right row is missing gives a delete in an inner join.",
    "FK3": "A delete on the left gives a delete; one of a row that was not there gives nothing.",
    "FK4": "A change on the right gives one result for each left row that refers to it, in the "
    "order of their keys' bytes.",
    "FK5": "A left row whose foreign key becomes null gives a delete in an inner join.",
    "FK6": "A right row to which nobody refers gives nothing.",
    "FK7": "A result that comes of the right side has the right record's timestamp.",
    "FK8": "Updates of a versioned table that are not the latest are left out.",
    "VS1": "A version older than the history allows is refused and counted.",
    "VS2": "A stream joins the version that was valid at the record's own time.",
    "VS3": "Joins and groupings of tables leave out updates that are not the latest.",
    "SS2": "Iteration is in the order of the serialized key's bytes, unsigned; both ends of a "
    "range are included.",
    "SS3": "Null deletes; what is older than the retention is not kept and not found.",
    "PA2": "One instance for each task: init, then the records one by one, then close.",
    "PA3": "forward goes to all ports in the order of the edges, or to the one that is named.",
    "PA4": "Stream-time punctuation first fires with the first record, then at multiples of the "
    "interval; one call, however many were passed.",
    "PA5": "Punctuation follows the record that moved the time; in it there is no topic, "
    "partition or offset.",
}
