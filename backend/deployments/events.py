"""Events for pages and for the reconciler after a change to a deployment."""

from __future__ import annotations

from functools import partial

import structlog
from django.db import transaction
from kombu.exceptions import KombuError
from live.events import publish
from millrace_backend import queue
from millrace_backend.redis import client, run_snapshot, run_stream
from redis.exceptions import RedisError

from deployments.models import Deployment

log = structlog.get_logger(__name__)

#: known by name alone: the backend does not import the workers
RECONCILE_TASK = "millrace_workers.tasks.reconcile"


def deployment_changed(deployment: int) -> None:
    """Publish the deployment to the pages of its workspace, on commit."""
    transaction.on_commit(partial(_publish, deployment), robust=True)


def deployment_deleted(deployment: Deployment) -> None:
    """Publish the deletion, on commit, and delete the reports of its runs."""
    data = {"id": deployment.pk, "topology": deployment.topology_id}
    workspace, topology = deployment.workspace_id, deployment.topology_id
    reports = list(deployment.runs.values_list("report_id", flat=True))

    def forget() -> None:
        if not deployment.is_shadow:
            publish(workspace, "deployment.deleted", data, topology=topology)
        keys = [name(each) for each in reports for name in (run_stream, run_snapshot)]
        try:
            if keys:
                client().delete(*keys)
        except RedisError as error:
            log.warning("reports could not be deleted", deployment=data["id"], reason=str(error))

    transaction.on_commit(forget, robust=True)


def wake_reconciler(deployment: int) -> None:
    """Queue a step of the reconciler on commit, ahead of its next tick."""
    transaction.on_commit(partial(_wake, deployment), robust=True)


def _publish(deployment: int) -> None:
    from deployments.api.serializers import DeploymentSerializer
    from deployments.queries import whole

    # Read again after the commit: of two events that cross, both then carry the newer state.
    # A shadow is shown with the deployment that it follows, which has not changed.
    found = whole(Deployment.objects.filter(pk=deployment, is_shadow=False)).first()
    if found is not None:
        publish(
            found.workspace_id,
            "deployment.changed",
            dict(DeploymentSerializer(found).data),
            topology=found.topology_id,
        )


def _wake(deployment: int) -> None:
    try:
        queue.send(RECONCILE_TASK, deployment, expires=30)
    except (KombuError, RedisError, OSError) as error:
        # The reconciler's own tick finds the deployment as soon as the broker is back.
        log.warning(
            "the reconciler could not be notified", deployment=deployment, reason=str(error)
        )
