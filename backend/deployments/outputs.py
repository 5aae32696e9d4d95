"""Environments and topics that the deployments of a topology do not share (ADR 50)."""

from __future__ import annotations

from collections.abc import Iterator

from millrace_backend.errors import Conflict
from millrace_compiler.graphs.kinds import sink_kinds
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import DeploymentSettings
from topologies.models import Topology, Version

from deployments.environments import document_in, environment_of
from deployments.models import Deployment
from deployments.rows import settings_before

#: number of topics that a message names
NAMED = 5


def possible_versions(row: Deployment) -> list[tuple[Version, DeploymentSettings]]:
    """Return the versions that should run, that run, and that run again after a failure.

    Each with its settings, whose environment determines the names of topics.
    """
    found = {(row.version_id, environment_of(row.settings)): (row.version, row.settings)}
    run = row.live_run
    if run is not None:
        settings = row.settings if run.settings is None else run.settings
        found[run.version_id, environment_of(settings)] = (run.version, settings)
    if row.fallback is not None:
        fallback = Version.objects.filter(topology=row.topology_id, number=row.fallback).first()
        if fallback is not None:
            settings = settings_before(row, fallback.number)
            found[fallback.pk, environment_of(settings)] = (fallback, settings)
    return list(found.values())


def written_by(document: TopologyDocument) -> list[str]:
    """Return the topics that a document names for its outputs and dead letters, in its order.

    An expression that computes topics stands for them.
    """
    found = []
    for node in document.get("nodes", []):
        params = node.get("params") or {}
        if node["kind"] in sink_kinds():
            found += [params.get("topic"), params.get("topic_expression")]
    found.append((document.get("settings") or {}).get("dead_letter_topic"))
    return list(dict.fromkeys(each for each in found if isinstance(each, str) and each))


def require_own_outputs(
    topology: Topology,
    version: Version,
    settings: DeploymentSettings,
    but: Deployment | None = None,
) -> None:
    """Raise Conflict for an environment or topics of another deployment of the topology.

    ``but``: the deployment that is to run the version. In a transaction that changes what runs,
    call it after `lock_topology`.
    """
    others = topology.deployments.filter(is_shadow=False)
    if but is not None:
        others = others.exclude(pk=but.pk)
    rows = list(others.select_related("version").prefetch_related("runs__version"))
    if not rows:
        return
    environment = environment_of(settings)
    ours = written_by(document_in(version, settings))
    for row in rows:
        possible = possible_versions(row)
        if environment in {environment_of(each) for _, each in possible}:
            raise _deployed(topology, row, environment)
        theirs = set(_written(possible))
        both = [topic for topic in ours if topic in theirs]
        if both:
            raise _shared(topology, row, both)


def lock_topology(topology: int) -> None:
    """Have changes of a topology's deployments happen one after another, until the commit."""
    Topology.objects.select_for_update().filter(pk=topology).first()


def _written(possible: list[tuple[Version, DeploymentSettings]]) -> Iterator[str]:
    for version, settings in possible:
        yield from written_by(document_in(version, settings))


def _deployed(topology: Topology, row: Deployment, environment: str | None) -> Conflict:
    where = f" in {environment}" if environment else ""
    return Conflict(
        "already_deployed",
        f"“{topology.name}” already has a deployment{where} (number {row.pk}).",
        "Redeploy it with the version that should run, or delete it first.",
        deployment=row.pk,
        environment=environment,
    )


def _shared(topology: Topology, row: Deployment, topics: list[str]) -> Conflict:
    shown = ", ".join(f"“{topic}”" for topic in topics[:NAMED])
    more = f" and {len(topics) - NAMED} more" if len(topics) > NAMED else ""
    where = f"in {row.environment}" if row.environment else "without an environment"
    return Conflict(
        "outputs_shared",
        f"The deployment of “{topology.name}” {where} (number {row.pk}) already writes to "
        f"{shown}{more}.",
        "Use a parameter of the type “topic” with another value for each environment, or delete "
        "that deployment.",
        deployment=row.pk,
        environment=row.environment,
        topics=topics,
        names=f"{shown}{more}",
    )
