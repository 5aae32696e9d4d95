"""Messages about parameters and expressions."""

from __future__ import annotations

from millrace_compiler.diagnostics.prose import Prose

PARAMETERS: dict[str, Prose] = {
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
    "functions_none": Prose("The code has no function.", "Define one: def add(key, value, agg): …"),
    "functions_of_stream": Prose(
        "The functions of a stream run in a node of their own.",
        "Use the operator “Process values” for it, or a table.",
    ),
    "functions_untyped": Prose(
        "The types of what the functions return are missing.",
        "Enter the Spark SQL type of each function that an expression calls.",
    ),
    "functions_unknown": Prose(
        "The code has no function {name}.", "Define it, or remove its type."
    ),
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
        "The format “{format}” needs a schema.",
        "Add one in Spark DDL, such as “item STRING, quantity INT”.",
    ),
    "format_schema_or_registry": Prose(
        "The format “{format}” needs a schema or a schema registry.",
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
}
