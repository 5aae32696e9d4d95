"""What should run (Deployment), what is seen (Observation), and every driver process (Run)."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from accounts.models import User, Workspace
from django.conf import settings
from django.db import models
from django.db.models import Q, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.utils import timezone
from millrace_model.drivers import StartStep
from millrace_model.reading import ShapeError, read
from millrace_model.shadows import ShadowNotes
from topologies.choices import Dialect
from topologies.models import Topology, Version

from deployments import files, plain_state
from deployments.choices import (
    STEPS,
    Desired,
    Observed,
    Outcome,
    ScheduleAction,
    ShadowStart,
    StepState,
    Target,
)
from deployments.environments import environment_of


def waiting_steps() -> list[StartStep]:
    """Return all steps, none of them begun."""
    return [
        {
            "name": name,
            "state": StepState.WAITING.value,
            "started_at": None,
            "finished_at": None,
            "detail": None,
        }
        for name in STEPS
    ]


class Deployment(models.Model):
    """A version of a topology that should run, or not, on a target."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="deployments")
    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="deployments")
    version = models.ForeignKey(Version, on_delete=models.RESTRICT, related_name="+")
    target = models.CharField(max_length=20, choices=Target, default=Target.LOCAL)
    settings = models.JSONField(default=dict)
    desired = models.CharField(max_length=10, choices=Desired, default=Desired.RUNNING)
    #: the user requested one restart; the next run fulfills it
    restart_requested_at = models.DateTimeField(null=True, blank=True)
    #: when the user last requested that it runs; crashes are counted from then on
    wanted_at = models.DateTimeField(default=timezone.now)
    #: what becomes of stores whose rows the wanted version cannot carry over: reset or drop, by id
    state_decisions = models.JSONField(default=dict)
    #: where the next run begins (`beginnings`); drivers apply it once
    beginning = models.JSONField(null=True, blank=True)
    #: number of the version that runs again if the requested one does not finish its first batch
    fallback = models.PositiveIntegerField(null=True, blank=True)
    #: decisions about records at which it failed, oldest first (`failed_records`)
    record_decisions = models.JSONField(default=list)
    #: the driver stays alive and reads nothing
    paused = models.BooleanField(default=False)
    #: before it stops it reads up to the ends of its topics
    draining = models.BooleanField(default=False)
    #: a batch has finished, so that a missing checkpoint is a lost one
    has_state = models.BooleanField(default=False)
    #: it follows another deployment of the topology (`Shadow`)
    is_shadow = models.BooleanField(default=False)
    #: incremented with every change, so that a late event can be recognized as outdated
    revision = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            # The environment is a setting; ADR 50.
            models.UniqueConstraint(
                "topology",
                Coalesce(KT("settings__environment"), Value("")),
                condition=Q(is_shadow=False),
                name="one_deployment_per_environment",
            ),
            models.CheckConstraint(
                condition=Q(desired__in=Desired.values), name="known_desired_state"
            ),
        ]

    def __str__(self) -> str:
        return f"deployment {self.pk} of {self.topology_id}"

    @property
    def environment(self) -> str | None:
        """The environment whose values its parameters have; None: their defaults."""
        return environment_of(self.settings)

    @property
    def directory(self) -> Path:
        """Everything this deployment keeps on disk."""
        return Path(settings.MILLRACE_DATA) / "deployments" / str(self.pk)

    @property
    def log_file(self) -> Path:
        """The driver's log, with all runs one after another."""
        return self.directory / "driver.log"

    @property
    def state_location(self) -> str | None:
        """The URI of a checkpoint outside the directory, which then contains only its notes.

        Used by this deployment alone: other systems may use the same place.
        """
        place = self.settings.get("checkpoint")
        if not place:
            return None
        return f"{place.rstrip('/')}/deployment-{self.pk}-{self.created_at:%Y%m%dT%H%M%S}"

    @property
    def is_plain(self) -> bool:
        """Whether it runs a program of the plain dialect."""
        return bool(self.settings.get("dialect") == Dialect.PLAIN)

    @property
    def has_checkpoint(self) -> bool:
        """Whether a run has recorded where it started reading: later ones continue from there."""
        if plain_state.has_begun(self.directory):
            return True
        if self.state_location is not None:
            return self.has_state or (self.directory / "checkpoint" / "stores.json").is_file()
        return any(
            next(self.directory.glob(f"checkpoint/stream*/{noted}"), None) is not None
            for noted in ("sources/*/0", "offsets/0")
        )

    def threads_file(self, run: int) -> Path:
        """Return the path of the thread dump of a run whose driver did not respond."""
        return self.directory / "threads" / f"{run}.txt"

    @property
    def live_run(self) -> Run | None:
        """The run that has not ended, if any; uses prefetched runs."""
        return next((run for run in self.runs.all() if run.ended_at is None), None)


class Schedule(models.Model):
    """When a deployment is started and stopped (`schedules`)."""

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="schedule")
    #: days, start and stop, in local time
    times = models.JSONField()
    zone = models.CharField(max_length=64)
    #: who set it, and in whose name it is applied
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    next_at = models.DateTimeField(null=True, db_index=True)
    next_action = models.CharField(max_length=10, choices=ScheduleAction)
    last_at = models.DateTimeField(null=True)
    last_action = models.CharField(max_length=10, choices=ScheduleAction, blank=True)
    #: why it could not be applied the last time: code, message, hint, facts
    failure = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"schedule of deployment {self.deployment_id}"


class Shadow(models.Model):
    """Another version that processes the records of a deployment, for a comparison of outputs."""

    #: the deployment that follows
    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="shadow")
    #: the deployment that is followed
    of = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="shadowed_by")
    start = models.CharField(max_length=10, choices=ShadowStart)
    #: suffix of the names of its output topics
    suffix = models.CharField(max_length=60)
    #: it is to be stopped and deleted with its topics
    ending = models.BooleanField(default=False)
    #: the last comparison (`comparing`)
    comparison = models.JSONField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.deployment_id} follows {self.of_id}"

    @property
    def noted(self) -> ShadowNotes:
        """Notes of the driver; empty without valid ones."""
        directory = self.deployment.directory
        found = files.read_object(directory, directory / "checkpoint" / "shadow.json")
        try:
            return read(ShadowNotes, found)
        except ShapeError:
            return {}


class CreatedTopic(models.Model):
    """A topic that a workspace created through Millrace and that counts towards its quotas."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="created_topics"
    )
    name = models.CharField(max_length=249, unique=True)
    partitions = models.PositiveIntegerField()

    def __str__(self) -> str:
        return self.name


class Observation(models.Model):
    """What the reconciler last saw of a deployment."""

    deployment = models.OneToOneField(
        Deployment, on_delete=models.CASCADE, related_name="observation"
    )
    state = models.CharField(max_length=12, choices=Observed, default=Observed.NEW)
    since = models.DateTimeField(default=timezone.now)
    steps = models.JSONField(default=waiting_steps)
    failure = models.JSONField(null=True, blank=True)
    #: what it waits for: code, message, attempts, and since and retry_at in epoch seconds
    outage = models.JSONField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(state__in=Observed.values), name="known_observed_state"
            )
        ]

    def __str__(self) -> str:
        return f"{self.deployment_id} is {self.state}"


class Run(models.Model):
    """One run of a driver process."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="runs")
    #: number of the run within the deployment, from 1
    epoch = models.PositiveIntegerField()
    version = models.ForeignKey(Version, on_delete=models.RESTRICT, related_name="+")
    #: settings that it was started with, used again if the deployment returns to this version
    settings = models.JSONField(null=True, blank=True)
    pid = models.PositiveIntegerField()
    host = models.CharField(max_length=255)
    #: boot id and start ticks, which identify a process together with host and pid
    process_born = models.CharField(max_length=80)
    #: names the Redis stream that the driver reports to: ``millrace:run:<report id>``
    report_id = models.CharField(max_length=100)
    #: number of automatic restarts since the user last started it
    restarts = models.PositiveIntegerField(default=0)
    #: whether it was the standby of the driver before it, and took over when that one was lost
    standby = models.BooleanField(default=False)
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    failure = models.JSONField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-epoch"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["deployment"],
                condition=Q(ended_at__isnull=True),
                name="one_live_run_per_deployment",
            ),
            models.UniqueConstraint(fields=["deployment", "epoch"], name="one_run_per_epoch"),
        ]

    def __str__(self) -> str:
        return f"run {self.epoch} of {self.deployment_id}"
