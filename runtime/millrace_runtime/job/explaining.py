"""Translation of exceptions of Spark and Kafka into errors that a person can act on."""

from __future__ import annotations

from dataclasses import dataclass

from millrace_runtime.checkpoint.storage import StorageError
from millrace_runtime.errors import MillraceError, StreamStopped, fault_of, refusal_of
from millrace_runtime.session.java_exceptions import Cause, causes

_STORAGE = (
    "The storage of the checkpoint does not respond, or refuses the request. Check its address, "
    "the network, the credentials and that it is running."
)


@dataclass(frozen=True)
class _Known:
    """A known cause: how an exception is recognized, the error's code, and what to do.

    ``words``: parts of the message, for exceptions without a class or condition of their own.
    """

    code: str
    advice: str
    classes: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def matches(self, cause: Cause) -> bool:
        """Whether an exception is of this kind."""
        return (
            cause.is_a(*self.classes)
            or (bool(self.conditions) and cause.condition.startswith(self.conditions))
            or any(word in cause.message for word in self.words)
        )


# The first one that matches counts. Storage comes first, because its exceptions quote the responses
# of S3 or HDFS.
KNOWN = (
    _Known(
        "storage_unreachable",
        _STORAGE,
        classes=(
            "hadoop.fs.s3a.AWS*",
            "awssdk.core.exception.SdkClientException",
            "awssdk.services.s3.model.S3Exception",
            "hadoop.net.ConnectTimeoutException",
        ),
        # Only the text shows it: Hadoop adds this to a ConnectException of Java.
        words=("http://wiki.apache.org/hadoop/ConnectionRefused",),
    ),
    _Known(
        "disk_full",
        "The disk that holds the checkpoint is full. Free some space and start again.",
        # Only the text shows it: a plain IOException with the system's message.
        words=("No space left on device",),
    ),
    _Known(
        "offsets_lost",
        "The broker deleted records before the job read them. Check the topic's retention.",
        classes=("OffsetOutOfRangeException",),
        conditions=("KAFKA_DATA_LOSS",),
        # Only the text shows it once the exception is printed: its message has no condition.
        words=("Some data may have been lost",),
    ),
    # Also the cause of a producer's TimeoutException, unless the broker did not respond at all.
    _Known(
        "topic_missing",
        "A topic that the job reads or writes does not exist on the broker. Create it.",
        classes=("UnknownTopicOrPartitionException",),
    ),
    _Known(
        "not_authorized",
        "The broker does not allow this job to use a topic. Check the topic's ACLs.",
        classes=("TopicAuthorizationException",),
    ),
    _Known(
        "not_authorized",
        "The broker does not allow this job to use its consumer group. Check the group's ACLs.",
        classes=("GroupAuthorizationException",),
    ),
    _Known(
        "not_authenticated",
        "The broker rejected the credentials. Check user, password and mechanism.",
        classes=("SaslAuthenticationException",),
    ),
    _Known(
        "not_authenticated",
        "The TLS handshake with the broker failed. Check certificates and the trust store.",
        classes=("SslAuthenticationException",),
    ),
    _Known(
        "real_time_slots",
        "In real-time mode, all tasks run at the same time, but there are too few cores. Use "
        "more cores, or run the job in micro-batches.",
        conditions=("CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT",),
    ),
    _Known(
        "broker_unreachable",
        "The broker does not respond. Check its address, the network and that it is running.",
        classes=("TimeoutException",),
    ),
    _Known(
        "broker_unreachable",
        "The broker's address cannot be resolved. Check --bootstrap-servers.",
        # Only the text shows it: a ConfigException like many others.
        words=("No resolvable bootstrap urls",),
    ),
    _Known(
        "state_unreadable",
        "The state in the checkpoint cannot be read. Start with a new checkpoint folder.",
        conditions=("STATE_STORE_",),
    ),
    _Known(
        "spark_not_started",
        "Spark's process ended during its start; see its output in the log above. Check Java, "
        "the configured memory and --spark-config.",
        conditions=("JAVA_GATEWAY_EXITED",),
    ),
    _Known(
        "python_packages",
        "Spark's transformWithState needs pandas and pyarrow, which are not installed. Install "
        'them with: pip install "pandas<3" pyarrow',
        conditions=("PACKAGE_NOT_INSTALLED",),
    ),
)


# Exceptions that Python raises for a call into a JVM that has ended.
_JVM_GONE = frozenset({"Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError"})


def explain(error: BaseException) -> MillraceError:
    """Turn an exception of Spark, Kafka or the operator into an error that a person can act on."""
    if isinstance(error, MillraceError):
        return error
    if type(error).__name__ in _JVM_GONE:
        return MillraceError(
            "spark_lost",
            "Spark's JVM process ended or was killed while the job was running. Check the "
            "machine's memory and the log above.",
        )
    if isinstance(error, StorageError):
        message = f"{_STORAGE} It answered: {error}"
        return MillraceError("storage_unreachable", message, facts={"reason": error})
    found = causes(error)
    text = str(error)
    whole = "\n".join([text, *(cause.message for cause in found)])
    fault = fault_of(whole)
    if fault is not None:
        return StreamStopped(fault)
    refused = refusal_of(whole)
    if refused is not None:
        return refused
    for known in KNOWN:
        if any(known.matches(cause) for cause in found):
            return MillraceError(known.code, known.advice)
    for cause in found:
        if cause.is_a("kafka.common.config.ConfigException", "kafka.common.KafkaException"):
            detail = cause.message.strip().rstrip(".")
            message = f"The Kafka client does not start: {detail}."
            return MillraceError("kafka_client", message, facts={"reason": detail})
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    reason = first.strip()
    return MillraceError("internal", f"The job failed: {reason}", facts={"reason": reason})
