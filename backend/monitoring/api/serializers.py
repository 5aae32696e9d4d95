"""Shapes of figures over time."""

from __future__ import annotations

from typing import Any, ClassVar

from millrace_backend.shapes import ShapeSerializer
from rest_framework import serializers

from monitoring.choices import Figure, MoveReason, Range, Unit
from monitoring.models import Placement
from monitoring.queries import MOST_SERIES, Figures


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


class FiguresSerializer(ShapeSerializer):
    """A figure over time."""

    shape = Figures
    choices: ClassVar = {"figure": Figure, "unit": Unit, "range": Range}


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
