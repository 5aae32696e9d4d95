"""Shapes of starts, changes and their plans."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from millrace_backend.shapes import ShapeSerializer
from millrace_model.changes import (
    EnvironmentChange,
    HandoverJson,
    PlannedPlace,
    PlannedSource,
    PlannedStore,
    PlanWarning,
    StartPlanJson,
    StoreTexts,
)
from millrace_model.state import SourceVerdictJson, StateChangeJson, StoreVerdictJson
from rest_framework import serializers
from topologies.api.fields import DocumentField

from deployments.api.serializers import SettingsSerializer
from deployments.choices import (
    ColdReason,
    Desired,
    Environment,
    Position,
    Reset,
    SourceVerdict,
    StartWarning,
    StoreDecision,
    StoreVerdict,
)
from deployments.promoting import PromotionJson


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": StoreDecision.values},
            {
                "type": "object",
                "properties": {"convert": {"type": "string", "maxLength": 20_000}},
                "required": ["convert"],
                "additionalProperties": False,
            },
        ]
    }
)
class StoreDecisionField(serializers.Field[Any, Any, Any, Any]):
    """`reset`, `drop`, or `{"convert": "<SQL expression over old>"}`."""

    def to_internal_value(self, data: Any) -> str | dict[str, str]:
        """The decision. Raises ValidationError for anything else."""
        if isinstance(data, str) and data in StoreDecision.values:
            return data
        if isinstance(data, dict) and data.keys() == {"convert"}:
            text = data["convert"]
            if isinstance(text, str) and text.strip() and len(text) <= 20_000:
                return {"convert": text}
        raise serializers.ValidationError(
            'Use reset, drop or {"convert": "<SQL expression over old>"}.', "invalid"
        )

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


class StartFromSerializer(serializers.Serializer[Any]):
    """Where a deployment that has run before starts reading."""

    position = serializers.ChoiceField(
        choices=Position.choices,
        help_text="`stopped`: where the deployment stopped; `sources`: the position set in each "
        "source, as in a first run; `time` and `offsets` require the field of the "
        "same name.",
    )
    time = serializers.DateTimeField(
        required=False,
        help_text="Start each partition at the first record with this timestamp or a later one.",
    )
    offsets = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField(min_value=0)),
        required=False,
        help_text="Offset of the first record, by topic and partition. Partitions that are not "
        "listed continue where they stopped.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require what the position needs and nothing else; partition numbers become integers."""
        for name in ("time", "offsets"):
            if bool(attrs.get(name)) != (attrs["position"] == name):
                needed = attrs["position"] == name
                raise serializers.ValidationError(
                    {
                        name: [
                            "Required for this position."
                            if needed
                            else "Not allowed for this position."
                        ]
                    }
                )
        offsets = {}
        for topic, partitions in attrs.get("offsets", {}).items():
            if not partitions or not all(str(number).isdecimal() for number in partitions):
                raise serializers.ValidationError(
                    {"offsets": [f"{topic}: set offsets by partition number."]}
                )
            offsets[topic] = {int(number): offset for number, offset in partitions.items()}
        return {**attrs, "offsets": offsets}


class BeginningSerializer(serializers.Serializer[Any]):
    """How a start differs from one that continues."""

    start_from = StartFromSerializer(required=False)
    reset = serializers.ListField(
        child=serializers.ChoiceField(choices=Reset.choices),
        required=False,
        help_text="`stores`: start with empty stores; `positions`: start at the position set in "
        "each source, as in a first run. Requires `name`.",
    )


class StartSerializer(BeginningSerializer):
    """How to start; an empty body continues where the deployment stopped."""

    name = serializers.CharField(
        required=False, help_text="The deployment's name, to confirm a reset."
    )


class StopSerializer(serializers.Serializer[Any]):
    """How to stop; an empty body stops after the batch."""

    drain = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Read up to the current end of the topics before stopping.",
    )


class ScaleSerializer(serializers.Serializer[Any]):
    """Threads and memory of a deployment; omitted values do not change."""

    cores = serializers.IntegerField(
        min_value=1, max_value=256, required=False, help_text="Number of threads for tasks."
    )
    memory_mb = serializers.IntegerField(
        min_value=512,
        max_value=1_048_576,
        required=False,
        help_text="Heap size of the driver, in MB.",
    )

    def validate(self, attrs: dict[str, int]) -> dict[str, int]:
        """Require cores, memory_mb or both."""
        if not attrs:
            raise serializers.ValidationError("Set cores, memory_mb or both.")
        return attrs


class PlanRequestSerializer(BeginningSerializer):
    """The version, or a document that is not saved, and the start to plan."""

    version = serializers.IntegerField(min_value=1, required=False)
    document = DocumentField(required=False)
    settings = SettingsSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require one of version and document."""
        if ("version" in attrs) == ("document" in attrs):
            raise serializers.ValidationError("Send either version or document.")
        return attrs


class RedeploySerializer(StartSerializer):
    """The version to deploy, and settings to change."""

    version = serializers.IntegerField(min_value=1)
    settings = SettingsSerializer(required=False)
    stores = serializers.DictField(
        child=StoreDecisionField(),
        required=False,
        help_text="What happens to stores whose rows cannot be migrated, by store id.",
    )


class PlanQuerySerializer(serializers.Serializer[Any]):
    """The version to plan."""

    version = serializers.IntegerField(min_value=1)


class StoreTypesSerializer(ShapeSerializer):
    """Types of a store."""

    shape = StoreTexts

    windows = serializers.JSONField(allow_null=True, help_text="Type, size, advance or gap in ms.")


class StoreChangeSerializer(ShapeSerializer):
    """What happens to one store."""

    shape = PlannedStore
    choices = {"verdict": StoreVerdict}


class SourcePlaceSerializer(ShapeSerializer):
    """Where a partition is continued."""

    shape = PlannedPlace

    offset = serializers.IntegerField(help_text="Offset of the first record to read.")


class StartWarningSerializer(ShapeSerializer):
    """How a start affects results."""

    shape = PlanWarning
    choices = {"code": StartWarning}


class SourceChangeSerializer(ShapeSerializer):
    """What happens to one source topic."""

    shape = PlannedSource
    choices = {"verdict": SourceVerdict}


class StoreDifferenceSerializer(ShapeSerializer):
    """What happens to one store when another document replaces the one that wrote it."""

    shape = StoreVerdictJson
    choices = {"verdict": StoreVerdict}


class SourceDifferenceSerializer(ShapeSerializer):
    """Whether a topic is read by both documents."""

    shape = SourceVerdictJson
    choices = {"verdict": SourceVerdict}


class StateDifferenceSerializer(ShapeSerializer):
    """What another document does with the state; `accepted`: nothing is lost."""

    shape = StateChangeJson


class StateDifferencesRequestSerializer(serializers.Serializer[Any]):
    """The document that wrote the state, and the one that replaces it."""

    old = DocumentField()
    new = DocumentField()


class StateDifferencesSerializer(serializers.Serializer[Any]):
    """What happens to the state; null if one of the documents has errors."""

    change = StateDifferenceSerializer(allow_null=True)


class HandoverSerializer(ShapeSerializer):
    """How a driver replaces another."""

    shape = HandoverJson
    choices = {"reason": ColdReason}


class EnvironmentsSerializer(ShapeSerializer):
    """The environments before and after; null: parameters have their defaults."""

    shape = EnvironmentChange
    choices = {"old": Environment, "new": Environment}


class StatePlanSerializer(ShapeSerializer):
    """What deploying a version does to the state of the previous one."""

    shape = StartPlanJson


class PromotionQuerySerializer(serializers.Serializer[Any]):
    """The environment to promote to."""

    environment = serializers.ChoiceField(choices=Environment.choices)


class PromoteSerializer(PromotionQuerySerializer):
    """The environment to promote to, and what to change there."""

    settings = SettingsSerializer(
        required=False,
        help_text="Default: those of the deployment in that environment, or else of this one.",
    )
    stores = serializers.DictField(
        child=StoreDecisionField(),
        required=False,
        help_text="What happens to stores whose rows cannot be migrated, by store id.",
    )


class PromotionSerializer(ShapeSerializer):
    """What a promotion would do."""

    shape = PromotionJson
    choices = {"environment": Environment, "desired": Desired}

    deployment = serializers.IntegerField(
        allow_null=True, help_text="The deployment in that environment; null: it is created."
    )
    settings = SettingsSerializer(help_text="The settings that the deployment would have.")
    plan = StatePlanSerializer(allow_null=True, help_text="Null if the deployment is created.")
