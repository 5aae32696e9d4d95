"""Deploys another version, and shows what that does to the state."""

from __future__ import annotations

import json
from argparse import SUPPRESS
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import filesizeformat
from millrace_backend.errors import ApiError
from millrace_model.changes import PlannedPlace, PlannedStore, StartPlanJson
from millrace_model.documents import TopologyDocument
from rest_framework.exceptions import ValidationError
from topologies.actions import save_version
from topologies.api.fields import LARGEST_DOCUMENT, DocumentField
from topologies.models import Version, hash_of

from deployments.actions import request_redeploy
from deployments.management.acting import DeploymentCommand
from deployments.models import Deployment
from deployments.rows import version_numbered
from deployments.state_plan import Decisions, start_plan

#: verdicts that need a decision before the version can run
UNDECIDED = {"lost", "incompatible"}


class Command(DeploymentCommand):
    """``millrace_deploy DEPLOYMENT [--to VERSION | --document DOC] [--plan]``."""

    help = "Deploy another version; show what happens to each store."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        super().add_arguments(parser)
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--to", type=int, metavar="VERSION", help="the version to deploy (default: the newest)"
        )
        which.add_argument(
            "--document", metavar="DOC", help="save DOC as a new version and deploy it"
        )
        # What the launcher writes for a program: {"name": "job.py", "places": {node: line}}.
        parser.add_argument("--program", help=SUPPRESS)
        parser.add_argument(
            "--plan",
            action="store_true",
            help="show the plan only (exit code 1: a decision is missing)",
        )
        for option, name, help_ in (
            ("--reset", "STORE", "start this store empty"),
            ("--drop", "STORE", "drop this store, which the version does not have"),
            ("--convert", "STORE=EXPRESSION", "convert each value by a SQL expression over old"),
        ):
            parser.add_argument(option, action="append", default=[], metavar=name, help=help_)
        parser.add_argument("--json", action="store_true", help="print the plan as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show the plan; without `--plan`, deploy the version as well."""
        row = self.deployment(options)
        decisions = _decisions(options)
        program = json.loads(Path(options["program"]).read_bytes()) if options["program"] else {}
        actor = self.actor(row, options)
        try:
            version = self._version(row, options)
            plan = start_plan(row, version, None)
            unknown = decisions.keys() - {store["id"] for store in plan["stores"]}
            if unknown:
                raise CommandError(f"The plan has no store {', '.join(sorted(unknown))}.")
            self.stdout.write(
                json.dumps(plan, indent=2) if options["json"] else "\n".join(lines_of(plan, row))
            )
            missing = [
                store["id"]
                for store in plan["stores"]
                if store["verdict"] in UNDECIDED and store["id"] not in decisions
            ]
            if missing:
                raise CommandError(
                    f"Version {version.number} cannot use the state of {', '.join(missing)}. For "
                    "each of these stores, add --reset, --drop or --convert."
                )
            if options["plan"]:
                return
            base = row.topology.latest_number
            if version.number > base:
                message = f"From {program.get('name') or Path(options['document']).name}"
                version = save_version(actor, row.topology, version.document, message, base)
            request_redeploy(actor, row, version.number, decisions=decisions)
        except ApiError as error:
            place = program.get("places", {}).get(error.data.get("node"))
            where = f"{place}: " if place else ""
            raise CommandError(f"{where}{error.message} {error.hint}".strip()) from error
        self.stderr.write(f"Version {version.number} is being deployed. The page shows the steps.")

    def _version(self, row: Deployment, options: dict[str, Any]) -> Version:
        """Return the version to deploy; if made from a document that differs, it is not saved."""
        newest = row.topology.latest_number
        if options["document"] is None:
            return version_numbered(row.topology_id, options["to"] or newest)
        document = _read(Path(options["document"]))
        version = version_numbered(row.topology_id, newest)
        if version.hash == hash_of(document):
            return version
        return Version(topology=row.topology, number=newest + 1, document=document)


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


def _decisions(options: dict[str, Any]) -> Decisions:
    found: dict[str, str | dict[str, str]] = {}
    for what in ("reset", "drop"):
        found |= dict.fromkeys(options[what], what)
    for text in options["convert"]:
        store, equals, expression = text.partition("=")
        if not equals or not expression.strip():
            raise CommandError(f"--convert needs STORE=EXPRESSION, not {text}.")
        found[store] = {"convert": expression.strip()}
    return found


def lines_of(plan: StartPlanJson, row: Deployment) -> list[str]:
    """Return the lines of a plan as readable text."""
    where = f" ({row.environment})" if row.environment else ""
    lines = [f"{row.topology.name}{where}: version {plan['before']} -> {plan['version']}"]
    stores = [
        (store["id"], store["verdict"], _size(store), ", ".join(store["reasons"]))
        for store in plan["stores"]
    ]
    sources = [
        (source["topic"], source["verdict"], _places(source["partitions"]), "")
        for source in plan["sources"]
    ]
    for title, cells in (("Stores", stores), ("Sources", sources)):
        if cells:
            widths = [max(len(cell[column]) for cell in cells) for column in range(3)]
            lines.append(title)
            lines += [
                "  " + "  ".join([*map(str.ljust, cell[:3], widths), cell[3]]).rstrip()
                for cell in cells
            ]
    tests = plan["tests"]
    if tests is not None and tests["required"] and tests["doubled"]:
        nodes, names = ", ".join(tests["doubles"]), ", ".join(tests["doubled"])
        lines.append(f"Tests that passed only with doubles for {nodes}: {names}")
    how = plan["handover"]
    if how is None:
        return [*lines, "No driver runs."]
    if how["warm"]:
        return [*lines, "The new driver is prepared while the old one runs, then takes over."]
    return [*lines, str(how["message"])]


def _size(store: PlannedStore) -> str:
    if store["rows"] is None:
        return ""
    size = "" if store["bytes"] is None else f", {filesizeformat(store['bytes'])}"
    return f"{store['rows']:,} rows{size}".replace("\xa0", " ")


def _places(partitions: list[PlannedPlace]) -> str:
    """Return the first offset to read of each partition, and how many records follow."""
    found = []
    for each in partitions:
        lag = "" if each["lag"] is None else f" ({each['lag']:,} to read)"
        found.append(f"{each['partition']}:{each['offset']}{lag}")
    return " ".join(found)
