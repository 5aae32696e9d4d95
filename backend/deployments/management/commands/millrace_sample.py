"""Deploys the sample, the template *Word count*, with its topics and records."""

from __future__ import annotations

from typing import Any

from accounts.choices import Role
from accounts.models import Membership
from catalog.templates import template
from django.core.management.base import CommandError, CommandParser
from millrace_backend.commands import ProjectCommand
from millrace_backend.errors import ApiError
from records.trying import try_template
from topologies.models import Topology

from deployments.actions import create_deployment
from deployments.choices import Target

TEMPLATE = "word-count"


class Command(ProjectCommand):
    """``millrace_sample [--workspace SLUG]``."""

    help = "Creates the topology Word count, its topics and their records, and deploys it."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("--workspace", default="main", help="slug of the workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        """Deploy the sample unless it exists or has existed: a stopped or deleted one stays so."""
        admin = (
            Membership.objects.select_related("user", "workspace")
            .filter(workspace__slug=options["workspace"], role=Role.ADMIN, user__is_active=True)
            .order_by("id")
            .first()
        )
        if admin is None:
            raise CommandError(
                f"There is no workspace {options['workspace']!r} with an admin. "
                "Run millrace_setup first."
            )
        chosen = template(TEMPLATE)
        workspace = admin.workspace
        existing = Topology.objects.filter(workspace=workspace, name__iexact=chosen.title)
        if existing.exists() or workspace.audit.filter(
            action="topology.create", detail__name=chosen.title
        ):
            self.stdout.write(f"The sample “{chosen.title}” already exists.")
            return
        try:
            tried = try_template(
                admin.user,
                workspace,
                chosen,
                chosen.title,
                seconds=None,
                message="The sample that comes with Millrace",
            )
            row = create_deployment(admin.user, tried.topology, 1, Target.LOCAL, {})
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}") from error
        self.stdout.write(f"Deployed “{chosen.title}” (deployment {row.pk}).")
