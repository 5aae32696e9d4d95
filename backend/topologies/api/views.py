"""Views for topologies, drafts, versions, compilation and export."""

from __future__ import annotations

from typing import Any

from accounts.choices import Role
from accounts.models import User
from accounts.permissions import workspace_for
from catalog.templates import template
from deployments.choices import Shown
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import (
    PAGE_PARAMETERS,
    ApiView,
    ordering_parameter,
    valid,
)
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import actions
from topologies.api import serializers as shapes
from topologies.api.compile_serializers import (
    CompileRequestSerializer,
    CompileResultSerializer,
    ExportQuerySerializer,
)
from topologies.api.fragment_serializers import DeletionQuerySerializer
from topologies.choices import Dialect
from topologies.compiling import compiled
from topologies.environments import ENVIRONMENTS, document_in
from topologies.exporting import export, file_name
from topologies.models import Draft, Topology, Version, empty_document
from topologies.queries import in_state, visible_topologies, whole
from topologies.templating import create_from_template
from topologies.topics import refusals

ORDERINGS = ("updated_at", "name", "created_at", "node_count")


def topology_of(reader: User, topology: int) -> Topology:
    """Return the topology if the reader is a member of its workspace. Raises NotFound."""
    found = visible_topologies(reader).filter(pk=topology).first()
    if found is None:
        raise NotFound("not_found", f"There is no topology {topology} for this account.")
    return found


def version_of(reader: User, topology: int, number: int) -> Version:
    """Return a version with its author, if the reader is a member of its workspace.

    Raises NotFound.
    """
    found = (
        topology_of(reader, topology)
        .versions.select_related("author", "topology")
        .filter(number=number)
        .first()
    )
    if found is None:
        raise NotFound("no_such_version", f"Topology {topology} has no version {number}.")
    return found


def shown(reader: User, topology: int) -> Response:
    """Return one topology in the form of the list."""
    row = whole(Topology.objects.filter(pk=topology), reader).get()
    return Response(shapes.TopologySerializer(row).data)


def shown_draft(topology: Topology, draft: Draft | None) -> Response:
    """The draft; without one, the latest version, or an empty document if there is none."""
    if draft is not None:
        return Response(shapes.DraftSerializer(draft).data)
    latest = topology.versions.filter(number=topology.latest_number).first()
    content: dict[str, Any] = {
        "document": latest.document if latest else empty_document(topology.name),
        "base_version": latest.number if latest else None,
        "updated_at": None,
        "revision": None,
    }
    return Response(content)


class TopologiesView(ApiView):
    """The topologies of a workspace."""

    @extend_schema(
        parameters=[
            *PAGE_PARAMETERS,
            SEARCH_PARAMETER,
            ordering_parameter(ORDERINGS),
            shapes.TopologyQuerySerializer,
        ],
        responses=paged(shapes.TopologySerializer),
        operation_id="topology_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List the workspace's topologies, last changed first."""
        found = workspace_for(self.person, workspace)
        rows = whole(Topology.objects.filter(workspace=found, is_fragment=False), self.person)
        asked = valid(shapes.TopologyQuerySerializer, request.query_params)
        if "state" in asked:
            rows = in_state(rows, Shown(asked["state"]))
        return self.page(
            rows,
            shapes.TopologySerializer,
            search=["name", "description"],
            ordering=ORDERINGS,
        )

    @extend_schema(
        request=shapes.NewTopologySerializer,
        responses={201: shapes.TopologySerializer},
        operation_id="topology_create",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Create a topology (editor): empty, from a document, or from a template with its tests."""
        found = workspace_for(self.person, workspace, Role.EDITOR)
        values = valid(shapes.NewTopologySerializer, request.data)
        name, described = values["name"], values["description"]
        if "template" in values:
            chosen = template(values["template"])
            topology = create_from_template(self.person, found, chosen, name, description=described)
        else:
            topology = actions.create_topology(
                self.person,
                found,
                name,
                values.get("document"),
                description=described,
                message="Imported" if "document" in values and not values["fragment"] else "",
                fragment=values["fragment"],
            )
        response = shown(self.person, topology.pk)
        response.status_code = 201
        return response


class TopologyView(ApiView):
    """One topology."""

    @extend_schema(responses=shapes.TopologySerializer, operation_id="topology_get")
    def get(self, request: Request, topology: int) -> Response:
        """Return a topology, in the form of the list."""
        return shown(self.person, topology_of(self.person, topology).pk)

    @extend_schema(
        request=shapes.TopologyChangeSerializer,
        responses=shapes.TopologySerializer,
        operation_id="topology_update",
    )
    def patch(self, request: Request, topology: int) -> Response:
        """Change name or description (editor)."""
        row = topology_of(self.person, topology)
        given = valid(shapes.TopologyChangeSerializer, request.data)
        actions.update_topology(self.person, row, **given)
        return shown(self.person, row.pk)

    @extend_schema(
        parameters=[DeletionQuerySerializer],
        responses={204: None},
        operation_id="topology_delete",
    )
    def delete(self, request: Request, topology: int) -> Response:
        """Delete a topology and all its versions (editor; operator if it is deployed).

        409 with the names of those that use it, for a fragment that is used.
        """
        asked = valid(DeletionQuerySerializer, request.query_params)
        row = topology_of(self.person, topology)
        actions.delete_topology(self.person, row, used=asked["used"])
        return Response(status=204)


class DraftView(ApiView):
    """The user's own draft."""

    @extend_schema(responses=shapes.DraftSerializer, operation_id="draft_get")
    def get(self, request: Request, topology: int) -> Response:
        """Return the draft, else the latest version, or an empty document if there is none."""
        row = topology_of(self.person, topology)
        return shown_draft(row, Draft.objects.filter(topology=row, user=self.person).first())

    @extend_schema(
        request=shapes.NewDraftSerializer,
        responses={200: shapes.DraftSerializer, 409: shapes.DraftConflictSerializer},
        operation_id="draft_save",
    )
    def put(self, request: Request, topology: int) -> Response:
        """Save the draft (editor). The document may contain errors. 409 with both drafts if the
        revision does not match. A document that equals its base version deletes the draft.
        """
        row = topology_of(self.person, topology)
        given = valid(shapes.NewDraftSerializer, request.data)
        return shown_draft(row, actions.save_draft(self.person, row, **given))

    @extend_schema(responses={204: None}, operation_id="draft_discard")
    def delete(self, request: Request, topology: int) -> Response:
        """Discard the draft (editor)."""
        actions.discard_draft(self.person, topology_of(self.person, topology))
        return Response(status=204)


class VersionsView(ApiView):
    """The versions of a topology."""

    @extend_schema(
        parameters=PAGE_PARAMETERS,
        responses=paged(shapes.VersionSummarySerializer),
        operation_id="version_list",
    )
    def get(self, request: Request, topology: int) -> Response:
        """List versions without their documents, newest first."""
        row = topology_of(self.person, topology)
        versions = row.versions.select_related("author", "commit").defer("document")
        versions = versions.prefetch_related("approvals__user")
        return self.page(versions, shapes.VersionSummarySerializer)

    @extend_schema(
        request=shapes.NewVersionSerializer,
        responses={201: shapes.VersionSerializer, 409: shapes.VersionConflictSerializer},
        operation_id="version_create",
    )
    def post(self, request: Request, topology: int) -> Response:
        """Save a version (editor); 409 with both versions if another was saved in the meantime."""
        row = topology_of(self.person, topology)
        given = valid(shapes.NewVersionSerializer, request.data)
        version = actions.save_version(self.person, row, **given)
        return Response(shapes.VersionSerializer(version).data, status=201)


class VersionView(ApiView):
    """One version."""

    @extend_schema(responses=shapes.VersionSerializer, operation_id="version_get")
    def get(self, request: Request, topology: int, number: int) -> Response:
        """Return a version with its document."""
        return Response(shapes.VersionSerializer(version_of(self.person, topology, number)).data)

    @extend_schema(
        request=shapes.VersionNameSerializer,
        responses=shapes.VersionSummarySerializer,
        operation_id="version_name",
    )
    def patch(self, request: Request, topology: int, number: int) -> Response:
        """Name a version (editor)."""
        version = version_of(self.person, topology, number)
        given = valid(shapes.VersionNameSerializer, request.data)
        actions.name_version(self.person, version, given["name"])
        return Response(shapes.VersionSummarySerializer(version).data)


class ExportView(ApiView):
    """A version as code to download."""

    throttle_scope = "compile"

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "dialect",
                str,
                enum=Dialect.values,
                default=Dialect.EXACT,
                description="plain: a program that imports nothing but pyspark.",
            )
        ],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
        operation_id="version_export",
    )
    def get(self, request: Request, topology: int, number: int) -> HttpResponse:
        """Return a zip file with the program, its runtime and instructions."""
        version = version_of(self.person, topology, number)
        asked = valid(ExportQuerySerializer, request.query_params)
        return HttpResponse(
            export(version, self.person, asked["dialect"]),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{file_name(version)}"'},
        )


class CompileView(ApiView):
    """Compile a document, saved or not."""

    throttle_scope = "compile"

    @extend_schema(
        request=CompileRequestSerializer,
        responses=CompileResultSerializer,
        operation_id="compile",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Return diagnostics, types, plan and code, also for documents with errors."""
        found = workspace_for(self.person, workspace)
        given = valid(CompileRequestSerializer, request.data)
        asked = given
        answer = compiled(
            asked["document"], self.person, found, asked["dialect"], asked["conditions"]
        )
        # Topics of all environments: a deployment may name any of them.
        for environment in (None, *ENVIRONMENTS):
            document = document_in(asked["document"], environment)
            refused = [each.to_json() for each in refusals(document, found.topic_prefixes)]
            answer["diagnostics"] += [each for each in refused if each not in answer["diagnostics"]]
        return Response({**answer, "revision": asked["revision"]})
