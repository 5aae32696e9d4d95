"""The only code through which people change deployments.

Each action checks a permission and runs in a transaction, with an audit entry and an event on
commit. Changes by workers are in `deployments.reconciling`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import structlog
from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from accounts.topics import allows
from django.db import IntegrityError, transaction
from django.utils import timezone
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_backend.quotas import require_room
from millrace_model.changes import StartPlanJson, TestsJson
from millrace_model.drivers import DeploymentSettings
from topologies.approving import require_approval
from topologies.models import Topology, Version
from topologies.required import require_tests

from deployments import old_state
from deployments.beginnings import (
    Beginning,
    beginning_with,
    beginning_without,
)
from deployments.changing import ChangeByPerson
from deployments.choices import Desired, Observed, StepState
from deployments.created_topics import create_within_quota
from deployments.events import deployment_changed, wake_reconciler
from deployments.failed_records import end_decisions
from deployments.models import Deployment, Observation, waiting_steps
from deployments.outputs import lock_topology, require_own_outputs
from deployments.plain_dialect import dialect_of, require_plain_beginning
from deployments.preconditions import (
    refuse_another_place,
    refuse_while_followed,
    refuse_while_it_runs,
    require_decisions,
    require_driver,
    require_possible,
)
from deployments.rows import forget, fresh_step, locked, settings_before, version_numbered
from deployments.shadows import refuse_shadow
from deployments.sharing import require_sharing_settings
from deployments.state_plan import Decisions, start_plan

log = structlog.get_logger(__name__)


def create_deployment(
    actor: User, topology: Topology, number: int, target: str, settings: DeploymentSettings
) -> Deployment:
    """Create a deployment of a version of a topology and request its start.

    Raises NotFound if the version does not exist, Conflict if the topology is already deployed in
    the environment or another deployment of it writes the same topics.
    """
    require(actor, topology.workspace_id, Role.OPERATOR)
    if topology.is_fragment:
        raise Conflict(
            "fragment_not_deployed",
            f"“{topology.name}” is a fragment, which runs as part of topologies.",
            "Use it in a topology, and deploy that.",
        )
    version = version_numbered(topology.pk, number)
    tests = require_tests(version)
    require_approval(version, actor)
    try:
        with transaction.atomic():
            # Requests that create deployments at the same time are serialized.
            Workspace.objects.select_for_update().get(pk=topology.workspace_id)
            lock_topology(topology.pk)
            require_own_outputs(topology, version, settings)
            rows = Deployment.objects.filter(workspace=topology.workspace_id)
            require_room("deployments", rows.count())
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
                **_with_doubles(tests),
            )
            deployment_changed(deployment.pk)
            wake_reconciler(deployment.pk)
    except IntegrityError:
        # Another request was first, where rows are not locked.
        require_own_outputs(topology, version, settings)
        raise
    return deployment


def _with_doubles(tests: TestsJson | None) -> dict[str, object]:
    """Return what the audit log notes of required tests that passed only with doubles."""
    return {} if tests is None or not tests["doubled"] else {"tests_with_doubles": tests["doubled"]}


def create_topics(
    actor: User, workspace: Workspace, topics: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Create topics on the cluster: name, partitions, and optionally retention_ms.

    Return the names of those created; topics that exist remain as they are. Raises ApiError for a
    topic that the workspace may not use, Conflict if a quota is reached, Unavailable if the cluster
    does not respond or refuses.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    for topic in topics:
        if not allows(workspace.topic_prefixes, topic["name"]):
            raise ApiError(
                "topic_not_allowed",
                f"This workspace may not use the topic “{topic['name']}”.",
                "Ask the installation's admin for its prefix.",
                fields={"topics": [f"{topic['name']} is not allowed."]},
                topic=topic["name"],
            )
    made = create_within_quota(
        workspace.pk,
        {topic["name"]: topic["partitions"] for topic in topics},
        {topic["name"]: topic["retention_ms"] for topic in topics if "retention_ms" in topic},
    )
    for name in made:
        audit(actor, workspace.pk, "topic.create", "topic", None, name=name)
    return made


def request_start(
    actor: User,
    deployment: Deployment,
    beginning: Beginning | None = None,
    name: str = "",
    *,
    scheduled: bool = False,
) -> None:
    """Request a start, or another attempt after a failure.

    ``beginning``: with empty stores or from other offsets, only while the deployment does not run;
    ``name`` confirms a reset; ``scheduled``: by the schedule that the actor has set. Raises
    ApiError for an invalid beginning, Conflict while it runs.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    if beginning is not None:
        require_plain_beginning(deployment, None, beginning)
        require_possible(deployment, deployment.version, beginning, name)
    noted = {} if beginning is None else beginning.noted()
    if scheduled:
        noted = {**noted, "scheduled": True}
    with ChangeByPerson(actor, deployment, "deployment.start", **noted) as change:
        if beginning is not None:
            refuse_while_it_runs(change.row)
            change.row.beginning = beginning.to_request()
            if not beginning.continues:
                end_decisions(change.row)
        change.row.paused = False
        change.begin_again(waiting_steps())


def request_stop(
    actor: User, deployment: Deployment, *, drain: bool = False, scheduled: bool = False
) -> None:
    """Request a stop; the driver finishes its batch and exits.

    ``drain``: it first reads up to the ends that its topics have when draining begins;
    ``scheduled``: by the schedule that the actor has set. Raises Conflict if no driver is running
    that could drain.
    """
    noted = {"drain": True} if drain else {}
    if scheduled:
        noted["scheduled"] = True
    with ChangeByPerson(actor, deployment, "deployment.stop", **noted) as change:
        if drain:
            states = {Observed.RUNNING, Observed.ASLEEP, Observed.PAUSED}
            require_driver(change.row, states, "Drain it while it runs.")
        change.row.desired = Desired.STOPPED
        change.row.restart_requested_at = None
        change.row.paused, change.row.draining = False, drain


def request_pause(actor: User, deployment: Deployment) -> None:
    """Request a pause: the driver stays alive and reads nothing, also after a restart.

    Raises Conflict if the deployment is not meant to run.
    """
    with ChangeByPerson(actor, deployment, "deployment.pause") as change:
        if change.row.desired != Desired.RUNNING or change.observation.state == Observed.FAILED:
            raise Conflict(
                "not_running",
                f"The deployment of “{change.row.topology.name}” is {change.observation.state}.",
                "Start it first.",
                deployment=change.row.pk,
            )
        change.row.paused = True


def request_resume(actor: User, deployment: Deployment) -> None:
    """Request that a paused driver reads again. Raises Conflict if it is not paused."""
    with ChangeByPerson(actor, deployment, "deployment.resume") as change:
        if not change.row.paused:
            raise Conflict(
                "not_paused",
                f"The deployment of “{change.row.topology.name}” is not paused.",
                "If it is not running, start it.",
                deployment=change.row.pk,
            )
        change.row.paused = False


def delete_old_state(actor: User, deployment: Deployment, name: str) -> None:
    """Delete state that the deployment left a day ago or earlier.

    Raises NotFound if there is no old state of this name, Conflict within the first day.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    found = next((each for each in old_state.old_states(deployment) if each.name == name), None)
    if found is None:
        raise NotFound("no_old_state", f"This deployment has no old state {name[:60]!r}.")
    if found.deletable_at > timezone.now():
        raise Conflict(
            "old_state_is_new",
            "Old state is kept for at least a day, in case the deployment has to return to it.",
            f"Delete it after {found.deletable_at:%Y-%m-%d %H:%M} UTC.",
            deletable_at=found.deletable_at.isoformat(),
        )
    with transaction.atomic():
        audit(
            actor,
            deployment.workspace_id,
            "deployment.delete_old_state",
            "deployment",
            deployment.pk,
            topology=deployment.topology.name,
            name=name,
            left_at=found.left_at.isoformat(),
            bytes=found.bytes,
        )
    old_state.delete(deployment, name)


def request_cancel(actor: User, deployment: Deployment) -> None:
    """Request the previous version instead of one that has not finished a batch yet.

    It continues where it stopped, with its state. Raises Conflict if there is no previous version.
    """
    with ChangeByPerson(actor, deployment, "deployment.cancel") as change:
        row = change.row
        if row.fallback is None or row.desired != Desired.RUNNING:
            raise Conflict(
                "nothing_to_cancel",
                f"Version {row.version.number} of “{row.topology.name}” does not replace another "
                "version, or has already finished its first batch.",
                "Deploy the version that should run.",
                deployment=row.pk,
            )
        change.note(version=row.fallback, cancelled=row.version.number)
        row.beginning = beginning_without(row, row.version.number)
        row.version = version_numbered(row.topology_id, row.fallback)
        row.settings = settings_before(row, row.fallback)
        row.fallback, row.state_decisions = None, {}
        run = row.live_run
        started = run is not None and run.settings not in (None, row.settings)
        row.restart_requested_at = timezone.now() if started else None
        change.begin_again(
            [
                step if step["state"] != StepState.RUNNING else fresh_step(step["name"])
                for step in change.observation.steps
            ]
        )


def request_restart(actor: User, deployment: Deployment) -> None:
    """Request a new driver in place of the running one."""
    with ChangeByPerson(actor, deployment, "deployment.restart") as change:
        steps = change.observation.steps
        if change.observation.state in {Observed.STOPPED, Observed.FAILED}:
            steps = waiting_steps()
        change.begin_again(
            [step if step["name"] != "start" else fresh_step("start") for step in steps]
        )
        change.row.restart_requested_at = timezone.now()


def request_redeploy(
    actor: User,
    deployment: Deployment,
    number: int,
    settings: DeploymentSettings | None = None,
    decisions: Decisions | None = None,
    beginning: Beginning | None = None,
    name: str = "",
) -> None:
    """Request another version or other settings; the running one continues until it is ready.

    ``decisions``: what happens to stores whose rows the version cannot carry over, by store id;
    ``beginning``: with empty stores or from other offsets; ``name`` confirms a reset. Raises
    NotFound if the version does not exist, Conflict for a start setting if the deployment continues
    from its checkpoint, for an environment or topics of another deployment of the topology, and
    with the plan of the change if a decision is missing.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    refuse_shadow(deployment)
    version = version_numbered(deployment.topology_id, number)
    tests = None
    if version.pk != deployment.version_id:
        tests = require_tests(version)
        require_approval(version, actor)
    decided = dict(decisions or {})
    if beginning is not None:
        require_plain_beginning(deployment, settings, beginning)
        require_possible(deployment, version, beginning, name, settings)
    if beginning is None or not beginning.resets_stores:
        require_decisions(deployment, version, decided, settings)
    noted: dict[str, object] = {} if settings is None else {"settings": dict(settings)}
    if beginning is not None:
        noted |= beginning.noted()
    if decided:
        noted["stores"] = decided
    noted |= _with_doubles(tests)
    with ChangeByPerson(
        actor, deployment, "deployment.redeploy", version=number, **noted
    ) as change:
        if settings is not None:
            refuse_another_place(change.row, settings)
        lock_topology(change.row.topology_id)
        wanted = change.row.settings if settings is None else settings
        require_own_outputs(change.row.topology, version, wanted, change.row)
        other_version = change.row.version_id != version.pk
        other_settings = settings is not None and dict(settings) != change.row.settings
        running = change.row.desired == Desired.RUNNING
        failed = change.observation.state == Observed.FAILED
        moved = beginning is not None and not beginning.continues
        if not (other_version or other_settings or failed or moved) and running:
            return
        run = change.row.live_run
        if (other_version or other_settings) and change.row.fallback is None and run is not None:
            change.row.fallback = run.version.number
        change.row.version = version
        change.row.state_decisions = decided
        if settings is not None:
            if dialect_of(settings) != dialect_of(change.row.settings):
                _leave_state(change.row)
            change.row.settings = dict(settings)
        if beginning is not None:
            change.row.beginning = beginning_with(change.row, beginning, number)
            if moved:
                end_decisions(change.row)
        change.begin_again(waiting_steps())
        if (other_settings or moved) and not other_version:
            change.row.restart_requested_at = timezone.now()


def request_scale(actor: User, deployment: Deployment, settings: Mapping[str, int]) -> None:
    """Request other threads or memory, with the same version and all of its state.

    Both belong to the process, so another driver takes over (`handover`). If that one does not
    start, the deployment continues unchanged. Raises Conflict if it is not running.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    refuse_shadow(deployment)
    states = {Observed.RUNNING, Observed.ASLEEP, Observed.PAUSED, Observed.DEGRADED}
    row = Deployment.objects.select_related("observation", "topology", "version").get(
        pk=deployment.pk
    )
    require_driver(row, states, "Scale it while it runs, or start it with other settings.")
    scaled = cast(DeploymentSettings, {**row.settings, **settings})
    require_sharing_settings(scaled)
    request_redeploy(actor, row, row.version.number, scaled)


def _leave_state(row: Deployment) -> None:
    """Detach the deployment from its state: another dialect begins with its own checkpoint."""
    row.beginning, row.has_state, row.paused = None, False, False
    end_decisions(row)


def plan_redeploy(
    deployment: Deployment,
    version: Version,
    beginning: Beginning | None = None,
    settings: DeploymentSettings | None = None,
) -> StartPlanJson:
    """Return what deploying a version, saved or not, would do to the existing state.

    ``beginning``: from another position; ``settings``: to use instead of the present ones. Raises
    ApiError if it does not compile or the beginning is invalid, Conflict for an environment or
    topics of another deployment of the topology, Unavailable if the analyzer does not respond.
    """
    if beginning is not None:
        require_plain_beginning(deployment, settings, beginning)
        require_possible(deployment, version, beginning, deployment.topology.name, settings)
    wanted = deployment.settings if settings is None else settings
    require_own_outputs(deployment.topology, version, wanted, deployment)
    return start_plan(deployment, version, beginning, settings)


def delete_deployment(actor: User, deployment: Deployment) -> None:
    """Delete a deployment that does not run, with its state, logs and checkpoint.

    Raises Conflict while it runs.
    """
    require(actor, deployment.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        row = locked(deployment.pk)
        refuse_shadow(row)
        refuse_while_followed(row)
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
