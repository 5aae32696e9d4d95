"""Views for the fragments of a workspace."""

from __future__ import annotations

from accounts.permissions import workspace_for
from django.db.models import F, Prefetch
from drf_spectacular.utils import extend_schema
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, ordering_parameter
from rest_framework.request import Request
from rest_framework.response import Response

from topologies.api.fragment_serializers import FragmentSerializer, FragmentUserSerializer
from topologies.api.views import topology_of
from topologies.fragments import fragments_of, users_of
from topologies.models import Version

ORDERINGS = ("updated_at", "name", "users")


class FragmentsView(ApiView):
    """The fragments of a workspace."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER, ordering_parameter(ORDERINGS)],
        responses=paged(FragmentSerializer),
        operation_id="fragment_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List the workspace's fragments with their inputs and outputs, last changed first."""
        found = workspace_for(self.person, workspace)
        newest = Version.objects.filter(number=F("topology__latest_number"))
        rows = fragments_of(found.pk).select_related("updated_by")
        return self.page(
            rows.prefetch_related(Prefetch("versions", newest, to_attr="newest")),
            FragmentSerializer,
            search=["name", "description"],
            ordering=ORDERINGS,
        )


class FragmentUsersView(ApiView):
    """Who uses a fragment."""

    @extend_schema(responses=FragmentUserSerializer(many=True), operation_id="fragment_users")
    def get(self, request: Request, topology: int) -> Response:
        """List topologies whose newest version contains versions of the fragment, by name."""
        row = topology_of(self.person, topology)
        return Response(FragmentUserSerializer(users_of(row), many=True).data)
