"""The only code that changes deployments.

The first half is for people: permission, transaction, audit entry, event on commit. The second
half, from ``due_for_reconcile`` on, is for the reconciler, which acts for nobody and needs none.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self

import structlog
from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from accounts.topics import allows
from django.db import IntegrityError, transaction
from django.db.models import F, Max, Q
from django.utils import timezone
from millrace_backend import redis
from millrace_backend.errors import ApiError, Conflict, NotFound
from topologies.models import Topology, Version
from topologies.topics import topic_failure

from deployments import old_state
from deployments.beginnings import (
    Beginning,
    beginning_with,
    beginning_without,
    check,
    request_of,
    require_name,
)
from deployments.choices import RETURNING, STEPS, Desired, Observed, Outcome, StepState
from deployments.cluster import create_missing
from deployments.events import deployment_changed, deployment_deleted, wake_reconciler
from deployments.models import Deployment, Observation, Run, waiting_steps
from deployments.snapshots import DeploymentSnapshot, RunSnapshot
from deployments.state_plan import Decisions, read_topics, start_plan, state_plan

log = structlog.get_logger(__name__)

#: crashes further back say nothing about now
CRASHES_KEPT = 50


class LiveRunExists(RuntimeError):
    """Another driver of this deployment is alive; the database holds at most one."""


# -- for people ---------------------------------------------------------------------------------
def create_deployment(
    actor: User, topology: Topology, number: int, target: str, settings: Mapping[str, Any]
) -> Deployment:
    """Want a version of a topology to run.

    Raises NotFound for a version that is not there, Conflict where the topology is deployed.
    """
    require(actor, topology.workspace_id, Role.OPERATOR)
    version = _version(topology.pk, number)
    try:
        with transaction.atomic():
            deployment = Deployment.objects.create(
                workspace_id=topology.workspace_id,
                topology=topology,
                version=version,
                target=target,
                settings=dict(settings),
                created_by=actor,
            )
            Observation.objects.create(deployment=deployment)
            audit(
                actor,
                topology.workspace_id,
                "deployment.create",
                "deployment",
                deployment.pk,
                topology=topology.name,
                version=number,
                target=target,
                settings=dict(settings),
            )
            deployment_changed(deployment.pk)
            wake_reconciler(deployment.pk)
    except IntegrityError as error:
        existing = Deployment.objects.filter(topology=topology).first()
        if existing is None:
            raise
        raise Conflict(
            "already_deployed",
            f"“{topology.name}” has a deployment already (number {existing.pk}).",
            "Redeploy it with the version that should run, or delete it first.",
            deployment=existing.pk,
        ) from error
    return deployment


def create_topics(actor: User, workspace: Workspace, topics: Sequence[Mapping[str, Any]]) -> None:
    """Create topics on the cluster: name, partitions, and retention_ms where it is given.

    Raises ApiError for a topic that the workspace may not use, Unavailable where the cluster does
    not answer or refuses.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    for topic in topics:
        if not allows(workspace.topic_prefixes, topic["name"]):
            raise ApiError(
                "topic_not_allowed",
                f"This workspace may not use the topic “{topic['name']}”.",
                "Ask the installation's admin for its prefix.",
                fields={"topics": [f"{topic['name']} is not allowed."]},
            )
    made = create_missing(
        {topic["name"]: topic["partitions"] for topic in topics},
        {topic["name"]: topic["retention_ms"] for topic in topics if "retention_ms" in topic},
    )
    for name in made:
        audit(actor, workspace.pk, "topic.create", "topic", None, name=name)


def request_start(
    actor: User, deployment: Deployment, beginning: Beginning | None = None, name: str = ""
) -> None:
    """Want it to run; where it failed, try again.

    ``beginning``: without its rows or from other offsets, where it does not run; ``name`` confirms
    a reset. Raises ApiError for what cannot be, Conflict while it runs.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    if beginning is not None:
        _require_possible(deployment, deployment.version, beginning, name)
    noted = {} if beginning is None else beginning.noted()
    with _change(actor, deployment, "deployment.start", **noted) as change:
        if beginning is not None:
            refuse_while_it_runs(change.row)
            change.row.beginning = beginning.to_request()
        change.begin_again(waiting_steps())


def request_stop(actor: User, deployment: Deployment) -> None:
    """Want it not to run; the driver finishes its batch and ends."""
    with _change(actor, deployment, "deployment.stop") as change:
        change.row.desired = Desired.STOPPED
        change.row.restart_requested_at = None


def request_cancel(actor: User, deployment: Deployment) -> None:
    """Want the version again that ran before, in place of one that has yet to do a batch.

    It continues where it stopped, with its state. Raises Conflict where there is none.
    """
    with _change(actor, deployment, "deployment.cancel") as change:
        row = change.row
        if row.fallback is None or row.desired != Desired.RUNNING:
            raise Conflict(
                "nothing_to_cancel",
                f"Version {row.version.number} of “{row.topology.name}” takes the place of no "
                "other version, or has done its first batch.",
                "Deploy the version that should run.",
                deployment=row.pk,
            )
        change.note(version=row.fallback, cancelled=row.version.number)
        row.beginning = beginning_without(row, row.version.number)
        row.version = _version(row.topology_id, row.fallback)
        row.fallback, row.state_decisions = None, {}
        change.begin_again(
            [
                step if step["state"] != StepState.RUNNING else _fresh_step(step["name"])
                for step in change.observation.steps
            ]
        )


def request_restart(actor: User, deployment: Deployment) -> None:
    """Want a new driver in place of the one that runs."""
    with _change(actor, deployment, "deployment.restart") as change:
        steps = change.observation.steps
        if change.observation.state in {Observed.STOPPED, Observed.FAILED}:
            steps = waiting_steps()
        change.begin_again(
            [step if step["name"] != "start" else _fresh_step("start") for step in steps]
        )
        change.row.restart_requested_at = timezone.now()


def request_redeploy(
    actor: User,
    deployment: Deployment,
    number: int,
    settings: Mapping[str, Any] | None = None,
    decisions: Decisions | None = None,
    beginning: Beginning | None = None,
    name: str = "",
) -> None:
    """Want another version, or other settings, to run; what runs goes on until that is ready.

    ``decisions``: what becomes of stores whose rows the version cannot carry over, by id;
    ``beginning``: without any rows or from other offsets, ``name`` confirms a reset.
    Raises NotFound for a version that is not there, Conflict for a place to start from where the
    deployment goes on from its checkpoint, and Conflict with the plan of the change where a
    decision is missing.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    version = _version(deployment.topology_id, number)
    decided = dict(decisions or {})
    if beginning is not None:
        _require_possible(deployment, version, beginning, name)
    if beginning is None or not beginning.resets_stores:
        _require_decisions(deployment, version, decided)
    noted: dict[str, Any] = {} if settings is None else {"settings": dict(settings)}
    if beginning is not None:
        noted |= beginning.noted()
    if decided:
        noted["stores"] = decided
    with _change(actor, deployment, "deployment.redeploy", version=number, **noted) as change:
        _refuse_another_start(change.row, settings or {})
        other_version = change.row.version_id != version.pk
        other_settings = settings is not None and dict(settings) != change.row.settings
        running = change.row.desired == Desired.RUNNING
        failed = change.observation.state == Observed.FAILED
        moved = beginning is not None and not beginning.continues
        if not (other_version or other_settings or failed or moved) and running:
            return
        run = change.row.live_run
        if other_version and change.row.fallback is None and run is not None:
            change.row.fallback = run.version.number
        change.row.version = version
        change.row.state_decisions = decided
        if settings is not None:
            change.row.settings = dict(settings)
        if beginning is not None:
            change.row.beginning = beginning_with(change.row, beginning, number)
        change.begin_again(waiting_steps())
        if (other_settings or moved) and not other_version:
            change.row.restart_requested_at = timezone.now()


def _refuse_another_start(row: Deployment, settings: Mapping[str, Any]) -> None:
    start = settings.get("start", row.settings.get("start"))
    if start != row.settings.get("start") and row.has_checkpoint:
        raise Conflict(
            "has_checkpoint",
            f"The deployment of “{row.topology.name}” goes on from its checkpoint: it cannot "
            f"start from {start}.",
            "Leave “start” out, and say in “start_from” where this start begins.",
            deployment=row.pk,
        )


def plan_redeploy(
    deployment: Deployment, number: int, beginning: Beginning | None = None
) -> dict[str, Any]:
    """What deploying a version would do to the state that there is, from another beginning or not.

    Raises NotFound for a version that is not there, ApiError for one that does not compile or a
    beginning that cannot be, Unavailable where the analyzer does not answer.
    """
    version = _version(deployment.topology_id, number)
    if beginning is not None:
        _require_possible(deployment, version, beginning, deployment.topology.name)
    return start_plan(deployment, version, beginning)


def _require_possible(
    deployment: Deployment, version: Version, beginning: Beginning, name: str
) -> None:
    """Raises ApiError for a beginning that cannot be, or a reset without its name."""
    require_name(deployment, beginning, name)
    if beginning.offsets:
        check(beginning, version, read_topics(version, deployment.workspace))


def _require_decisions(deployment: Deployment, version: Version, decisions: Decisions) -> None:
    """Where the plan cannot be made, the driver judges by the same rule before it reads."""
    try:
        plan = state_plan(deployment, version)
    except Conflict:
        raise
    except ApiError as error:
        log.info("no plan of the change", deployment=deployment.pk, reason=str(error))
        return
    if plan is not None:
        plan.require(decisions)


def delete_deployment(actor: User, deployment: Deployment) -> None:
    """Forget a deployment that does not run, with its state, logs and checkpoint.

    Raises Conflict while it runs.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        row = _locked(deployment.pk)
        refuse_while_it_runs(row)
        audit(
            actor,
            row.workspace_id,
            "deployment.delete",
            "deployment",
            row.pk,
            topology=row.topology.name,
        )
        forget(row)


def refuse_while_it_runs(row: Deployment) -> None:
    """Raises Conflict unless the deployment has come to rest."""
    at_rest = row.observation.state in {Observed.STOPPED, Observed.FAILED, Observed.NEW}
    if not at_rest or row.live_run is not None:
        raise Conflict(
            "still_running",
            f"The deployment of “{row.topology.name}” is {row.observation.state}.",
            "Stop it first.",
            deployment=row.pk,
        )


def forget(row: Deployment) -> None:
    """Delete the row now and its folder on commit; inside a transaction."""
    transaction.on_commit(partial(shutil.rmtree, row.directory, ignore_errors=True), robust=True)
    deployment_deleted(row)
    row.delete()


class _change:  # noqa: N801  (a context manager, read as a word)
    """One change by a person: role, lock, audit, revision, event and the reconciler's call."""

    def __init__(self, actor: User, deployment: Deployment, action: str, **detail: Any) -> None:
        require(actor, deployment.workspace_id, Role.OPERATOR)
        self._actor, self._action, self._detail = actor, action, detail
        self._id = deployment.pk
        self._transaction = transaction.atomic()
        self.row: Deployment
        self.observation: Observation

    def __enter__(self) -> Self:
        self._transaction.__enter__()
        try:
            self.row = _locked(self._id)
            self.observation = self.row.observation
        except BaseException as error:
            self._transaction.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def note(self, **detail: Any) -> None:
        """Add to the audit entry what is known only now."""
        self._detail.update(detail)

    def begin_again(self, steps: list[dict[str, Any]]) -> None:
        """Want it to run from here, with a clean slate."""
        if self.observation.state == Observed.FAILED:
            self.row.restart_requested_at = timezone.now()
        self.row.desired = Desired.RUNNING
        self.row.wanted_at = timezone.now()
        self.observation.steps = steps
        self.observation.failure = None
        self.observation.outage = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.row.save()
            self.observation.save()
            audit(
                self._actor,
                self.row.workspace_id,
                self._action,
                "deployment",
                self._id,
                topology=self.row.topology.name,
                **self._detail,
            )
            _bump(self._id)
            wake_reconciler(self._id)
        self._transaction.__exit__(kind, error, trace)


# -- for the scheduled task ----------------------------------------------------------------------
def forget_old_state() -> int:
    """Delete state that deployments left long ago (`old_state`); how many folders."""
    return old_state.forget_old_state()


# -- for the reconciler -------------------------------------------------------------------------
def due_for_reconcile() -> list[int]:
    """Ids of all deployments that need reconciling, including those that run."""
    stopped = Q(desired=Desired.STOPPED, observation__state=Observed.STOPPED)
    failed = Q(
        desired=Desired.RUNNING,
        observation__state=Observed.FAILED,
        restart_requested_at__isnull=True,
    )
    at_rest = Deployment.objects.filter(stopped | failed).exclude(runs__in=_live_runs())
    due = Deployment.objects.exclude(pk__in=at_rest.values("pk"))
    return list(due.order_by("id").values_list("id", flat=True))


def load_for_reconcile(deployment: int) -> DeploymentSnapshot | None:
    """The deployment as it stands now; None where it was deleted."""
    row = (
        Deployment.objects.select_related("topology", "observation", "version", "workspace")
        .filter(pk=deployment)
        .first()
    )
    if row is None:
        return None
    run = _live_runs().filter(deployment=row).select_related("version").first()
    last_epoch = row.runs.aggregate(last=Max("epoch"))["last"] or 0
    return DeploymentSnapshot(
        id=row.pk,
        workspace=row.workspace_id,
        topology=row.topology_id,
        name=row.topology.name,
        version=row.version.number,
        document=row.version.document,
        target=row.target,
        settings=row.settings,
        desired=row.desired,
        observed=row.observation.state,
        directory=row.directory,
        since=row.observation.since.timestamp(),
        next_epoch=last_epoch + 1,
        run=None if run is None else _snapshot(run),
        restart_requested=row.restart_requested_at is not None,
        crashes=tuple(ended.timestamp() for ended in _crashes(row)),
        failure=row.observation.failure,
        forbidden=topic_failure(row.version.document, row.workspace.topic_prefixes),
        outage=row.observation.outage,
        steps=tuple(row.observation.steps),
        state_decisions=dict(row.state_decisions),
        beginning=request_of(row),
        fallback=row.fallback,
    )


def heartbeat(deployment: int) -> None:
    """Record a worker's heartbeat for a deployment; repeated every few seconds.

    Raises redis.RedisError where Redis does not answer.
    """
    redis.client().hset(redis.HEARTBEATS, str(deployment), repr(time.time()))


def record_step(deployment: int, name: str, state: str, detail: str | None = None) -> None:
    """A step is running, done, failed or skipped; to begin a step makes those after it wait.

    Raises ValueError for a step or state that does not exist. Says nothing where nothing changed.
    """
    if name not in STEPS or state not in StepState.values:
        raise ValueError(f"there is no step {name!r} with a state {state!r}; steps: {STEPS}")
    with transaction.atomic():
        observation = _observation(deployment)
        steps = {step["name"]: step for step in observation.steps}
        step = steps.get(name) or _fresh_step(name)
        if (step["state"], step["detail"]) == (state, detail):
            return
        now = timezone.now().isoformat()
        if state == StepState.RUNNING and step["state"] != StepState.RUNNING:
            step = {**_fresh_step(name), "started_at": now}
            for later in STEPS[STEPS.index(name) + 1 :]:
                steps[later] = _fresh_step(later)
        if state in {StepState.DONE, StepState.FAILED, StepState.SKIPPED}:
            step = {**step, "started_at": step["started_at"] or now, "finished_at": now}
        steps[name] = {**step, "state": state, "detail": detail}
        observation.steps = [steps.get(each) or _fresh_step(each) for each in STEPS]
        observation.save(update_fields=["steps"])
        _bump(deployment)


_KEEP: Any = object()


def observe(
    deployment: int,
    state: str,
    failure: Mapping[str, Any] | None = _KEEP,
    *,
    found: str = "",
    since: datetime | None = None,
) -> bool:
    """Write down what is seen, and the failure if one is given (None clears it).

    With ``found``, only if the state is still the one it was found in: False where it is not.
    ``since`` is when the state began, where that is not now.
    Raises ValueError for a state that does not exist.
    """
    if state not in Observed.values:
        raise ValueError(f"there is no observed state {state!r}; there are {Observed.values}")
    with transaction.atomic():
        observation = _observation(deployment)
        if found and observation.state != found:
            return False
        new_failure = observation.failure if failure is _KEEP else failure
        if (observation.state, observation.failure) == (state, new_failure):
            return True
        if observation.state != state:
            if observation.state == Observed.FAILED or state == Observed.STOPPED:
                # Leaving FAILED fulfils a requested restart; STOPPED cancels it.
                Deployment.objects.filter(pk=deployment).update(restart_requested_at=None)
            observation.since = since or timezone.now()
            if state == Observed.RUNNING or not {state, observation.state} <= RETURNING:
                observation.outage = None
        observation.state = state
        observation.failure = None if new_failure is None else dict(new_failure)
        observation.save(update_fields=["state", "since", "failure", "outage"])
        _bump(deployment)
    return True


def record_failure(deployment: int, failure: Mapping[str, Any] | None) -> None:
    """The cause that the page shows at its node; None when it is gone."""
    with transaction.atomic():
        observation = _observation(deployment)
        if observation.failure == failure:
            return
        observation.failure = None if failure is None else dict(failure)
        observation.save(update_fields=["failure"])
        _bump(deployment)


def record_outage(deployment: int, outage: Mapping[str, Any]) -> None:
    """What it waits for, since when, and when it tries again (epoch seconds)."""
    with transaction.atomic():
        observation = _observation(deployment)
        observation.outage = dict(outage)
        observation.save(update_fields=["outage"])
        _bump(deployment)


def begin_run(
    deployment: int,
    pid: int,
    host: str,
    process_born: str,
    epoch: int,
    *,
    report_id: str = "",
    version: int | None = None,
) -> RunSnapshot:
    """Record a driver process. Recording the same process again has no effect.

    ``version`` is the number of the version it runs (default: the wanted one).
    Raises LiveRunExists where another driver of the deployment is alive.
    """
    with transaction.atomic():
        row = _locked(deployment)
        runs = _version(row.topology_id, version) if version is not None else row.version
        try:
            with transaction.atomic():
                run = Run.objects.create(
                    deployment=row,
                    epoch=epoch,
                    version=runs,
                    pid=pid,
                    host=host,
                    process_born=process_born,
                    report_id=report_id or f"{deployment}-{epoch}",
                    restarts=len(_crashes(row)),
                )
        except IntegrityError as error:
            live = _live_runs().filter(deployment=row).select_related("version").first()
            if live is None or (live.pid, live.process_born) != (pid, process_born):
                raise LiveRunExists(
                    f"deployment {deployment} has a live run or a run numbered {epoch} already"
                ) from error
            return _snapshot(live)
        Deployment.objects.filter(pk=deployment).update(restart_requested_at=None)
        _bump(deployment)
    return _snapshot(run)


def end_run(deployment: int, outcome: str, failure: Mapping[str, Any] | None = None) -> None:
    """The driver is gone, with one of the outcomes. Without a live run: nothing.

    Raises ValueError for an outcome that does not exist.
    """
    if outcome not in Outcome.values:
        raise ValueError(f"there is no outcome {outcome!r}; there are {Outcome.values}")
    with transaction.atomic():
        ended = (
            _live_runs()
            .filter(deployment=deployment)
            .update(
                ended_at=timezone.now(),
                outcome=outcome,
                failure=None if failure is None else dict(failure),
            )
        )
        if ended:
            _bump(deployment)


def keep_version(deployment: int, number: int) -> None:
    """The wanted version was refused: want again the one that runs."""
    with transaction.atomic():
        row = _locked(deployment)
        version = _version(row.topology_id, number)
        if row.version_id != version.pk:
            Deployment.objects.filter(pk=deployment).update(
                version=version,
                fallback=None,
                beginning=beginning_without(row, row.version.number),
            )
            audit(
                None, row.workspace_id, "deployment.keep", "deployment", deployment, version=number
            )
            _bump(deployment)


def fall_back(deployment: int) -> int | None:
    """Want the version again that ran before; its number, None where there is none."""
    with transaction.atomic():
        row = _locked(deployment)
        if row.fallback is None:
            return None
        number, failed = row.fallback, row.version.number
        Deployment.objects.filter(pk=deployment).update(
            version=_version(row.topology_id, number),
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
            version=number,
            failed=failed,
        )
        _bump(deployment)
    return number


def arrived(deployment: int) -> None:
    """The running version has done its first batch.

    Nothing falls back any more, unless another version was asked for in the meantime: that one
    falls back to the running one.
    """
    with transaction.atomic():
        row = _locked(deployment)
        run = row.live_run
        other = run is not None and run.version_id != row.version_id
        Deployment.objects.filter(pk=deployment).update(
            fallback=run.version.number if run is not None and other else None
        )
        _bump(deployment)


# -- shared -------------------------------------------------------------------------------------
def _bump(deployment: int) -> None:
    Deployment.objects.filter(pk=deployment).update(
        revision=F("revision") + 1, updated_at=timezone.now()
    )
    deployment_changed(deployment)


def _locked(deployment: int) -> Deployment:
    row = (
        Deployment.objects.select_for_update(of=("self",))
        .select_related("topology", "observation", "version")
        .filter(pk=deployment)
        .first()
    )
    if row is None:
        raise NotFound("not_found", f"There is no deployment {deployment}.")
    return row


def _observation(deployment: int) -> Observation:
    _locked(deployment)
    return Observation.objects.get(deployment=deployment)


def _version(topology: int, number: int) -> Version:
    version = Version.objects.filter(topology=topology, number=number).first()
    if version is None:
        raise NotFound(
            "no_such_version",
            f"This topology has no version {number}.",
            "GET its versions for those that are there.",
            fields={"version": [f"There is no version {number}."]},
        )
    return version


def _live_runs() -> Any:
    return Run.objects.filter(ended_at__isnull=True)


def _crashes(row: Deployment) -> list[Any]:
    lost = row.runs.filter(
        outcome__in=[Outcome.CRASHED, Outcome.KILLED],
        failure__isnull=False,
        ended_at__gte=row.wanted_at,
    )
    return list(lost.order_by("-ended_at").values_list("ended_at", flat=True)[:CRASHES_KEPT])[::-1]


def _fresh_step(name: str) -> dict[str, Any]:
    return next(step for step in waiting_steps() if step["name"] == name)


def _snapshot(run: Run) -> RunSnapshot:
    return RunSnapshot(
        id=run.pk,
        epoch=run.epoch,
        pid=run.pid,
        host=run.host,
        process_born=run.process_born,
        version=run.version.number,
        report_id=run.report_id,
    )
