"""Promotion of a version from one environment to another, by the topology's deployment there."""

from __future__ import annotations

from typing import TypedDict, cast

from accounts.models import User
from millrace_backend.errors import ApiError
from millrace_model.changes import ApprovalJson, ParameterChange, StartPlanJson, TestsJson
from millrace_model.drivers import DeploymentSettings
from topologies.approving import approval_of
from topologies.required import tests_of

from deployments import actions
from deployments.environments import changed_parameters
from deployments.models import Deployment
from deployments.outputs import require_own_outputs
from deployments.shadows import refuse_shadow
from deployments.state_plan import Decisions


class PromotionJson(TypedDict):
    """What a promotion would do; ``plan`` is None where there is no deployment yet."""

    environment: str
    version: int
    deployment: int | None
    desired: str | None
    settings: DeploymentSettings
    parameters: list[ParameterChange]
    approval: ApprovalJson
    tests: TestsJson
    plan: StartPlanJson | None


def promotion(row: Deployment, environment: str) -> PromotionJson:
    """Return what deploying a deployment's version in another environment would do.

    Raises ApiError for the deployment's own environment, Conflict if another deployment of the
    topology writes the same topics, and the errors of `plan_redeploy`.
    """
    there = _there(row, environment)
    settings = _settings(row, there, environment)
    if there is None:
        require_own_outputs(row.topology, row.version, settings)
    return {
        "environment": environment,
        "version": row.version.number,
        "deployment": None if there is None else there.pk,
        "desired": None if there is None else there.desired,
        "settings": settings,
        "parameters": changed_parameters((row.version, row.settings), (row.version, settings)),
        "approval": approval_of(row.version),
        "tests": tests_of(row.version),
        "plan": None if there is None else actions.plan_redeploy(there, row.version),
    }


def promote(
    actor: User,
    row: Deployment,
    environment: str,
    settings: DeploymentSettings | None = None,
    decisions: Decisions | None = None,
) -> tuple[Deployment, bool]:
    """Deploy a deployment's version in another environment; return the deployment there.

    Also return whether it was created. Without ``settings``, a deployment that exists keeps its
    own, and one that is created has those of the first; the environment is set. Raises the errors
    of `promotion`, `create_deployment` and `request_redeploy`.
    """
    there = _there(row, environment)
    number = row.version.number
    wanted = settings if settings is None else _in(settings, environment)
    if there is not None:
        actions.request_redeploy(actor, there, number, wanted, decisions)
        return there, False
    created = _settings(row, None, environment) if wanted is None else wanted
    return actions.create_deployment(actor, row.topology, number, row.target, created), True


def _there(row: Deployment, environment: str) -> Deployment | None:
    refuse_shadow(row)
    if environment == row.environment:
        raise ApiError(
            "already_in_environment",
            f"The deployment of “{row.topology.name}” is in {environment} already.",
            "Choose another environment.",
            fields={"environment": ["The deployment is in this environment already."]},
            environment=environment,
        )
    others = row.topology.deployments.filter(is_shadow=False)
    rows = others.select_related("topology", "version", "workspace", "observation")
    return next((each for each in rows if each.environment == environment), None)


def _settings(row: Deployment, there: Deployment | None, environment: str) -> DeploymentSettings:
    found = row.settings if there is None else there.settings
    return _in(cast(DeploymentSettings, found), environment)


def _in(settings: DeploymentSettings, environment: str) -> DeploymentSettings:
    return {**settings, "environment": environment}
