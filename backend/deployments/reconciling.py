"""The only code through which workers and the watch read and change deployments.

It checks no permissions: what people may do is in `deployments.actions`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog
from accounts.events import audit
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone
from millrace_backend import redis
from millrace_backend.errors import Unavailable
from millrace_model.drivers import DeploymentSettings
from millrace_model.events import OutageJson
from topologies.topics import topic_failure

from deployments import comparing, handover, old_state, shadows
from deployments.beginnings import (
    beginning_without,
    request_of,
)
from deployments.choices import RETURNING, STEPS, Desired, Observed, Outcome, StepState
from deployments.environments import document_in
from deployments.failed_records import active_decisions
from deployments.models import Deployment, Run, Shadow
from deployments.rows import (
    bump,
    fresh_step,
    live_runs,
    locked,
    observation_of,
    settings_before,
    version_numbered,
)
from deployments.shadows import copies_state, shadow_document
from deployments.snapshots import (
    Cause,
    DeploymentSnapshot,
    Failure,
    Follows,
    Outage,
    Process,
    RunSnapshot,
    StartSnapshot,
    Unanswered,
)

log = structlog.get_logger(__name__)

#: number of last crashes to consider; earlier ones are irrelevant
CRASHES_KEPT = 50


class LiveRunExists(RuntimeError):
    """Another driver of this deployment is alive; the database holds at most one."""


def due_for_reconcile() -> list[int]:
    """Ids of all deployments that need reconciling, including those that run."""
    stopped = Q(desired=Desired.STOPPED, observation__state=Observed.STOPPED)
    failed = Q(
        desired=Desired.RUNNING,
        observation__state=Observed.FAILED,
        restart_requested_at__isnull=True,
    )
    at_rest = Deployment.objects.filter(stopped | failed).exclude(runs__in=live_runs())
    at_rest = at_rest.exclude(shadow__ending=True)
    due = Deployment.objects.exclude(pk__in=at_rest.values("pk"))
    return list(due.order_by("id").values_list("id", flat=True))


def load_for_reconcile(deployment: int) -> DeploymentSnapshot | None:
    """The current state of the deployment; None if it was deleted."""
    row = (
        Deployment.objects.select_related("topology", "observation", "version", "workspace")
        .filter(pk=deployment)
        .first()
    )
    if row is None:
        return None
    run = live_runs().filter(deployment=row).select_related("version").first()
    last_epoch = row.runs.aggregate(last=Max("epoch"))["last"] or 0
    document = document_in(row.version, row.settings)
    forbidden = topic_failure(document, row.workspace.topic_prefixes)
    outage = row.observation.outage
    shadow = Shadow.objects.select_related("of").filter(deployment=row).first()
    return DeploymentSnapshot(
        id=row.pk,
        name=row.topology.name,
        version=row.version.number,
        document=document if shadow is None else shadow_document(document, shadow.suffix),
        settings=row.settings,
        desired=row.desired,
        observed=row.observation.state,
        directory=row.directory,
        since=row.observation.since.timestamp(),
        next_epoch=last_epoch + 1,
        workspace=row.workspace_id,
        run=None if run is None else _snapshot(run),
        restart_requested=row.restart_requested_at is not None,
        crashes=tuple(ended.timestamp() for ended in _crashes(row)),
        failure=row.observation.failure,
        forbidden=None if forbidden is None else Failure.of(forbidden),
        outage=None if outage is None else Outage.of(outage),
        state_decisions=dict(row.state_decisions),
        beginning=request_of(row),
        record_decisions=tuple(active_decisions(row)),
        fallback=row.fallback,
        paused=row.paused,
        draining=row.draining,
        has_state=row.has_state,
        state_location=row.state_location,
        follows=None if shadow is None else _follows(shadow),
        ending=shadow is not None and shadow.ending,
    )


def _follows(shadow: Shadow) -> Follows:
    return Follows(shadow.of.directory / "checkpoint", copies_state=copies_state(shadow))


def delete_ended(deployment: int) -> None:
    """Delete a shadow that was stopped to end it, with its topics and its folder.

    Raises Unanswered if the cluster does not respond.
    """
    try:
        shadows.delete_ended(deployment)
    except Unavailable as error:
        facts = {name: str(fact) for name, fact in error.data.items()}
        raise Unanswered(Cause("broker_unreachable", error.message, facts=facts)) from error


def heartbeat(deployment: int) -> None:
    """Record a worker's heartbeat for a deployment; repeated every few seconds.

    Raises redis.RedisError if Redis does not respond.
    """
    redis.client().hset(redis.HEARTBEATS, str(deployment), repr(time.time()))


def record_step(deployment: int, name: str, state: str, detail: Cause | None = None) -> bool:
    """Record that a step is running, done, failed or skipped; a step that begins resets later ones.

    Returns whether anything changed. Raises ValueError for a step or state that does not exist.
    """
    if name not in STEPS or state not in StepState.values:
        raise ValueError(f"there is no step {name!r} with a state {state!r}; steps: {STEPS}")
    with transaction.atomic():
        observation = observation_of(deployment)
        steps = {step["name"]: step for step in observation.steps}
        step = steps.get(name) or fresh_step(name)
        shown = None if detail is None else detail.cause_fields()
        if (step["state"], step["detail"]) == (state, shown):
            return False
        now = timezone.now().isoformat()
        if state == StepState.RUNNING and step["state"] != StepState.RUNNING:
            step = {**fresh_step(name), "started_at": now}
            for later in STEPS[STEPS.index(name) + 1 :]:
                steps[later] = fresh_step(later)
        if state in {StepState.DONE, StepState.FAILED, StepState.SKIPPED}:
            step = {**step, "started_at": step["started_at"] or now, "finished_at": now}
        steps[name] = {**step, "state": state, "detail": shown}
        observation.steps = [steps.get(each) or fresh_step(each) for each in STEPS]
        observation.save(update_fields=["steps"])
        bump(deployment)
    return True


def last_start(deployment: int) -> StartSnapshot:
    """Return the version that was started last, with its steps as `record_step` recorded them."""
    row = Deployment.objects.select_related("observation", "topology", "version", "workspace").get(
        pk=deployment
    )
    return {
        "deployment": row.pk,
        "topology": row.topology.name,
        "workspace": row.workspace.name,
        "version": row.version.number,
        "steps": list(row.observation.steps),
    }


_KEEP: Any = object()


def observe(
    deployment: int,
    state: str,
    failure: Mapping[str, object] | None = _KEEP,
    *,
    found: str = "",
    since: datetime | None = None,
) -> bool:
    """Record the observed state, and the failure if one is passed (None clears it).

    With ``found``, only if that is still the recorded state; return False if it is not. ``since``
    is when the state began, if not now. Raises ValueError for a state that does not exist.
    """
    if state not in Observed.values:
        raise ValueError(f"there is no observed state {state!r}; there are {Observed.values}")
    with transaction.atomic():
        observation = observation_of(deployment)
        if found and observation.state != found:
            return False
        new_failure = observation.failure if failure is _KEEP else failure
        if (observation.state, observation.failure) == (state, new_failure):
            return True
        if observation.state != state:
            if observation.state == Observed.FAILED or state == Observed.STOPPED:
                # Leaving FAILED fulfills a requested restart; STOPPED cancels it.
                Deployment.objects.filter(pk=deployment).update(restart_requested_at=None)
            if state == Observed.STOPPED:
                Deployment.objects.filter(pk=deployment).update(draining=False)
            observation.since = since or timezone.now()
            if state == Observed.RUNNING or not {state, observation.state} <= RETURNING:
                observation.outage = None
        observation.state = state
        observation.failure = None if new_failure is None else dict(new_failure)
        observation.save(update_fields=["state", "since", "failure", "outage"])
        bump(deployment)
    return True


def record_failure(deployment: int, failure: Mapping[str, object] | None) -> None:
    """Record the failure that the page shows at its node; None clears it."""
    with transaction.atomic():
        observation = observation_of(deployment)
        if observation.failure == failure:
            return
        observation.failure = None if failure is None else dict(failure)
        observation.save(update_fields=["failure"])
        bump(deployment)


def record_outage(deployment: int, outage: OutageJson) -> None:
    """Record what the deployment waits for, since when, and when it is retried (epoch seconds)."""
    with transaction.atomic():
        observation = observation_of(deployment)
        observation.outage = outage
        observation.save(update_fields=["outage"])
        bump(deployment)


def begin_run(
    deployment: int,
    pid: int,
    host: str,
    process_born: str,
    epoch: int,
    *,
    report_id: str = "",
    version: int | None = None,
    standby: bool = False,
) -> RunSnapshot:
    """Record a driver process. Recording the same process again has no effect.

    ``version`` is the number of the version that it runs (default: the requested one);
    ``standby``: it was prepared before the driver before it was lost. Raises LiveRunExists if
    another driver of the deployment is alive.
    """
    with transaction.atomic():
        row = locked(deployment)
        runs = version_numbered(row.topology_id, version) if version is not None else row.version
        try:
            with transaction.atomic():
                run = Run.objects.create(
                    deployment=row,
                    epoch=epoch,
                    version=runs,
                    settings=row.settings,
                    pid=pid,
                    host=host,
                    process_born=process_born,
                    report_id=report_id or f"{deployment}-{epoch}",
                    restarts=len(_crashes(row)),
                    standby=standby,
                )
        except IntegrityError as error:
            live = live_runs().filter(deployment=row).select_related("version").first()
            if live is None or (live.pid, live.process_born) != (pid, process_born):
                raise LiveRunExists(
                    f"deployment {deployment} has a live run or a run numbered {epoch} already"
                ) from error
            return _snapshot(live)
        Deployment.objects.filter(pk=deployment).update(restart_requested_at=None)
        bump(deployment)
    return _snapshot(run)


def standby_changed(deployment: int) -> None:
    """Show the notes of the standby again, which are files."""
    with transaction.atomic():
        locked(deployment)
        bump(deployment)


def end_run(deployment: int, outcome: str, failure: Mapping[str, object] | None = None) -> None:
    """Record the outcome of the live run; no effect if there is none.

    Raises ValueError for an outcome that does not exist.
    """
    if outcome not in Outcome.values:
        raise ValueError(f"there is no outcome {outcome!r}; there are {Outcome.values}")
    with transaction.atomic():
        ended = (
            live_runs()
            .filter(deployment=deployment)
            .update(
                ended_at=timezone.now(),
                outcome=outcome,
                failure=None if failure is None else dict(failure),
            )
        )
        if ended:
            bump(deployment)


def keep_version(deployment: int, number: int) -> None:
    """Request the running version and settings again, because the requested ones were refused."""
    with transaction.atomic():
        row = locked(deployment)
        version = version_numbered(row.topology_id, number)
        settings = settings_before(row, number)
        asked = row.restart_requested_at is not None
        if asked or row.version_id != version.pk or row.settings != settings:
            Deployment.objects.filter(pk=deployment).update(
                version=version,
                settings=settings,
                fallback=None,
                restart_requested_at=None,
                beginning=beginning_without(row, row.version.number),
            )
            audit(
                None, row.workspace_id, "deployment.keep", "deployment", deployment,
                topology=row.topology.name, version=number,
            )  # fmt: skip
            bump(deployment)


def fall_back(deployment: int) -> int | None:
    """Request the previous version again. Returns its number; None if there is none."""
    with transaction.atomic():
        row = locked(deployment)
        if row.fallback is None:
            return None
        number, failed = row.fallback, row.version.number
        Deployment.objects.filter(pk=deployment).update(
            version=version_numbered(row.topology_id, number),
            settings=settings_before(row, number),
            fallback=None,
            state_decisions={},
            beginning=beginning_without(row, failed),
        )
        audit(
            None,
            row.workspace_id,
            "deployment.fall_back",
            "deployment",
            deployment,
            topology=row.topology.name,
            version=number,
            failed=failed,
        )
        bump(deployment)
    return number


def arrived(deployment: int) -> None:
    """Record that the running version has finished its first batch.

    It cannot fall back any more, unless another version was requested in the meantime: that one
    falls back to the running one.
    """
    with transaction.atomic():
        row = locked(deployment)
        run = row.live_run
        if run is not None and row.restart_requested_at is not None:
            # The running version is restarted with other settings, and remains the fallback.
            Deployment.objects.filter(pk=deployment).update(has_state=True)
            return
        other = run is not None and run.version_id != row.version_id
        Deployment.objects.filter(pk=deployment).update(
            fallback=run.version.number if run is not None and other else None, has_state=True
        )
        bump(deployment)


def cold_reason(settings: DeploymentSettings, directory: Path, *, paused: bool) -> Cause | None:
    """Return why a driver cannot be prepared beside the running one, if so (`handover`)."""
    cold = handover.cold_reason(settings, directory, paused=paused)
    return None if cold is None else Cause(f"cold_{cold.code}", cold.message, facts=cold.facts)


def compare_outputs(shadow: int) -> bool:
    """Do one step of a comparison of outputs (`comparing`); return whether another must follow."""
    return comparing.advance(shadow)


def comparisons_due() -> list[int]:
    """Comparisons of outputs that no worker advances."""
    return comparing.due()


def forget_old_state() -> int:
    """Delete state that deployments left long ago (`old_state`); return the number of folders."""
    return old_state.forget_old_state()


def _crashes(row: Deployment) -> list[Any]:
    lost = row.runs.filter(
        outcome__in=[Outcome.CRASHED, Outcome.KILLED],
        failure__isnull=False,
        ended_at__gte=row.wanted_at,
    )
    return list(lost.order_by("-ended_at").values_list("ended_at", flat=True)[:CRASHES_KEPT])[::-1]


def _snapshot(run: Run) -> RunSnapshot:
    return RunSnapshot(
        id=run.pk,
        process=Process(run.host, run.pid, run.process_born),
        version=run.version.number,
        report_id=run.report_id,
    )
