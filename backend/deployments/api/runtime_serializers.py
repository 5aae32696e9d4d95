"""Shapes of what drivers report, with the rates derived from two reports."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class DurationsSerializer(serializers.Serializer[Any]):
    """Latency in ms over the last ten seconds; null if there was no record."""

    avg = serializers.FloatField(allow_null=True)
    min = serializers.IntegerField(allow_null=True)
    max = serializers.IntegerField(allow_null=True)
    p50 = serializers.IntegerField(allow_null=True)
    p99 = serializers.IntegerField(allow_null=True)
    count = serializers.IntegerField(help_text="Since the run started, as are `sum` and `buckets`.")
    sum = serializers.IntegerField()
    buckets = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="Histogram as pairs of an upper bound in ms and the number of records below "
        "it, down to half the bound.",
    )


class LatencySerializer(serializers.Serializer[Any]):
    """Latency of the records that entered a node."""

    event = DurationsSerializer(help_text="Latency from the record's timestamp.")
    arrival = DurationsSerializer(
        help_text="Latency from the arrival of the input record in Kafka."
    )


class NodeFiguresSerializer(serializers.Serializer[Any]):
    """Records processed by a node since the run started, and the current rate per second."""

    out = serializers.IntegerField()
    dropped = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Dropped records by reason, without dead letters.",
    )
    misses = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Records for which an inner join found nothing on the other side, by reason. "
        "They are not among the dropped records, as in Kafka Streams.",
    )
    dead_letters = serializers.IntegerField(
        help_text="Records sent to the dead letter topic instead of the next node."
    )
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)
    latency = LatencySerializer(
        allow_null=True,
        help_text="Null if not measured. Latency is measured at sources and at last nodes.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Add ``in``, which is a keyword of Python."""
        return {"in": serializers.IntegerField(), **super().get_fields()}


class TopicPartitionSerializer(serializers.Serializer[Any]):
    """How far a task has read a partition."""

    topic = serializers.CharField()
    partition = serializers.IntegerField()
    offset = serializers.IntegerField(allow_null=True)
    end_offset = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)


class TaskSerializer(serializers.Serializer[Any]):
    """A task, and where it runs."""

    task = serializers.CharField(
        help_text="Task id as in Kafka Streams: sub-topology and partition, such as 0_1."
    )
    subtopology = serializers.IntegerField()
    level = serializers.IntegerField()
    partition = serializers.IntegerField()
    executor = serializers.CharField()
    host = serializers.CharField(allow_null=True)
    thread = serializers.CharField(
        help_text="The thread that ran the task last: Spark uses any free thread of the executor."
    )
    thread_changes = serializers.IntegerField(help_text="Since the run started.")
    topic_partitions = TopicPartitionSerializer(many=True)
    records = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="Current rate in records per second.")
    stream_time = serializers.IntegerField(allow_null=True, help_text="Epoch milliseconds.")
    last_active = serializers.IntegerField(allow_null=True, help_text="Epoch milliseconds.")
    state_rows = serializers.IntegerField(allow_null=True)


class LostRecordsSerializer(serializers.Serializer[Any]):
    """Records of a topic partition that the broker deleted before they were read."""

    topic = serializers.CharField()
    partition = serializers.IntegerField()
    records = serializers.IntegerField()


class StoreFiguresSerializer(serializers.Serializer[Any]):
    """Size of a store."""

    name = serializers.CharField()
    node = serializers.CharField()
    rows = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)


class RuntimeSerializer(serializers.Serializer[Any]):
    """A driver's last report; ``stale`` if it is outdated."""

    deployment = serializers.IntegerField()
    run = serializers.CharField(help_text="The report id of the run.")
    at = serializers.IntegerField(help_text="Epoch milliseconds, by the driver's clock.")
    as_of = serializers.DateTimeField()
    stale = serializers.BooleanField()
    batch = serializers.IntegerField(
        allow_null=True, help_text="Number of the last batch; null before the first has ended."
    )
    duration_ms = serializers.IntegerField(allow_null=True)
    input_rate = serializers.FloatField(allow_null=True)
    process_rate = serializers.FloatField(allow_null=True)
    phases = serializers.DictField(child=serializers.FloatField())
    nodes = serializers.DictField(child=NodeFiguresSerializer())
    tasks = TaskSerializer(many=True)
    stores = StoreFiguresSerializer(many=True)
    lost = LostRecordsSerializer(many=True, help_text="Since the run started.")
    topic_partitions = TopicPartitionSerializer(
        many=True, help_text="Of a plain PySpark program, which has no tasks of Kafka Streams."
    )


class SampledRecordSerializer(serializers.Serializer[Any]):
    """A record that passed over an edge."""

    number = serializers.IntegerField(help_text="Increases with every captured record.")
    seen = serializers.IntegerField(
        help_text="When the record passed over the edge, in epoch milliseconds."
    )
    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True)
    key_cut = serializers.BooleanField(
        required=False, help_text="Whether `key` is the beginning of a longer JSON text."
    )
    value_cut = serializers.BooleanField(
        required=False, help_text="Whether `value` is the beginning of a longer JSON text."
    )
    timestamp = serializers.IntegerField(help_text="The record's timestamp, in epoch milliseconds.")
    headers = serializers.DictField(child=serializers.CharField(allow_null=True))
    topic = serializers.CharField(
        allow_null=True,
        help_text="Topic of the input record that caused it; null if there is none, as for a "
        "punctuation. The same applies to partition and offset.",
    )
    partition = serializers.IntegerField(allow_null=True)
    offset = serializers.IntegerField(allow_null=True)


class FrequentKeySerializer(serializers.Serializer[Any]):
    """A key, and about how many records had it."""

    key = serializers.CharField(help_text="JSON text, cut after 200 characters.")
    records = serializers.IntegerField(help_text="Extrapolated from the sample.")


class TaskRecordsSerializer(serializers.Serializer[Any]):
    """The records of a task."""

    task = serializers.CharField()
    records = serializers.IntegerField()


class EdgeKeysSerializer(serializers.Serializer[Any]):
    """What passed over an edge since its records were first requested."""

    since = serializers.IntegerField(help_text="Epoch milliseconds.")
    records = serializers.IntegerField()
    sampled = serializers.IntegerField(help_text="Records whose key was read.")
    top = FrequentKeySerializer(many=True, help_text="The most frequent keys, at most 20.")
    tasks = TaskRecordsSerializer(many=True, help_text="Of all tasks that receive the edge.")
    skew = serializers.FloatField(
        allow_null=True,
        help_text="Records of the task with the most, divided by the median of all tasks; null if "
        "the median is 0.",
    )


class SamplesSerializer(serializers.Serializer[Any]):
    """The last records of an edge, newest first."""

    sampling = serializers.ChoiceField(
        choices=["stopped", "starting", "on"],
        help_text="`stopped`: no driver is running; `starting`: records are not captured yet.",
    )
    at = serializers.IntegerField(
        allow_null=True, help_text="When the driver last captured a record, in epoch milliseconds."
    )
    records = SampledRecordSerializer(many=True, help_text="At most 20.")
    keys = EdgeKeysSerializer(allow_null=True, help_text="Null before the first record.")


class SamplesQuerySerializer(serializers.Serializer[Any]):
    """The edge to read."""

    edge = serializers.CharField(
        max_length=1_000,
        help_text="`<source>.<port>><target>.<port>`, such as `orders.out>valid.in`.",
    )
