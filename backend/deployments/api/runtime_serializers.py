"""Shapes of what drivers report, with the rates derived from two reports."""

from __future__ import annotations

from typing import Any

from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_model.events import Latency, NodeRates, RuntimeJson, TaskRates, TopicPartition
from millrace_model.samples import Samples
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


SamplesSerializer = serializer_of(Samples)


class SamplesQuerySerializer(serializers.Serializer[Any]):
    """The edge to read."""

    edge = serializers.CharField(
        max_length=1_000,
        help_text="`<source>.<port>><target>.<port>`, such as `orders.out>valid.in`.",
    )
