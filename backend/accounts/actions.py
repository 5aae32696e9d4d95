"""The only code that changes accounts, workspaces, roles and tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from millrace_backend.errors import ApiError, Conflict, Forbidden, NotFound

from accounts.choices import Role
from accounts.events import audit
from accounts.models import ApiToken, Membership, SignInLink, User, Workspace
from accounts.permissions import require


def set_up(username: str, workspace_name: str) -> User:
    """The first admin and the first workspace; what is there already is left as it is."""
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
            audit(None, workspace.pk, "member.add", "user", user.pk, role=Role.ADMIN.value)
    return user


# -- signing in ---------------------------------------------------------------------------------
def issue_sign_in_link(user: User, lifetime: timedelta | None = None) -> str:
    """A fresh one-time link for the user: the page's address with the token in it."""
    token = secrets.token_urlsafe(32)
    SignInLink.objects.create(
        user=user,
        digest=_digest(token),
        expires_at=timezone.now() + (lifetime or settings.SIGN_IN_LINK_LIFETIME),
    )
    return f"{settings.MILLRACE_PUBLIC_URL}/sign-in/{token}"


def redeem_sign_in_link(token: str) -> User:
    """The account behind the token, which is used up by that.

    Raises Forbidden for a token that is unknown, used or too old; it does not say which.
    """
    now = timezone.now()
    with transaction.atomic():
        # One statement decides: of two requests with one token, one is too late.
        used = SignInLink.objects.filter(
            digest=_digest(token), used_at__isnull=True, expires_at__gt=now, user__is_active=True
        ).update(used_at=now)
        if not used:
            raise Forbidden(
                "link_not_valid",
                "This sign-in link is not valid: it was used, is too old, or never was one.",
                "Links work once. Run `./millrace up` for a new one, or ask an admin.",
            )
        user = SignInLink.objects.select_related("user").get(digest=_digest(token)).user
        audit(user, None, "session.begin", "user", user.pk, by="link")
    return user


def set_password(actor: User, current: str, new: str) -> None:
    """Change one's own password; who has one must know it.

    Raises Forbidden for a wrong current password, ApiError for a new one that is too weak.
    """
    if actor.has_usable_password() and not actor.check_password(current):
        raise Forbidden(
            "wrong_password", "The current password is not right.", fields={"current": ["Wrong."]}
        )
    try:
        validate_password(new, actor)
    except ValidationError as error:
        raise ApiError(
            "weak_password",
            " ".join(error.messages),
            "Take a longer one.",
            fields={"new": error.messages},
        ) from error
    with transaction.atomic():
        actor.set_password(new)
        actor.save(update_fields=["password"])
        audit(actor, None, "account.password", "user", actor.pk)


def set_display_name(actor: User, display_name: str) -> None:
    """Change the name that others see."""
    with transaction.atomic():
        actor.display_name = display_name
        actor.save(update_fields=["display_name"])
        audit(actor, None, "account.rename", "user", actor.pk, display_name=display_name)


def create_token(actor: User, name: str, days: int) -> tuple[ApiToken, str]:
    """A token for scripts and its secret, which is shown this once."""
    with transaction.atomic():
        token, secret = ApiToken.objects.create(actor, expiry=timedelta(days=days), name=name)
        audit(actor, None, "token.create", "token", token.pk, name=name, days=days)
    return token, secret


def revoke_token(actor: User, token: int) -> None:
    """End one of one's own tokens. Raises NotFound for anything else."""
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
    """Give a person a role; an account that is new comes with a one-time sign-in link.

    Raises Conflict for someone who is a member already.
    """
    require(actor, workspace.pk, Role.ADMIN)
    link: str | None = None
    try:
        with transaction.atomic():
            user = User.objects.filter(username=username).first()
            if user is None:
                user = User(username=username, display_name=display_name)
                user.set_unusable_password()
                user.save()
                link = issue_sign_in_link(user)
                audit(actor, None, "account.create", "user", user.pk, username=username)
            membership = Membership.objects.create(workspace=workspace, user=user, role=role)
            audit(actor, workspace.pk, "member.add", "user", user.pk, role=role.value)
    except IntegrityError as error:
        raise Conflict(
            "already_member",
            f"{username} is a member of “{workspace.name}” already.",
            "Change the role of the member that is there.",
        ) from error
    return membership, link


def change_role(actor: User, membership: Membership, role: Role) -> None:
    """Raises Conflict where the workspace would be left without an admin."""
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
            role=role.value,
        )


def remove_member(actor: User, membership: Membership) -> None:
    """Raises Conflict where the workspace would be left without an admin."""
    require(actor, membership.workspace_id, Role.ADMIN)
    with transaction.atomic():
        _keep_an_admin(membership)
        audit(actor, membership.workspace_id, "member.remove", "user", membership.user_id)
        membership.delete()


def invite_again(actor: User, membership: Membership) -> str:
    """A new one-time sign-in link for a member of no other workspace.

    Raises Forbidden for someone with further memberships: the link would open those as well.
    """
    require(actor, membership.workspace_id, Role.ADMIN)
    if membership.user_id != actor.pk and (
        membership.user.is_superuser
        or membership.user.memberships.exclude(pk=membership.pk).exists()
    ):
        raise Forbidden(
            "member_of_others",
            "This person works in other workspaces too; a link would open those as well.",
            "The person can sign in by password, or ask the admin of the installation.",
        )
    with transaction.atomic():
        audit(actor, membership.workspace_id, "member.link", "user", membership.user_id)
        return issue_sign_in_link(membership.user)


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
            "Make somebody else admin first.",
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
