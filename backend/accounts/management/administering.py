"""The base of the commands that administer the installation."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError
from millrace_backend.commands import LauncherCommand
from millrace_backend.errors import ApiError

from accounts.models import User


class InstallationCommand(LauncherCommand):
    """A command that acts as the first admin of the installation."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Perform the action; an error is a CommandError."""
        try:
            actor = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
            if actor is None:
                raise CommandError("There is no admin of the installation: run `./millrace up`.")
            self.act(actor, options)
        except DatabaseError as error:
            raise CommandError(
                f"The database cannot be read ({error}). Start Millrace once, and set "
                "MILLRACE_DATA or DATABASE_URL to the same values."
            ) from error
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error

    def act(self, actor: User, options: dict[str, Any]) -> None:
        """Perform the action and print what was done."""
        raise NotImplementedError
