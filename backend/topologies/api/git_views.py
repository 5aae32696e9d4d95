"""Views for the git repository of a workspace."""

from __future__ import annotations

from accounts.choices import Role
from accounts.models import Workspace
from accounts.permissions import workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.views import ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from topologies.api import git_serializers as shapes
from topologies.git import binding, taking
from topologies.git.places import roots_of
from topologies.models import Repository


def _shown(workspace: Workspace) -> Response:
    found = Repository.objects.select_related("workspace").filter(workspace=workspace).first()
    state = {"roots": roots_of(workspace.slug), "repository": found}
    return Response(shapes.RepositoryStateSerializer(state).data)


class RepositoryView(ApiView):
    """The git repository of a workspace."""

    @extend_schema(responses=shapes.RepositoryStateSerializer, operation_id="repository_get")
    def get(self, request: Request, workspace: str) -> Response:
        """Return the repository, if there is one, and where one is permitted."""
        return _shown(workspace_for(self.person, workspace))

    @extend_schema(
        request=shapes.NewRepositorySerializer,
        responses=shapes.RepositoryStateSerializer,
        operation_id="repository_bind",
    )
    def put(self, request: Request, workspace: str) -> Response:
        """Bind the workspace to a repository (admin): its versions become commits there."""
        found = workspace_for(self.person, workspace, Role.ADMIN)
        given = valid(shapes.NewRepositorySerializer, request.data)
        binding.bind(self.person, found, **given)
        return _shown(found)

    @extend_schema(responses={204: None}, operation_id="repository_unbind")
    def delete(self, request: Request, workspace: str) -> Response:
        """Unbind the workspace (admin). The repository stays as it is."""
        binding.unbind(self.person, workspace_for(self.person, workspace, Role.ADMIN))
        return Response(status=204)


class RepositorySyncView(ApiView):
    """Work on the repository."""

    @extend_schema(
        request=shapes.SyncSerializer,
        responses=shapes.RepositoryStateSerializer,
        operation_id="repository_sync",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Request a pull, and a push of the versions that wait (editor). A worker does both."""
        found = workspace_for(self.person, workspace, Role.EDITOR)
        given = valid(shapes.SyncSerializer, request.data)
        binding.request_sync(self.person, found, accept_history=given["accept_history"])
        return _shown(found)


class OutsideChangesView(ApiView):
    """Changes that other people made in the repository."""

    @extend_schema(
        responses=shapes.OutsideChangeSerializer(many=True),
        operation_id="repository_change_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List the folders that others have changed, as of the last pull."""
        found = binding.repository_of(workspace_for(self.person, workspace))
        listed = [shapes.OutsideChangeSerializer(each).data for each in taking.changes(found)]
        return Response(listed)


class OutsideChangeView(ApiView):
    """A change of one folder."""

    @extend_schema(
        responses=shapes.OutsideChangeDetailSerializer, operation_id="repository_change_get"
    )
    def get(self, request: Request, workspace: str, folder: str) -> Response:
        """Return a change with the documents of both sides."""
        found = binding.repository_of(workspace_for(self.person, workspace))
        change = taking.change_of(found, folder)
        return Response(shapes.OutsideChangeDetailSerializer(change).data)

    @extend_schema(
        request=shapes.TakeSerializer,
        responses=shapes.TakenSerializer,
        operation_id="repository_change_take",
    )
    def post(self, request: Request, workspace: str, folder: str) -> Response:
        """Take a change in as a new version or topology (editor). 409 if the repository or the
        topology has changed since, and with both sides if both have changed.
        """
        found = binding.repository_of(workspace_for(self.person, workspace, Role.EDITOR))
        given = valid(shapes.TakeSerializer, request.data)
        topology = taking.take(self.person, found, folder, **given)
        return Response(shapes.TakenSerializer(topology).data)
