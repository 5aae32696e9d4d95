"""The sentences of all diagnostics, in one table.

``message`` says what was found, ``hint`` what would do. Braces are facts of the diagnostic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Prose:
    """Sentences and weight of one kind of diagnostic."""

    message: str
    hint: str
    severity: Literal["error", "warning"] = "error"

    @property
    def blocks(self) -> Literal["compile", "deploy"] | None:
        """What an error keeps from being done."""
        return "compile" if self.severity == "error" else None


PROSE: dict[str, Prose] = {
    # ---- the document ---------------------------------------------------------------------
    "document_text": Prose("The document is not JSON: {reason}.", "Give one JSON object in UTF-8."),
    "half_character": Prose(
        "A text here holds half of a character.",
        "Write it anew; it was cut within a character such as 😀.",
    ),
    "document_shape": Prose("This is {found}.", "It must be {needed}."),
    "document_format": Prose("The format is {found}.", "Only “{needed}” is known."),
    "unknown_key": Prose(
        "{place} has a key that means nothing.", "It is ignored. Known keys: {known}.", "warning"
    ),
    "no_nodes": Prose("There are no nodes.", "Add a source, and a sink behind it."),
    "node_id": Prose(
        "The id of {place} is {found}.",
        "An id is a small letter, then small letters, digits, “_” or “-”, at most 200 in all.",
    ),
    "node_id_twice": Prose("The id {found} is used twice.", "Give one of the nodes another id."),
    "node_part": Prose("This is {found}.", "It must be {needed}."),
    "edge_part": Prose(
        "The {part} of the edge is {found}.", "It must be the text of an id or port."
    ),
    "topic_name": Prose(
        "{found} is not the name of a topic.",
        "Use letters, digits, “.”, “_” and “-”, at most 249 of them.",
    ),
    "topic_shape": Prose(
        "The properties of the topic {topic} are {found}.",
        'They must be an object such as {{"partitions": 3}}.',
    ),
    "topic_partitions": Prose(
        "The topic {topic} has {found} partitions.", "Give a whole number between 1 and {most}."
    ),
    # ---- nodes and edges ------------------------------------------------------------------
    "kind_unknown": Prose("The kind {found} is not known.", "{guess}Known kinds: {known}."),
    "cycle": Prose(
        "The node is in a cycle: {through}.",
        "Take one of these edges out, or lead it through a topic.",
    ),
    "edge_end": Prose(
        "An edge leads to or from {missing}, which does not exist.", "Remove the edge."
    ),
    "edge_from_sink": Prose(
        "A sink has no output, but an edge leads from it to {target}.",
        "Connect {target} to what comes before the sink.",
    ),
    "edge_from_store": Prose(
        "The store {store} is connected to a port for records.",
        "Connect it to the port “store” of an operator.",
    ),
    "edge_into_store": Prose(
        "An edge from {source} leads into a store.",
        "Edges of stores lead from the store to the port “store” of an operator.",
    ),
    "edge_no_store": Prose(
        "{source} is connected to the port “store”, but is not a store.",
        "Connect a store node there, or choose another port.",
    ),
    "takes_no_store": Prose(
        "{kind} keeps nothing in a store, but {store} is connected to it.", "Remove that edge."
    ),
    "port_unknown": Prose("There is no {side} port “{port}”.", "{guess}Ports here: {known}."),
    "input_missing": Prose("Nothing is connected to the input “{port}”.", "Connect a node to it."),
    "input_twice": Prose(
        "The input “{port}” is filled more than once: {sources}.",
        "Keep one edge, or merge the streams before.",
    ),
    "role": Prose(
        "The input “{port}” gets {found}, but needs {needed}.",
        "Put a “To table” or “To stream” between, or connect another node.",
    ),
    "types_differ": Prose(
        "The types of the {what} differ: {first} and {second}.",
        "Bring them to one type before, for instance with “Map values” or “Select key”.",
    ),
    # ---- parameters -----------------------------------------------------------------------
    "parameter_unknown": Prose("{kind} has no such parameter.", "{guess}Its parameters: {known}."),
    "parameter_missing": Prose("The parameter {name} is missing.", "Fill in “{title}”."),
    "parameter_type": Prose("This is {found}.", "It must be {needed}."),
    "out_of_bounds": Prose("This is {found}.", "It must be {needed}."),
    "choice": Prose("This is {found}.", "Choose one of: {choices}."),
    "duration": Prose(
        "{found} is not a duration.",
        "Give whole milliseconds, or text such as “250 ms”, “5 seconds”, “2 hours” or “7 days”.",
    ),
    "duration_too_short": Prose("The duration is {found}.", "It must be at least {least} ms."),
    "duration_too_long": Prose("{what} are longer than can be counted.", "Make them shorter."),
    "one_of": Prose("{count} of {names} are given.", "Give exactly one of them."),
    "only_with": Prose(
        "This is given, but {other} is not {value}.", "Remove it, or set {other} to {value}."
    ),
    "needed_with": Prose(
        "This is missing, but {other} is {value}.", "Fill it in, or change {other}."
    ),
    "name_twice": Prose("The {what} {name} is named twice.", "Name it once."),
    "unknown_part": Prose("The part {part} is not known.", "Known parts: {known}."),
    "part_missing": Prose("The part {part} is missing.", "Fill it in."),
    "pattern": Prose("This is not a regular expression: {reason}.", "Mend the expression."),
    "type": Prose(
        "“{found}” is not a Spark type: {reason}.",
        "Write one such as BIGINT, ARRAY<STRING> or STRUCT<a: INT>.",
    ),
    "format": Prose("The format {found} is not known.", "Known formats: {choices}."),
    "format_part": Prose("The format {format} has no part {part}.", "Remove it."),
    "format_schema": Prose(
        "The {format} format has no schema.",
        "Add one in Spark's DDL, such as “item STRING, quantity INT”.",
    ),
    "format_schema_or_registry": Prose(
        "The {format} format has neither a schema nor a registry.",
        "Give a schema, or registry and subject.",
    ),
    "registry": Prose(
        "The schema registry does not tell the schema of {subject}: {reason}.",
        "Mend registry and subject, or give the schema as well.",
    ),
    "format_registry_secret": Prose(
        "The registry's address holds a user or a password.",
        "Write the address alone; who may ask it stands in MILLRACE_REGISTRY_PASSWORDS.",
    ),
    "format_bad_schema": Prose("The {format} schema cannot be read: {reason}.", "Mend the schema."),
    "sink_format": Prose(
        "The format {format} holds {needed}, but the data are {found}.",
        "Choose the format that fits, or convert before with “Map values”.",
    ),
    # ---- expressions ----------------------------------------------------------------------
    "expression_empty": Prose("The expression is empty.", "Write a Spark SQL expression."),
    "expression_syntax": Prose("This is not Spark SQL: {reason}", "Mend the marked place."),
    "expression_character": Prose(
        "“{found}” is not a character of SQL.", "Write {plain} in its place."
    ),
    "expression_unclosed": Prose("“{needed}” is missing at the end.", "Add it where it belongs."),
    "expression_open_quote": Prose("A text begins with {quote} and does not end.", "Add {quote}."),
    "expression_ends": Prose("The expression ends too early.", "Complete it."),
    "expression_statement": Prose(
        "This is a statement, not an expression.",
        "Write only what gives the value, without SELECT or FROM.",
    ),
    "expression_function": Prose("There is no function “{found}”.", "Did you mean {nearest}?"),
    "expression_function_other": Prose(
        "There is no function “{found}”.", "Use one of Spark's built-in functions."
    ),
    "expression_column": Prose(
        "There is no column “{found}” here.", "Did you mean {nearest}? Columns here: {known}."
    ),
    "expression_column_other": Prose(
        "There is no column “{found}” here.", "Columns here: {known}."
    ),
    "expression_no_columns": Prose(
        "There is no column “{found}” here.", "An initializer sees no columns; give a constant."
    ),
    "expression_field": Prose(
        "There is no field “{found}”.", "Did you mean {nearest}? Fields there: {known}."
    ),
    "expression_field_other": Prose("There is no field “{found}”.", "Fields there: {known}."),
    "expression_no_parts": Prose(
        "{base} is {type}, which has no parts.", "Only a STRUCT, an ARRAY or a MAP has parts."
    ),
    "expression_arguments": Prose(
        "{function} takes {needed}, but is given {found}.", "Call it as {usage}."
    ),
    "expression_sides": Prose(
        "The left side is {left}, the right side {right}.",
        "Convert one of them, for instance with CAST(… AS …).",
    ),
    "expression_operand": Prose(
        "{needed} is needed here, but this is {found}.", "Convert it, or use another operator."
    ),
    "expression_argument": Prose(
        "The {argument} is {found}, but {needed} is needed.",
        "Convert it, for instance with CAST(… AS …).",
    ),
    "expression_cast": Prose(
        "{found} cannot be converted to {needed}.", "Convert its parts, or choose another type."
    ),
    "expression_data_type": Prose(
        "There is no type “{found}”.", "Write one such as BIGINT, STRING or DECIMAL(10, 2)."
    ),
    "expression_aggregate": Prose(
        "{found} looks at many records, but an expression sees one.",
        "Use an aggregation, such as “Count” or “Aggregate”.",
    ),
    "expression_generator": Prose(
        "{found} makes several rows, but an expression gives one value.",
        "Give the array itself to “Flat map” or “Flat map values”.",
    ),
    "expression_window": Prose(
        "{found} is for windows over many records, but an expression sees one.",
        "Use the window of an aggregation.",
    ),
    "expression_subquery": Prose(
        "This asks a query, but an expression sees one record only.",
        "Bring the other data in by a join.",
    ),
    "expression_present_time": Prose(
        "{found} asks for the present time; a record that is processed again must give the same.",
        "Use the column timestamp.",
    ),
    "expression_random": Prose(
        "{found} gives another value each time; a record that is processed again must give the "
        "same.",
        "Derive it from the record, for instance with xxhash64(key, value).",
    ),
    "expression_star": Prose(
        "“{found}” stands for many columns, but an expression gives one value.",
        "Name the columns, for instance in struct(…).",
    ),
    "expression_parameter": Prose(
        "“{found}” is a parameter of a statement; there is nothing to fill in for it.",
        "Write the value itself, text between single quotes.",
    ),
    "expression_deep": Prose(
        "The expression is nested too deeply.", "Split it over several nodes."
    ),
    "expression": Prose("Spark refuses the expression: {reason}", "Mend the marked place."),
    "expression_type": Prose(
        "The expression gives {found}, needs {needed}.",
        "Convert it, for instance with CAST(… AS …).",
    ),
    # ---- windows, aggregations -------------------------------------------------------------
    "window_part": Prose("A {type} window has no {part}.", "Its parts: {known}."),
    "window_part_missing": Prose("The {part} of the {type} window is missing.", "Give a duration."),
    "window_advance": Prose(
        "The window advances by {advance} ms, more than its size of {size} ms.",
        "Advance by at most the size; records between windows would be lost.",
    ),
    "emit_unlimited": Prose(
        "An unlimited window never closes, so there is no final result to emit.",
        "Choose every_update, or another window.",
    ),
    "merger_missing": Prose(
        "Sessions grow together, but there is no merger.", "Add one over left and right."
    ),
    "merger_unwanted": Prose(
        "A merger is only for session windows.", "Remove it, or choose a session window."
    ),
    "only_for_tables": Prose("This is only for tables; the input is a stream.", "Remove it."),
    "only_for_streams": Prose(
        "This is only for streams; the input is a table.", "Remove it, or put a “To stream” before."
    ),
    "needed_for_tables": Prose(
        "This is missing; an aggregation of a table needs it.", "Fill it in."
    ),
    "group_by_value": Prose(
        "A stream is grouped by a key only, but a value is given.", "Remove the value."
    ),
    "group_by_needs_value": Prose(
        "A table is grouped by key and value, but there is no value.", "Give the value as well."
    ),
    # ---- joins, suppress ------------------------------------------------------------------
    "join_window": Prose(
        "The window from {before} ms before to {after} ms after is empty.",
        "before + after must not be negative.",
    ),
    "join_grace": Prose(
        "The join waits for late updates, but the table is not versioned.",
        "Connect a versioned store to the table, or remove the grace.",
    ),
    "suppress_versioned": Prose(
        "A versioned table cannot be suppressed.", "Take the versioned store away from it."
    ),
    "suppress_window": Prose(
        "The table has no windows that could close.", "Choose time_limit, or aggregate by a window."
    ),
    "suppress_emit": Prose(
        "Final results cannot be emitted early.", "Choose fail, or until: time_limit."
    ),
    "not_copartitioned": Prose(
        "The inputs are not co-partitioned: {topics}.",
        "Give the topics the same number of partitions, or put a “Repartition” before.",
    ),
    # ---- sources --------------------------------------------------------------------------
    "topic_roles": Prose(
        "The topic {topic} is read by {other} in another role.",
        "Read it once, as a stream or as a table.",
    ),
    "topic_formats": Prose(
        "The topic {topic} is read by {other} in other formats.", "Give both the same formats."
    ),
    "topic_times": Prose(
        "The topic {topic} is read by {other} with another timestamp or start.",
        "Give both the same timestamp, invalid_timestamp and start.",
    ),
    "topic_overlap": Prose(
        "The topic {topic} is also read by {other}, together with other topics.",
        "Make the two lists equal, or separate them.",
    ),
    "topic_table_twice": Prose(
        "The topic {topic} is already the table {other}.", "Connect what follows to {other}."
    ),
    "topic_pattern_overlap": Prose(
        "The pattern matches the topic {topic}, which {other} reads.",
        "Make the pattern narrower.",
    ),
    # ---- stores ---------------------------------------------------------------------------
    "store_twice": Prose("Several stores are connected: {stores}.", "An operator has one store."),
    "store_name_twice": Prose("The name {name} is also that of {other}.", "Give it another name."),
    "store_unused": Prose(
        "The store is connected to nothing.", "Connect it to the port “store” of an operator."
    ),
    "store_shared": Prose(
        "The store belongs to an operator, but is connected to several: {users}.",
        "Only processors can share a store.",
    ),
    "store_kind": Prose(
        "The store {store} is a {found}, but needed is {needed}.", "Use a store of that kind."
    ),
    "store_for_tables": Prose(
        "The store {store} is connected, but the input is a stream, which keeps nothing.",
        "Remove the edge, or put a “To table” before.",
    ),
    "store_type": Prose(
        "The type is {found}, but {operator} keeps {needed}.", "Leave it out, or write {needed}."
    ),
    "store_needs": Prose("This is missing; the processor {operator} needs it.", "Fill it in."),
    "store_across_levels": Prose(
        "The processors that share {stores} lie on both sides of a repartition.",
        "Give them stores of their own, or move them to one side.",
    ),
    "retention": Prose(
        "The store keeps {found}, but {operator} needs {needed}.",
        "Keep at least as long as the window and its grace, or leave the retention out.",
    ),
    # ---- the rest -------------------------------------------------------------------------
    "repartition_name_twice": Prose(
        "The repartition topic {topic} exists already.",
        "Give one of the nodes another name than {name}.",
    ),
    "process_values_key": Prose(
        "The key type is {found}, but process_values keeps the key, which is {needed}.",
        "Leave the key out, or use “Process”.",
    ),
    "code_syntax": Prose("Line {line} is not Python: {reason}.", "Mend the code."),
    "code_class": Prose("There is no class {found} in the code.", "Classes there: {classes}."),
    "setting_unknown": Prose("There is no such setting.", "{guess}Known settings: {known}."),
    "real_time_exactly_once": Prose(
        "Real time gives each record at least once, the guarantee is exactly_once.",
        "Choose at_least_once, or run the topology in micro-batches.",
    ),
    "dead_letter_topic": Prose(
        "A handler says dead_letter, but there is no topic for dead letters.", "Fill in the topic."
    ),
    "analyzer": Prose("Expressions cannot be checked: {reason}", "Start the analyzer."),
}
