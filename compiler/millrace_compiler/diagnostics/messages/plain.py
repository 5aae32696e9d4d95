"""Messages of the plain dialect: refusals, and how results differ.

A *difference* describes one way in which the results of ordinary Structured Streaming differ from
those of Kafka Streams. docs/plain.md lists each code with a scenario that shows it.
"""

from __future__ import annotations

from millrace_compiler.diagnostics.prose import Prose


def _difference(message: str, hint: str = "") -> Prose:
    return Prose(message, hint, "difference")


PLAIN: dict[str, Prose] = {
    # ---- differences ------------------------------------------------------------------------
    "plain_sink_timestamp": _difference(
        "Records on the topic have the time of writing; Kafka Streams keeps the record's own.",
        "Spark's Kafka sink cannot set a timestamp. Write it into the value if consumers need it.",
    ),
    "plain_updates": _difference(
        "Each micro-batch emits the last result of a key; Kafka Streams emits every update.",
        "Shorter micro-batches emit more updates.",
    ),
    "plain_order": _difference(
        "Records of one micro-batch are written in no fixed order across {what}.",
        "Sort by timestamp in the consumer, or process one record per micro-batch.",
    ),
    "plain_late": _difference(
        "Late records are detected by the watermark of the whole query, which is set between "
        "micro-batches; Kafka Streams compares each record with the stream time of its task.",
        "With a longer grace period, fewer records are late in either case.",
    ),
    "plain_session_final": _difference(
        "A session emits one result, when it is closed; Kafka Streams also emits its updates, and "
        "a null for each session that is merged into another.",
        "Spark has no session windows in update mode.",
    ),
    "plain_outer_results": _difference(
        "A record without a match is emitted when the watermark of both inputs passes the window; "
        "Kafka Streams emits it as soon as stream time does.",
        "Spark waits for the slower input, and for the next micro-batch.",
    ),
    "plain_headers": _difference(
        "Results have no headers; Kafka Streams keeps those of the record that caused them.",
        "Copy the headers that you need into the value before this node.",
    ),
    "plain_drops": _difference(
        "Records with {what} are dropped without being counted; Kafka Streams counts them.",
        "Count them with DataFrame.observe if you need their number.",
    ),
    "plain_aggregate_null": _difference(
        "A null result is kept as a value; in Kafka Streams it deletes the aggregate, and the next "
        "record starts with the initializer again.",
        "Use coalesce in the expression so that it never returns null.",
    ),
    "plain_table_now": _difference(
        "The table is read once for each micro-batch, with everything on the topic by then; Kafka "
        "Streams uses the row at the time when it processes the record.",
    ),
    "plain_null_array": _difference(
        "explode drops a null array; in Kafka Streams it is a processing error.",
        "Use coalesce in the expression.",
    ),
    "plain_failed_batch": _difference(
        "A record that fails stops its query, and nothing of the micro-batch is written; other "
        "queries continue. Kafka Streams stops the whole topology after writing all earlier "
        "results.",
    ),
    "plain_processing_handler": _difference(
        "An expression that fails stops the query; Kafka Streams drops the record here.",
        "Use try_cast, try_divide and similar functions in the expressions.",
    ),
    "plain_processor_fields": _difference(
        "A processor instance exists for one micro-batch: init runs in each of them, and fields "
        "and schedules that other methods set are lost; Kafka Streams keeps them with the task.",
        "Keep them in a store.",
    ),
    "plain_stream_time": _difference(
        "Only records that reach this node advance stream time; in Kafka Streams, every record "
        "that the task reads does.",
        "Put the processor before steps that drop records.",
    ),
    "plain_sides": _difference(
        "Changes of both sides that follow from the same records, or come through a topic of the "
        "program, are not joined in their original order; Kafka Streams joins each change when it "
        "happens.",
        "The row after all changes is the same; results in between can differ.",
    ),
    "plain_fold_order": _difference(
        "Records of one micro-batch are folded in the order in which Spark reads them, which is "
        "fixed within a topic only; Kafka Streams takes its inputs in the order of their "
        "timestamps.",
        "Aggregate so that the order does not matter, or process one record per micro-batch.",
    ),
    "plain_unchanged": _difference(
        "A delete of a row that does not exist is forwarded; Kafka Streams omits those that it "
        "recognizes, which depends on the tables that are materialized.",
        "Rows are the same; consumers may see a result of a key twice.",
    ),
    "plain_first_update": _difference(
        "The first row of a key subtracts nothing from the aggregate; Kafka Streams subtracts the "
        "initializer of the preceding aggregation.",
    ),
    "plain_packages": Prose(
        "Spark's transformWithState needs the Python packages pandas, pyarrow and protobuf, on "
        "executors too.",
        'Install them with: pip install "pandas<3" pyarrow protobuf',
        "warning",
    ),
    "plain_rejected": Prose(
        "Rejected records are not counted: plain Spark has no counters for this.",
        "Results are the same.",
        "warning",
    ),
    "plain_peek": Prose(
        "Messages are not logged: plain Spark has no operator for this.",
        "Records are forwarded unchanged.",
        "warning",
    ),
    "plain_at_least_once": Prose(
        "Spark's Kafka sink writes records at least once, but the guarantee is exactly_once.",
        "After a failure, results may be written again.",
        "warning",
    ),
    # ---- refusals ---------------------------------------------------------------------------
    "plain_kind": Prose(
        "Plain Spark has no operator for this: {reason}.", "Use the exact dialect, or {instead}."
    ),
    "plain_processor": Prose(
        "transformWithState cannot run this processor: {reason}.",
        "Use the exact dialect, or change the processor.",
    ),
    "plain_draws": Prose(
        "In plain Spark, random values and the present time differ when a record is processed "
        "again.",
        "Use the exact dialect, or derive the value from the record.",
    ),
    "plain_format": Prose(
        "The format {format} needs a package in addition to pyspark, or a registry.",
        "Use the exact dialect, or another format.",
    ),
    "plain_source": Prose(
        "Plain Spark cannot read this source: {reason}.", "Use the exact dialect, or {instead}."
    ),
    "plain_handler": Prose(
        "Plain Spark does not support this handler: {reason}.",
        "Choose fail or stop, or use the exact dialect.",
    ),
    "plain_modules": Prose(
        "Plain Spark does not support modules beside the code of processors.",
        "Move what the code uses into it, or use the exact dialect.",
    ),
    "plain_self_join": Prose(
        "Plain Spark joins a stream with itself like any other, not as the optimization does.",
        "Choose another optimization, or use the exact dialect.",
    ),
    "plain_column": Prose(
        "The expression reads {column}, which a result of {kind} does not have in plain Spark.",
        "Copy it into the value before, or use the exact dialect.",
    ),
}
