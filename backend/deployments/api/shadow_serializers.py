"""Shapes of shadows and of the comparison of their outputs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from deployments.api.serializers import FailureSerializer, OutageSerializer, StepSerializer
from deployments.choices import ComparisonState, Observed, OutputDifference, ShadowStart


class NewShadowSerializer(serializers.Serializer[Any]):
    """A version to run beside the one that runs."""

    version = serializers.IntegerField(min_value=1)
    start = serializers.ChoiceField(
        choices=ShadowStart.choices,
        default=ShadowStart.RUNNING,
        help_text="`running`: start with a copy of the running deployment's state, at its current "
        "position; `earliest`: start with empty stores, at the first records of the topics. "
        "Outputs are compared from the position of the running deployment when the shadow started.",
    )


class EndShadowSerializer(serializers.Serializer[Any]):
    """The confirmation to end a shadow."""

    name = serializers.CharField(help_text="The deployment's name.")


class ShadowDeploymentSerializer(serializers.Serializer[Any]):
    """The state of a shadow's driver."""

    id = serializers.IntegerField(help_text="For its runs, logs and metrics.")
    version = serializers.IntegerField()
    observed = serializers.ChoiceField(choices=Observed.choices)
    steps = StepSerializer(many=True)
    failure = FailureSerializer(allow_null=True)
    outage = OutageSerializer(allow_null=True)


class OutputRecordSerializer(serializers.Serializer[Any]):
    """A record of an output topic."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField()
    timestamp = serializers.IntegerField()
    value = serializers.CharField(
        allow_null=True, help_text="The first 2,000 bytes; null for a tombstone."
    )
    headers = serializers.JSONField(help_text="Names and values in hexadecimal digits.")


class OutputExampleSerializer(serializers.Serializer[Any]):
    """A record that differs."""

    kind = serializers.ChoiceField(choices=OutputDifference.choices)
    key = serializers.CharField(allow_null=True)
    running = OutputRecordSerializer(allow_null=True)
    shadow = OutputRecordSerializer(allow_null=True)


class ComparedTopicSerializer(serializers.Serializer[Any]):
    """The result of the comparison of an output topic."""

    topic = serializers.CharField(help_text="Its name in the running version.")
    sinks = serializers.ListField(
        child=serializers.CharField(), help_text="Sinks that write it in either version."
    )
    equal = serializers.IntegerField()
    reordered = serializers.IntegerField(
        help_text="Equal records in a different order among the records with the same key."
    )
    differing = serializers.IntegerField()
    only_running = serializers.IntegerField()
    only_shadow = serializers.IntegerField()
    deleted = serializers.IntegerField(
        help_text="Offsets that could not be compared because the broker has deleted them."
    )
    examples = OutputExampleSerializer(many=True)


class OutputComparisonSerializer(serializers.Serializer[Any]):
    """A comparison of outputs for the same input."""

    state = serializers.ChoiceField(choices=ComparisonState.choices)
    read = serializers.IntegerField(help_text="Offsets that were read.")
    total = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    error = serializers.CharField(allow_null=True)
    running_version = serializers.IntegerField()
    shadow_version = serializers.IntegerField()
    from_offsets = serializers.SerializerMethodField()
    to_offsets = serializers.SerializerMethodField()
    topics = ComparedTopicSerializer(many=True)

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_from_offsets(self, found: dict[str, Any]) -> Any:
        """Input offsets from which outputs are compared, by topic and partition."""
        return found["began"]["places"]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_to_offsets(self, found: dict[str, Any]) -> Any:
        """Input offsets up to which outputs are compared, by topic and partition."""
        return found["reached"]["places"]


class ShadowSerializer(serializers.Serializer[Any]):
    """The shadow of a deployment."""

    deployment = serializers.SerializerMethodField()
    start = serializers.ChoiceField(choices=ShadowStart.choices)
    suffix = serializers.CharField(help_text="The names of its output topics end with this.")
    ending = serializers.BooleanField(help_text="It is being stopped and deleted.")
    reached_at = serializers.SerializerMethodField()
    comparison = OutputComparisonSerializer(allow_null=True)

    @extend_schema_field(ShadowDeploymentSerializer)
    def get_deployment(self, shadow: Any) -> dict[str, Any]:
        """The state of its driver."""
        from deployments.api.serializers import DeploymentSerializer

        whole = DeploymentSerializer(shadow.deployment).data
        return {str(name): whole[name] for name in ShadowDeploymentSerializer().fields}

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_reached_at(self, shadow: Any) -> str | None:
        """When it last reached the offsets of the running deployment; null before that."""
        from datetime import UTC, datetime

        found = shadow.reached.get("reached")
        if found is None:
            return None
        return datetime.fromtimestamp(found["at"] / 1000, UTC).isoformat()
