"""Shapes of deployments and their runs."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from deployments.choices import Desired, LogLevel, Observed, Outcome, StartFrom, StepState, Target
from deployments.models import Deployment, Run


class SettingsSerializer(serializers.Serializer[Any]):
    """How a deployment runs."""

    trigger_ms = serializers.IntegerField(
        min_value=0,
        max_value=3_600_000,
        required=False,
        help_text="Milliseconds from micro-batch to micro-batch; 0: as soon as possible.",
    )
    real_time_ms = serializers.IntegerField(
        min_value=5_000,
        max_value=3_600_000,
        required=False,
        help_text="Real time in place of micro-batches: each record is taken when it arrives, at "
        "least once. State and progress are kept every so many milliseconds.",
    )
    cores = serializers.IntegerField(min_value=1, max_value=256, required=False)
    memory_mb = serializers.IntegerField(min_value=512, max_value=1_048_576, required=False)
    start = serializers.ChoiceField(
        choices=StartFrom.choices,
        required=False,
        help_text="Where the first run begins to read.",
    )
    create_topics = serializers.BooleanField(
        required=False, help_text="Create topics that do not exist (default: yes)."
    )

    def to_internal_value(self, data: Any) -> Any:
        """Refuse settings that do not exist: they would be believed to work."""
        if isinstance(data, dict):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {name: [f"There is no such setting. There are {known}."] for name in unknown}
                )
        return super().to_internal_value(data)


class StepSerializer(serializers.Serializer[Any]):
    """A step of a deployment."""

    name = serializers.CharField(help_text="compile, check, stage or start")
    state = serializers.ChoiceField(choices=StepState.choices)
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    detail = serializers.CharField(allow_null=True)


class FailingRecordSerializer(serializers.Serializer[Any]):
    """The record that caused a failure."""

    topic = serializers.CharField(allow_null=True)
    partition = serializers.IntegerField(allow_null=True)
    offset = serializers.IntegerField(allow_null=True)
    key = serializers.JSONField(allow_null=True)
    timestamp = serializers.IntegerField(allow_null=True)


class FailureSerializer(serializers.Serializer[Any]):
    """Why it does not run, at its node where one is to blame."""

    code = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField(allow_null=True)
    message = serializers.CharField()
    record = FailingRecordSerializer(allow_null=True)


class RunSerializer(serializers.ModelSerializer[Run]):
    """One life of a driver process."""

    version = serializers.IntegerField(source="version.number", read_only=True)

    class Meta:
        model = Run
        fields: ClassVar = [
            "id",
            "epoch",
            "version",
            "pid",
            "host",
            "report_id",
            "restarts",
            "started_at",
        ]
        read_only_fields = fields


class EndedRunSerializer(RunSerializer):
    """A run with its end, if it has one."""

    outcome = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields: ClassVar = [*RunSerializer.Meta.fields, "ended_at", "outcome", "failure"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Outcome.choices, allow_null=True))
    def get_outcome(self, run: Run) -> str | None:
        """How it ended; null while it lives."""
        return run.outcome or None

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_failure(self, run: Run) -> dict[str, Any] | None:
        """Why it ended, if nobody asked for it."""
        failure: dict[str, Any] | None = run.failure
        return failure


class DeploymentSerializer(serializers.ModelSerializer[Deployment]):
    """A deployment: what is wanted, what is seen."""

    topology_name = serializers.CharField(source="topology.name", read_only=True)
    version = serializers.IntegerField(source="version.number", read_only=True)
    settings = SettingsSerializer(read_only=True)
    desired = serializers.ChoiceField(choices=Desired.choices, read_only=True)
    observed = serializers.ChoiceField(
        choices=Observed.choices, source="observation.state", read_only=True
    )
    since = serializers.DateTimeField(source="observation.since", read_only=True)
    steps = serializers.SerializerMethodField()
    run = RunSerializer(source="live_run", allow_null=True, read_only=True)
    failure = serializers.SerializerMethodField()
    created_by = serializers.CharField(
        source="created_by.shown_name", default=None, read_only=True, allow_null=True
    )
    restart_requested = serializers.SerializerMethodField()

    class Meta:
        model = Deployment
        fields: ClassVar = [
            "id",
            "topology",
            "topology_name",
            "version",
            "target",
            "settings",
            "desired",
            "observed",
            "since",
            "restart_requested",
            "steps",
            "run",
            "failure",
            "created_by",
            "created_at",
            "updated_at",
            "revision",
        ]
        read_only_fields = fields

    @extend_schema_field(StepSerializer(many=True))
    def get_steps(self, deployment: Deployment) -> list[dict[str, Any]]:
        """The steps in their order."""
        steps: list[dict[str, Any]] = deployment.observation.steps
        return steps

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_failure(self, deployment: Deployment) -> dict[str, Any] | None:
        """The cause, if it failed or was lost."""
        failure: dict[str, Any] | None = deployment.observation.failure
        return failure

    def get_restart_requested(self, deployment: Deployment) -> bool:
        """Whether a restart is yet to come."""
        return deployment.restart_requested_at is not None


class NewDeploymentSerializer(serializers.Serializer[Any]):
    """What should run."""

    topology = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)
    target = serializers.ChoiceField(choices=Target.choices, required=False, default=Target.LOCAL)
    settings = SettingsSerializer(required=False, default=dict)


class RedeploySerializer(serializers.Serializer[Any]):
    """Another version, and other settings if they are given."""

    version = serializers.IntegerField(min_value=1)
    settings = SettingsSerializer(required=False)


class TopicSerializer(serializers.Serializer[Any]):
    """A topic of the cluster."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()


class LogLineSerializer(serializers.Serializer[Any]):
    """A line of a driver's log."""

    at = serializers.DateTimeField(allow_null=True)
    level = serializers.ChoiceField(choices=LogLevel.choices)
    node = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class LogPageSerializer(serializers.Serializer[Any]):
    """Lines in the order of the file; ``next`` is the place after the last one."""

    lines = LogLineSerializer(many=True)
    next = serializers.CharField(allow_null=True)
