"""Choices about records, generators and followed records."""

from django.db import models


class RecordFormat(models.TextChoices):
    """How bytes of a key or a value are read."""

    AUTO = "auto", "Detected"
    STRING = "string", "Text"
    JSON = "json", "JSON"
    INTEGER = "integer", "Integer"
    LONG = "long", "Long"
    FLOAT = "float", "Float"
    DOUBLE = "double", "Double"
    BOOLEAN = "boolean", "Boolean"
    BYTES = "bytes", "Bytes"
    AVRO = "avro", "Avro"
    PROTOBUF = "protobuf", "Protobuf"


#: The formats of Kafka's windowed serdes, by the number of the window's bounds behind the key.
WINDOWED = {"time_windowed": 1, "session_windowed": 2}
#: How bytes of a key are read.
KEY_FORMATS = [
    *RecordFormat.choices,
    ("time_windowed", "Time window"),
    ("session_windowed", "Session window"),
]


class Start(models.TextChoices):
    """Where reading begins, and in which direction it goes."""

    LATEST = "latest", "Newest first"
    EARLIEST = "earliest", "From the beginning"
    OFFSET = "offset", "From an offset"
    TIME = "time", "From a time"


class Partitions(models.TextChoices):
    """The partitions whose records are read around a followed record."""

    AUTO = "auto", "All if the topology repartitions, otherwise those of the record's task"
    TASK = "task", "Those of the record's partition, and global tables"
    ALL = "all", "All partitions"


class Compare(models.TextChoices):
    """How a field of a record is compared with a text."""

    EQUALS = "equals", "Equal to"
    NOT_EQUALS = "not_equals", "Not equal to"
    LESS = "less", "Less than"
    AT_MOST = "at_most", "At most"
    GREATER = "greater", "Greater than"
    AT_LEAST = "at_least", "At least"
    CONTAINS = "contains", "Containing"


class Stopped(models.TextChoices):
    """Why a page of records ended."""

    END = "end", "There are no more records"
    FULL = "full", "The page is full"
    SCANNED = "scanned", "The scan limit of one request was reached"
    SECONDS = "seconds", "The time limit of one request was reached"


class GroupState(models.TextChoices):
    """Kafka's states of a consumer group."""

    UNKNOWN = "unknown", "Unknown"
    PREPARING_REBALANCING = "preparing_rebalancing", "Preparing a rebalance"
    COMPLETING_REBALANCING = "completing_rebalancing", "Completing a rebalance"
    ASSIGNING = "assigning", "Assigning"
    RECONCILING = "reconciling", "Reconciling"
    STABLE = "stable", "Stable"
    EMPTY = "empty", "Empty"
    DEAD = "dead", "Dead"


class GeneratorState(models.TextChoices):
    """State of a generator."""

    RUNNING = "running", "Running"
    DONE = "done", "Done: it has reached its limit"
    STOPPED = "stopped", "Stopped by a person"
    FAILED = "failed", "Failed"


class Stores(models.TextChoices):
    """The stores with which a followed record's simulation begins."""

    CHECKPOINT = "checkpoint", "Those of the deployment after an earlier micro-batch"
    EMPTY = "empty", "Empty stores"


class EmptyBecause(models.TextChoices):
    """Why a followed record's simulation begins with empty stores."""

    ASKED = "asked", "This was requested"
    CHANGED = "changed", "Fields are masked, or records of other keys are left out"
    LOOP = "loop", "The topology reads a topic that it writes"
    NO_STATE = "no_state", "There is no checkpoint that can be read"
    TOO_OLD = "too_old", "The checkpoint does not go back that far, or the records no longer exist"
    TOO_MANY = "too_many", "The record's micro-batch has too many records"
