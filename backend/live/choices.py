"""Choices of live events."""

from django.db import models


class LiveEvent(models.TextChoices):
    """Names of server-sent events."""

    SNAPSHOT = "snapshot", "Snapshot"
    DEPLOYMENT_CHANGED = "deployment.changed", "Deployment changed"
    DEPLOYMENT_DELETED = "deployment.deleted", "Deployment deleted"
    TOPOLOGY_CHANGED = "topology.changed", "Topology changed"
    TOPOLOGY_DELETED = "topology.deleted", "Topology deleted"
    VERSION_CREATED = "version.created", "Version created"
    VERSION_APPROVED = "version.approved", "Version approved"
    COMMENTS_CHANGED = "comments.changed", "Comments changed"
    DRAFT_CHANGED = "draft.changed", "Draft changed"
    RUNTIME_PROGRESS = "runtime.progress", "Runtime progress"
    RUNTIME_LOG = "runtime.log", "Runtime log"
    PRESENCE = "presence", "Presence"
    CURSOR = "cursor", "Cursor"
