"""Exceptions of Spark and Kafka as errors that a person can act on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from millrace_runtime.errors import MillraceError, StreamStopped, fault_of, refusal_of
from millrace_runtime.storage import StorageError

_STORAGE = (
    "The storage of the checkpoint does not respond, or refuses the request. Check its address, "
    "the network, the credentials and that it is running."
)
_DELETED = "The broker deleted records before the job read them. Check the topic's retention."

# What words in an exception of Spark or Kafka say about its cause: (word, code, what would do).
_CAUSES = (
    # Before all others: their messages quote whatever S3 or HDFS answered.
    ("org.apache.hadoop.fs.s3a.AWS", "storage_unreachable", _STORAGE),
    ("awssdk.core.exception.SdkClientException", "storage_unreachable", _STORAGE),
    ("awssdk.services.s3.model.S3Exception", "storage_unreachable", _STORAGE),
    ("org.apache.hadoop.net.ConnectTimeoutException", "storage_unreachable", _STORAGE),
    ("http://wiki.apache.org/hadoop/ConnectionRefused", "storage_unreachable", _STORAGE),
    (
        "No space left on device",
        "disk_full",
        "The disk that holds the checkpoint is full. Free some space and start again.",
    ),
    ("KAFKA_DATA_LOSS", "offsets_lost", _DELETED),
    # Of a task that reads; the condition above is that of the driver.
    ("Some data may have been lost", "offsets_lost", _DELETED),
    ("OffsetOutOfRangeException", "offsets_lost", _DELETED),
    (
        "UnknownTopicOrPartitionException",
        "topic_missing",
        "A topic that the job reads or writes does not exist on the broker. Create it.",
    ),
    (
        "TopicAuthorizationException",
        "not_authorized",
        "The broker does not allow this job to use a topic. Check the topic's ACLs.",
    ),
    (
        "GroupAuthorizationException",
        "not_authorized",
        "The broker does not allow this job to use its consumer group. Check the group's ACLs.",
    ),
    (
        "SaslAuthenticationException",
        "not_authenticated",
        "The broker rejected the credentials. Check user, password and mechanism.",
    ),
    (
        "SslAuthenticationException",
        "not_authenticated",
        "The TLS handshake with the broker failed. Check certificates and the trust store.",
    ),
    (
        "not present in metadata",
        "topic_missing",
        "A topic that the job writes to does not exist on the broker. Create it.",
    ),
    (
        "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT",
        "real_time_slots",
        "In real-time mode, all tasks run at the same time, but there are too few cores. Use "
        "more cores, or run the job in micro-batches.",
    ),
    (
        "TimeoutException",
        "broker_unreachable",
        "The broker does not respond. Check its address, the network and that it is running.",
    ),
    (
        "No resolvable bootstrap urls",
        "broker_unreachable",
        "The broker's address cannot be resolved. Check --bootstrap-servers.",
    ),
    (
        "STATE_STORE_",
        "state_unreadable",
        "The state in the checkpoint cannot be read. Start with a new checkpoint folder.",
    ),
    (
        "JAVA_GATEWAY_EXITED",
        "spark_not_started",
        "Spark's process ended during its start; see its output in the log above. Check Java, "
        "the configured memory and --spark-config.",
    ),
    (
        "PACKAGE_NOT_INSTALLED",
        "python_packages",
        "Spark's transformWithState needs pandas and pyarrow, which are not installed. Install "
        'them with: pip install "pandas<3" pyarrow',
    ),
)


# What Python raises for a call into a JVM that is gone.
_JVM_GONE = frozenset({"Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError"})


def explain(error: BaseException) -> MillraceError:
    """An exception of Spark, Kafka or the operator as an error that a person can act on."""
    if isinstance(error, MillraceError):
        return error
    if type(error).__name__ in _JVM_GONE:
        return MillraceError(
            "spark_lost",
            "Spark's JVM process ended or was killed while the job was running. Check the "
            "machine's memory and the log above.",
        )
    if isinstance(error, StorageError):
        return MillraceError("storage_unreachable", f"{_STORAGE} It answered: {error}")
    text = str(error)
    fault = fault_of(text)
    if fault is not None:
        return StreamStopped(fault)
    whole = "\n".join([text, *_causes(error)])
    fault = fault_of(whole)
    if fault is not None:
        return StreamStopped(fault)
    refused = refusal_of(whole)
    if refused is not None:
        return refused
    for word, code, advice in _CAUSES:
        if word in whole:
            return MillraceError(code, advice)
    client = re.search(r"kafka\.common\.(?:config\.Config|Kafka)Exception: (.+)", whole)
    if client:
        detail = client[1].strip().rstrip(".")
        return MillraceError("kafka_refused", f"The Kafka client does not start: {detail}.")
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    return MillraceError("internal", f"The job failed: {first.strip()}")


def _causes(error: BaseException) -> Iterator[str]:
    """The messages of an exception from the JVM and of its causes, without stack frames."""
    java = getattr(error, "java_exception", None)
    for _ in range(12):
        if java is None:
            break
        yield str(java.toString())
        java = java.getCause()
    # PySpark has read these already; a query's exception names its own frames alone.
    captured = getattr(error, "_cause", None)
    while captured is not None:
        said = f"{getattr(captured, '_desc', captured)}\n{getattr(captured, '_stackTrace', '')}"
        yield from (line for line in said.splitlines() if not line.startswith("\tat "))
        captured = getattr(captured, "_cause", None)
