"""Messages of the plain dialect: refusals, and how results differ.

A *difference* names one way in which ordinary Structured Streaming gives other results than Kafka
Streams. docs/plain.md lists each code with a scenario that shows it.
"""

from __future__ import annotations

from millrace_compiler.prose import Prose


def _difference(message: str, hint: str = "") -> Prose:
    return Prose(message, hint, "difference")


PLAIN: dict[str, Prose] = {
    # ---- differences ------------------------------------------------------------------------
    "plain_sink_timestamp": _difference(
        "Records on the topic have the time of writing; Kafka Streams writes the record's own.",
        "Spark's Kafka sink cannot set a timestamp. Put the time into the value if readers need "
        "it.",
    ),
    "plain_updates": _difference(
        "Each micro-batch gives the last result of a key; Kafka Streams gives every update.",
        "Shorter micro-batches give more updates.",
    ),
    "plain_order": _difference(
        "Rows of one micro-batch reach the topic in no fixed order across {what}.",
        "Order by the timestamp in what reads the topic, or keep one record per micro-batch.",
    ),
    "plain_late": _difference(
        "Late records are judged by the watermark of the whole query, set between micro-batches; "
        "Kafka Streams judges each record by the stream time of its task.",
        "A longer grace makes late records rarer on both sides.",
    ),
    "plain_session_final": _difference(
        "A session gives one result, when it is closed; Kafka Streams also gives its updates, and "
        "a null for each session that is merged into another.",
        "Spark has no session windows in update mode.",
    ),
    "plain_outer_results": _difference(
        "A result without partner comes when the watermark of both inputs has passed the window; "
        "Kafka Streams gives it as soon as stream time has.",
        "Spark waits for the slower input, and for the next micro-batch.",
    ),
    "plain_headers": _difference(
        "Results have no headers; Kafka Streams passes on those of the record that caused them.",
        "Put what is needed of the headers into the value before this node.",
    ),
    "plain_drops": _difference(
        "Records with {what} are left out, and nothing counts them; Kafka Streams does.",
        "Count them with DataFrame.observe if their number is needed.",
    ),
    "plain_aggregate_null": _difference(
        "A null result is one value among others; in Kafka Streams it deletes the aggregate, and "
        "the next record starts anew.",
        "Use coalesce in the expression so that it never gives null.",
    ),
    "plain_table_now": _difference(
        "The table is read when a micro-batch runs, with all that is on the topic by then; Kafka "
        "Streams takes the row as of the record's turn.",
    ),
    "plain_null_array": _difference(
        "explode drops a null array; in Kafka Streams it is a processing error.",
        "Use coalesce in the expression.",
    ),
    "plain_failed_batch": _difference(
        "A record that fails stops its query with nothing of the micro-batch written, and other "
        "queries go on; Kafka Streams stops as a whole, and what came before is written.",
    ),
    "plain_processing_handler": _difference(
        "An expression that fails stops the query; Kafka Streams drops the record here.",
        "Use try_cast, try_divide and the like in the expressions.",
    ),
    "plain_peek": Prose(
        "Messages are not logged: plain Spark has no step for it.",
        "The records pass unchanged.",
        "warning",
    ),
    "plain_at_least_once": Prose(
        "Spark's Kafka sink gives each record at least once, the guarantee is exactly once.",
        "After a failure a result may appear again.",
        "warning",
    ),
    # ---- refusals ---------------------------------------------------------------------------
    "plain_kind": Prose(
        "Plain Spark has no operator for this: {reason}.", "Use the exact dialect, or {instead}."
    ),
    "plain_format": Prose(
        "The format {format} needs a package beside pyspark or a registry.",
        "Use the exact dialect, or another format.",
    ),
    "plain_source": Prose(
        "Plain Spark cannot read a source so: {reason}.", "Use the exact dialect, or {instead}."
    ),
    "plain_handler": Prose(
        "Plain Spark cannot do this with a record that fails: {reason}.",
        "Choose fail, or use the exact dialect.",
    ),
    "plain_column": Prose(
        "The expression reads {column}, which a result of {kind} does not have in plain Spark.",
        "Put it into the value before, or use the exact dialect.",
    ),
}
