"""Leaves a running sample: the topology *Word count*, deployed."""

from __future__ import annotations

from typing import Any

from accounts.choices import Role
from accounts.models import Membership
from catalog.templates import template
from django.core.management.base import BaseCommand, CommandError, CommandParser
from millrace_backend.errors import ApiError
from topologies.actions import create_topology
from topologies.models import Topology

from deployments.actions import create_deployment
from deployments.choices import Target
from deployments.cluster import create_missing

TEMPLATE = "word-count"


class Command(BaseCommand):
    """``millrace_sample [--workspace SLUG]``."""

    help = "Creates the topology Word count and its topics, and deploys it; safe to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        """The options."""
        parser.add_argument("--workspace", default="main", help="slug of the workspace")

    def handle(self, *args: Any, **options: Any) -> None:
        """What exists is left as it is: who stopped or deleted the sample meant it."""
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
        topics = {name: each["partitions"] for name, each in chosen.document["topics"].items()}
        try:
            made = create_missing(topics)
            workspace = admin.workspace
            existing = Topology.objects.filter(workspace=workspace, name__iexact=chosen.title)
            if existing.exists() or workspace.audit.filter(
                action="topology.create", detail__name=chosen.title
            ):
                self.stdout.write(f"The sample “{chosen.title}” was made before.")
                return
            topology = create_topology(
                admin.user,
                workspace,
                chosen.title,
                chosen.document,
                description=chosen.description,
                message="The sample that comes with Millrace",
            )
            row = create_deployment(admin.user, topology, 1, Target.LOCAL, {})
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}") from error
        self.stdout.write(
            f"Deployed “{chosen.title}” (deployment {row.pk})"
            + (f", created the topics {', '.join(made)}." if made else ".")
        )
