"""What a deployment must be like for a change: each function raises an error if it is not."""

from __future__ import annotations

import structlog
from millrace_backend.errors import ApiError, Conflict
from millrace_model.drivers import DeploymentSettings
from topologies.models import Version

from deployments.beginnings import Beginning, check, require_name
from deployments.choices import Desired, Observed
from deployments.models import Deployment
from deployments.plain_dialect import dialect_of
from deployments.shadows import has_shadow
from deployments.state_plan import Decisions, read_topics, state_plan

log = structlog.get_logger(__name__)


def require_driver(row: Deployment, states: set[Observed], hint: str) -> None:
    """Raise Conflict, with a hint, unless the deployment has a driver in one of these states."""
    if row.desired != Desired.RUNNING or row.observation.state not in states:
        raise Conflict(
            "not_running",
            f"The deployment of “{row.topology.name}” is {row.observation.state}.",
            hint,
            deployment=row.pk,
        )


def refuse_another_place(row: Deployment, settings: DeploymentSettings) -> None:
    """Raise Conflict for settings that need another checkpoint than the one there is."""
    if not row.has_checkpoint:
        return
    place = settings.get("checkpoint")
    if place and dialect_of(settings) != dialect_of(row.settings):
        raise Conflict(
            "has_checkpoint",
            f"The deployment of “{row.topology.name}” stores its offsets in {place}, where the "
            "other dialect does not find them.",
            "Do not change “dialect”, or delete the deployment and deploy the topology again.",
            deployment=row.pk,
        )
    if place != row.settings.get("checkpoint"):
        raise Conflict(
            "has_checkpoint",
            f"The deployment of “{row.topology.name}” stores its state in "
            f"{row.settings.get('checkpoint') or 'the data folder'} and cannot continue in "
            f"{place or 'the data folder'}.",
            "Do not change “checkpoint”, or delete the deployment and deploy the topology again.",
            deployment=row.pk,
        )
    start = settings.get("start", row.settings.get("start"))
    if start != row.settings.get("start"):
        raise Conflict(
            "has_checkpoint",
            f"The deployment of “{row.topology.name}” continues from its checkpoint: it cannot "
            f"start from {start}.",
            "Omit “start”, and set the position in “start_from”.",
            deployment=row.pk,
        )


def require_possible(
    deployment: Deployment,
    version: Version,
    beginning: Beginning,
    name: str,
    settings: DeploymentSettings | None = None,
) -> None:
    """Raise ApiError for an invalid beginning, or for a reset without the deployment's name.

    Raises Conflict while a shadow follows: it would read other records than the deployment.
    """
    if not beginning.continues:
        refuse_while_followed(deployment)
    require_name(deployment, beginning, name)
    if beginning.offsets:
        wanted = deployment.settings if settings is None else settings
        topics = read_topics(version, deployment.workspace, wanted)
        check(beginning, version, topics, wanted)


def require_decisions(
    deployment: Deployment,
    version: Version,
    decisions: Decisions,
    settings: DeploymentSettings | None,
) -> None:
    """Raise Conflict if the change needs decisions that are missing.

    If the plan cannot be made, the driver applies the same rules before it reads.
    """
    try:
        plan = state_plan(deployment, version, settings)
    except Conflict:
        raise
    except ApiError as error:
        log.info("the change could not be planned", deployment=deployment.pk, reason=str(error))
        return
    if plan is not None:
        plan.require(decisions)


def refuse_while_followed(row: Deployment) -> None:
    """Raise Conflict for a deployment that has a shadow."""
    if has_shadow(row):
        raise Conflict(
            "has_shadow",
            f"The deployment of “{row.topology.name}” has a shadow.",
            "End it first.",
            deployment=row.pk,
        )


def is_at_rest(row: Deployment) -> bool:
    """Return whether no driver of the deployment runs or is being started."""
    at_rest = row.observation.state in {Observed.STOPPED, Observed.FAILED, Observed.NEW}
    return at_rest and row.live_run is None


def refuse_while_it_runs(row: Deployment) -> None:
    """Raise Conflict unless the deployment has come to rest."""
    if not is_at_rest(row):
        raise Conflict(
            "still_running",
            f"The deployment of “{row.topology.name}” is {row.observation.state}.",
            "Stop it first.",
            deployment=row.pk,
        )
