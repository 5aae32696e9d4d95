"""Runs another version beside a deployment, and compares their outputs."""

from __future__ import annotations

import json
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from millrace_backend.errors import ApiError

from deployments import comparing, shadows
from deployments.api.shadow_serializers import ShadowSerializer
from deployments.choices import ComparisonState, ShadowStart
from deployments.management.acting import DeploymentCommand
from deployments.models import Deployment

_GOING = {ComparisonState.READING, ComparisonState.MATCHING}
LOOK_SECONDS = 0.5


class Command(DeploymentCommand):
    """``millrace_shadow DEPLOYMENT [--start VERSION | --compare | --cancel | --end]``."""

    help = "Run another version beside a deployment and compare their outputs."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--start", type=int, metavar="VERSION", help="start a shadow")
        what.add_argument("--compare", action="store_true", help="compare the outputs, and wait")
        what.add_argument("--cancel", action="store_true", help="cancel a comparison")
        what.add_argument("--end", action="store_true", help="stop and delete the shadow")
        parser.add_argument(
            "--empty", action="store_true", help="with --start: empty stores, from the first record"
        )
        parser.add_argument("--name", help="with --end: the topology's name, to confirm")
        parser.add_argument("--json", action="store_true", help="print as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what is requested, and show the shadow."""
        row = self.deployment(options)
        try:
            if options["start"] is not None:
                start = ShadowStart.EARLIEST if options["empty"] else ShadowStart.RUNNING
                shadows.create_shadow(self.actor(row, options), row, options["start"], start)
            elif options["compare"]:
                comparing.begin(self.actor(row, options), row)
                self._wait(row)
            elif options["cancel"]:
                comparing.cancel(self.actor(row, options), row)
            elif options["end"]:
                shadows.end_shadow(self.actor(row, options), row, options["name"] or "")
            found: dict[str, Any] = json.loads(
                json.dumps(ShadowSerializer(shadows.shadow_of(row)).data)
            )
        except ApiError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2))
            return
        for line in lines_of(found):
            self.stdout.write(line)

    def _wait(self, row: Deployment) -> None:
        """Wait until the workers have finished the comparison."""
        while True:
            state = shadows.shadow_of(row).comparison
            if state is None or state["state"] not in _GOING:
                return
            time.sleep(LOOK_SECONDS)


def lines_of(shadow: dict[str, Any]) -> list[str]:
    """Return a shadow and its comparison as readable lines."""
    deployment = shadow["deployment"]
    lines = [
        f"Version {deployment['version']} is {deployment['observed']}"
        + (", and is being deleted." if shadow["ending"] else "."),
        f"Its output topics end with {shadow['suffix']}.",
        f"It last had the offsets of the running version at {shadow['reached_at'] or '-'}.",
    ]
    if deployment["failure"] is not None:
        lines.append(deployment["failure"]["message"])
    found = shadow["comparison"]
    if found is None:
        return [*lines, "Its outputs have not been compared."]
    lines.append(
        f"Outputs of version {found['running_version']} and {found['shadow_version']}: "
        f"{found['state']}" + (f" ({found['error']})" if found["error"] else "")
    )
    for topic in found["topics"]:
        lines.append(
            f"  {topic['topic']}: {topic['equal']} equal ({topic['reordered']} in another order), "
            f"{topic['differing']} differing, {topic['only_running']} only from the running "
            f"version, {topic['only_shadow']} only from the shadow"
            + (f", {topic['deleted']} deleted by the broker" if topic["deleted"] else "")
        )
        for each in topic["examples"]:
            sides = [each[side] and each[side]["value"] for side in ("running", "shadow")]
            lines.append(f"    {each['kind']}  {each['key']}: {sides[0]} | {sides[1]}")
    return lines
