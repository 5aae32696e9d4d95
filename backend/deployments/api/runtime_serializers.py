"""Shapes of what drivers report, with the rates derived from two reports."""

from __future__ import annotations

from typing import Any

from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_model.events import Latency, NodeRates, RuntimeJson, TaskRates, TopicPartition
from rest_framework import serializers


class LatencySerializer(ShapeSerializer):
    """Latency of the records that entered a node."""

    shape = Latency
    present = ("event", "arrival")


class TopicPartitionSerializer(ShapeSerializer):
    """How far a task has read a partition."""

    shape = TopicPartition
    present = ("end_offset", "lag")
    absent = ("read",)

    offset = serializers.IntegerField(allow_null=True)


serializer_of(
    NodeRates,
    "NodeFigures",
    "Records processed by a node since the run started, and the current rate per second.",
)
serializer_of(TaskRates, "Task")
RuntimeSerializer = serializer_of(RuntimeJson)


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
