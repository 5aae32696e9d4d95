"""Shapes of starts, changes and their plans."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from deployments.api.serializers import SettingsSerializer
from deployments.choices import (
    ColdReason,
    Environment,
    Position,
    Reset,
    SourceVerdict,
    StartWarning,
    StoreDecision,
    StoreVerdict,
)


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
    """The version and the start to plan."""

    version = serializers.IntegerField(min_value=1)
    settings = SettingsSerializer(required=False)


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


class StoreTypesSerializer(serializers.Serializer[Any]):
    """Types of a store."""

    kind = serializers.CharField()
    key = serializers.CharField(help_text="Spark SQL type of the keys.")
    values = serializers.ListField(child=serializers.CharField(), help_text="Types of the values.")
    windows = serializers.JSONField(allow_null=True, help_text="Type, size, advance or gap in ms.")
    tasks = serializers.IntegerField(allow_null=True)


class StoreChangeSerializer(serializers.Serializer[Any]):
    """What happens to one store."""

    id = serializers.CharField(
        help_text="Id of the store node, or of the operator that owns the store."
    )
    name = serializers.CharField()
    kind = serializers.CharField()
    verdict = serializers.ChoiceField(choices=StoreVerdict.choices)
    reasons = serializers.ListField(child=serializers.CharField())
    rows = serializers.IntegerField(allow_null=True, help_text="Null if unknown.")
    bytes = serializers.IntegerField(allow_null=True)
    convertible = serializers.BooleanField(
        help_text="Whether the old values can be converted by an expression."
    )
    old = StoreTypesSerializer(allow_null=True)
    new = StoreTypesSerializer(allow_null=True)


class SourcePlaceSerializer(serializers.Serializer[Any]):
    """Where a partition is continued."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField(help_text="Offset of the first record to read.")
    lag = serializers.IntegerField(
        allow_null=True, help_text="Records from there to the end; null if the end is unknown."
    )
    stopped = serializers.IntegerField(
        allow_null=True, help_text="Where the last run stopped; null if unknown."
    )


class StartWarningSerializer(serializers.Serializer[Any]):
    """How a start affects results."""

    code = serializers.ChoiceField(choices=StartWarning.choices)
    message = serializers.CharField()


class SourceChangeSerializer(serializers.Serializer[Any]):
    """What happens to one source topic."""

    topic = serializers.CharField()
    verdict = serializers.ChoiceField(choices=SourceVerdict.choices)
    partitions = SourcePlaceSerializer(
        many=True, help_text="Where a continued topic resumes; empty before the first report."
    )


class HandoverSerializer(serializers.Serializer[Any]):
    """How a driver replaces another."""

    warm = serializers.BooleanField(
        help_text="Whether the new driver is prepared while the old one runs; otherwise, the old "
        "one is stopped first."
    )
    reason = serializers.ChoiceField(
        choices=ColdReason.choices, allow_null=True, help_text="Why not; null if it is prepared."
    )
    message = serializers.CharField(allow_null=True)


class ParameterChangeSerializer(serializers.Serializer[Any]):
    """A parameter of the topology whose value changes."""

    name = serializers.CharField()
    old = serializers.JSONField(allow_null=True, help_text="Null if it was not declared.")
    new = serializers.JSONField(allow_null=True, help_text="Null if it is no longer declared.")


class EnvironmentsSerializer(serializers.Serializer[Any]):
    """The environments before and after; null: parameters have their defaults."""

    old = serializers.ChoiceField(choices=Environment.choices, allow_null=True)
    new = serializers.ChoiceField(choices=Environment.choices, allow_null=True)


class StatePlanSerializer(serializers.Serializer[Any]):
    """What deploying a version does to the state of the previous one."""

    before = serializers.IntegerField(help_text="Number of the version that wrote the state.")
    version = serializers.IntegerField()
    stores = StoreChangeSerializer(many=True)
    sources = SourceChangeSerializer(many=True)
    accepted = serializers.BooleanField(help_text="Whether no state is lost.")
    as_of = serializers.DateTimeField(
        allow_null=True,
        help_text="When the driver reported rows, bytes and offsets; null before the first report.",
    )
    reset = serializers.BooleanField(help_text="Whether all stores start empty.")
    warnings = StartWarningSerializer(
        many=True, help_text="How a start from another position affects results."
    )
    handover = HandoverSerializer(allow_null=True, help_text="Null if no driver is running.")
    parameters = ParameterChangeSerializer(many=True)
    environments = EnvironmentsSerializer()
