"""Accounts in the admin pages."""

from django.contrib import admin
from millrace_backend.admin import ReadOnlyAdmin

from accounts.models import AuditEntry, Membership, User, Workspace


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    """People, without their password hashes."""

    list_display = ("username", "display_name", "is_active", "last_login")
    exclude = ("password",)


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    """Workspaces."""

    list_display = ("slug", "name", "created_at")


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    """Roles."""

    list_display = ("workspace", "user", "role")


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit log."""

    list_display = ("at", "actor_name", "action", "subject", "subject_id")
