"""Live events for changes to topologies."""

from __future__ import annotations

from functools import partial

from accounts.models import User
from django.db import transaction
from live.events import publish

from topologies.models import Draft, Topology, Version


def version_created(version: Version, actor: User) -> None:
    """Publish a saved version, on commit."""
    from topologies.api.serializers import VersionSummarySerializer

    data = {"topology": version.topology_id, **VersionSummarySerializer(version).data}
    _publish("version.created", version.topology, actor, data)


def draft_changed(draft: Draft, actor: User) -> None:
    """Publish on commit that somebody edits a topology; the draft itself is not published."""
    data = {"topology": draft.topology_id, "user_id": actor.pk, "user": actor.shown_name}
    _publish("draft.changed", draft.topology, actor, data)


def version_approved(version: Version, actor: User) -> None:
    """Publish that approvals of a version have changed, on commit."""
    data: dict[str, object] = {"topology": version.topology_id, "number": version.number}
    _publish("version.approved", version.topology, actor, data)


def comments_changed(topology: Topology, actor: User) -> None:
    """Publish that comments of a topology have changed, on commit."""
    _publish("comments.changed", topology, actor, {"topology": topology.pk})


def topology_changed(topology: Topology, actor: User) -> None:
    """Publish a topology's name and description, on commit."""
    data = {
        "topology": topology.pk,
        "name": topology.name,
        "description": topology.description,
    }
    _publish("topology.changed", topology, actor, data)


def topology_deleted(topology: Topology, actor: User) -> None:
    """Publish a deletion, on commit."""
    _publish("topology.deleted", topology, actor, {"topology": topology.pk})


def _publish(event: str, topology: Topology, actor: User, data: dict[str, object]) -> None:
    transaction.on_commit(
        partial(publish, topology.workspace_id, event, data, topology=topology.pk, actor=actor.pk),
        robust=True,
    )
