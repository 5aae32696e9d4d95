"""Changes the threads or memory of a running deployment."""

from __future__ import annotations

from typing import Any, cast

from django.core.management.base import CommandError, CommandParser
from millrace_backend.errors import ApiError
from millrace_model.drivers import DeploymentSettings

from deployments import handover
from deployments.actions import request_scale
from deployments.management.acting import DeploymentCommand
from deployments.models import Deployment

#: what applies to a deployment without a setting of its own
DEFAULTS = {"cores": "all", "memory_mb": str(handover.HEAP_MB)}
TITLES = {"cores": "cores", "memory_mb": "memory, MB"}
LEAST = {"cores": 1, "memory_mb": 512}


class Command(DeploymentCommand):
    """``millrace_scale DEPLOYMENT [--cores N] [--memory MB] [--plan]``."""

    help = "Change the threads or memory of a running deployment."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        parser.add_argument("--cores", type=int, metavar="N", help="number of threads for tasks")
        parser.add_argument(
            "--memory", type=int, metavar="MB", help="heap size of the driver in MB"
        )
        parser.add_argument("--plan", action="store_true", help="show the plan only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the plan; without `--plan`, make the change as well."""
        row = self.deployment(options)
        given = {"cores": options["cores"], "memory_mb": options["memory"]}
        wanted = {name: value for name, value in given.items() if value is not None}
        if not wanted:
            raise CommandError("Set --cores, --memory or both.")
        for name, value in wanted.items():
            if value < LEAST[name]:
                raise CommandError(f"{TITLES[name]}: {LEAST[name]} or more, not {value}.")
        for line in _planned(row, wanted):
            self.stdout.write(line)
        if options["plan"]:
            return
        try:
            request_scale(self.actor(row, options), row, wanted)
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        self.stdout.write("The change has started; the page shows its progress.")


def _planned(row: Deployment, wanted: dict[str, int]) -> list[str]:
    lines = [
        f"{TITLES[name]}: {row.settings.get(name, DEFAULTS[name])} -> {value}"
        for name, value in wanted.items()
    ]
    settings = cast(DeploymentSettings, {**row.settings, **wanted})
    how = handover.shown(row, settings)
    if how is None:
        return [*lines, "No driver runs."]
    if how["warm"]:
        return [*lines, "A driver with these settings is prepared, then takes over; state is kept."]
    return [*lines, f"{how['message']} State is kept."]
