"""Deployments that share a JVM with others (ADR 29)."""

from __future__ import annotations

from typing import Any

from django.conf import settings as installation
from millrace_backend.errors import ApiError
from millrace_compiler.graphs.kinds import runs_only_expressions
from millrace_model.drivers import DeploymentSettings
from topologies.choices import Dialect

from deployments import files
from deployments.choices import AloneReason, Jvm
from deployments.models import Run

#: settings that need a JVM of its own, and why
_OWN = {
    "real_time_ms": "in real time each task has its own thread",
    "cores": "the threads are those of the shared JVM",
    "memory_mb": "the memory is that of the shared JVM",
    "checkpoint": "the credentials of a storage are those of one deployment",
    "standby": "a standby takes over from a JVM of its own",
}


def require_sharing_settings(settings: DeploymentSettings) -> None:
    """Raises ApiError for settings that a deployment in a shared JVM cannot have."""
    if settings.get("jvm") != Jvm.SHARED:
        return
    found = {name: why for name, why in _OWN.items() if settings.get(name)}
    if settings.get("dialect") == Dialect.PLAIN:
        found["dialect"] = "a plain program starts its own Spark"
    if found:
        name, why = next(iter(found.items()))
        raise ApiError(
            "shared_jvm",
            f"“{name}” cannot be set for a deployment that shares a JVM: {why}.",
            f"Omit {', '.join(found)}, or choose the JVM “own”.",
            fields={"settings": [f"{each}: {because}." for each, because in found.items()]},
        )


def jvm_of(run: Run) -> dict[str, object]:
    """Return the host in whose JVM a run is, or why it has its own although it may share."""
    directory = run.deployment.directory
    note = _read(directory, "process.json")
    host = note.get("host") if note.get("pid") == run.pid else None
    return {"host": host, "alone": None if host else _alone(run)}


def _alone(run: Run) -> AloneReason | None:
    deployment = run.deployment
    if (run.settings or deployment.settings).get("jvm") != Jvm.SHARED or run.ended_at is not None:
        return None
    if not runs_only_expressions(run.version.document):
        return AloneReason.CODE
    if installation.SPARK_MASTER and not installation.SPARK_MASTER.startswith("local"):
        return AloneReason.SYSTEM
    cause = _read(deployment.directory, "alone").get("cause")
    return AloneReason(cause) if cause in AloneReason.values else AloneReason.SYSTEM


def _read(directory: Any, name: str) -> dict[str, object]:
    try:
        return files.read_object(directory, directory / name)
    except (OSError, ValueError):
        return {}
