"""Reads rows of deployments for changes, and publishes the changes."""

from __future__ import annotations

import shutil
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from millrace_backend.errors import NotFound
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import DeploymentSettings, StartStep
from topologies.models import Version, hash_of

from deployments.events import deployment_changed, deployment_deleted
from deployments.models import Deployment, Observation, Run, waiting_steps


def bump(deployment: int) -> None:
    """Increment the revision, and publish the change."""
    Deployment.objects.filter(pk=deployment).update(
        revision=F("revision") + 1, updated_at=timezone.now()
    )
    deployment_changed(deployment)


def locked(deployment: int) -> Deployment:
    """The row, locked until the transaction ends. Raises NotFound."""
    row = (
        Deployment.objects.select_for_update(of=("self",))
        .select_related("topology", "observation", "version")
        .filter(pk=deployment)
        .first()
    )
    if row is None:
        raise NotFound("not_found", f"There is no deployment {deployment}.")
    return row


def observation_of(deployment: int) -> Observation:
    """Lock a deployment, and return its observation."""
    locked(deployment)
    return Observation.objects.get(deployment=deployment)


def version_numbered(topology: int, number: int) -> Version:
    """A version of a topology. Raises NotFound."""
    version = Version.objects.filter(topology=topology, number=number).first()
    if version is None:
        raise NotFound(
            "no_such_version",
            f"This topology has no version {number}.",
            "GET the topology's versions to list them.",
            fields={"version": [f"There is no version {number}."]},
        )
    return version


def version_of(row: Deployment, document: TopologyDocument) -> Version:
    """The newest version of a deployment's topology if it has this document, else one to save."""
    newest = version_numbered(row.topology_id, row.topology.latest_number)
    if newest.hash == hash_of(document):
        return newest
    return Version(topology=row.topology, number=newest.number + 1, document=document)


def settings_before(row: Deployment, version: int) -> DeploymentSettings:
    """The settings of the last run of a version that began before the last change by a person."""
    runs = row.runs.filter(version__number=version, started_at__lt=row.wanted_at)
    run = runs.exclude(settings__isnull=True).order_by("-epoch").first()
    found: DeploymentSettings | None = None if run is None else run.settings
    return row.settings if found is None else found


def live_runs() -> Any:
    """The runs that have not ended."""
    return Run.objects.filter(ended_at__isnull=True)


def fresh_step(name: str) -> StartStep:
    """A step that waits."""
    return next(step for step in waiting_steps() if step["name"] == name)


def forget(row: Deployment) -> None:
    """Delete the row now, and its folder on commit. Requires a transaction."""
    transaction.on_commit(partial(shutil.rmtree, row.directory, ignore_errors=True), robust=True)
    deployment_deleted(row)
    row.delete()
