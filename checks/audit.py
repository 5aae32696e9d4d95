"""``./millrace audit``: known vulnerabilities of the locked packages, from OSV.

OSV (https://osv.dev) has the advisories of PyPI, npm and Maven in one form. Only names and versions
are sent. `checks/advisories.toml` lists advisories that do not concern Millrace, with the reason.
"""

from __future__ import annotations

import json
import os
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any

from launcher import commands, packages
from launcher.console import Problem, echo
from launcher.packages import Package

ADDRESS = "https://api.osv.dev"
ACCEPTED = Path(__file__).with_name("advisories.toml")
#: packages in one request; OSV takes 1,000
BATCH = 500
#: seconds for one response
SECONDS = 10.0
#: bytes of a response; that of one advisory has some 10,000
LARGEST = 20_000_000


class Unreachable(Problem):
    """The advisories could not be read."""


@dataclass(frozen=True, order=True)
class Finding:
    """An advisory that concerns a locked package."""

    package: Package
    advisory: str
    summary: str
    #: versions without the fault
    fixed: tuple[str, ...]

    def __str__(self) -> str:
        """One line for the console."""
        fixed = f"fixed in {', '.join(self.fixed)}" if self.fixed else "no fixed version"
        return (
            f"{self.package.name} {self.package.version} ({self.package.ecosystem}): "
            f"{self.advisory}, {fixed}. {self.summary}".rstrip()
        )


def main(arguments: list[str]) -> int:
    """Print the findings; the exit code is 1 if there are any."""
    parser = commands.parser("audit")
    parser.add_argument(
        "--if-reachable",
        action="store_true",
        help="succeed with a notice if the advisories cannot be reached",
    )
    options = parser.parse_args(arguments[1:])
    listed = packages.locked()
    address = os.environ.get("MILLRACE_OSV", ADDRESS).rstrip("/")
    try:
        findings = sorted(find(listed, address))
    except Unreachable as problem:
        if not options.if_reachable:
            raise
        echo(f"audit: not done. {problem}")
        return 0
    accepted = read_accepted(ACCEPTED, datetime.now(UTC).date())
    open_ones = [each for each in findings if each.advisory not in accepted]
    for finding in open_ones:
        echo(f"audit: {finding}")
    for unused in sorted(accepted - {each.advisory for each in findings}):
        echo(f"audit: {ACCEPTED.name} lists {unused}, which concerns no locked package any more")
    echo(
        f"audit: {len(listed)} packages, {len(open_ones)} advisories, "
        f"{len(findings) - len(open_ones)} accepted"
    )
    return 1 if open_ones else 0


def find(listed: list[Package], address: str) -> Iterator[Finding]:
    """Return the advisories of the packages. Raises Unreachable."""
    for start in range(0, len(listed), BATCH):
        batch = listed[start : start + BATCH]
        for package, advisories in _advisories(batch, address):
            for advisory in advisories:
                yield _finding(package, _get(f"{address}/v1/vulns/{advisory}"))


def read_accepted(path: Path, today: date) -> set[str]:
    """Return the ids of the file's entries whose date `until` has not passed. Raises Problem."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("accepted", [])
    for entry in entries:
        if not entry.get("reason"):
            raise Problem(f"{path}: {entry.get('id')} has no reason. Add why it is accepted.")
    return {entry["id"] for entry in entries if entry["until"] >= today}


def _advisories(batch: list[Package], address: str) -> Iterator[tuple[Package, list[str]]]:
    """Return the ids of the advisories of each package that has any."""
    asked: list[tuple[Package, str]] = [(package, "") for package in batch]
    while asked:
        queries = [
            {"package": {"purl": package.purl}} | ({"page_token": page} if page else {})
            for package, page in asked
        ]
        results = _get(f"{address}/v1/querybatch", {"queries": queries}).get("results", [])
        if len(results) != len(asked):
            raise Unreachable(f"{address} answered {len(results)} of {len(asked)} queries.")
        following = []
        for (package, _), result in zip(asked, results, strict=True):
            found = [str(each["id"]) for each in result.get("vulns", [])]
            if found:
                yield package, found
            if result.get("next_page_token"):
                following.append((package, result["next_page_token"]))
        asked = following


def _finding(package: Package, advisory: dict[str, Any]) -> Finding:
    name = package.name
    fixed = {
        event["fixed"]
        for affected in advisory.get("affected", [])
        if affected.get("package", {}).get("name", "").lower() == name.lower()
        for each in affected.get("ranges", [])
        for event in each.get("events", [])
        if each.get("type") != "GIT" and "fixed" in event
    }
    summary = " ".join(str(advisory.get("summary", "")).split())
    return Finding(package, str(advisory["id"]), summary, tuple(sorted(fixed)))


def _get(url: str, body: object = None) -> dict[str, Any]:
    """Return a JSON object. Raises Unreachable with what went wrong."""
    request = urllib.request.Request(  # noqa: S310 - the scheme is checked below
        url,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    if request.type not in {"http", "https"}:
        raise Problem(f"MILLRACE_OSV must be an http or https address, not {url!r}.")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310
            content = json.loads(response.read(LARGEST))
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise Unreachable(
            f"The advisories at {url} cannot be read ({reason}). "
            "Check the network, or set MILLRACE_OSV to a mirror."
        ) from error
    if not isinstance(content, dict):
        raise Unreachable(f"{url} answered with something other than a JSON object.")
    return content
