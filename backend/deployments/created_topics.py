"""Topics that workspaces create through Millrace, within their quotas."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.models import Workspace
from django.db import transaction
from django.db.models import Sum
from millrace_backend.quotas import require_room

from deployments.cluster import create_missing, list_topics
from deployments.models import CreatedTopic


def create_within_quota(
    workspace: int, needed: Mapping[str, int], retention_ms: Mapping[str, int] | None = None
) -> list[str]:
    """Create the missing topics (name to partitions), and return the names of those created.

    Topics that no longer exist on the cluster do not count. Raises Conflict if a quota is reached,
    Unavailable if the cluster does not respond or refuses.
    """
    there = {topic["name"] for topic in list_topics([])}
    absent = {name: count for name, count in needed.items() if name not in there}
    with transaction.atomic():
        # Requests that create topics at the same time are serialized.
        Workspace.objects.select_for_update().get(pk=workspace)
        noted = CreatedTopic.objects.filter(workspace=workspace)
        gone = set(noted.values_list("name", flat=True)) - there
        CreatedTopic.objects.filter(name__in=gone | absent.keys()).delete()
        if absent:
            require_room("topics", noted.count(), len(absent))
            partitions = noted.aggregate(Sum("partitions"))["partitions__sum"] or 0
            require_room("partitions", partitions, sum(absent.values()))
        CreatedTopic.objects.bulk_create(
            CreatedTopic(workspace_id=workspace, name=name, partitions=count)
            for name, count in absent.items()
        )
        return create_missing(absent, retention_ms)
