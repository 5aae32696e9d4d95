"""Views of drafts across topologies: one's own, and abandoned ones."""

from __future__ import annotations

from typing import Any, ClassVar

from accounts.api.installation_views import InstallationView
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import actions
from topologies.models import Draft


class AbandonedDraftSerializer(serializers.ModelSerializer[Draft]):
    """A draft without its content, which is private."""

    user = serializers.CharField(source="user.username", read_only=True)
    workspace = serializers.CharField(source="topology.workspace.slug", read_only=True)

    class Meta:
        model = Draft
        fields: ClassVar = ["id", "user", "workspace", "size", "updated_at"]
        read_only_fields = fields


class OwnDraftSerializer(serializers.ModelSerializer[Draft]):
    """One of the user's own drafts."""

    topology = serializers.IntegerField(source="topology_id", read_only=True)
    name = serializers.CharField(source="topology.name", read_only=True)
    workspace = serializers.CharField(source="topology.workspace.slug", read_only=True)

    class Meta:
        model = Draft
        fields: ClassVar = ["id", "topology", "name", "workspace", "size", "updated_at"]
        read_only_fields = fields


class DraftsView(ApiView):
    """The user's own drafts, of all topologies."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(OwnDraftSerializer),
        operation_id="draft_list",
    )
    def get(self, request: Request) -> Response:
        """List the user's own drafts, the last changed first."""
        rows = actions.drafts_of(self.person)
        names = ["topology__name", "topology__workspace__slug"]
        return self.page(rows, OwnDraftSerializer, search=names)


class OwnDraftView(ApiView):
    """One of the user's own drafts."""

    @extend_schema(responses={204: None}, operation_id="draft_delete")
    def delete(self, request: Request, draft: int) -> Response:
        """Delete one of the user's own drafts, whatever their role is now."""
        actions.delete_draft(self.person, _draft(actions.drafts_of(self.person), draft))
        return Response(status=204)


class AbandonedDraftsView(InstallationView):
    """Drafts that nobody can open."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(AbandonedDraftSerializer),
        operation_id="installation_draft_list",
    )
    def get(self, request: Request) -> Response:
        """List drafts of closed accounts and former members (admin of the installation)."""
        return self.page(
            actions.abandoned_drafts(),
            AbandonedDraftSerializer,
            search=["user__username", "topology__workspace__slug"],
        )


class AbandonedDraftView(InstallationView):
    """One abandoned draft."""

    session_only = frozenset({"DELETE"})

    @extend_schema(responses={204: None}, operation_id="installation_draft_delete")
    def delete(self, request: Request, draft: int) -> Response:
        """Delete an abandoned draft (admin of the installation)."""
        actions.delete_draft(self.person, _draft(actions.abandoned_drafts(), draft))
        return Response(status=204)


def _draft(rows: Any, draft: int) -> Draft:
    found: Draft | None = rows.filter(pk=draft).first()
    if found is None:
        raise NotFound("not_found", f"There is no draft {draft}.")
    return found
