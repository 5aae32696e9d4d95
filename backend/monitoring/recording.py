"""Records what drivers reported last, every few seconds and for all deployments.

The only caller is a Celery task of the workers. Reports arrive in Redis whether or not a page is
open; the figures of a deployment are kept at three resolutions, each as a ring.
"""

from __future__ import annotations

import time
from typing import Any

import structlog
from deployments.models import Deployment, Run
from deployments.runtime import is_stale
from django.db import transaction
from millrace_backend import redis
from millrace_model.events import ProgressEvent, decode

from monitoring import placing
from monitoring.figures import Figures, merged, of_report, pack, unpack
from monitoring.models import FigureRow, Seen

log = structlog.get_logger(__name__)

#: seconds of an interval, and how many intervals are kept: an hour, a day, two weeks
RINGS = ((10, 360), (60, 1_440), (900, 1_344))


def record_all() -> int:
    """Record the last report of every run; return how many were new.

    Raises redis.RedisError if Redis does not respond.
    """
    runs = list(Run.objects.filter(ended_at__isnull=True).select_related("deployment"))
    placing.close_ended([run.report_id for run in runs])
    if not runs:
        return 0
    texts: Any = redis.client().mget([redis.run_snapshot(run.report_id) for run in runs])
    now = time.time() * 1000
    noted = 0
    for run, text in zip(runs, texts, strict=True):
        report = decode(text)
        if report and report["event"] == "progress" and not is_stale(report["at"], now):
            noted += record(run.deployment, run.report_id, report)
    return noted


def record(deployment: Deployment, run: str, report: ProgressEvent) -> bool:
    """Record a report; return whether it was new."""
    at = int(report["at"])
    with transaction.atomic():
        # The row is the lock that keeps two workers from recording the same report.
        Deployment.objects.select_for_update(of=("self",)).filter(pk=deployment.pk).first()
        seen = Seen.objects.filter(deployment=deployment).first()
        same = seen is not None and seen.run == run
        if seen is not None and same and at <= seen.at:
            return False
        figures, ends = of_report(report, seen.ends if seen is not None else {})
        records = sum(task.get("records") or 0 for task in report.get("tasks") or [])
        grew = records > (seen.records if seen is not None and same else 0)
        before = seen.records_at if seen is not None and same else None
        Seen.objects.update_or_create(
            deployment=deployment,
            defaults={
                "run": run,
                "at": at,
                "ends": ends,
                "records": records,
                "began_at": seen.began_at if seen is not None and same else at,
                "records_at": at if grew else before,
            },
        )
        placing.note(deployment, run, report)
        for step, kept in RINGS:
            _keep(deployment, step, kept, run, at, figures)
    return True


def _keep(
    deployment: Deployment, step: int, kept: int, run: str, at: int, figures: Figures
) -> None:
    slot = at // 1000 // step
    rows = FigureRow.objects.filter(deployment=deployment, step=step)
    row = rows.filter(slot=slot).first()
    if row is None:
        rows.filter(slot__lte=slot - kept).delete()
        FigureRow.objects.create(
            deployment=deployment, step=step, slot=slot, at=at, run=run, data=pack(figures)
        )
        return
    row.data = pack(merged(unpack(row.data), figures))
    row.at, row.run = at, run
    row.save(update_fields=["data", "at", "run"])
