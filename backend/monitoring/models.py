"""What is seen of running deployments over time, bounded for each of them."""

from __future__ import annotations

from typing import ClassVar

from deployments.models import Deployment
from django.db import models


class FigureRow(models.Model):
    """The figures of a deployment in one interval (`figures.pack`)."""

    deployment = models.ForeignKey(Deployment, on_delete=models.CASCADE, related_name="figure_rows")
    #: length of the interval in seconds
    step = models.PositiveIntegerField()
    #: the interval begins `slot * step` seconds after the epoch
    slot = models.PositiveBigIntegerField()
    #: time of the last report in it, by the driver's clock, epoch ms
    at = models.PositiveBigIntegerField()
    #: counters begin at zero with each run
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
    #: by partition: end offsets that were seen, with the time, as far as they are not read yet
    ends = models.JSONField(default=dict)
    #: records processed by all tasks of the run
    records = models.PositiveBigIntegerField(default=0)
    #: when that number last grew, epoch ms; null: never in this run
    records_at = models.PositiveBigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "seen"

    def __str__(self) -> str:
        return f"seen of {self.deployment_id}"
