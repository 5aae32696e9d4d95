"""Shapes of deployments and their runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from deployments.choices import (
    Desired,
    LogLevel,
    LostOffsets,
    Observed,
    Outcome,
    Position,
    Reset,
    SourceVerdict,
    StartFrom,
    StartWarning,
    StepState,
    StoreDecision,
    StoreVerdict,
    Target,
)
from deployments.models import Deployment, Run


class SettingsSerializer(serializers.Serializer[Any]):
    """Settings of a deployment."""

    trigger_ms = serializers.IntegerField(
        min_value=0,
        max_value=3_600_000,
        required=False,
        help_text="Milliseconds between micro-batches; 0: as soon as possible.",
    )
    real_time_ms = serializers.IntegerField(
        min_value=5_000,
        max_value=3_600_000,
        required=False,
        help_text="Run in real-time mode instead of micro-batches: each record is processed when "
        "it arrives, at least once. State and offsets are saved at this interval, in "
        "milliseconds.",
    )
    cores = serializers.IntegerField(min_value=1, max_value=256, required=False)
    memory_mb = serializers.IntegerField(min_value=512, max_value=1_048_576, required=False)
    start = serializers.ChoiceField(
        choices=StartFrom.choices,
        required=False,
        help_text="Where the first run starts to read streams and tables; overrides the setting "
        "of each source. Global tables are always read from the beginning.",
    )
    lost_offsets = serializers.ChoiceField(
        choices=LostOffsets.choices,
        required=False,
        help_text="What happens if the broker does not have the next records any more, a topic was "
        "created again, or the checkpoint is gone. `fail` (default): the deployment fails, and "
        "nothing is read; `earliest`, `latest`: it continues at the first record or the end.",
    )
    batch_deadline_s = serializers.IntegerField(
        min_value=10,
        max_value=86_400,
        required=False,
        help_text="Seconds after which a micro-batch that has not ended makes the deployment "
        "degraded, and its driver is restarted (default: 600).",
    )
    create_topics = serializers.BooleanField(
        required=False,
        help_text="Create topics that do not exist, with the broker's retention (default: no; the "
        "deployment fails at the node that names the topic).",
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


class OutageSerializer(serializers.Serializer[Any]):
    """What a deployment waits for; it goes on by itself when that answers again."""

    code = serializers.CharField()
    message = serializers.CharField()
    since = serializers.DateTimeField()
    attempts = serializers.IntegerField(min_value=1)
    retry_at = serializers.DateTimeField(help_text="When the next attempt is made.")


class FailureSerializer(serializers.Serializer[Any]):
    """Why a deployment failed, with the node that caused it, if known."""

    code = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField(allow_null=True)
    message = serializers.CharField()
    record = FailingRecordSerializer(allow_null=True)


class RunSerializer(serializers.ModelSerializer[Run]):
    """One run of a driver process."""

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


class OldStateSerializer(serializers.Serializer[Any]):
    """State that the deployment left when it was moved or reset."""

    name = serializers.CharField()
    version = serializers.IntegerField(
        allow_null=True, help_text="That wrote it; null if no run of it is known."
    )
    left_at = serializers.DateTimeField()
    deletable_at = serializers.DateTimeField(help_text="From then on a person may delete it.")
    deleted_at = serializers.DateTimeField(
        allow_null=True, help_text="When it is deleted by itself; null: never."
    )
    bytes = serializers.IntegerField()


class EndedRunSerializer(RunSerializer):
    """A run, with its end if it has ended."""

    outcome = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()
    threads = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields: ClassVar = [*RunSerializer.Meta.fields, "ended_at", "outcome", "failure", "threads"]
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

    def get_threads(self, run: Run) -> bool:
        """Whether there is a thread dump, of a driver that did not respond."""
        return run.deployment.threads_file(run.pk).exists()


class DeploymentSerializer(serializers.ModelSerializer[Deployment]):
    """A deployment with its desired and its observed state."""

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
    outage = serializers.SerializerMethodField()
    created_by = serializers.CharField(
        source="created_by.shown_name", default=None, read_only=True, allow_null=True
    )
    restart_requested = serializers.SerializerMethodField()
    fallback = serializers.IntegerField(
        read_only=True,
        allow_null=True,
        help_text="The version that runs again if this one does not reach its first batch.",
    )
    has_checkpoint = serializers.BooleanField(
        read_only=True,
        help_text="The deployment continues from its checkpoint; `start` has no effect.",
    )

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
            "paused",
            "draining",
            "has_checkpoint",
            "fallback",
            "steps",
            "run",
            "failure",
            "outage",
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

    @extend_schema_field(OutageSerializer(allow_null=True))
    def get_outage(self, deployment: Deployment) -> dict[str, Any] | None:
        """What it waits for, where a part that it needs does not answer."""
        outage: dict[str, Any] | None = deployment.observation.outage
        if outage is None:
            return None
        moments = {
            name: datetime.fromtimestamp(outage[name], UTC).isoformat()
            for name in ("since", "retry_at")
        }
        return {**outage, **moments}

    def get_restart_requested(self, deployment: Deployment) -> bool:
        """Whether a restart is pending."""
        return deployment.restart_requested_at is not None


class NewDeploymentSerializer(serializers.Serializer[Any]):
    """What should run."""

    topology = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)
    target = serializers.ChoiceField(choices=Target.choices, required=False, default=Target.LOCAL)
    settings = SettingsSerializer(required=False, default=dict)


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
            'Give reset, drop or {"convert": "<SQL expression over old>"}.', "invalid"
        )

    def to_representation(self, value: Any) -> Any:
        """As it was given."""
        return value


class StartFromSerializer(serializers.Serializer[Any]):
    """Where a deployment that ran before begins to read."""

    position = serializers.ChoiceField(
        choices=Position.choices,
        help_text="`stopped`: where it stopped; `sources`: as each source says, like a first run; "
        "`time` and `offsets` need the field of this name.",
    )
    time = serializers.DateTimeField(
        required=False,
        help_text="Of each partition, the first record with this timestamp or a later one.",
    )
    offsets = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField(min_value=0)),
        required=False,
        help_text="Offset of the first record, by topic and partition. Partitions that are left "
        "out continue where they stopped.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A time with the position time, offsets with the position offsets, by number."""
        for name in ("time", "offsets"):
            if bool(attrs.get(name)) != (attrs["position"] == name):
                needed = attrs["position"] == name
                raise serializers.ValidationError(
                    {name: ["Needed for this position." if needed else "Not of this position."]}
                )
        offsets = {}
        for topic, partitions in attrs.get("offsets", {}).items():
            if not partitions or not all(str(number).isdecimal() for number in partitions):
                raise serializers.ValidationError(
                    {"offsets": [f"{topic}: give offsets by the number of the partition."]}
                )
            offsets[topic] = {int(number): offset for number, offset in partitions.items()}
        return {**attrs, "offsets": offsets}


class BeginningSerializer(serializers.Serializer[Any]):
    """How a start differs from one that continues."""

    start_from = StartFromSerializer(required=False)
    reset = serializers.ListField(
        child=serializers.ChoiceField(choices=Reset.choices),
        required=False,
        help_text="`stores`: all stores begin empty; `positions`: it reads from where each source "
        "says, like a first run. Needs `name`.",
    )


class StartSerializer(BeginningSerializer):
    """How to start; an empty body continues where the deployment stopped."""

    name = serializers.CharField(
        required=False, help_text="The deployment's name, which confirms a reset."
    )


class StopSerializer(serializers.Serializer[Any]):
    """How to stop; an empty body stops after the batch."""

    drain = serializers.BooleanField(
        required=False,
        default=False,
        help_text="First read up to the ends that the topics have now.",
    )


class PlanRequestSerializer(BeginningSerializer):
    """The version and the start that a plan is asked for."""

    version = serializers.IntegerField(min_value=1)


class RedeploySerializer(StartSerializer):
    """The version to deploy, and settings to change."""

    version = serializers.IntegerField(min_value=1)
    settings = SettingsSerializer(required=False)
    stores = serializers.DictField(
        child=StoreDecisionField(),
        required=False,
        help_text="What becomes of stores whose rows cannot be carried over, by the store's id.",
    )


class PlanQuerySerializer(serializers.Serializer[Any]):
    """The version that a plan is asked for."""

    version = serializers.IntegerField(min_value=1)


class StoreTypesSerializer(serializers.Serializer[Any]):
    """What a store holds."""

    kind = serializers.CharField()
    key = serializers.CharField(help_text="Spark type of its keys.")
    values = serializers.ListField(child=serializers.CharField(), help_text="Types of its values.")
    windows = serializers.JSONField(allow_null=True, help_text="Type, size, advance or gap in ms.")
    tasks = serializers.IntegerField(allow_null=True)


class StoreChangeSerializer(serializers.Serializer[Any]):
    """The verdict on one store."""

    id = serializers.CharField(help_text="Of its store node, or of the operator that needs it.")
    name = serializers.CharField()
    kind = serializers.CharField()
    verdict = serializers.ChoiceField(choices=StoreVerdict.choices)
    reasons = serializers.ListField(child=serializers.CharField())
    rows = serializers.IntegerField(allow_null=True, help_text="Null where they are not known.")
    bytes = serializers.IntegerField(allow_null=True)
    convertible = serializers.BooleanField(
        help_text="Whether an expression over the old values can make them fit."
    )
    old = StoreTypesSerializer(allow_null=True)
    new = StoreTypesSerializer(allow_null=True)


class SourcePlaceSerializer(serializers.Serializer[Any]):
    """Where a partition is continued."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField(help_text="Of the first record that is read.")
    lag = serializers.IntegerField(
        allow_null=True, help_text="Records from there to the end; null where the end is unknown."
    )
    stopped = serializers.IntegerField(
        allow_null=True, help_text="Where the last run stopped; null where that is unknown."
    )


class StartWarningSerializer(serializers.Serializer[Any]):
    """What a start means for results."""

    code = serializers.ChoiceField(choices=StartWarning.choices)
    message = serializers.CharField()


class SourceChangeSerializer(serializers.Serializer[Any]):
    """The verdict on one topic that is read."""

    topic = serializers.CharField()
    verdict = serializers.ChoiceField(choices=SourceVerdict.choices)
    partitions = SourcePlaceSerializer(
        many=True, help_text="Where a topic that continues goes on; empty before the first report."
    )


class StatePlanSerializer(serializers.Serializer[Any]):
    """What deploying a version does to the state of the one before."""

    before = serializers.IntegerField(help_text="Number of the version whose state there is.")
    version = serializers.IntegerField()
    stores = StoreChangeSerializer(many=True)
    sources = SourceChangeSerializer(many=True)
    accepted = serializers.BooleanField(help_text="Whether nothing is lost.")
    as_of = serializers.DateTimeField(
        allow_null=True,
        help_text="When the driver reported rows, bytes and offsets; null before its first report.",
    )
    reset = serializers.BooleanField(help_text="Whether all stores begin empty.")
    warnings = StartWarningSerializer(
        many=True, help_text="What a start from elsewhere means for results."
    )


class TopicSerializer(serializers.Serializer[Any]):
    """A topic of the cluster."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()


class MissingTopicSerializer(serializers.Serializer[Any]):
    """A topic that a version names and the cluster does not have."""

    name = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField()
    partitions = serializers.IntegerField(
        help_text="As the document says, else as many as the widest of its other topics has."
    )
    nearest = serializers.ListField(
        child=serializers.CharField(), help_text="Topics of the cluster with a name like it."
    )


class NewTopicSerializer(serializers.Serializer[Any]):
    """A topic to create."""

    name = serializers.RegexField(r"^[a-zA-Z0-9._-]{1,249}$")
    partitions = serializers.IntegerField(min_value=1, max_value=1_000)
    retention_ms = serializers.IntegerField(
        min_value=-1,
        required=False,
        help_text="How long records are kept; -1: for ever. Without it the broker's default.",
    )


class NewTopicsSerializer(serializers.Serializer[Any]):
    """Topics to create."""

    topics = NewTopicSerializer(many=True, allow_empty=False)


class LogLineSerializer(serializers.Serializer[Any]):
    """A line of a driver's log."""

    at = serializers.DateTimeField(allow_null=True)
    level = serializers.ChoiceField(choices=LogLevel.choices)
    node = serializers.CharField(allow_null=True)
    message = serializers.CharField()
    record = FailingRecordSerializer(
        allow_null=True, help_text="The record that an error is about, where it is known."
    )


class LogPageSerializer(serializers.Serializer[Any]):
    """Lines in file order; ``next`` is the position after the last one."""

    lines = LogLineSerializer(many=True)
    next = serializers.CharField(allow_null=True)
