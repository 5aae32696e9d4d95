"""Messages and hints of all diagnostics.

``message`` states what was found, ``hint`` what to do about it. Names in braces are filled in with
the facts of the diagnostic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Prose:
    """Message, hint and severity of one code."""

    message: str
    hint: str
    severity: Literal["error", "warning", "difference"] = "error"
    #: the first step that an error prevents
    first_blocked: Literal["compile", "deploy"] = "compile"

    @property
    def blocks(self) -> Literal["compile", "deploy"] | None:
        """The step that this diagnostic prevents, if any."""
        return self.first_blocked if self.severity == "error" else None


PROSE: dict[str, Prose] = {
    # ---- the document ---------------------------------------------------------------------
    "document_text": Prose(
        "The document is not JSON: {reason}.", "Provide one JSON object, encoded as UTF-8."
    ),
    "compile_time": Prose(
        "Compilation took longer than {limit} s and was stopped.",
        "Simplify what was changed last, or split the topology into several.",
    ),
    "compile_memory": Prose(
        "Compilation needed more than {limit} MB of memory and was stopped.",
        "Make the schemas and expressions smaller, or split the topology into several.",
    ),
    "compile_output": Prose(
        "The result of the compilation is larger than {limit} MB.",
        "Make the schemas smaller, or split the topology into several.",
    ),
    "compile_waiting": Prose(
        "No compiler process became available within {limit} s.", "Try again in a moment."
    ),
    "compile_busy": Prose(
        "This account already has {limit} waiting compilations.", "Try again in a moment."
    ),
    "compile_process": Prose(
        "The compiler process ended unexpectedly.",
        "Try again. If it happens again, simplify what was changed last.",
    ),
    "half_character": Prose(
        "The string contains an unpaired surrogate.",
        "Enter the text again; it was cut inside a character such as 😀.",
    ),
    "document_shape": Prose("Found {found}.", "Expected {needed}."),
    "document_format": Prose(
        "The document's format is {found}.", "The supported format is “{needed}”."
    ),
    "unknown_key": Prose(
        "{place} has an unknown key.", "The key is ignored. Known keys: {known}.", "warning"
    ),
    "parameter_name": Prose(
        "{found} is not a name of a parameter.",
        "Use lowercase letters, digits and _, beginning with a letter.",
    ),
    "parameter_value": Prose("{name} is {found}.", "It has to be {needed}."),
    "parameter_unused": Prose(
        "No node or setting uses the parameter {name}.",
        "Use it where its value belongs, or remove it.",
        "warning",
    ),
    "placeholder_unknown": Prose(
        "The topology has no parameter {name}.",
        "{guess}Declare it among the parameters of the topology.",
    ),
    "no_results": Prose(
        "The results go nowhere: the topology has no sink, no store that can be queried, and no "
        "processor.",
        "Add a sink, such as “To a topic”.",
        "warning",
    ),
    "no_nodes": Prose("The topology has no nodes.", "Add a source and a sink."),
    "node_id": Prose(
        "The id of {place} is {found}.",
        "An id starts with a lower-case letter, followed by lower-case letters, digits, “_” or "
        "“-”; at most 200 characters.",
    ),
    "node_id_twice": Prose("The id {found} is used twice.", "Change the id of one of the nodes."),
    "node_part": Prose("Found {found}.", "Expected {needed}."),
    "edge_part": Prose(
        "The edge's {part} is {found}.", "It must be a string, the id of a node or port."
    ),
    "topic_name": Prose(
        "{found} is not a valid topic name.",
        "Use letters, digits, “.”, “_” and “-”; at most 249 characters.",
    ),
    "topic_shape": Prose(
        "The settings of topic {topic} are {found}.",
        'Use an object such as {{"partitions": 3}}.',
    ),
    "topic_not_allowed": Prose(
        "The topic “{topic}” is not allowed in this workspace.",
        "Topics of this workspace begin with {prefixes}",
        first_blocked="deploy",
    ),
    "topic_internal": Prose(
        "The topic “{topic}” is not allowed in this workspace.",
        "Topics that begin with {prefix} are Kafka's own.",
        first_blocked="deploy",
    ),
    "topic_pattern_not_allowed": Prose(
        "The pattern “{pattern}” can match topics that are not allowed here.",
        "Topics of this workspace begin with {prefixes}",
        first_blocked="deploy",
    ),
    "topic_pattern_internal": Prose(
        "The pattern “{pattern}” can match topics that are not allowed here.",
        "Topics that begin with {prefix} are Kafka's own.",
        first_blocked="deploy",
    ),
    "topic_expression_not_allowed": Prose(
        "An expression can give topics that are not allowed here.",
        "Topics of this workspace begin with {prefixes}",
        first_blocked="deploy",
    ),
    "topic_partitions": Prose(
        "Topic {topic} has {found} partitions.", "Use a whole number between 1 and {most}."
    ),
    # ---- nodes and edges ------------------------------------------------------------------
    "kind_unknown": Prose("Unknown kind {found}.", "{guess}Known kinds: {known}."),
    "cycle": Prose(
        "The node is part of a cycle: {through}.",
        "Remove one of these edges, or write to a topic and read it back.",
    ),
    "edge_end": Prose(
        "An edge refers to {missing}, which does not exist.",
        "{guess}Remove the edge, or connect a node.",
    ),
    "edge_from_sink": Prose(
        "The node has no output, but an edge goes from it to {target}.",
        "Connect {target} to the node before a sink, or to the store of a global store.",
    ),
    "edge_from_store": Prose(
        "Store {store} is connected to a port for records.",
        "Connect it to the “store” port of an operator.",
    ),
    "edge_into_store": Prose(
        "An edge from {source} ends at a store.",
        "Draw the edge from the store to the “store” port of the operator.",
    ),
    "edge_no_store": Prose(
        "{source} is connected to the “store” port, but {target} cannot use it as a store.",
        "Connect a store node or, to a processor, a table, an aggregation or a global table.",
    ),
    "takes_no_store": Prose(
        "“{kind}” has no store, but {store} is connected to it.", "Remove the edge."
    ),
    "port_unknown": Prose("There is no {side} port “{port}”.", "{guess}Available ports: {known}."),
    "input_missing": Prose("Nothing is connected to the input “{port}”.", "Connect a node to it."),
    "input_twice": Prose(
        "Several nodes are connected to the input “{port}”: {sources}.",
        "Keep one edge, or merge the streams first.",
    ),
    "role": Prose(
        "The input “{port}” receives {found}, but needs {needed}.",
        "Insert a “To table” or “To stream” node, or connect another node.",
    ),
    "role_global": Prose(
        "The input “{port}” receives a global table, but needs {needed}.",
        "A global table can only be the right input of “Join stream with global table”.",
    ),
    "role_not_global": Prose(
        "The input “{port}” receives {found}, but needs a global table.",
        "Read the topic with “Global table from a topic”, or use another join.",
    ),
    "types_differ": Prose(
        "The types of the values differ: {first} and {second}.",
        "Convert one of them first, with “Map values”.",
    ),
    "key_types_differ": Prose(
        "The types of the keys differ: {first} and {second}.",
        "Convert the key of a stream first, with “Select key” or “Map”. A table needs “To stream” "
        "before that, and “To table” after it.",
    ),
    # ---- parameters -----------------------------------------------------------------------
    "parameter_unknown": Prose(
        "{kind} has no such parameter.", "{guess}Known parameters: {known}."
    ),
    "parameter_missing": Prose("“{title}” is required.", "Fill it in."),
    "parameter_type": Prose("Found {found}.", "Expected {needed}."),
    "out_of_bounds": Prose("Found {found}.", "Expected {needed}."),
    "choice": Prose("Found {found}.", "Choose one of: {choices}."),
    "duration": Prose(
        "{found} is not a duration.",
        "Use whole milliseconds, or text such as “250 ms”, “5 seconds”, “2 hours” or “7 days”.",
    ),
    "duration_unit": Prose(
        "{found} has no unit, so it means milliseconds: {seconds} seconds.",
        "If seconds were meant, write “{meant}”. Otherwise write “{found} ms”.",
        "warning",
    ),
    "duration_too_short": Prose("The duration {found} is too short.", "Use at least {least} ms."),
    "duration_too_long": Prose(
        "{what} exceed the longest supported duration.", "Make them shorter."
    ),
    "one_of": Prose(
        "Exactly one of {names} must be set.", "Set one of them and leave the other empty."
    ),
    "only_with": Prose(
        "This is set, but “{other}” is not “{value}”.",
        "Remove it, or set “{other}” to “{value}”.",
    ),
    "needed_with": Prose(
        "This is required because “{other}” is “{value}”.", "Fill it in, or change “{other}”."
    ),
    "name_twice": Prose("The {what} {name} is listed twice.", "List it once."),
    "unknown_part": Prose("Unknown property {part}.", "Known properties: {known}."),
    "part_missing": Prose("The property {part} is required.", "Fill it in."),
    "pattern": Prose(
        "This pattern is not supported: {reason}.",
        "Use a regular expression without backreferences, lookaround or possessive "
        "quantifiers, such as orders-[a-z]+ or (eu|us)\\..*",
    ),
    "type": Prose(
        "“{found}” is not a Spark type: {reason}.",
        "Use a type such as BIGINT, ARRAY<STRING> or STRUCT<a: INT>.",
    ),
    "format": Prose("Unknown format {found}.", "Known formats: {choices}."),
    "format_part": Prose("The format {format} has no property {part}.", "Remove it."),
    "format_windowed_value": Prose(
        "{format} is a format of keys.",
        "Choose another format for the value, such as “json”.",
    ),
    "format_window_size": Prose(
        "The size of the windows is missing. The bytes of a key only contain a window's start.",
        "Enter the size of the windows, such as “5 minutes”.",
    ),
    "sink_key_window": Prose(
        "The keys have windows of type {window}, but {format} is for others.",
        "Choose “{other}”.",
    ),
    "format_schema": Prose(
        "The {format} format needs a schema.",
        "Add one in Spark DDL, such as “item STRING, quantity INT”.",
    ),
    "format_schema_or_registry": Prose(
        "The {format} format needs a schema or a schema registry.",
        "Enter a schema, or the registry and the subject.",
    ),
    "registry_subject": Prose(
        "The schema registry {registry} does not have the subject {subject}.",
        "Correct the registry and the subject, or enter the schema here as well.",
    ),
    "registry_version": Prose(
        "The schema registry {registry} does not have version {version} of {referred}, to which "
        "the schema of {subject} refers.",
        "Register it, or enter the schema here as well.",
    ),
    "registry_address": Prose(
        "{registry} is not an http or https address.",
        "Correct the address, or enter the schema here as well.",
    ),
    "registry_redirects": Prose(
        "The schema registry {registry} redirects the request (status {status}); redirects are "
        "not followed.",
        "Use the address to which it redirects, or enter the schema here as well.",
    ),
    "registry_credentials": Prose(
        "The schema registry {registry} rejects the credentials (status {status}).",
        "Correct them in MILLRACE_REGISTRY_PASSWORDS, or enter the schema here as well.",
    ),
    "registry_passwords": Prose(
        "MILLRACE_REGISTRY_PASSWORDS is not a JSON object of addresses.",
        "Correct it; its values are user:password.",
    ),
    "registry_status": Prose(
        "The schema registry {registry} responds with status {status}.",
        "Check the registry, or enter the schema here as well.",
    ),
    "registry_response": Prose(
        "The response of the schema registry {registry} is not a schema.",
        "Correct the registry's address, or enter the schema here as well.",
    ),
    "registry_requests": Prose(
        "The document refers to too many schemas in schema registries.",
        "Enter some of the schemas in the document.",
    ),
    "registry_size": Prose(
        "The schemas that the document reads from schema registries are too large.",
        "Enter some of the schemas in the document.",
    ),
    "registry_slow": Prose(
        "The schema registries respond too slowly.",
        "Try again, or enter the schemas in the document.",
    ),
    "registry_not_allowed": Prose(
        "The schema registry {registry} is not in the list of permitted registries.",
        "List it in MILLRACE_SCHEMA_REGISTRIES, or enter the schema here as well.",
    ),
    "registry_unreachable": Prose(
        "The schema registry {registry} does not answer: {reason}.",
        "Start it or correct its address, or enter the schema here as well.",
    ),
    "registry_unasked": Prose(
        "The schema of {subject} is in a schema registry, which is used only for saved versions "
        "and for editors.",
        "Ask an admin for the role editor, or enter the schema here as well.",
    ),
    "format_registry_secret": Prose(
        "The registry's address contains a user name or a password.",
        "Enter the address alone; put credentials into MILLRACE_REGISTRY_PASSWORDS.",
    ),
    "format_bad_schema": Prose(
        "The {format} schema is not valid: {reason}.", "Correct the schema."
    ),
    "sink_format": Prose(
        "The format {format} writes {needed}, but the values are {found}.",
        "Choose a matching format, or convert the value with “Map values” first.",
    ),
    "sink_key_format": Prose(
        "The format {format} writes {needed}, but the keys are {found}.",
        "Choose a matching format, or convert the key with “Select key” or “Map” first; a table "
        "needs “To stream” before that.",
    ),
    # ---- expressions ----------------------------------------------------------------------
    "expression_empty": Prose("The expression is empty.", "Write a Spark SQL expression."),
    "expression_syntax": Prose("This is not valid Spark SQL: {reason}", "Correct the marked part."),
    "expression_character": Prose("“{found}” is not allowed in SQL.", "Replace it with {plain}."),
    "expression_unclosed": Prose("“{needed}” is missing.", "Add the missing “{needed}”."),
    "expression_open_quote": Prose(
        "A string starts with {quote} but is not closed.", "Add {quote} at its end."
    ),
    "expression_ends": Prose("The expression is incomplete.", "Complete it."),
    "expression_statement": Prose(
        "This is a statement, not an expression.",
        "Write only the expression, without SELECT or FROM.",
    ),
    "expression_function": Prose("There is no function “{found}”.", "Did you mean {nearest}?"),
    "expression_function_other": Prose(
        "There is no function “{found}”.", "Use one of Spark's built-in functions."
    ),
    "expression_column": Prose(
        "There is no column “{found}” here.", "Did you mean {nearest}? Available columns: {known}."
    ),
    "expression_column_other": Prose(
        "There is no column “{found}” here.", "Available columns: {known}."
    ),
    "expression_no_columns": Prose(
        "There is no column “{found}” here.", "An initializer has no columns; use a constant."
    ),
    "expression_field": Prose(
        "There is no field “{found}”.", "Did you mean {nearest}? Available fields: {known}."
    ),
    "expression_field_other": Prose("There is no field “{found}”.", "Available fields: {known}."),
    "expression_no_parts": Prose(
        "{base} is {type}, which has no fields.",
        "Only a STRUCT, ARRAY or MAP has fields or elements.",
    ),
    "expression_arguments": Prose("{function} takes {needed}, but got {found}.", "Usage: {usage}."),
    "expression_sides": Prose(
        "The left side is {left}, the right side is {right}.",
        "Convert one of them, for instance with CAST(… AS …).",
    ),
    "expression_operand": Prose(
        "Expected {needed}, but this is {found}.", "Convert it, or use another operator."
    ),
    "expression_argument": Prose(
        "The {argument} is {found}, but {needed} is expected.",
        "Convert it, for instance with CAST(… AS …).",
    ),
    "expression_cast": Prose(
        "{found} cannot be converted to {needed}.", "Convert its elements, or choose another type."
    ),
    "expression_data_type": Prose(
        "Unknown type “{found}”.", "Use a type such as BIGINT, STRING or DECIMAL(10, 2)."
    ),
    "expression_aggregate": Prose(
        "{found} is an aggregate function, but an expression is evaluated for one record.",
        "Use an aggregation, such as “Count” or “Aggregate”.",
    ),
    "expression_generator": Prose(
        "{found} returns several rows, but an expression returns one value.",
        "Pass the array itself to “Flat map” or “Flat map values”.",
    ),
    "expression_window": Prose(
        "{found} is a window function, but an expression is evaluated for one record.",
        "Use the window of an aggregation.",
    ),
    "expression_subquery": Prose(
        "Subqueries are not supported: an expression is evaluated for one record.",
        "Join the other data instead.",
    ),
    "expression_present_time": Prose(
        "{found} returns the current time; a record that is processed again must give the same "
        "result.",
        "Use the timestamp column, or now(), the recorded processing time, in a step on a stream.",
    ),
    "expression_random": Prose(
        "{found} returns a different value each time; a record that is processed again must give "
        "the same result.",
        "In a step on a stream, rand(), randn() and uuid() give a record the same values again. "
        "Elsewhere, derive the value from the record, for instance with xxhash64(value).",
    ),
    "expression_evaluated_again": Prose(
        "“{found}” uses random values or the present time, but this expression may be evaluated "
        "again for a record.",
        "Compute the value in “Map values” on the stream before this node, and use it here.",
    ),
    "expression_random_element": Prose(
        "{found} would be the same for all elements: a random value is drawn once for each record.",
        "Use “Flat map values” first, then draw a value for each record in “Map values”.",
    ),
    "expression_star": Prose(
        "“{found}” stands for several columns, but an expression returns one value.",
        "Name the columns, for instance in struct(…).",
    ),
    "expression_parameter": Prose(
        "“{found}” is a parameter marker, which has no value here.",
        "Write the value itself; put text in single quotes.",
    ),
    "expression_large": Prose("The expression {reason}.", "Split it into several nodes."),
    "expression_slow": Prose(
        "The expression {reason}.", "Simplify it, or split it into several nodes."
    ),
    "expression_function_refused": Prose(
        "The function {found} is not available: it {reason}.",
        "Use a function that computes its result from its arguments alone.",
    ),
    "expression_identifier": Prose(
        "IDENTIFIER(…) is not supported in expressions.",
        "Write the name of the column or function itself.",
    ),
    "expression_options": Prose(
        "The options of {function} must be texts in a map.",
        "Write map('name', 'value', …), with the option's name as text.",
    ),
    "expression_option": Prose(
        "The option “{option}” of {function} is not available.",
        "Remove it. Available options: {known}.",
    ),
    "expression_text_as_number": Prose(
        "The text {found} is used as {type}; if it is not a number, the record is a processing "
        "error.",
        "If every value is a number, write CAST({found} AS {type}). To get NULL for others, write "
        "try_cast({found} AS {type}).",
        "warning",
    ),
    "expression_type_text": Prose(
        "The type for {function} is not written as DDL.",
        "Write it as text, such as 'a INT, b ARRAY<STRING>'.",
    ),
    "expression_deep": Prose(
        "The expression is nested too deeply.", "Split it into several nodes."
    ),
    "expression": Prose("Spark rejects the expression: {reason}", "Correct the marked part."),
    "expression_type": Prose(
        "The expression returns {found}, but {needed} is expected.",
        "Convert it, for instance with CAST(… AS …).",
    ),
    # ---- windows, aggregations -------------------------------------------------------------
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
    # ---- other ----------------------------------------------------------------------------
    "repartition_name_twice": Prose(
        "The repartition topic {topic} already exists.",
        "Choose a name other than {name} for one of the nodes.",
    ),
    "process_values_key": Prose(
        "The key type is {found}, but “Process values” keeps the key, which is {needed}.",
        "Leave the key type empty, or use “Process”.",
    ),
    "code_syntax": Prose("Line {line} is not valid Python: {reason}.", "Correct the code."),
    "code_store": Prose(
        "Line {line} asks for the store {store}, which is not connected to this processor.",
        "{guess}Connected stores: {stores}.",
        "warning",
    ),
    "code_class": Prose("The code has no class {found}.", "Classes in the code: {classes}."),
    "setting_unknown": Prose("Unknown setting.", "{guess}Known settings: {known}."),
    "real_time_exactly_once": Prose(
        "Real-time mode processes records at least once, but the guarantee is “Exactly once”.",
        "Choose “At least once”, or run the topology in micro-batches.",
    ),
    "dead_letter_topic": Prose(
        "A handler is “Dead letter”, but no dead letter topic is set.", "Fill in the topic."
    ),
    "handler_function": Prose(
        "The code has no function.",
        "Write a function of the record and the error, which returns a Response.",
    ),
    "handler_arguments": Prose(
        "{name} cannot be called with the record and the error.", "Give it two parameters."
    ),
    "module_taken": Prose(
        "{name} is the name of a module that Python, the runtime or the job has.",
        "Rename the module.",
    ),
    "analyzer": Prose("Expressions cannot be checked: {reason}", "Start the analyzer."),
    # ---- conditions of tests --------------------------------------------------------------
    "condition_topic": Prose("No sink writes the topic {found}.", "Written topics: {known}."),
    "condition_store": Prose("There is no store node named {found}.", "Named stores: {known}."),
    "condition_types": Prose(
        "Records of different types are written to {found}: {first}, and {second}.",
        "An expression needs one type: compare these records exactly.",
    ),
}
