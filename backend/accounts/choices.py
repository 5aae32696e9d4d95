"""Roles in a workspace."""

from django.db import models


class Role(models.TextChoices):
    """Roles in ascending order: each includes the permissions of those before it."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    OPERATOR = "operator", "Operator"
    ADMIN = "admin", "Admin"

    def allows(self, needed: "Role") -> bool:
        """Return whether this role includes the needed one."""
        order = list(type(self))
        return order.index(self) >= order.index(needed)
