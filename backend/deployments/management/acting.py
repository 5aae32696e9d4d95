"""Base of commands on the server, which act as an admin of the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from accounts.choices import Role
from accounts.models import Membership, User
from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError
from millrace_backend.commands import LauncherCommand

from deployments.models import Deployment


class DeploymentCommand(LauncherCommand):
    """A command about one deployment; the audit names the account."""

    #: reads the number of the deployment
    number: Callable[[str], int] = int

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the deployment and the account."""
        parser.add_argument("deployment", metavar="DEPLOYMENT", type=self.number, help="its number")
        parser.add_argument(
            "--user", help="the account to act as (default: the first admin of the workspace)"
        )

    def deployment(self, options: dict[str, Any]) -> Deployment:
        """Return the deployment. Raises CommandError if it does not exist."""
        found = Deployment.objects.select_related("topology", "version", "workspace")
        try:
            row = found.filter(pk=options["deployment"]).first()
        except DatabaseError as error:
            raise CommandError(
                f"The database cannot be read ({error}). Start Millrace once, and set "
                "MILLRACE_DATA or DATABASE_URL to the same values."
            ) from error
        if row is None:
            raise CommandError(f"There is no deployment {options['deployment']}.")
        return row

    def actor(self, row: Deployment, options: dict[str, Any]) -> User:
        """Return the account that acts. Raises CommandError if there is none."""
        members = Membership.objects.select_related("user").filter(
            workspace=row.workspace, user__is_active=True
        )
        name = options["user"]
        chosen = members.filter(user__username=name) if name else members.filter(role=Role.ADMIN)
        found = chosen.order_by("id").first()
        if found is None:
            who = f"member {name!r}" if name else "admin"
            raise CommandError(f"The workspace {row.workspace.slug} has no {who}.")
        return found.user
