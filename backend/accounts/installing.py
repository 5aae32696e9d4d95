"""Actions of the installation's admins: workspaces, and accounts in all of them."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from millrace_backend.errors import Conflict

from accounts.actions import issue_sign_in_link, withdraw_links
from accounts.choices import Role
from accounts.events import audit
from accounts.models import ApiToken, Membership, User, Workspace
from accounts.permissions import require_installation_admin


def create_workspace(
    actor: User, slug: str, name: str, admin: str
) -> tuple[Workspace, Membership, str | None]:
    """Create a workspace with its first admin; return both, and a sign-in link for a new account.

    The account is created if it does not exist. Raises Conflict for a slug that is taken and for a
    closed account.
    """
    require_installation_admin(actor)
    link: str | None = None
    try:
        with transaction.atomic():
            workspace = Workspace.objects.create(slug=slug, name=name)
            audit(
                actor, workspace.pk, "workspace.create", "workspace", workspace.pk,
                name=name, slug=slug,
            )  # fmt: skip
            user = User.objects.select_for_update().filter(username=admin).first()
            if user is None:
                user = User(username=admin, created_in=workspace)
                user.set_unusable_password()
                user.save()
                audit(actor, None, "account.create", "user", user.pk, username=admin)
                link = issue_sign_in_link(user)
            refuse_closed(user)
            row = Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)
            audit(
                actor, workspace.pk, "member.add", "user", user.pk,
                username=user.username, role=Role.ADMIN.value,
            )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            "workspace_exists",
            f"There is already a workspace {slug!r}.",
            "Choose another address.",
            fields={"slug": ["This address is taken."]},
        ) from error
    return workspace, row, link


def close_account(actor: User, user: User) -> None:
    """Close an account: its sessions, tokens, links and memberships end, and its audit remains.

    Its drafts remain until somebody deletes them. Safe to repeat. Raises Conflict for the only
    admin of the installation or of a workspace.
    """
    require_installation_admin(actor)
    with transaction.atomic():
        row = _locked(user)
        if not row.is_active:
            return
        _keep_an_installation_admin(row)
        _keep_admins_of_workspaces(row)
        for membership in row.memberships.all():
            audit(
                actor, membership.workspace_id, "member.remove", "user", row.pk,
                username=row.username,
            )  # fmt: skip
        row.memberships.all().delete()
        withdraw_links(row)
        ApiToken.objects.filter(user=row).delete()
        row.is_active = row.is_superuser = row.is_staff = False
        # Sessions depend on the password.
        row.set_unusable_password()
        row.save(update_fields=["is_active", "is_superuser", "is_staff", "password"])
        audit(actor, None, "account.close", "user", row.pk, username=row.username)


def open_account(actor: User, user: User) -> None:
    """Open a closed account. It has no memberships, and its owner signs in by a new link."""
    require_installation_admin(actor)
    with transaction.atomic():
        row = _locked(user)
        if not row.is_active:
            row.is_active = True
            row.save(update_fields=["is_active"])
            audit(actor, None, "account.open", "user", row.pk, username=row.username)


def set_installation_admin(actor: User, user: User, admin: bool) -> None:
    """Make an account an admin of the installation, or end that.

    Raises Conflict for a closed account, and for the only admin.
    """
    require_installation_admin(actor)
    with transaction.atomic():
        row = _locked(user)
        refuse_closed(row)
        if row.is_superuser == admin:
            return
        if not admin:
            _keep_an_installation_admin(row)
        # A link that an admin of its workspace holds must not give access to the installation.
        withdraw_links(row)
        row.is_superuser = row.is_staff = admin
        row.save(update_fields=["is_superuser", "is_staff"])
        action = "account.promote" if admin else "account.demote"
        audit(actor, None, action, "user", row.pk, username=row.username)


def refuse_closed(user: User) -> None:
    """Raise Conflict for a closed account."""
    if not user.is_active:
        raise Conflict(
            "account_closed",
            f"The account {user.username} is closed.",
            "The installation's admin can open it again.",
        )


def _locked(user: User) -> User:
    """Return the account, locked together with all admins of the installation."""
    list(User.objects.select_for_update().filter(is_superuser=True).order_by("pk"))
    return User.objects.select_for_update().get(pk=user.pk)


def _keep_an_installation_admin(user: User) -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise Conflict(
            "last_installation_admin",
            f"{user.username} is the only admin of the installation.",
            "Make another account an admin of the installation first.",
        )


def _keep_admins_of_workspaces(user: User) -> None:
    """Raise Conflict if a workspace would have no admin left."""
    owned = user.memberships.filter(role=Role.ADMIN).values_list("workspace_id", flat=True)
    workspaces = Workspace.objects.select_for_update().filter(pk__in=list(owned))
    alone = [
        workspace.slug
        for workspace in workspaces
        if not workspace.memberships.filter(role=Role.ADMIN, user__is_active=True)
        .exclude(user=user)
        .exists()
    ]
    if alone:
        raise Conflict(
            "only_admin_of_workspaces",
            f"{user.username} is the only admin of {', '.join(alone)}.",
            "Make another member an admin there first. If nobody else can, sign in as this account "
            "by a new sign-in link.",
            workspaces=", ".join(alone),
        )
