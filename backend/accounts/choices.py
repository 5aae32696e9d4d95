"""Roles in a workspace."""

from django.db import models


class Role(models.TextChoices):
    """Each role may do all that the ones before it may."""

    VIEWER = "viewer", "Viewer"
    EDITOR = "editor", "Editor"
    OPERATOR = "operator", "Operator"
    ADMIN = "admin", "Admin"

    def allows(self, needed: "Role") -> bool:
        """Whether this role includes the needed one."""
        order = list(type(self))
        return order.index(self) >= order.index(needed)
