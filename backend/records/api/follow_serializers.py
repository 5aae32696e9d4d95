"""Serializers for following a record through a deployment."""

from __future__ import annotations

from typing import Any

from millrace_backend.shapes import serializer_of
from rest_framework import serializers
from topologies.api.simulation_serializers import BreakpointsField, PartitionsField, RunField
from topologies.simulating import MOST_INPUTS, MOST_STEPS

from records.api.serializers import LONGEST_FILTER, MOST, MasksField
from records.choices import EmptyBecause, Partitions, Stores
from records.following import MOST_AFTER, MOST_BEFORE
from records.windows import WindowJson


class FollowRequestSerializer(serializers.Serializer[Any]):
    """The record to follow: by its offset, or the newest one with a key or a text."""

    topic = serializers.CharField(max_length=249)
    partition = serializers.IntegerField(
        min_value=0, max_value=1_000_000, allow_null=True, default=None
    )
    offset = serializers.IntegerField(min_value=0, max_value=MOST, allow_null=True, default=None)
    key = serializers.CharField(
        max_length=LONGEST_FILTER,
        allow_null=True,
        allow_blank=True,
        trim_whitespace=False,
        default=None,
        help_text="The key of the record: text as it is, other formats as JSON.",
    )
    contains = serializers.CharField(
        max_length=LONGEST_FILTER,
        allow_blank=True,
        default="",
        help_text="Text in key or value, not case-sensitive.",
    )
    cursor = serializers.CharField(
        max_length=100_000,
        allow_blank=True,
        default="",
        help_text="`cursor` of a response with the state `searching`.",
    )
    before = serializers.IntegerField(
        min_value=0,
        max_value=MOST_BEFORE,
        default=500,
        help_text="Number of records before it, divided evenly among the topics of the sources.",
    )
    after = serializers.IntegerField(min_value=0, max_value=MOST_AFTER, default=50)
    partitions = serializers.ChoiceField(
        choices=Partitions.choices,
        default=Partitions.AUTO,
        help_text="`task`: records of its partition, and global tables; `all`: of all partitions; "
        "`auto`: `all` if the topology has repartition topics.",
    )
    stores = serializers.ChoiceField(
        choices=Stores.choices,
        default=Stores.CHECKPOINT,
        help_text="`checkpoint`: the stores as they were after an earlier micro-batch, if the "
        "checkpoint still has it; the lines are then those of whole micro-batches.",
    )
    same_key = serializers.BooleanField(
        default=False, help_text="Only records whose key has the same bytes."
    )
    headers = serializers.BooleanField(default=True, help_text="Whether to include headers.")
    masks = MasksField()


class FollowedPlaceSerializer(serializers.Serializer[Any]):
    """Topic, partition, offset and timestamp of the record."""

    topic = serializers.CharField()
    partition = serializers.IntegerField()
    offset = serializers.IntegerField()
    timestamp = serializers.IntegerField()


class BeginningSerializer(serializers.Serializer[Any]):
    """The micro-batch after which the lines begin: `begins` of the simulation."""

    batch = serializers.IntegerField(min_value=0)
    at = serializers.IntegerField(required=False, help_text="When it was planned, in milliseconds.")
    tasks = serializers.ListField(
        child=serializers.IntegerField(min_value=0),
        allow_null=True,
        max_length=10_000,
        help_text="The tasks that read the lines, by number; null for all.",
    )


class DeployedSimulationSerializer(serializers.Serializer[Any]):
    """Input lines for the deployed version, and the stores that it begins with."""

    inputs = serializers.ListField(child=serializers.JSONField(), max_length=MOST_INPUTS)
    begins = BeginningSerializer()
    steps = serializers.IntegerField(
        min_value=0, max_value=MOST_STEPS, default=MOST_STEPS, required=False
    )
    breakpoints = BreakpointsField(required=False)
    partitions = PartitionsField(required=False)
    run = RunField()


class FollowedRecordSerializer(serializers.Serializer[Any]):
    """The record and its neighbors as input lines of a simulation."""

    state = serializers.ChoiceField(
        choices=[
            ("found", "found"),
            ("searching", "searching: send `cursor` to continue"),
            ("starting", "the process that reads checkpoints is starting: repeat the request"),
            ("not_found", "not found"),
        ]
    )
    version = serializers.IntegerField(help_text="The version that runs.")
    document = serializers.DictField(help_text="Its document.")
    topic_partitions = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Number of partitions of its topics: `partitions` of the simulation.",
    )
    scanned = serializers.IntegerField(required=False)
    cursor = serializers.CharField(required=False)
    lines = serializers.ListField(child=serializers.DictField(), required=False)
    input = serializers.IntegerField(
        required=False, help_text="Number of the record's line, starting at 1."
    )
    skipped = serializers.IntegerField(
        required=False,
        help_text="Records that were left out because they could not be masked.",
    )
    record = FollowedPlaceSerializer(required=False)
    partitions = serializer_of(WindowJson, "FollowedPartition")(many=True, required=False)
    begins = BeginningSerializer(
        required=False,
        allow_null=True,
        help_text="The stores with which the simulation begins; null if they are empty.",
    )
    empty_because = serializers.ChoiceField(
        choices=EmptyBecause.choices,
        required=False,
        allow_null=True,
        help_text="Why it begins with empty stores.",
    )
