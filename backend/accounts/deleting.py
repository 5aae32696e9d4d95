"""Deletes a workspace with all that it contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from millrace_backend.errors import ApiError, Conflict

from accounts.events import audit
from accounts.models import AuditEntry, User, Workspace
from accounts.permissions import require_owner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deployments.models import Deployment
    from django.db.models import QuerySet


@dataclass(frozen=True)
class Contents:
    """What is deleted with a workspace."""

    slug: str
    name: str
    topologies: int
    deployments: int
    #: deployments that have not come to rest, with which it cannot be deleted
    running: int
    members: int


def contents_of(actor: User, workspace: Workspace) -> Contents:
    """Return what is deleted with a workspace, to those who may delete it."""
    require_owner(actor, workspace)
    rows = list(_deployments(workspace))
    return Contents(
        slug=workspace.slug,
        name=workspace.name,
        topologies=workspace.topologies.count(),
        deployments=sum(not row.is_shadow for row in rows),
        running=_running(rows),
        members=workspace.memberships.count(),
    )


def delete_workspace(actor: User, workspace: Workspace, name: str) -> None:
    """Delete a workspace: its admins may, and those of the installation.

    Topologies, deployments with their state, alert rules and memberships are deleted. Accounts,
    topics, a repository and the audit entries remain; the latter in the installation's log. Raises
    ApiError without the workspace's name, Conflict while a deployment runs.
    """
    from deployments.rows import forget
    from topologies.events import topology_deleted
    from topologies.git.binding import forget as forget_repository
    from topologies.models import Repository

    require_owner(actor, workspace)
    if name != workspace.name:
        raise ApiError(
            "name_does_not_match",
            "Deleting a workspace must be confirmed with its name.",
            f"Send “name”: “{workspace.name}”.",
            fields={"name": [f"Type {workspace.name}."]},
        )
    with transaction.atomic():
        # What creates deployments and topologies locks the workspace too.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        rows = list(_deployments(workspace).select_for_update(of=("self",)))
        running = _running(rows)
        if running:
            raise Conflict(
                "workspace_in_use",
                f"Deployments of “{workspace.name}” run: {running}.",
                "Stop them first.",
                running=running,
            )
        for topology in workspace.topologies.all():
            topology_deleted(topology, actor)
        for row in rows:
            forget(row)
        for repository in Repository.objects.filter(workspace=workspace):
            forget_repository(repository)
        AuditEntry.objects.filter(workspace=workspace).update(
            workspace=None, deleted_workspace=workspace.slug
        )
        audit(
            actor, None, "workspace.delete", "workspace", workspace.pk,
            name=workspace.name, slug=workspace.slug,
        )  # fmt: skip
        workspace.delete()


def _deployments(workspace: Workspace) -> QuerySet[Deployment]:
    return workspace.deployments.select_related("topology", "observation").prefetch_related("runs")


def _running(rows: Iterable[Deployment]) -> int:
    from deployments.preconditions import is_at_rest

    return sum(not is_at_rest(row) for row in rows)
