"""Events for pages after a change to a topology."""

from __future__ import annotations

from functools import partial

from accounts.models import User
from django.db import transaction
from live.events import publish

from topologies.models import Draft, Topology, Version


def version_created(version: Version, actor: User) -> None:
    """Publish a saved version, on commit."""
    from topologies.api.serializers import VersionSummarySerializer

    transaction.on_commit(
        partial(
            publish,
            version.topology.workspace_id,
            "version.created",
            {"topology": version.topology_id, **VersionSummarySerializer(version).data},
            topology=version.topology_id,
            actor=actor.pk,
        ),
        robust=True,
    )


def draft_changed(draft: Draft, actor: User) -> None:
    """Presence changed; drafts themselves are not published."""
    data = {"topology": draft.topology_id, "user_id": actor.pk, "user": actor.shown_name}
    workspace = draft.topology.workspace_id
    transaction.on_commit(
        partial(
            publish,
            workspace,
            "draft.changed",
            data,
            topology=draft.topology_id,
            actor=actor.pk,
        ),
        robust=True,
    )


def topology_changed(topology: Topology, actor: User) -> None:
    """Its name or description changed."""
    data = {
        "topology": topology.pk,
        "name": topology.name,
        "description": topology.description,
    }
    transaction.on_commit(
        partial(
            publish,
            topology.workspace_id,
            "topology.changed",
            data,
            topology=topology.pk,
            actor=actor.pk,
        ),
        robust=True,
    )


def topology_deleted(topology: Topology, actor: User) -> None:
    """Publish a deletion, on commit."""
    transaction.on_commit(
        partial(
            publish,
            topology.workspace_id,
            "topology.deleted",
            {"topology": topology.pk},
            topology=topology.pk,
            actor=actor.pk,
        ),
        robust=True,
    )
