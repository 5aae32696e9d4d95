"""The packages of the three lock files: Python's, Node's and the jars."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from launcher import jars, places


@dataclass(frozen=True, order=True)
class Package:
    """One locked package. `ecosystem` is PyPI, npm or Maven, `name` as it is written there."""

    ecosystem: str
    name: str
    version: str
    #: of the file, where the lock knows a single one: a jar's sha256
    sha256: str = ""

    @property
    def purl(self) -> str:
        """Its package URL, https://github.com/package-url/purl-spec."""
        kind = {"PyPI": "pypi", "npm": "npm", "Maven": "maven"}[self.ecosystem]
        name = self.name.replace(":", "/").replace("@", "%40")
        return f"pkg:{kind}/{name}@{self.version}"


def locked() -> list[Package]:
    """Return every package of requirements.lock, package-lock.json and runtime/jars.lock."""
    return sorted({*python_packages(), *node_packages(), *jar_packages()})


def python_packages() -> Iterator[Package]:
    """Return the packages of requirements.lock."""
    text = (places.REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([^\s;]+)", text, re.MULTILINE):
        yield Package("PyPI", name, version)


def node_packages() -> Iterator[Package]:
    """Return the packages of package-lock.json; those of the workspaces are the project's own."""
    text = (places.REPOSITORY / "package-lock.json").read_text(encoding="utf-8")
    for path, entry in json.loads(text)["packages"].items():
        name = path.rpartition("node_modules/")[2]
        if "node_modules/" in path and not entry.get("link"):
            yield Package("npm", entry.get("name", name), entry["version"])


def jar_packages(*groups: str) -> Iterator[Package]:
    """Return the jars of some groups of runtime/jars.lock, of all groups by default."""
    for jar in jars.read_lock():
        if not groups or jar.group in groups:
            name = f"{jar.organisation}:{jar.artifact}"
            yield Package("Maven", name, jar.version, jar.sha256)


def version() -> str:
    """Return the version of Millrace in pyproject.toml."""
    text = (places.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])
