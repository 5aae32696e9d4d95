"""Documents as deployments run them: with the values of their environments."""

from __future__ import annotations

from millrace_model.changes import ParameterChange
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import DeploymentSettings
from topologies import environments
from topologies.models import Version


def environment_of(settings: DeploymentSettings | None) -> str | None:
    """Return the environment that settings name, or None: parameters have their defaults."""
    return None if settings is None else settings.get("environment") or None


def changed_parameters(
    before: tuple[Version, DeploymentSettings], after: tuple[Version, DeploymentSettings]
) -> list[ParameterChange]:
    """Return the parameters whose values differ, with both values (None: not declared)."""
    old, new = (_values(version, settings) for version, settings in (before, after))
    return [
        {"name": name, "old": old.get(name), "new": new.get(name)}
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]


def _values(version: Version, settings: DeploymentSettings) -> dict[str, object]:
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.diagnostics.diagnostics import Diagnostics
    from millrace_compiler.graphs.topology_parameters import read_parameters

    found = read_parameters(version.document, Diagnostics())
    environment = environment_of(settings)
    return {name: each.value(environment) for name, each in found.items()}


def document_in(version: Version, settings: DeploymentSettings | None) -> TopologyDocument:
    """Return the document of a version with the values of the environment that settings name."""
    return environments.document_in(version.document, environment_of(settings))
