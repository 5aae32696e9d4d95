"""What a page shows when it opens, read from the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accounts.models import ApiToken, User
from accounts.permissions import role_in
from deployments.api.serializers import DeploymentSerializer
from deployments.models import Deployment
from deployments.queries import whole as whole_deployments
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import close_old_connections
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from topologies.api.serializers import TopologySerializer
from topologies.models import Topology
from topologies.queries import whole as whole_topologies

#: maximum number of deployments on the page of a workspace
MOST_DEPLOYMENTS = 500


@dataclass(frozen=True)
class Scope:
    """A reader, and what they listen to: one topology or a whole workspace.

    The reader is authenticated by an API token (its id) or a session (its key). ``deployment``: the
    one of the topology that the page shows; None: the newest.
    """

    user: int
    user_name: str
    workspace: int
    topology: int | None = None
    token: int | None = None
    session: str = ""
    deployment: int | None = None


def topology_for(scope: Scope, topology: int) -> dict[str, Any] | None:
    """Return the topology as the reader sees it in lists; None if it was deleted."""
    try:
        reader = User(pk=scope.user)
        rows = Topology.objects.filter(pk=topology, workspace=scope.workspace)
        row = whole_topologies(rows, reader).first()
        return None if row is None else dict(TopologySerializer(row).data)
    finally:
        close_old_connections()


def deployments_for(scope: Scope) -> list[dict[str, Any]]:
    """Return the deployments in the scope, newest first."""
    try:
        rows = Deployment.objects.filter(workspace=scope.workspace, is_shadow=False)
        if scope.topology is not None:
            rows = rows.filter(topology=scope.topology)
        found = whole_deployments(rows)[:MOST_DEPLOYMENTS]
        return [dict(row) for row in DeploymentSerializer(found, many=True).data]
    finally:
        close_old_connections()


def may_listen(scope: Scope) -> bool:
    """Whether the token or session is still valid and its person still a member."""
    try:
        user = _reader(scope)
        return user is not None and role_in(user, scope.workspace) is not None
    finally:
        close_old_connections()


def _reader(scope: Scope) -> User | None:
    """Return the active account of the token or session; None if that has ended."""
    if scope.token is not None:
        tokens = ApiToken.objects.filter(pk=scope.token, user__is_active=True)
        valid = tokens.filter(Q(expiry__isnull=True) | Q(expiry__gt=timezone.now()))
        found = valid.select_related("user").first()
        return None if found is None else found.user
    request = HttpRequest()
    request.session = SessionStore(scope.session)
    user = get_user(request)
    return user if isinstance(user, User) and user.pk == scope.user else None
