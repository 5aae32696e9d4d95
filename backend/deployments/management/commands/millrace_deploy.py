"""Deploys another version, and shows what that does to the state."""

from __future__ import annotations

import json
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from millrace_backend.errors import ApiError
from millrace_compiler.state.plan_text import (
    DecisionError,
    add_options,
    decisions,
    deployment_number,
    plan_text,
    require_decided,
    require_known,
)
from millrace_model.documents import TopologyDocument
from rest_framework.exceptions import ValidationError
from topologies.actions import save_version
from topologies.api.fields import LARGEST_DOCUMENT, DocumentField
from topologies.models import Version

from deployments.actions import request_redeploy
from deployments.management.acting import DeploymentCommand
from deployments.models import Deployment
from deployments.rows import version_numbered, version_of
from deployments.state_plan import start_plan


class Command(DeploymentCommand):
    """``millrace_deploy DEPLOYMENT [--to VERSION | --document DOC] [--plan]``."""

    help = "Deploy another version; show what happens to each store."
    number = staticmethod(deployment_number)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        # With --server, the launcher runs another command, which has the same options.
        add_options(parser)
        # What the launcher writes for a program: {"name": "job.py", "places": {node: line}}.
        parser.add_argument("--program", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the plan; without `--plan`, deploy the version as well."""
        row = self.deployment(options)
        program = json.loads(Path(options["program"]).read_bytes()) if options["program"] else {}
        actor = self.actor(row, options)
        try:
            decided = decisions(options["reset"], options["drop"], options["convert"])
            version = self._version(row, options)
            plan = start_plan(row, version, None)
            require_known(plan, decided)
            lines = plan_text(plan, row.topology.name, row.environment)
            self.stdout.write(json.dumps(plan, indent=2) if options["json"] else "\n".join(lines))
            require_decided(plan, decided)
            if options["plan"]:
                return
            base = row.topology.latest_number
            if version.number > base:
                message = f"From {program.get('name') or Path(options['document']).name}"
                version = save_version(
                    actor, row.topology, version.document, message, base, keep_draft=True
                )
            request_redeploy(actor, row, version.number, decisions=decided)
        except DecisionError as error:
            raise CommandError(str(error)) from error
        except ApiError as error:
            place = program.get("places", {}).get(error.data.get("node"))
            where = f"{place}: " if place else ""
            raise CommandError(f"{where}{error.message} {error.hint}".strip()) from error
        self.stderr.write(f"Version {version.number} is being deployed. The page shows the steps.")

    def _version(self, row: Deployment, options: dict[str, Any]) -> Version:
        """Return the version to deploy; if made from a document that differs, it is not saved."""
        if options["document"] is None:
            number = options["to"] or row.topology.latest_number
            return version_numbered(row.topology_id, number)
        return version_of(row, _read(Path(options["document"])))


def _read(path: Path) -> TopologyDocument:
    try:
        text = path.read_bytes()
        if len(text) > 2 * LARGEST_DOCUMENT:
            raise CommandError(f"{path} is too large for a topology document.")
        document: TopologyDocument = DocumentField().run_validation(json.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise CommandError(f"{path}: {error.detail[0]}") from error  # type: ignore[index]
    return document
