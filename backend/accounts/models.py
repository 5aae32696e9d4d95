"""People, workspaces, memberships and the audit log."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone
from knox.models import AbstractAuthToken, AuthTokenManager

from accounts.choices import Role


class User(AbstractUser):  # type: ignore[django-manager-missing]  # knox's manager, untyped
    """An account. Without a password, its owner signs in by one-time links."""

    display_name = models.CharField(max_length=150, blank=True)
    #: the workspace whose admin created the account; null for accounts of the installation
    created_in = models.ForeignKey(
        "Workspace", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    @property
    def shown_name(self) -> str:
        """The name that others see."""
        return self.display_name or self.username


class Workspace(models.Model):
    """A group of topologies and deployments that the same people work on."""

    slug = models.SlugField(max_length=50, unique=True)
    name = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    #: prefixes of the topics that its members see, compile and deploy; empty: all but internal ones
    topic_prefixes = models.JSONField(default=list, blank=True)
    #: whether a version is deployed only if all tests of its topology have passed with it
    tests_required = models.BooleanField(default=False)
    #: whether a version is deployed only if somebody else than its author has approved it
    approval_required = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """The role of a person in a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_role_per_workspace"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="known_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role} in {self.workspace_id}"


class SignInLink(models.Model):
    """A link that signs its bearer in once; only the SHA-256 digest of the token is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"link of {self.user_id}"


class ApiToken(AbstractAuthToken):  # type: ignore[misc]  # knox has no types
    """A token for scripts: hashed, expiring, named by its owner."""

    digest = models.CharField(max_length=128, unique=True)
    name = models.CharField(max_length=150)

    objects: ClassVar[AuthTokenManager] = AuthTokenManager()

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user_id}"


class AuditEntry(models.Model):
    """An entry of the audit log. Actions write it, and it never changes."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.SET_NULL, related_name="audit", null=True, blank=True
    )
    #: slug of the workspace of the entry, once that is deleted
    deleted_workspace = models.CharField(max_length=50, blank=True)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    #: name of the actor at that time, kept after the account is deleted
    actor_name = models.CharField(max_length=150, blank=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    #: address of the client; empty for actions of the installation itself
    address = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=60)
    subject_id = models.BigIntegerField(null=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["workspace", "-id"], name="audit_of_workspace")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.subject} {self.subject_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the entry. Raises ValueError for an entry that already exists."""
        if not self._state.adding:
            raise ValueError("an audit entry cannot be changed")
        super().save(*args, **kwargs)
