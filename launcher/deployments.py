"""``./millrace deploy``, ``scale``, ``shadow``, ``old-state``: commands of the backend."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from contextlib import suppress

from launcher import commands, places
from launcher.ports import HOST

MANAGE = places.REPOSITORY / "backend" / "manage.py"


def main(arguments: list[str]) -> int:
    """Run the command; its exit code."""
    name = arguments[0]
    parser = commands.parser(name)
    parser.add_argument("deployment", metavar="DEPLOYMENT", type=int, help="its number")
    PARTS[name](parser)
    parser.add_argument(
        "--user", help="the account to act as (default: the first admin of the workspace)"
    )
    parser.parse_args(arguments[1:])
    command = f"millrace_{name.replace('-', '_')}"
    return subprocess.run(
        [sys.executable, str(MANAGE), command, *arguments[1:]],
        env={**environment(), **os.environ},
        check=False,
    ).returncode


def _deploy(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--to", type=int, metavar="VERSION", help="the version to deploy (default: the newest)"
    )
    which.add_argument("--document", metavar="DOC", help="save DOC as a new version and deploy it")
    parser.add_argument(
        "--plan",
        action="store_true",
        help="show the plan only (exit code 1: a decision is missing)",
    )
    parser.add_argument(
        "--reset", action="append", metavar="STORE", help="let this store begin empty"
    )
    parser.add_argument(
        "--drop", action="append", metavar="STORE", help="give up this store, which is removed"
    )
    parser.add_argument(
        "--convert", action="append", metavar="STORE=EXPRESSION",
        help="convert each value by a SQL expression over old",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def _scale(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cores", type=int, metavar="N", help="number of threads for tasks")
    parser.add_argument("--memory", type=int, metavar="MB", help="heap size of the driver in MB")
    parser.add_argument("--plan", action="store_true", help="show the plan only")


def _old_state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--delete", metavar="STATE", help="delete this state permanently")
    parser.add_argument(
        "--name",
        metavar="NAME",
        help="the topology's name, to confirm the deletion (asked for if omitted)",
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def _shadow(parser: argparse.ArgumentParser) -> None:
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


PARTS = {"deploy": _deploy, "scale": _scale, "shadow": _shadow, "old-state": _old_state}


def environment() -> dict[str, str]:
    """Where the parts of this machine's system are, as far as they have been started."""
    found = {
        "MILLRACE_DATA": str(places.data()),
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH),
    }
    with suppress(OSError, ValueError):
        ports = json.loads((places.run() / "ports.json").read_text(encoding="utf-8"))
        password = (places.run() / "redis-password").read_text(encoding="utf-8").strip()
        found["REDIS_URL"] = f"redis://:{password}@{HOST}:{ports['redis']}/0"
        found["KAFKA_BOOTSTRAP_SERVERS"] = f"{HOST}:{ports['broker']}"
        found["MILLRACE_ANALYZER"] = f"{HOST}:{ports['analyzer']}"
    return found
