"""The only code that changes accounts, workspaces, roles and tokens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from millrace_backend.errors import ApiError, Conflict, Forbidden, NotFound
from millrace_backend.quotas import require_room

from accounts.choices import Role
from accounts.events import audit
from accounts.models import ApiToken, Membership, SignInLink, User, Workspace
from accounts.permissions import require, require_installation_admin


def set_up(username: str, workspace_name: str) -> User:
    """Create the first admin and the first workspace if they do not exist; return the admin."""
    with transaction.atomic():
        user = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
        if user is None:
            user = User(
                username=username,
                display_name=username.capitalize(),
                is_staff=True,
                is_superuser=True,
            )
            user.set_unusable_password()
            user.save()
            audit(None, None, "account.create", "user", user.pk, username=username)
        if not user.memberships.exists():
            workspace, _ = Workspace.objects.get_or_create(
                slug=workspace_name, defaults={"name": workspace_name.capitalize()}
            )
            Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)
            audit(
                None, workspace.pk, "member.add", "user", user.pk,
                username=user.username, role=Role.ADMIN.value,
            )  # fmt: skip
    return user


# -- signing in ---------------------------------------------------------------------------------
def issue_sign_in_link(user: User, lifetime: timedelta | None = None) -> str:
    """Create a one-time link for the user: the page's address with the token in it.

    Earlier links that the user has not used become invalid.
    """
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        withdraw_links(user)
        SignInLink.objects.create(
            user=user,
            digest=_digest(token),
            expires_at=timezone.now() + (lifetime or settings.SIGN_IN_LINK_LIFETIME),
        )
    return f"{settings.MILLRACE_PUBLIC_URL}/sign-in/{token}"


def withdraw_links(user: User) -> None:
    """Make the account's unused sign-in links invalid."""
    SignInLink.objects.filter(user=user, used_at__isnull=True).delete()


def redeem_sign_in_link(token: str) -> User:
    """Return the account that the token of a sign-in link belongs to, and use the token up.

    Raises Forbidden for a token that is unknown, used, replaced or too old, without saying which.
    """
    now = timezone.now()
    with transaction.atomic():
        # A single UPDATE ensures that only one of two concurrent requests with a token succeeds.
        used = SignInLink.objects.filter(
            digest=_digest(token), used_at__isnull=True, expires_at__gt=now, user__is_active=True
        ).update(used_at=now)
        if not used:
            raise Forbidden(
                "link_not_valid",
                "This sign-in link is not valid: it was already used, was replaced or has expired.",
                "Links work once. Run `./millrace sign-in` for a new one, or ask an admin.",
            )
        user = SignInLink.objects.select_related("user").get(digest=_digest(token)).user
        audit(user, None, "session.begin", "user", user.pk, username=user.username, by="link")
    return user


def record_sign_in(user: User) -> None:
    """Record a sign-in by password in the audit log."""
    audit(user, None, "session.begin", "user", user.pk, username=user.username, by="password")


def record_failed_sign_in(username: str, *, locked: bool) -> None:
    """Record a refused name and password; ``locked``: whether the lock-out refused them."""
    user = User.objects.filter(username=username).first()
    audit(
        None,
        None,
        "session.refuse",
        "user",
        user.pk if user else None,
        username=username,
        locked=locked,
    )


def set_password(actor: User, current: str, new: str) -> None:
    """Change the actor's own password; an account that has one must send it.

    Ends other sessions, and revokes all API tokens and unused sign-in links. Raises Forbidden for a
    wrong current password, ApiError for a new one that is too weak.
    """
    if actor.has_usable_password() and not actor.check_password(current):
        raise Forbidden(
            "wrong_password", "The current password is incorrect.", fields={"current": ["Wrong."]}
        )
    try:
        validate_password(new, actor)
    except ValidationError as error:
        raise ApiError(
            "weak_password",
            " ".join(error.messages),
            "Choose a longer one.",
            fields={"new": error.messages},
        ) from error
    with transaction.atomic():
        actor.set_password(new)
        actor.save(update_fields=["password"])
        withdraw_links(actor)
        ApiToken.objects.filter(user=actor).delete()
        audit(actor, None, "account.password", "user", actor.pk, username=actor.username)


def set_display_name(actor: User, display_name: str) -> None:
    """Change the displayed name."""
    with transaction.atomic():
        actor.display_name = display_name
        actor.save(update_fields=["display_name"])
        audit(
            actor, None, "account.rename", "user", actor.pk,
            username=actor.username, display_name=display_name,
        )  # fmt: skip


def create_token(actor: User, name: str, days: int) -> tuple[ApiToken, str]:
    """Create an API token. Return it with its secret, which cannot be retrieved later."""
    with transaction.atomic():
        # Requests that create tokens at the same time are serialized.
        User.objects.select_for_update().get(pk=actor.pk)
        require_room("tokens", ApiToken.objects.filter(user=actor).count())
        token, secret = ApiToken.objects.create(actor, expiry=timedelta(days=days), name=name)
        audit(actor, None, "token.create", "token", token.pk, name=name, days=days)
    return token, secret


def revoke_token(actor: User, token: int) -> None:
    """Revoke one of the actor's own tokens. Raises NotFound for any other."""
    with transaction.atomic():
        found = ApiToken.objects.filter(user=actor, pk=token).first()
        if found is None:
            raise NotFound("not_found", f"You have no token {token}.")
        audit(actor, None, "token.revoke", "token", token, name=found.name)
        found.delete()


# -- workspaces and roles -----------------------------------------------------------------------
def add_member(
    actor: User, workspace: Workspace, username: str, role: Role, display_name: str = ""
) -> tuple[Membership, str | None]:
    """Give a person a role; return the membership and a one-time sign-in link.

    The account is created if it does not exist. The link is None for accounts that this workspace
    may not sign in to (`may_issue_link`). Raises Conflict for an account that is already a member
    or closed.
    """
    require(actor, workspace.pk, Role.ADMIN)
    link: str | None = None
    try:
        with transaction.atomic():
            # Requests that add members at the same time are serialized.
            Workspace.objects.select_for_update().get(pk=workspace.pk)
            require_room("members", workspace.memberships.count())
            user = User.objects.select_for_update().filter(username=username).first()
            if user is None:
                require_room("accounts", User.objects.filter(created_in=workspace).count())
                user = User(username=username, display_name=display_name, created_in=workspace)
                user.set_unusable_password()
                user.save()
                audit(actor, None, "account.create", "user", user.pk, username=username)
            elif not user.is_active:
                raise Conflict(
                    "account_closed",
                    f"The account {username} is closed.",
                    "The installation's admin can open it again.",
                )
            # A link that an admin of another workspace holds must not give access to this one.
            withdraw_links(user)
            membership = Membership.objects.create(workspace=workspace, user=user, role=role)
            audit(
                actor, workspace.pk, "member.add", "user", user.pk,
                username=user.username, role=role.value,
            )  # fmt: skip
            if user.created_in_id == workspace.pk and may_issue_link(actor, membership):
                link = issue_sign_in_link(user)
    except IntegrityError as error:
        raise Conflict(
            "already_member",
            f"{username} is already a member of “{workspace.name}”.",
            "Change the role of the existing member.",
        ) from error
    return membership, link


def change_role(actor: User, membership: Membership, role: Role) -> None:
    """Change a member's role. Raises Conflict if the workspace would have no admin left."""
    require(actor, membership.workspace_id, Role.ADMIN)
    with transaction.atomic():
        if role != Role.ADMIN:
            _keep_an_admin(membership)
        membership.role = role
        membership.save(update_fields=["role"])
        audit(
            actor,
            membership.workspace_id,
            "member.role",
            "user",
            membership.user_id,
            username=membership.user.username,
            role=role.value,
        )


def remove_member(actor: User, membership: Membership) -> None:
    """Remove a member. Raises Conflict if the workspace would have no admin left."""
    require(actor, membership.workspace_id, Role.ADMIN)
    with transaction.atomic():
        _keep_an_admin(membership)
        audit(
            actor, membership.workspace_id, "member.remove", "user", membership.user_id,
            username=membership.user.username,
        )  # fmt: skip
        withdraw_links(membership.user)
        membership.delete()


def may_issue_link(actor: User, membership: Membership) -> bool:
    """Return whether an admin of the workspace may have a sign-in link for this member.

    Whoever holds the link can use the account. It must therefore be an account that this workspace
    created, that is in no other workspace and that does not administer the installation. The
    installation's admin issues links for all accounts.
    """
    user = membership.user
    if actor.is_superuser or actor.pk == user.pk:
        return True
    return (
        user.created_in_id == membership.workspace_id
        and not user.is_superuser
        and not user.is_staff
        and not user.memberships.exclude(pk=membership.pk).exists()
    )


def invite_again(actor: User, membership: Membership) -> str:
    """Create a new one-time sign-in link for a member.

    Raises Forbidden for accounts that the workspace may not sign in to (`may_issue_link`).
    """
    require(actor, membership.workspace_id, Role.ADMIN)
    with transaction.atomic():
        # The lock keeps the account out of other workspaces between this check and the link.
        User.objects.select_for_update().get(pk=membership.user_id)
        if not may_issue_link(actor, membership):
            raise Forbidden(
                "not_this_workspaces_account",
                f"A sign-in link for {membership.user.username} would give access to more "
                "than this workspace: the account was not created here, is in other workspaces, or "
                "administers the installation.",
                "Sign in with a password, or ask the installation's admin for a link.",
            )
        audit(
            actor, membership.workspace_id, "member.link", "user", membership.user_id,
            username=membership.user.username,
        )  # fmt: skip
        return issue_sign_in_link(membership.user)


# -- rules of a workspace ------------------------------------------------------------------------
def set_tests_required(actor: User, workspace: Workspace, required: bool) -> None:
    """Set whether versions must pass all tests of their topology before they are deployed.

    Running deployments continue, and their restarts need no tests.
    """
    require(actor, workspace.pk, Role.ADMIN)
    with transaction.atomic():
        workspace.tests_required = required
        workspace.save(update_fields=["tests_required"])
        audit(
            actor, workspace.pk, "workspace.tests", "workspace", workspace.pk,
            name=workspace.name, required=required,
        )  # fmt: skip


def set_approval_required(actor: User, workspace: Workspace, required: bool) -> None:
    """Set whether a second person must approve versions before they are deployed.

    Running deployments continue, and their restarts need no approval.
    """
    require(actor, workspace.pk, Role.ADMIN)
    with transaction.atomic():
        workspace.approval_required = required
        workspace.save(update_fields=["approval_required"])
        audit(
            actor,
            workspace.pk,
            "workspace.approval",
            "workspace",
            workspace.pk,
            name=workspace.name,
            required=required,
        )


# -- the installation ---------------------------------------------------------------------------
def set_topic_prefixes(actor: User, workspace: Workspace, prefixes: Sequence[str]) -> None:
    """Set the prefixes of the topics that a workspace may use; none: all but internal topics.

    Running deployments continue; their next start is refused if it uses other topics.
    """
    require_installation_admin(actor)
    with transaction.atomic():
        workspace.topic_prefixes = list(prefixes)
        workspace.save(update_fields=["topic_prefixes"])
        audit(
            actor,
            workspace.pk,
            "workspace.topics",
            "workspace",
            workspace.pk,
            name=workspace.name,
            topic_prefixes=list(prefixes),
        )


def link_for_account(actor: User, user: User) -> str:
    """Create a one-time sign-in link for any account that is not closed.

    Raises Conflict for a closed account.
    """
    require_installation_admin(actor)
    if not user.is_active:
        raise Conflict(
            "account_closed",
            f"The account {user.username} is closed.",
            "The installation's admin can open it again.",
        )
    with transaction.atomic():
        audit(actor, None, "account.link", "user", user.pk, username=user.username)
        return issue_sign_in_link(user)


def _keep_an_admin(membership: Membership) -> None:
    others = (
        Membership.objects.select_for_update()
        .filter(workspace=membership.workspace_id, role=Role.ADMIN, user__is_active=True)
        .exclude(pk=membership.pk)
    )
    if membership.role == Role.ADMIN and not others.exists():
        raise Conflict(
            "last_admin",
            "This is the workspace's only admin.",
            "Make another member an admin first.",
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
