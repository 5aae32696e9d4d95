"""Lists and deletes state that a deployment left when it was moved or reset."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from django.utils.timesince import timesince
from millrace_backend.errors import ApiError

from deployments.actions import delete_old_state
from deployments.management.acting import DeploymentCommand
from deployments.models import Deployment
from deployments.old_state import OldState, old_states


class Command(DeploymentCommand):
    """``millrace_old_state DEPLOYMENT [--delete NAME] [--name NAME]``."""

    help = "List or delete old state of a deployment."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        parser.add_argument("--delete", metavar="STATE", help="delete this state permanently")
        parser.add_argument(
            "--name",
            metavar="NAME",
            help="the topology's name, to confirm the deletion (prompted for if omitted)",
        )
        parser.add_argument("--json", action="store_true", help="print the list as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """List the old state, or delete a part of it."""
        row = self.deployment(options)
        if options["delete"] is not None:
            self._delete(row, options)
        elif options["json"]:
            self.stdout.write(json.dumps([_shown(each) for each in old_states(row)], indent=2))
        else:
            self._list(row)

    def _list(self, row: Deployment) -> None:
        found = old_states(row)
        if not found:
            self.stdout.write(f"“{row.topology.name}” has no old state.")
            return
        lines = [("STATE", "VERSION", "SIZE", "LEFT", "")]
        for each in found:
            version = "-" if each.version is None else f"v{each.version}"
            ago = f"{timesince(each.left_at, depth=1)} ago".replace("\xa0", " ")
            later = each.deletable_at > timezone.now()
            until = f"kept until {each.deletable_at:%Y-%m-%d %H:%M} UTC" if later else ""
            lines.append((each.name, version, _size(each.bytes), ago, until))
        widths = [max(len(line[column]) for line in lines) for column in range(5)]
        for line in lines:
            self.stdout.write("  ".join(map(str.ljust, line, widths)).rstrip())

    def _delete(self, row: Deployment, options: dict[str, Any]) -> None:
        name, actor = row.topology.name, self.actor(row, options)
        size = next((each.bytes for each in old_states(row) if each.name == options["delete"]), 0)
        typed = options["name"]
        if typed is None:
            self.stdout.write(
                f"Type the name of the topology ({name}) to delete it permanently: ", ending=""
            )
            self.stdout.flush()
            typed = sys.stdin.readline().strip()
        if typed != name:
            raise CommandError(f"{typed!r} is not the name of the topology. Nothing was deleted.")
        try:
            delete_old_state(actor, row, options["delete"])
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        self.stdout.write(f"Deleted {options['delete']} ({_size(size)}).")


def _shown(each: OldState) -> dict[str, Any]:
    return {
        "name": each.name,
        "version": each.version,
        "bytes": each.bytes,
        "left_at": each.left_at.isoformat(),
        "deletable_at": each.deletable_at.isoformat(),
        "deleted_at": None if each.deleted_at is None else each.deleted_at.isoformat(),
    }


def _size(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1_000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1_000
    return f"{size:.1f} GB"
