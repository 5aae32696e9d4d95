"""Shapes of what drivers report, with the rates derived from two reports."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class NodeFiguresSerializer(serializers.Serializer[Any]):
    """Records through a node since its run started, and per second of late."""

    out = serializers.IntegerField()
    dropped = serializers.DictField(child=serializers.IntegerField())
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)

    def get_fields(self) -> dict[str, Any]:
        """With ``in``, which Python keeps for itself."""
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

    task = serializers.CharField(help_text="As in Kafka Streams: sub-topology and partition, 0_1.")
    subtopology = serializers.IntegerField()
    level = serializers.IntegerField()
    partition = serializers.IntegerField()
    executor = serializers.CharField()
    host = serializers.CharField(allow_null=True)
    thread = serializers.CharField()
    topic_partitions = TopicPartitionSerializer(many=True)
    records = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True, help_text="Records per second of late.")
    stream_time = serializers.IntegerField(allow_null=True, help_text="Epoch ms.")
    last_active = serializers.IntegerField(allow_null=True, help_text="Epoch ms.")
    state_rows = serializers.IntegerField(allow_null=True)


class StoreFiguresSerializer(serializers.Serializer[Any]):
    """How large a store is."""

    name = serializers.CharField()
    node = serializers.CharField()
    rows = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True)


class RuntimeSerializer(serializers.Serializer[Any]):
    """A driver's last report. ``stale``: it is too old to be taken for the truth."""

    deployment = serializers.IntegerField()
    run = serializers.CharField(help_text="The report id of the run that said this.")
    at = serializers.IntegerField(help_text="Epoch ms, by the driver's clock.")
    as_of = serializers.DateTimeField()
    stale = serializers.BooleanField()
    batch = serializers.IntegerField()
    duration_ms = serializers.IntegerField(allow_null=True)
    input_rate = serializers.FloatField(allow_null=True)
    process_rate = serializers.FloatField(allow_null=True)
    phases = serializers.DictField(child=serializers.FloatField())
    nodes = serializers.DictField(child=NodeFiguresSerializer())
    tasks = TaskSerializer(many=True)
    stores = StoreFiguresSerializer(many=True)
