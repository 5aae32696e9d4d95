"""Views for the installation's admin, across all workspaces."""

from __future__ import annotations

from django.db import transaction
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import actions, installing
from accounts.api import serializers as shapes
from accounts.models import AuditEntry, User, Workspace
from accounts.permissions import require_installation_admin


class InstallationView(ApiView):
    """Base of the views that only the installation's admin may use."""

    def check_permissions(self, request: Request) -> None:
        """Raise Forbidden for everybody but the installation's admin."""
        super().check_permissions(request)
        require_installation_admin(self.person)


class WorkspacesView(InstallationView):
    """All workspaces."""

    session_only = frozenset({"POST"})

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.WorkspaceSettingsSerializer),
        operation_id="installation_workspace_list",
    )
    def get(self, request: Request) -> Response:
        """List all workspaces by name, with their topic prefixes (admin of the installation)."""
        return self.page(
            Workspace.objects.order_by("name", "id"),
            shapes.WorkspaceSettingsSerializer,
            search=["name", "slug"],
        )

    @extend_schema(
        request=shapes.NewWorkspaceSerializer,
        responses={201: shapes.CreatedWorkspaceSerializer},
        operation_id="installation_workspace_create",
    )
    def post(self, request: Request) -> Response:
        """Create a workspace with its first admin (admin of the installation)."""
        given = valid(shapes.NewWorkspaceSerializer, request.data)
        workspace, _, link = installing.create_workspace(self.person, **given)
        content = {"workspace": workspace, "sign_in_link": link}
        return Response(shapes.CreatedWorkspaceSerializer(content).data, status=201)


class WorkspaceSettingsView(InstallationView):
    """One workspace."""

    session_only = frozenset({"PUT"})

    @extend_schema(
        request=shapes.WorkspaceSettingsSerializer,
        responses=shapes.WorkspaceSettingsSerializer,
        operation_id="installation_workspace_set",
    )
    def put(self, request: Request, workspace: str) -> Response:
        """Set which topics its members may use (admin of the installation)."""
        row = Workspace.objects.filter(slug=workspace).first()
        if row is None:
            raise NotFound("not_found", f"There is no workspace {workspace!r}.")
        given = valid(shapes.WorkspaceSettingsSerializer, request.data)
        actions.set_topic_prefixes(self.person, row, given["topic_prefixes"])
        return Response(shapes.WorkspaceSettingsSerializer(row).data)


class AccountsView(InstallationView):
    """All accounts."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.AccountOverviewSerializer),
        operation_id="installation_account_list",
    )
    def get(self, request: Request) -> Response:
        """List all accounts by name, closed ones last (admin of the installation)."""
        rows = User.objects.order_by("-is_active", "username")
        return self.page(
            rows.prefetch_related("memberships__workspace"),
            shapes.AccountOverviewSerializer,
            search=["username", "display_name"],
        )


class InstallationAccountView(InstallationView):
    """One account."""

    session_only = frozenset({"PATCH"})

    @extend_schema(
        request=shapes.AccountChangeSerializer,
        responses=shapes.AccountOverviewSerializer,
        operation_id="installation_account_change",
    )
    def patch(self, request: Request, account: int) -> Response:
        """Close or open an account, make it an admin or end that (admin of the installation)."""
        row = account_with(account)
        given = valid(shapes.AccountChangeSerializer, request.data)
        with transaction.atomic():
            if given.get("active") is True:
                installing.open_account(self.person, row)
            if "installation_admin" in given:
                installing.set_installation_admin(self.person, row, given["installation_admin"])
            if given.get("active") is False:
                installing.close_account(self.person, row)
        return Response(shapes.AccountOverviewSerializer(account_with(account)).data)


def account_with(account: int) -> User:
    """Return the account with this id. Raises NotFound."""
    row = User.objects.filter(pk=account).first()
    if row is None:
        raise NotFound("not_found", f"There is no account {account}.")
    return row


class AccountLinkView(InstallationView):
    """A sign-in link for an account."""

    session_only = frozenset({"POST"})

    @extend_schema(
        request=None,
        responses={201: shapes.LinkSerializer},
        operation_id="installation_account_link",
    )
    def post(self, request: Request, account: int) -> Response:
        """Create a sign-in link; revokes earlier ones (admin of the installation)."""
        row = account_with(account)
        link = actions.link_for_account(self.person, row)
        return Response({"sign_in_link": link}, status=201)


class InstallationAuditView(InstallationView):
    """Audit entries without a workspace: sign-ins, accounts, tokens, and deleted workspaces."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.AuditEntrySerializer),
        operation_id="installation_audit_list",
    )
    def get(self, request: Request) -> Response:
        """List audit entries without a workspace, newest first (admin of the installation)."""
        return self.page(
            AuditEntry.objects.filter(workspace=None),
            shapes.AuditEntrySerializer,
            search=["actor_name", "action", "address", "deleted_workspace"],
        )
