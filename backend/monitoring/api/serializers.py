"""Shapes of figures over time."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from monitoring.choices import Figure, MoveReason, Range, Unit
from monitoring.models import Placement
from monitoring.queries import MOST_NAMES, MOST_SERIES


class FiguresQuerySerializer(serializers.Serializer[Any]):
    """Which figure, of what, and how far back."""

    figure = serializers.ChoiceField(choices=Figure.choices)
    range = serializers.ChoiceField(choices=Range.choices, default=Range.QUARTER)
    name = serializers.ListField(
        child=serializers.CharField(max_length=1_000),
        required=False,
        max_length=MOST_SERIES,
        help_text="Only these nodes, tasks, partitions, stores or phases.",
    )


class SeriesSerializer(serializers.Serializer[Any]):
    """A figure of one node, task, partition, store or phase."""

    name = serializers.CharField()
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="One value for each interval, oldest first; null if nothing was reported.",
    )


class FiguresSerializer(serializers.Serializer[Any]):
    """A figure over time."""

    figure = serializers.ChoiceField(choices=Figure.choices)
    of = serializers.CharField(
        help_text="What the names refer to: node, reason, task, partition, store, deployment or "
        "phase."
    )
    unit = serializers.ChoiceField(choices=Unit.choices)
    range = serializers.ChoiceField(choices=Range.choices)
    begin = serializers.IntegerField(help_text="Start of the first interval, in epoch seconds.")
    step = serializers.IntegerField(help_text="Length of an interval in seconds.")
    points = serializers.IntegerField(help_text="Number of intervals.")
    series = SeriesSerializer(
        many=True, help_text=f"Those with the highest values first, at most {MOST_SERIES}."
    )
    left_out = serializers.IntegerField(help_text="Number of further series.")
    names = serializers.ListField(
        child=serializers.CharField(), help_text=f"All existing names, at most {MOST_NAMES}."
    )


class PlacementsQuerySerializer(serializers.Serializer[Any]):
    """How far back."""

    range = serializers.ChoiceField(choices=Range.choices, default=Range.DAY)


class PlacementSerializer(serializers.ModelSerializer[Placement]):
    """Where a task ran, from one move to the next."""

    run = serializers.CharField(help_text="Report id of the run.")
    reason = serializers.ChoiceField(choices=MoveReason.choices)
    until = serializers.DateTimeField(
        allow_null=True, help_text="Null if the task is still running there."
    )
    from_executor = serializers.CharField(help_text="Where it ran before; empty if nowhere.")
    from_thread = serializers.CharField()
    thread = serializers.CharField(
        help_text="In micro-batches, the thread on which the task was first seen; a batch can "
        "use any thread."
    )
    host = serializers.CharField()

    class Meta:
        model = Placement
        fields = (
            *("id", "run", "task", "executor", "host", "thread"),
            *("from_executor", "from_thread", "reason", "since", "until"),
        )
