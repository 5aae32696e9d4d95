"""Views for signing in, tokens, members and the audit log."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import authenticate, login, logout
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import LOCKED, ApiError, NotFound, TooMany
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import actions, deleting
from accounts.api import serializers as shapes
from accounts.choices import Role
from accounts.models import ApiToken, Membership, User
from accounts.permissions import owned_workspace, require, workspace_for


def session_of(user: Any) -> dict[str, Any]:
    """Return the session of a user, who may be anonymous."""
    if not isinstance(user, User):
        nobody: dict[str, Any] = {
            "user": None,
            "workspaces": [],
            "has_password": False,
            "installation_admin": False,
        }
        return shapes.SessionSerializer(nobody).data
    memberships = user.memberships.select_related("workspace").order_by("workspace__name")
    found = {
        "user": user,
        "workspaces": memberships,
        "has_password": user.has_usable_password(),
        "installation_admin": user.is_superuser,
    }
    return shapes.SessionSerializer(found).data


class SessionView(ApiView):
    """The current session."""

    permission_classes = (AllowAny,)

    def get_throttles(self) -> list[Any]:
        """Limit sign-in attempts more strictly than requests for the session."""
        self.throttle_scope = "sign-in" if self.request.method == "POST" else None
        return super().get_throttles()

    @extend_schema(responses=shapes.SessionSerializer, operation_id="session_get")
    def get(self, request: Request) -> Response:
        """Return who is signed in; also sets the CSRF cookie."""
        get_token(request._request)
        return Response(session_of(request.user))

    @extend_schema(
        request=shapes.SignInSerializer,
        responses=shapes.SessionSerializer,
        operation_id="session_begin",
    )
    def post(self, request: Request) -> Response:
        """Sign in with name and password."""
        SessionAuthentication().enforce_csrf(request)
        given = valid(shapes.SignInSerializer, request.data)
        user = authenticate(request._request, **given)
        locked = getattr(request._request, "axes_locked_out", False)
        if user is None:
            actions.record_failed_sign_in(given["username"], locked=locked)
        if locked:
            raise TooMany(*LOCKED)
        if user is None:
            raise ApiError(
                "wrong_credentials",
                "Wrong user name or password.",
                "Check both, or ask an admin for a one-time sign-in link.",
            )
        login(request._request, user)
        actions.record_sign_in(user)
        return Response(session_of(user))

    @extend_schema(request=None, responses=shapes.SessionSerializer, operation_id="session_end")
    def delete(self, request: Request) -> Response:
        """Sign out."""
        logout(request._request)
        return Response(session_of(None))


class SessionLinkView(ApiView):
    """Signing in by a one-time link."""

    permission_classes = (AllowAny,)
    throttle_scope = "sign-in"

    @extend_schema(
        request=shapes.SignInLinkSerializer,
        responses=shapes.SessionSerializer,
        operation_id="session_begin_by_link",
    )
    def post(self, request: Request) -> Response:
        """Sign in with the token of a one-time link."""
        SessionAuthentication().enforce_csrf(request)
        given = valid(shapes.SignInLinkSerializer, request.data)
        user = actions.redeem_sign_in_link(given["token"])
        login(request._request, user, backend="django.contrib.auth.backends.ModelBackend")
        return Response(session_of(user))


class AccountView(ApiView):
    """The user's own account."""

    @extend_schema(
        request=shapes.AccountSerializer,
        responses=shapes.UserSerializer,
        operation_id="account_update",
    )
    def patch(self, request: Request) -> Response:
        """Change the displayed name."""
        given = valid(shapes.AccountSerializer, request.data)
        actions.set_display_name(self.person, given["display_name"])
        return Response(shapes.UserSerializer(self.person).data)


class PasswordView(ApiView):
    """The user's own password."""

    session_only = frozenset({"PUT"})
    throttle_scope = "sign-in"

    @extend_schema(
        request=shapes.PasswordSerializer,
        responses=shapes.SessionSerializer,
        operation_id="account_password",
    )
    def put(self, request: Request) -> Response:
        """Set or change the password; ends other sessions and revokes all tokens."""
        given = valid(shapes.PasswordSerializer, request.data)
        actions.set_password(self.person, **given)
        login(request._request, self.person, backend="django.contrib.auth.backends.ModelBackend")
        return Response(session_of(self.person))


class TokensView(ApiView):
    """The user's own API tokens."""

    session_only = frozenset({"POST"})

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.TokenSerializer),
        operation_id="token_list",
    )
    def get(self, request: Request) -> Response:
        """List tokens that have not been revoked, newest first."""
        tokens = ApiToken.objects.filter(user=self.person).order_by("-id")
        return self.page(tokens, shapes.TokenSerializer, search=["name", "token_key"])

    @extend_schema(
        request=shapes.NewTokenSerializer,
        responses={201: shapes.CreatedTokenSerializer},
        operation_id="token_create",
    )
    def post(self, request: Request) -> Response:
        """Create a token. Its secret is returned only in this response."""
        given = valid(shapes.NewTokenSerializer, request.data)
        token, secret = actions.create_token(self.person, **given)
        content = {**shapes.TokenSerializer(token).data, "token": secret}
        return Response(content, status=201)


class TokenView(ApiView):
    """One API token."""

    @extend_schema(responses={204: None}, operation_id="token_revoke")
    def delete(self, request: Request, token: int) -> Response:
        """Revoke a token."""
        actions.revoke_token(self.person, token)
        return Response(status=204)


class WorkspaceView(ApiView):
    """A workspace, for those who may delete it: its admins, and the installation's."""

    session_only = frozenset({"DELETE"})

    @extend_schema(responses=shapes.WorkspaceContentsSerializer, operation_id="workspace_contents")
    def get(self, request: Request, workspace: str) -> Response:
        """Return what is deleted with the workspace (admin, or admin of the installation)."""
        found = owned_workspace(self.person, workspace)
        contents = deleting.contents_of(self.person, found)
        return Response(shapes.WorkspaceContentsSerializer(contents).data)

    @extend_schema(
        parameters=[shapes.WorkspaceDeletionSerializer],
        responses={204: None},
        operation_id="workspace_delete",
    )
    def delete(self, request: Request, workspace: str) -> Response:
        """Delete a workspace with all that it contains (admin, or admin of the installation).

        409 while one of its deployments runs. Accounts, topics in Kafka, a git repository and the
        audit entries remain; the latter are in the log of the installation.
        """
        asked = valid(shapes.WorkspaceDeletionSerializer, request.query_params)
        found = owned_workspace(self.person, workspace)
        deleting.delete_workspace(self.person, found, asked["name"])
        return Response(status=204)


class RulesView(ApiView):
    """The rules of a workspace."""

    @extend_schema(responses=shapes.WorkspaceRulesSerializer, operation_id="workspace_rules_get")
    def get(self, request: Request, workspace: str) -> Response:
        """Return the conditions that a version must meet before it is deployed."""
        found = workspace_for(self.person, workspace)
        return Response(shapes.WorkspaceRulesSerializer(found).data)

    @extend_schema(
        request=shapes.WorkspaceRulesChangeSerializer,
        responses=shapes.WorkspaceRulesSerializer,
        operation_id="workspace_rules_set",
    )
    def put(self, request: Request, workspace: str) -> Response:
        """Set the conditions (admin); running deployments continue."""
        found = workspace_for(self.person, workspace, Role.ADMIN)
        given = valid(shapes.WorkspaceRulesChangeSerializer, request.data)
        if "tests_required" in given:
            actions.set_tests_required(self.person, found, given["tests_required"])
        if "approval_required" in given:
            actions.set_approval_required(self.person, found, given["approval_required"])
        return Response(shapes.WorkspaceRulesSerializer(found).data)


class MembersView(ApiView):
    """The members of a workspace."""

    session_only = frozenset({"POST"})

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.MemberSerializer),
        operation_id="member_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List members with their roles, by user name."""
        found = workspace_for(self.person, workspace)
        return self.page(
            found.memberships.select_related("user").order_by("user__username"),
            shapes.MemberSerializer,
            search=["user__username", "user__display_name"],
        )

    @extend_schema(
        request=shapes.NewMemberSerializer,
        responses={201: shapes.AddedMemberSerializer},
        operation_id="member_add",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Add a member (admin)."""
        found = workspace_for(self.person, workspace, Role.ADMIN)
        values = valid(shapes.NewMemberSerializer, request.data)
        member, link = actions.add_member(
            self.person, found, values["username"], Role(values["role"]), values["display_name"]
        )
        content = shapes.AddedMemberSerializer({"member": member, "sign_in_link": link})
        return Response(content.data, status=201)


def member_of(admin: User, workspace: str, member: int) -> Membership:
    """Return a membership to an admin of the workspace. Raises NotFound for an unknown id."""
    found = workspace_for(admin, workspace, Role.ADMIN)
    row = found.memberships.select_related("user").filter(pk=member).first()
    if row is None:
        raise NotFound("not_found", f"This workspace has no member {member}.")
    return row


class MemberView(ApiView):
    """One member of a workspace."""

    session_only = frozenset({"PATCH", "DELETE"})

    @extend_schema(
        request=shapes.RoleSerializer,
        responses=shapes.MemberSerializer,
        operation_id="member_change",
    )
    def patch(self, request: Request, workspace: str, member: int) -> Response:
        """Change a member's role (admin)."""
        row = member_of(self.person, workspace, member)
        given = valid(shapes.RoleSerializer, request.data)
        actions.change_role(self.person, row, Role(given["role"]))
        return Response(shapes.MemberSerializer(row).data)

    @extend_schema(responses={204: None}, operation_id="member_remove")
    def delete(self, request: Request, workspace: str, member: int) -> Response:
        """Remove a member from the workspace (admin)."""
        actions.remove_member(self.person, member_of(self.person, workspace, member))
        return Response(status=204)


class MemberLinkView(ApiView):
    """A new one-time sign-in link for a member."""

    session_only = frozenset({"POST"})

    @extend_schema(request=None, responses={201: shapes.LinkSerializer}, operation_id="member_link")
    def post(self, request: Request, workspace: str, member: int) -> Response:
        """Create the link (admin); 403 for accounts that do not belong to this workspace alone."""
        link = actions.invite_again(self.person, member_of(self.person, workspace, member))
        return Response({"sign_in_link": link}, status=201)


class AuditView(ApiView):
    """The audit log of a workspace."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.AuditEntrySerializer),
        operation_id="audit_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List the workspace's audit entries, newest first (admin)."""
        found = workspace_for(self.person, workspace)
        require(self.person, found.pk, Role.ADMIN)
        return self.page(
            found.audit.all(),
            shapes.AuditEntrySerializer,
            search=["actor_name", "action", "subject"],
        )
