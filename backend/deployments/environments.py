"""Documents as deployments run them: with the values of their environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace_model.changes import ParameterChange
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import DeploymentSettings
from topologies import environments
from topologies.models import Version

if TYPE_CHECKING:
    from millrace_compiler.graphs.topology_parameters import TopologyParameter


def environment_of(settings: DeploymentSettings | None) -> str | None:
    """Return the environment that settings name, or None: parameters have their defaults."""
    return None if settings is None else settings.get("environment") or None


def changed_parameters(
    before: tuple[Version, DeploymentSettings], after: tuple[Version, DeploymentSettings]
) -> list[ParameterChange]:
    """Return the parameters whose values differ, with both values (None: not declared).

    If the environment changes, also those for which the new one has no value of its own, although
    another one has: that they have their default there may be an oversight.
    """
    (old, came_from), (new, goes_to) = (
        (_parameters(version), environment_of(settings)) for version, settings in (before, after)
    )
    changes: list[ParameterChange] = []
    for name in dict.fromkeys([*old, *new]):
        earlier, later = old.get(name), new.get(name)
        values = (
            None if earlier is None else earlier.value(came_from),
            None if later is None else later.value(goes_to),
        )
        left_out = (
            later is not None
            and goes_to not in {None, came_from}
            and bool(later.values)
            and goes_to not in later.values
        )
        if values[0] != values[1] or left_out:
            changes.append(
                {"name": name, "old": values[0], "new": values[1], "by_default": left_out}
            )
    return changes


def _parameters(version: Version) -> Mapping[str, TopologyParameter]:
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.diagnostics.diagnostics import Diagnostics
    from millrace_compiler.graphs.topology_parameters import read_parameters

    return read_parameters(version.document, Diagnostics())


def document_in(version: Version, settings: DeploymentSettings | None) -> TopologyDocument:
    """Return the document of a version with the values of the environment that settings name."""
    return environments.document_in(version.document, environment_of(settings))
