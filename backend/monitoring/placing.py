"""Records which task ran where, from when to when, and why it moved there.

In micro-batches Spark gives a task any free thread of its executor in each batch: only a change of
executor or driver is a move. In real-time mode a task keeps its thread, so that a change of thread
is a move as well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from deployments.choices import Outcome
from deployments.models import Deployment, Run
from django.db.models import Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from millrace_model.events import ProgressEvent, TaskFigures

from monitoring.choices import MoveReason
from monitoring.models import Placement

#: number of placements to keep for a deployment
MOST_PLACEMENTS = 5_000

_LOST = frozenset({Outcome.CRASHED, Outcome.KILLED, Outcome.FAILED})


def close_ended(live: Sequence[str]) -> None:
    """Close the placements of runs that have ended, at the time when their run ended."""
    ended = Run.objects.filter(report_id=OuterRef("run"), deployment=OuterRef("deployment"))
    Placement.objects.filter(until__isnull=True).exclude(run__in=live).update(
        until=Coalesce(Subquery(ended.values("ended_at")[:1]), Now())
    )


def note(deployment: Deployment, run: str, report: ProgressEvent) -> None:
    """Record where the tasks of a report run; the caller holds the deployment's lock."""
    tasks = {task["task"]: task for task in report.get("tasks") or []}
    at = datetime.fromtimestamp(report["at"] / 1000, UTC)
    rows = Placement.objects.filter(deployment=deployment)
    places = {row.task: row for row in rows.filter(until__isnull=True)}
    threads = "real_time_ms" in deployment.settings
    moved = [
        task for name, task in tasks.items() if not _is_at(places.get(name), task, run, threads)
    ]
    gone = set(places) - set(tasks)
    if not moved and not gone:
        return
    left = [*gone, *(task["task"] for task in moved)]
    rows.filter(task__in=left, until__isnull=True).update(until=at)
    last = {**_newest(rows, set(tasks) - set(places)), **places}
    began = _why_began(deployment, run)
    executors = {task.get("executor", "") for task in tasks.values()}
    same = executors == {row.executor for row in places.values() if row.run == run}
    within = MoveReason.MOVED if same else MoveReason.SCALE
    made = []
    for task in moved:
        before = last.get(task["task"])
        reason = within if before is not None and before.run == run else began
        made.append(_moved(deployment, run, task, before, reason, at))
    Placement.objects.bulk_create(made)
    kept = rows.order_by("-id").values_list("pk", flat=True)[MOST_PLACEMENTS - 1 : MOST_PLACEMENTS]
    for oldest in kept:
        rows.filter(pk__lt=oldest, until__isnull=False).delete()


def _is_at(row: Placement | None, task: TaskFigures, run: str, threads: bool) -> bool:
    if row is None or (row.run, row.executor) != (run, task.get("executor", "")):
        return False
    return not threads or row.thread == task.get("thread", "")


def _newest(rows: QuerySet[Placement], tasks: Collection[str]) -> dict[str, Placement]:
    """The last placement of each of these tasks."""
    newest = rows.filter(task__in=tasks).order_by().values("task").annotate(last=Max("pk"))
    found = Placement.objects.filter(pk__in=[each["last"] for each in newest])
    return {row.task: row for row in found}


def _why_began(deployment: Deployment, run: str) -> MoveReason:
    """Return why a run started, judged by the previous one's end. Its tasks appear one by one."""
    before = Placement.objects.filter(deployment=deployment).exclude(run=run).first()
    if before is None:
        return MoveReason.START
    runs = {
        each.report_id: each
        for each in Run.objects.filter(deployment=deployment, report_id__in=[before.run, run])
    }
    old, new = runs.get(before.run), runs.get(run)
    if old is not None and old.outcome in _LOST:
        return MoveReason.CRASH
    if old is not None and old.outcome == Outcome.OUTAGE:
        return MoveReason.OUTAGE
    if old is not None and new is not None and old.version_id != new.version_id:
        return MoveReason.VERSION
    return MoveReason.START


def _moved(
    deployment: Deployment,
    run: str,
    task: TaskFigures,
    before: Placement | None,
    reason: MoveReason,
    at: datetime,
) -> Placement:
    return Placement(
        deployment=deployment,
        run=run,
        task=task["task"],
        executor=task.get("executor", ""),
        host=task.get("host") or "",
        thread=task.get("thread", ""),
        from_executor="" if before is None else before.executor,
        from_thread="" if before is None else before.thread,
        reason=reason,
        since=at,
    )
