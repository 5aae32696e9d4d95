"""Messages about windows, aggregations, joins, sources and stores."""

from __future__ import annotations

from millrace_compiler.diagnostics.prose import Prose

OPERATORS: dict[str, Prose] = {
    # ---- windows, aggregations ------------------------------------------------------------
    "rejected_rows": Prose(
        "Rejected rows of a table can only be dropped.",
        "Choose “Drop”, or put “To stream” before it.",
    ),
    "window_part": Prose(
        "Windows of the type {type} have no {part}.", "Known properties: {known}."
    ),
    "window_part_missing": Prose(
        "The {part} of the {type} window is required.", "Enter a duration."
    ),
    "window_size_and_unit": Prose(
        "The window has a size and a calendar unit.", "Remove one of them."
    ),
    "window_zone": Prose(
        "Windows of a fixed size have no time zone.",
        "Set the unit (day, week, month, quarter or year) instead of the size, or use the offset.",
    ),
    "window_zone_unknown": Prose(
        "{found} is not a time zone.",
        "{guess}Use a name of the IANA time zone database, such as Europe/Paris, or UTC.",
    ),
    "window_offset": Prose(
        "The offset of {offset} is not less than the {between} after which another window starts.",
        "Use a smaller offset.",
    ),
    "window_advance": Prose(
        "The window advances by {advance} ms, more than its size of {size} ms.",
        "Advance by at most the size, or records between windows are lost.",
    ),
    "emit_unlimited": Prose(
        "An unlimited window never closes, so it has no final result.",
        "Choose “Every update”, or another window.",
    ),
    "store_headers": Prose(
        "The rows of {operator} have no headers: only processors put headers into a store.",
        "Switch the store's headers off.",
    ),
    "emit_custom": Prose(
        "Custom windows have no final results, as in Kafka Streams.",
        "Choose “Every update”, and suppress the table until windows close.",
    ),
    "window_function": Prose(
        "The code of the windows has no function.",
        "Define a function that takes a timestamp in ms and returns pairs of start and end.",
    ),
    "window_arguments": Prose(
        "{name} cannot be called with a timestamp alone.",
        "The last function takes one argument: a timestamp in ms.",
    ),
    "merger_missing": Prose(
        "Session windows need a merger.", "Add an expression over left and right."
    ),
    "merger_unwanted": Prose(
        "A merger applies to session windows only.", "Remove it, or choose a session window."
    ),
    "only_for_tables": Prose("This applies to tables only; the input is a stream.", "Remove it."),
    "only_for_streams": Prose(
        "This applies to streams only; the input is a table.",
        "Remove it, or insert a “To stream” node before this node.",
    ),
    "needed_for_tables": Prose("This is required for an aggregation of a table.", "Fill it in."),
    "group_by_value": Prose(
        "A stream is grouped by key only, but a value is set.", "Remove the value."
    ),
    "group_by_needs_value": Prose(
        "A table is grouped by key and value, but no value is set.", "Set the value as well."
    ),
    # ---- joins, suppress ------------------------------------------------------------------
    "join_window": Prose(
        "The join window, from {before} ms before to {after} ms after, is empty.",
        "The sum of before and after must not be negative.",
    ),
    "join_grace": Prose(
        "The join has a grace period, but the table is not versioned.",
        "Connect a versioned store to the table, or remove the grace period.",
    ),
    "join_grace_history": Prose(
        "The grace period, {found} ms, is longer than the table's history, {history} ms.",
        "Set a longer history in the versioned store, or a shorter grace period.",
    ),
    "suppress_versioned": Prose(
        "A versioned table cannot be suppressed.", "Disconnect its versioned store."
    ),
    "suppress_inherited": Prose(
        "All records of this windowed cogroup come from versioned tables, such as {table}. Kafka "
        "Streams treats it as versioned, and a versioned table cannot be suppressed.",
        "Disconnect the versioned store of {table}, or add “To table” and “To stream” before the "
        "cogroup.",
    ),
    "suppress_window": Prose(
        "The table is not windowed, so no window closes.",
        "Choose “Time limit”, or aggregate by window.",
    ),
    "suppress_emit": Prose(
        "Final results cannot be emitted early.",
        "Choose “Fail”, or emit at the “Time limit”.",
    ),
    "not_copartitioned": Prose(
        "The inputs are not co-partitioned: {topics}.",
        "Use topics with the same number of partitions, or insert a “Repartition” node before "
        "this node.",
    ),
    # ---- sources --------------------------------------------------------------------------
    "topic_roles": Prose(
        "Topic {topic} is read both as a stream and as a table; {other} reads it too.",
        "Read it once, either as a stream or as a table.",
    ),
    "topic_formats": Prose(
        "Topic {topic} is read by {other} with different formats.", "Use the same formats in both."
    ),
    "topic_times": Prose(
        "Topic {topic} is read by {other} with a different timestamp, start or reader.",
        "Use the same timestamp, handling of invalid timestamps, start and reader in both.",
    ),
    "reader_missing": Prose(
        "This parameter has no effect without a reader.", "Set reader, or remove this parameter."
    ),
    "reader_topics": Prose(
        "A source with a reader has exactly one topic name.",
        "List exactly one topic name.",
    ),
    "reader_start": Prose(
        "The start position of a reader is set by its options.",
        "Remove start, and set an option of the format, such as startingVersion.",
    ),
    "reader_schema": Prose(
        "The reader's schema is {found}, which has no columns.",
        "Enter columns with their types, such as id STRING, at TIMESTAMP.",
    ),
    "reader_column": Prose("A record has no column {name}.", "Available columns: {known}."),
    "reader_written": Prose(
        "Topic {topic} is written here, but {other} reads its records with a reader, not from the "
        "broker.",
        "Choose another topic name for the reader.",
    ),
    "real_time_reader": Prose(
        "Real-time mode reads only from Kafka, but this source has a reader.",
        "Run the topology in micro-batches, or read a topic.",
    ),
    "topic_overlap": Prose(
        "Topic {topic} is also read by {other}, together with other topics.",
        "Use the same list of topics in both, or lists without common topics.",
    ),
    "topic_table_twice": Prose(
        "Topic {topic} is already read as the table {other}.", "Connect the next nodes to {other}."
    ),
    "topic_pattern_overlap": Prose(
        "The pattern matches topic {topic}, which {other} reads.",
        "Make the pattern narrower.",
    ),
    # ---- stores ---------------------------------------------------------------------------
    "store_twice": Prose("Several stores are connected: {stores}.", "An operator has one store."),
    "store_name_twice": Prose("The name {name} is also used by {other}.", "Choose another name."),
    "argument_unknown": Prose(
        "{class_name} has no argument {name}.", "{guess}Its arguments: {known}."
    ),
    "argument_missing": Prose(
        "{class_name} needs the argument {name}.", "Add it, or give it a default in the code."
    ),
    "method_missing": Prose(
        "{class_name} has no method {name} for the records of the input “{name}”.",
        "Add the method {name}(self, record), or remove the input.",
    ),
    "store_missing": Prose(
        "No store is connected.", "Connect the store that the class writes to the “store” port."
    ),
    "store_unused": Prose(
        "The store is not connected.", "Connect it to the “store” port of an operator."
    ),
    "store_shared": Prose(
        "Several operators keep their results in the store: {users}.",
        "Give each its own store. Only processors can share a store, or read that of a table.",
    ),
    "store_cycle": Prose(
        "The processor reads the store of {owner}, whose rows depend on the processor's results.",
        "Keep what it needs in a store of its own, or write the results to a topic and read it "
        "back as a table.",
    ),
    "store_none": Prose(
        "The processor reads the store of {owner}, but {owner} keeps no rows.",
        "Connect a store node to {owner}, or read the table before it.",
    ),
    "store_of_stream": Prose(
        "The processor reads the store of {owner}, but {owner} is a stream, which has none.",
        "Read a table, an aggregation or a global table, or insert a “To table” node.",
    ),
    "store_read_across": Prose(
        "The processor reads the store of {owner}, but its records come through a repartition "
        "after {owner}.",
        "Move the processor before the repartition, or repartition the table as well.",
    ),
    "store_partitions": Prose(
        "The processor reads the store of {owner}, but the topics before them have different "
        "numbers of partitions: {topics}. A task sees only the rows of its own partition.",
        "Give the topics the same number of partitions, or use a global table.",
        severity="warning",
    ),
    "store_kind": Prose(
        "Store {store} is of the kind “{found}”, but {needed} is expected.",
        "Use a store of that kind.",
    ),
    "store_for_tables": Prose(
        "Store {store} is connected, but the input is a stream, which has no store.",
        "Remove the edge, or insert a “To table” node before this node.",
    ),
    "store_type": Prose(
        "The type is {found}, but {operator} stores {needed}.", "Leave it empty, or use {needed}."
    ),
    "store_needs": Prose("This is required by the processor {operator}.", "Fill it in."),
    "store_across_levels": Prose(
        "The processors that share {stores} are on both sides of a repartition.",
        "Give each its own store, or move them to one side.",
    ),
    "retention": Prose(
        "The store's retention is {found}, but {operator} needs {needed}.",
        "Retain at least the window and its grace period, or leave the retention empty.",
    ),
}
