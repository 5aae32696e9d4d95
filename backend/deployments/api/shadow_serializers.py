"""Shapes of shadows and of the comparison of their outputs."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from millrace_backend.shapes import ShapeSerializer
from millrace_model.shadows import KeptComparison, OutputComparison, OutputExample, OutputRecord
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


class OutputRecordSerializer(ShapeSerializer):
    """A record of an output topic."""

    shape = OutputRecord
    headers = serializers.JSONField(help_text="Names and values in hexadecimal digits.")


class OutputExampleSerializer(ShapeSerializer):
    """A record that differs."""

    shape = OutputExample
    choices: ClassVar = {"kind": OutputDifference}


class OutputComparisonSerializer(ShapeSerializer):
    """A comparison of outputs for the same input."""

    shape = OutputComparison
    choices: ClassVar = {"state": ComparisonState}

    from_offsets = serializers.SerializerMethodField()
    to_offsets = serializers.SerializerMethodField()

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_from_offsets(self, found: KeptComparison) -> Any:
        """Input offsets from which outputs are compared, by topic and partition."""
        return found["began"]["places"]

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "object"}})
    def get_to_offsets(self, found: KeptComparison) -> Any:
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

        found = shadow.noted.get("reached")
        if found is None:
            return None
        return datetime.fromtimestamp(found["at"] / 1000, UTC).isoformat()
