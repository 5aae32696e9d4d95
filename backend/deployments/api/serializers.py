"""Shapes of deployments and their runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from millrace_backend.schema import CauseSerializer
from millrace_backend.shapes import ShapeSerializer
from millrace_compiler.connections import locations
from millrace_model.drivers import StartStep
from millrace_model.events import FailedRecord, OutageJson
from rest_framework import serializers
from topologies.choices import Dialect

from deployments.api.schedule_serializers import ScheduleSerializer
from deployments.choices import (
    AloneReason,
    Desired,
    Environment,
    Jvm,
    LogLevel,
    LostOffsets,
    Observed,
    Outcome,
    RecordDecision,
    StandbyState,
    StartFrom,
    StepState,
    Target,
)
from deployments.models import Deployment, Run
from deployments.plain_dialect import require_plain_settings
from deployments.sharing import jvm_of, require_sharing_settings
from deployments.standbys import StandbyJson, standby_of
from deployments.timetable import ScheduleJson, schedule_of


def location(value: str) -> None:
    """Refuse a place for a checkpoint that is not in a file system outside of this machine."""
    problem = locations.problem_of_uri(value)
    if problem is not None:
        raise serializers.ValidationError(
            f"The location {problem}. Enter a URI such as s3a://bucket/folder, without a user, a "
            "password or a query."
        )


class EnvironmentQuerySerializer(serializers.Serializer[Any]):
    """The environment of a deployment that is being prepared."""

    environment = serializers.ChoiceField(
        choices=Environment.choices,
        required=False,
        help_text="Whose values the parameters of the topology have (default: their defaults).",
    )


class SettingsSerializer(serializers.Serializer[Any]):
    """Settings of a deployment."""

    dialect = serializers.ChoiceField(
        choices=Dialect.choices,
        required=False,
        help_text="`exact` (default): the results of Kafka Streams. `plain`: ordinary Structured "
        "Streaming, whose results differ as the compiler reports (`docs/plain.md`); such a "
        "deployment cannot be compared, has no real time or lost offsets to set, and starts from "
        "another position only with empty stores.",
    )
    environment = serializers.ChoiceField(
        choices=Environment.choices,
        required=False,
        help_text="The environment whose values the parameters of the topology have (default: "
        "none; they have their defaults).",
    )
    trigger_ms = serializers.IntegerField(
        min_value=0,
        max_value=3_600_000,
        required=False,
        help_text="Milliseconds between micro-batches; 0: as soon as possible, with pauses while "
        "there are few records.",
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
    jvm = serializers.ChoiceField(
        choices=Jvm.choices,
        required=False,
        help_text="`own` (default): the driver has a JVM of its own. `shared`: it shares one with "
        "the other deployments of the workspace that do, and needs a fraction of the memory. Not "
        "with `cores`, `memory_mb`, `real_time_ms`, `checkpoint`, `standby` or plain PySpark; a "
        "topology with Python code or readers of files gets its own JVM.",
    )
    standby = serializers.BooleanField(
        required=False,
        help_text="Keep a second driver ready, which takes over when the first one is lost "
        "(default: no). It needs the memory of a driver. Not with a shared JVM, a Spark cluster or "
        "plain PySpark.",
    )
    start = serializers.ChoiceField(
        choices=StartFrom.choices,
        required=False,
        help_text="Where the first run starts reading streams and tables; overrides the setting "
        "of each source. Global tables are always read from the beginning.",
    )
    lost_offsets = serializers.ChoiceField(
        choices=LostOffsets.choices,
        required=False,
        help_text="What happens if the broker no longer has the next records, a topic was "
        "recreated, or the checkpoint is missing. `fail` (default): the deployment "
        "fails, and nothing is read; `earliest`, `latest`: it continues at the first "
        "record or the end.",
    )
    checkpoint = serializers.CharField(
        max_length=500,
        required=False,
        validators=[location],
        help_text="Where state and offsets are stored if not in the server's data folder: a URI "
        "such as `s3a://bucket/folder` or `hdfs://host:8020/folder`, without credentials. Cannot "
        "be changed once there is state.",
    )
    batch_deadline_s = serializers.IntegerField(
        min_value=10,
        max_value=86_400,
        required=False,
        help_text="Seconds after which a running micro-batch makes the deployment degraded, so "
        "that its driver is restarted (default: 600).",
    )
    create_topics = serializers.BooleanField(
        required=False,
        help_text="Create topics that do not exist, with the broker's retention (default: no; the "
        "deployment fails at the node that names the topic).",
    )

    def to_internal_value(self, data: Any) -> Any:
        """Reject unknown settings, which would otherwise seem to work."""
        if isinstance(data, dict):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {
                        name: [f"There is no such setting. Known settings: {known}."]
                        for name in unknown
                    }
                )
        found = super().to_internal_value(data)
        require_plain_settings(found)
        require_sharing_settings(found)
        return found


class StepSerializer(ShapeSerializer):
    """A step of a deployment."""

    shape = StartStep
    choices = {"state": StepState}

    detail = CauseSerializer(allow_null=True, help_text="Its progress or result, or why it failed.")


class FailingRecordSerializer(ShapeSerializer):
    """The record that caused a failure."""

    shape = FailedRecord
    present = ("topic", "partition", "offset", "key", "timestamp")


class RecordDecisionSerializer(serializers.Serializer[Any]):
    """What happens to the record at which the deployment failed."""

    decision = serializers.ChoiceField(choices=RecordDecision.choices)
    topic = serializers.CharField(max_length=249)
    partition = serializers.IntegerField(min_value=0, max_value=999_999_999)
    offset = serializers.IntegerField(min_value=0, max_value=10**18 - 1)


class DecidedRecordSerializer(RecordDecisionSerializer):
    """A decision, with its author and time."""

    active = serializers.BooleanField(
        help_text="False if it was removed, or if the deployment has since been started from "
        "another position."
    )
    node = serializers.CharField(allow_null=True)
    by = serializers.CharField()
    at = serializers.DateTimeField()
    removed_by = serializers.CharField(required=False)
    removed_at = serializers.DateTimeField(required=False)


class _KeptCauseSerializer(CauseSerializer):
    facts = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        required=False,
        help_text="The values in the message, for translations; absent in causes of earlier "
        "versions.",
    )


class OutageSerializer(_KeptCauseSerializer):
    """What a deployment waits for; it continues automatically when the service responds again."""

    since = serializers.DateTimeField()
    attempts = serializers.IntegerField(min_value=1)
    retry_at = serializers.DateTimeField(help_text="When the next attempt is made.")


class FailureSerializer(_KeptCauseSerializer):
    """Why a deployment failed, with the node that caused it, if known."""

    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField(allow_null=True)
    record = FailingRecordSerializer(allow_null=True)


class JvmSerializer(serializers.Serializer[Any]):
    """The JVM of a run."""

    host = serializers.CharField(
        allow_null=True, help_text="Name of the host whose JVM it shares; null: it has its own."
    )
    alone = serializers.ChoiceField(
        choices=AloneReason.choices,
        allow_null=True,
        help_text="Why it has its own JVM although its settings say `shared`.",
    )


class RunSerializer(serializers.ModelSerializer[Run]):
    """One run of a driver process."""

    version = serializers.IntegerField(source="version.number", read_only=True)
    jvm = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields: ClassVar = [
            "id",
            "epoch",
            "version",
            "pid",
            "host",
            "jvm",
            "report_id",
            "restarts",
            "standby",
            "started_at",
        ]
        read_only_fields = fields

    @extend_schema_field(JvmSerializer)
    def get_jvm(self, run: Run) -> dict[str, Any]:
        """The JVM of the driver: its own, or that of a host."""
        return jvm_of(run)


class StandbySerializer(serializers.Serializer[Any]):
    """The second driver of a deployment, which takes over when the first one is lost."""

    state = serializers.ChoiceField(choices=StandbyState.choices)
    pid = serializers.IntegerField(allow_null=True)
    since = serializers.DateTimeField(
        allow_null=True, help_text="When it became ready, or was started if it is not ready yet."
    )
    reason = CauseSerializer(allow_null=True, help_text="Why there is none, if that is known.")


class OldStateSerializer(serializers.Serializer[Any]):
    """State that the deployment left when it was moved or reset."""

    name = serializers.CharField()
    version = serializers.IntegerField(
        allow_null=True, help_text="Number of the version that wrote it; null if unknown."
    )
    left_at = serializers.DateTimeField()
    deletable_at = serializers.DateTimeField(help_text="When it can be deleted.")
    deleted_at = serializers.DateTimeField(
        allow_null=True, help_text="When it is deleted automatically; null: never."
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
        """How it ended; null while it runs."""
        return run.outcome or None

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_failure(self, run: Run) -> dict[str, Any] | None:
        """Why it ended, unless that was requested."""
        failure: dict[str, Any] | None = run.failure
        return failure

    def get_threads(self, run: Run) -> bool:
        """Whether there is a thread dump, as for a driver that did not respond."""
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
    standby = serializers.SerializerMethodField()
    failure = serializers.SerializerMethodField()
    outage = serializers.SerializerMethodField()
    created_by = serializers.CharField(
        source="created_by.shown_name", default=None, read_only=True, allow_null=True
    )
    restart_requested = serializers.SerializerMethodField()
    fallback = serializers.IntegerField(
        read_only=True,
        allow_null=True,
        help_text="The version that is started again if this one fails before its first batch.",
    )
    record_decisions = DecidedRecordSerializer(
        many=True,
        read_only=True,
        help_text="Decisions about records that caused failures, oldest first.",
    )
    schedule = serializers.SerializerMethodField()
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
            "standby",
            "failure",
            "outage",
            "record_decisions",
            "schedule",
            "created_by",
            "created_at",
            "updated_at",
            "revision",
        ]
        read_only_fields = fields

    @extend_schema_field(StepSerializer(many=True))
    def get_steps(self, deployment: Deployment) -> list[dict[str, Any]]:
        """The steps, in order."""
        steps: list[dict[str, Any]] = deployment.observation.steps
        return steps

    @extend_schema_field(StandbySerializer(allow_null=True))
    def get_standby(self, deployment: Deployment) -> StandbyJson | None:
        """The second driver; null if none is asked for, nothing runs, or a change is prepared."""
        return standby_of(deployment)

    @extend_schema_field(FailureSerializer(allow_null=True))
    def get_failure(self, deployment: Deployment) -> dict[str, Any] | None:
        """The cause, if the deployment failed or its driver was lost."""
        failure: dict[str, Any] | None = deployment.observation.failure
        return failure

    @extend_schema_field(ScheduleSerializer(allow_null=True))
    def get_schedule(self, deployment: Deployment) -> dict[str, Any] | None:
        """When it is started and stopped; null without a schedule."""
        found: ScheduleJson | None = schedule_of(deployment)
        return None if found is None else dict(ScheduleSerializer(found).data)

    @extend_schema_field(OutageSerializer(allow_null=True))
    def get_outage(self, deployment: Deployment) -> dict[str, Any] | None:
        """What it waits for, if a service that it needs does not respond."""
        outage: OutageJson | None = deployment.observation.outage
        if outage is None:
            return None
        since, retry_at = (
            datetime.fromtimestamp(at, UTC).isoformat()
            for at in (outage["since"], outage["retry_at"])
        )
        return {**outage, "since": since, "retry_at": retry_at}

    def get_restart_requested(self, deployment: Deployment) -> bool:
        """Whether a restart is pending."""
        return deployment.restart_requested_at is not None


class NewDeploymentSerializer(serializers.Serializer[Any]):
    """A deployment to create."""

    topology = serializers.IntegerField(min_value=1)
    version = serializers.IntegerField(min_value=1)
    target = serializers.ChoiceField(choices=Target.choices, required=False, default=Target.LOCAL)
    settings = SettingsSerializer(required=False, default=dict)


class TopicSerializer(serializers.Serializer[Any]):
    """A topic of the cluster."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()


class MissingTopicSerializer(serializers.Serializer[Any]):
    """A topic that a version uses and the cluster does not have."""

    name = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField()
    partitions = serializers.IntegerField(
        help_text="The number in the document, or else the largest number among its other topics."
    )
    nearest = serializers.ListField(
        child=serializers.CharField(), help_text="Topics of the cluster with similar names."
    )


class NewTopicSerializer(serializers.Serializer[Any]):
    """A topic to create."""

    name = serializers.RegexField(r"^[a-zA-Z0-9._-]{1,249}$")
    partitions = serializers.IntegerField(min_value=1, max_value=1_000)
    retention_ms = serializers.IntegerField(
        min_value=-1,
        required=False,
        help_text="How long records are kept; -1: forever. Default: the broker's setting.",
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
        allow_null=True, help_text="The record that caused the error, if known."
    )


class LogPageSerializer(serializers.Serializer[Any]):
    """Lines in file order; ``next`` is the position after the last one."""

    lines = LogLineSerializer(many=True)
    next = serializers.CharField(allow_null=True)
