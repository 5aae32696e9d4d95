"""The command line of `deploy`: its options, decisions about stores, and the plan as text."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence

from millrace_model.changes import PlannedPlace, PlannedStore, StartPlanJson

#: what happens to stores that the new version cannot use, by their id
Decisions = dict[str, str | dict[str, str]]
#: verdicts that need a decision before the version can run
UNDECIDED = {"lost", "incompatible"}
_UNITS = ("KB", "MB", "GB", "TB")


class DecisionError(ValueError):
    """A decision that cannot be read, that is missing, or that is about no store of the plan."""


def deployment_number(text: str) -> int:
    """Return the number of a deployment.

    Raises ArgumentTypeError for another text, which may be a document or a program.
    """
    if text.isascii() and text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text!r} is not the number of a deployment, such as 3. A document or a program is an "
        "option: deploy 3 --document job.py"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is deployed, and what happens to its stores."""
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
    for option, name, help_ in (
        ("--reset", "STORE", "start this store empty"),
        ("--drop", "STORE", "drop this store, which the version does not have"),
        ("--convert", "STORE=EXPRESSION", "convert each value by a SQL expression over old"),
    ):
        parser.add_argument(option, action="append", default=[], metavar=name, help=help_)
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")
    parser.add_argument(
        "--server",
        metavar="URL",
        help="deploy over the API of this server (default: MILLRACE_SERVER), with the API token in "
        "MILLRACE_TOKEN",
    )


def decisions(reset: Sequence[str], drop: Sequence[str], convert: Sequence[str]) -> Decisions:
    """Return the decisions of the options `--reset`, `--drop` and `--convert`.

    Raises DecisionError.
    """
    found: Decisions = {**dict.fromkeys(reset, "reset"), **dict.fromkeys(drop, "drop")}
    for text in convert:
        store, equals, expression = text.partition("=")
        if not equals or not expression.strip():
            raise DecisionError(f"--convert needs STORE=EXPRESSION, not {text}.")
        found[store] = {"convert": expression.strip()}
    return found


def require_known(plan: StartPlanJson, decided: Collection[str]) -> None:
    """Raise DecisionError if a decision is about no store of the plan."""
    unknown = set(decided) - {store["id"] for store in plan["stores"]}
    if unknown:
        raise DecisionError(f"The plan has no store {', '.join(sorted(unknown))}.")


def require_decided(plan: StartPlanJson, decided: Collection[str]) -> None:
    """Raise DecisionError if a store needs a decision."""
    missing = [
        store["id"]
        for store in plan["stores"]
        if store["verdict"] in UNDECIDED and store["id"] not in decided
    ]
    if missing:
        raise DecisionError(
            f"Version {plan['version']} cannot use the state of {', '.join(missing)}. For "
            "each of these stores, add --reset, --drop or --convert."
        )


def plan_text(plan: StartPlanJson, name: str, environment: str | None) -> list[str]:
    """Return the lines of a plan as readable text. `name`: of the topology."""
    where = f" ({environment})" if environment else ""
    lines = [f"{name}{where}: version {plan['before']} -> {plan['version']}"]
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
    size = "" if store["bytes"] is None else f", {_bytes(store['bytes'])}"
    return f"{store['rows']:,} rows{size}"


def _bytes(size: float) -> str:
    if size < 1024:
        return "1 byte" if size == 1 else f"{size} bytes"
    for unit in _UNITS:
        size /= 1024
        if size < 1024 or unit == _UNITS[-1]:
            break
    return f"{size:.1f} {unit}"


def _places(partitions: list[PlannedPlace]) -> str:
    """Return the first offset to read of each partition, and how many records follow."""
    found = []
    for each in partitions:
        lag = "" if each["lag"] is None else f" ({each['lag']:,} to read)"
        found.append(f"{each['partition']}:{each['offset']}{lag}")
    return " ".join(found)
