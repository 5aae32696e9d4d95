"""Permissions: the role in the workspace determines what a user may do."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model, QuerySet
from millrace_backend.errors import Forbidden, NotFound

from accounts.choices import Role
from accounts.models import Membership, User, Workspace

M = TypeVar("M", bound=Model)


def role_in(user: User, workspace: int) -> Role | None:
    """Return the user's role in the workspace with this id, or None for non-members."""
    if not user.is_authenticated or not user.is_active:
        return None
    found = Membership.objects.filter(workspace_id=workspace, user=user).values_list("role")
    return next((Role(role) for (role,) in found), None)


def require(user: User, workspace: int, needed: Role) -> None:
    """Raise NotFound for non-members of the workspace, Forbidden for a role that is too low."""
    role = role_in(user, workspace)
    if role is None:
        raise NotFound(
            "not_found",
            "There is nothing at this address for this account.",
            "It may have been deleted, or belong to a workspace that you are not a member of.",
        )
    if not role.allows(needed):
        raise Forbidden(
            "role_too_small",
            f"This needs the role {needed}; yours in this workspace is {role}.",
            "Ask an admin of the workspace for the role.",
            role=role.value,
            needed=needed.value,
        )


def require_installation_admin(user: User) -> None:
    """Raise Forbidden for everybody but the installation's admins."""
    if not user.is_active or not user.is_superuser:
        raise Forbidden(
            "installation_admin_needed",
            "Only the installation's admin can do this.",
            "`./millrace sign-in` prints a sign-in link for that account.",
        )


def require_owner(user: User, workspace: Workspace) -> None:
    """Raise as `require` for everybody but admins of the workspace and of the installation."""
    if not (user.is_active and user.is_superuser):
        require(user, workspace.pk, Role.ADMIN)


def workspace_for(user: User, slug: str, needed: Role = Role.VIEWER) -> Workspace:
    """Return the workspace with this slug. Raises the errors of `require`."""
    found = Workspace.objects.filter(slug=slug).first()
    require(user, found.pk if found else 0, needed)
    if found is None:
        raise AssertionError("no role without a workspace")
    return found


def owned_workspace(user: User, slug: str) -> Workspace:
    """Return the workspace with this slug to those who may delete it. Raises as `require_owner`."""
    found = Workspace.objects.filter(slug=slug).first()
    if found is None or not user.is_superuser:
        return workspace_for(user, slug, Role.ADMIN)
    require_owner(user, found)
    return found


def visible(queryset: QuerySet[M], user: User, path: str = "workspace") -> QuerySet[M]:
    """Return the rows of workspaces that the user is a member of.

    ``path`` is the lookup from a row to its workspace.
    """
    return queryset.filter(**{f"{path}__memberships__user": user})
