"""Running deployments over time; the rows of each deployment are bounded."""

from __future__ import annotations

from typing import ClassVar

from accounts.models import User, Workspace
from deployments.models import Deployment
from django.db import models
from django.db.models import Q
from django.utils import timezone
from topologies.models import Topology

from monitoring.choices import AlertEvent, Channel, Condition, DeliveryState, MoveReason


class FigureRow(models.Model):
    """The figures of a deployment in one interval (`figures.pack`)."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="figure_rows")
    #: length of the interval in seconds
    step = models.PositiveIntegerField()
    #: the interval begins `slot * step` seconds after the epoch
    slot = models.PositiveBigIntegerField()
    #: time of the last report in it, by the driver's clock, epoch ms
    at = models.PositiveBigIntegerField()
    #: report id of the run; counters begin at zero with each run
    run = models.CharField(max_length=100)
    data = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["deployment", "step", "slot"], name="one_row_per_interval"
            )
        ]

    def __str__(self) -> str:
        return f"figures of {self.deployment_id} at {self.slot * self.step}"


class Seen(models.Model):
    """What has to be remembered from one report to the next."""

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="seen")
    run = models.CharField(max_length=100)
    #: time of the last report, by the driver's clock, epoch ms
    at = models.PositiveBigIntegerField()
    #: by partition: end offsets that are not yet read, with the time at which they were seen
    ends = models.JSONField(default=dict)
    #: records processed by all tasks of the run
    records = models.PositiveBigIntegerField(default=0)
    #: time of the first report of the run, epoch ms
    began_at = models.PositiveBigIntegerField(default=0)
    #: when `records` last grew, in epoch ms; null if it never did in this run
    records_at = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "seen"

    def __str__(self) -> str:
        return f"seen of {self.deployment_id}"


class Placement(models.Model):
    """Where a task ran, from one move to the next."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="placements")
    #: report id of the run
    run = models.CharField(max_length=100)
    task = models.CharField(max_length=50)
    executor = models.CharField(max_length=100)
    host = models.CharField(max_length=255, blank=True)
    #: in micro-batches, the thread on which it was first seen: a batch can use any thread
    thread = models.CharField(max_length=255)
    #: where it ran before; empty if nowhere
    from_executor = models.CharField(max_length=100, blank=True)
    from_thread = models.CharField(max_length=255, blank=True)
    reason = models.CharField(max_length=10, choices=MoveReason)
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["deployment", "task"],
                condition=Q(until__isnull=True),
                name="one_place_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"task {self.task} on {self.executor}"


class AlertRule(models.Model):
    """A rule for alerts about the deployments of a workspace, with their receivers."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="alert_rules")
    #: null: every deployment of the workspace
    topology = models.ForeignKey(
        Topology, on_delete=models.CASCADE, related_name="alert_rules", null=True, blank=True
    )
    name = models.CharField(max_length=150)
    condition = models.CharField(max_length=20, choices=Condition)
    #: the condition holds above this value; null for conditions on states
    threshold = models.FloatField(null=True, blank=True)
    #: how long the condition must hold before the alert fires
    for_seconds = models.PositiveIntegerField(default=0)
    webhook = models.CharField(max_length=1_000, blank=True)
    #: mail addresses
    mail = models.JSONField(default=list)
    enabled = models.BooleanField(default=True)
    updated_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name


class Alert(models.Model):
    """One incident: from when a rule's condition began to hold until it no longer did."""

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="alerts")
    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="alerts")
    #: when the condition began to hold
    since = models.DateTimeField()
    #: null as long as the condition has not held for the time that the rule requires
    fired_at = models.DateTimeField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    #: the last value, in the unit of the condition
    value = models.FloatField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["rule", "deployment"],
                condition=Q(resolved_at__isnull=True),
                name="one_open_alert_per_rule_and_deployment",
            )
        ]

    def __str__(self) -> str:
        return f"alert {self.pk} of rule {self.rule_id}"


class Delivery(models.Model):
    """A notification on its way to one receiver."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=10, choices=AlertEvent)
    channel = models.CharField(max_length=10, choices=Channel)
    #: a webhook or a mail address
    target = models.CharField(max_length=1_000)
    state = models.CharField(
        max_length=10, choices=DeliveryState, default=DeliveryState.WAITING, db_index=True
    )
    attempts = models.PositiveIntegerField(default=0)
    #: time of the next attempt
    due_at = models.DateTimeField(default=timezone.now)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.event} to {self.channel}"
