"""Messages about a document, its nodes and edges, its settings and its tests."""

from __future__ import annotations

from millrace_compiler.diagnostics.prose import Prose

DOCUMENTS: dict[str, Prose] = {
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
    # ---- fragments ------------------------------------------------------------------------
    "fragment_reference": Prose(
        "{found} is not a fragment with its version.", "Use a name and a number, such as clean@2."
    ),
    "fragment_unknown": Prose(
        "The document does not contain the fragment {name}.",
        "{guess}Choose another version, or remove the node.",
    ),
    "fragment_cycle": Prose(
        "The fragment contains itself: {through}.", "Remove it from one of these fragments."
    ),
    "fragment_depth": Prose(
        "Fragments are nested more than {most} levels deep.",
        "Dissolve one of the fragments around this one.",
    ),
    "fragment_too_large": Prose(
        "With its fragments, the topology has more than {nodes} nodes, {edges} edges or "
        "{megabytes} MB, or its fragments have too many ports.",
        "Use fewer or smaller fragments, or split the topology into several.",
    ),
    "fragment_argument": Prose(
        "The fragment has no parameter {name}.", "{guess}Remove the argument."
    ),
    "fragment_edge": Prose(
        "An edge of the fragment is not valid: {found}.",
        "Edges begin at an input or a node, and end at a node or an output.",
    ),
    "fragment_loop": Prose(
        "The input “{port}” leads back to itself.", "Remove one of the edges of this cycle."
    ),
    "fragment_role": Prose("The role is {found}.", "Use one of {known}."),
    "fragment_type": Prose("{found} is not a type: {reason}.", "Use a Spark SQL type."),
    "fragment_input_type": Prose(
        "The input “{port}” receives {found}, but the fragment needs {needed}.",
        "Convert the records before the fragment, or change the type of its input.",
    ),
    "fragment_unused": Prose(
        "No node uses the fragment {name}.", "Remove it from the document.", "warning"
    ),
    "no_results": Prose(
        "The results go nowhere: the topology has no sink, no store that can be queried, and no "
        "processor.",
        "Add a sink, such as “To a topic”.",
        "warning",
    ),
    "self_join_inner": Prose(
        "The optimization makes this {type} join of a stream with itself an inner join, as in "
        "Kafka Streams: records without a match give no result.",
        "Make it an inner join, or choose another optimization in the settings of the topology.",
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
        "A handler or a rule is “Dead letter”, but no dead letter topic is set.",
        "Fill in the topic.",
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
