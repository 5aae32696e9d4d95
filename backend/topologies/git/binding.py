"""The only code by which people bind a workspace to a repository and request work on it."""

from __future__ import annotations

import shutil
from functools import partial

import structlog
from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import KombuError
from millrace_backend import queue
from millrace_backend.errors import NotFound
from redis.exceptions import RedisError

from topologies.git.mirror import mirror_folder
from topologies.git.places import place_of, require_branch, require_folder
from topologies.models import (
    DeletedFolder,
    Repository,
    RepositoryFolder,
    Topology,
    VersionCommit,
)

log = structlog.get_logger(__name__)

#: name of the Celery task: the backend does not import the workers
TASK = "millrace_workers.tasks.sync_repository"


def repository_of(workspace: Workspace) -> Repository:
    """Return the workspace's repository. Raises NotFound if it has none."""
    found = Repository.objects.select_related("workspace").filter(workspace=workspace).first()
    if found is None:
        raise NotFound(
            "no_repository",
            "This workspace has no git repository.",
            "An admin of the workspace sets it in the settings.",
        )
    return found


def bind(
    actor: User, workspace: Workspace, url: str, branch: str, folder: str, *, review: bool
) -> Repository:
    """Bind the workspace to a repository, or change how it is used.

    With another address, branch or folder, it begins as with a new one: the latest versions become
    commits there. Raises ApiError for an address that is not permitted, or invalid names.
    """
    require(actor, workspace.pk, Role.ADMIN)
    url = url.rstrip("/") or "/"
    place_of(url, workspace.slug)
    require_branch(branch)
    require_folder(folder)
    with transaction.atomic():
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        found = Repository.objects.filter(workspace=workspace).first()
        if found is not None and (found.url, found.branch, found.folder) != (url, branch, folder):
            forget(found)
            found = None
        if found is None:
            found = Repository(workspace=workspace, url=url, branch=branch, folder=folder)
        found.review = review
        found.save()
        audit(
            actor,
            workspace.pk,
            "repository.bind",
            "workspace",
            workspace.pk,
            name=workspace.name,
            url=url,
            branch=branch,
            folder=folder,
            review=review,
        )
        wake(found)
    return found


def unbind(actor: User, workspace: Workspace) -> None:
    """Unbind the workspace. The repository itself stays as it is. Raises NotFound without one."""
    require(actor, workspace.pk, Role.ADMIN)
    found = repository_of(workspace)
    with transaction.atomic():
        audit(
            actor, workspace.pk, "repository.unbind", "workspace", workspace.pk,
            name=workspace.name, url=found.url,
        )  # fmt: skip
        forget(found)


def request_sync(actor: User, workspace: Workspace, *, accept_history: bool = False) -> Repository:
    """Request that the repository is fetched and that waiting versions are pushed, now.

    ``accept_history``: even if the branch has another history than before. Raises NotFound without
    a repository.
    """
    require(actor, workspace.pk, Role.EDITOR)
    found = repository_of(workspace)
    with transaction.atomic():
        if accept_history:
            found.history_accepted = True
            found.save(update_fields=["history_accepted"])
            audit(
                actor,
                workspace.pk,
                "repository.accept_history",
                "workspace",
                workspace.pk,
                name=workspace.name,
                url=found.url,
                branch=found.branch,
            )
        wake(found)
    return found


def version_saved(workspace: int) -> None:
    """Queue the work on the workspace's repository, if it has one, after a version was saved."""
    found = Repository.objects.filter(workspace=workspace).first()
    if found is not None:
        wake(found)


def folder_deleted(actor: User, topology: Topology) -> None:
    """Note the folder of a topology that is about to be deleted, if it has one."""
    row = RepositoryFolder.objects.filter(topology=topology).first()
    if row is None:
        return
    deleted = DeletedFolder.objects.filter(repository=row.repository_id)
    deleted.filter(name__iexact=row.name).delete()
    DeletedFolder.objects.create(
        repository_id=row.repository_id, name=row.name, topology_name=topology.name, by=actor
    )


def wake(repository: Repository) -> None:
    """Queue the work on a repository, on commit."""
    repository.due_at = timezone.now()
    repository.save(update_fields=["due_at"])
    transaction.on_commit(partial(_send, repository.pk), robust=True)


def _send(repository: int) -> None:
    try:
        queue.send(TASK, repository, expires=60)
    except (KombuError, RedisError, OSError) as error:
        # A worker finds what is due as soon as the broker is back.
        log.warning("git could not be queued", repository=repository, reason=str(error))


def forget(repository: Repository) -> None:
    """Delete the row now, and the copy of the repository on commit. Requires a transaction."""
    workspace = repository.workspace_id
    VersionCommit.objects.filter(version__topology__workspace=workspace).delete()
    repository.delete()
    folder = mirror_folder(workspace)
    transaction.on_commit(partial(shutil.rmtree, folder, ignore_errors=True), robust=True)
