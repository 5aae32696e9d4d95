"""Decides whether a change's driver is prepared beside the running one (warm) or not (cold).

Warm, the output pauses from the last batch of one driver to the first of the next, which has
already loaded Spark and its query. Cold, it pauses for a whole start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from django.conf import settings as installation
from millrace_model.changes import HandoverJson
from millrace_model.drivers import DeploymentSettings
from topologies.choices import Dialect

from deployments import plain_state
from deployments.choices import ColdReason
from deployments.models import Deployment

#: default heap of a driver
HEAP_MB = 1024
#: memory of a driver besides its JVM's heap: classes, threads, RocksDB, Python
BESIDE_HEAP_MB = 768
CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Cold:
    """Why the old driver is stopped before the new one is started."""

    code: ColdReason
    message: str
    facts: Mapping[str, str] = field(default_factory=dict)


def cold_reason(settings: DeploymentSettings, directory: Path, *, paused: bool) -> Cold | None:
    """Return why a deployment with these settings cannot be changed warm; None if it can.

    ``directory``: that of the deployment.
    """
    if settings.get("dialect") == Dialect.PLAIN or plain_state.last_program(directory):
        return Cold(
            ColdReason.PLAIN,
            "A plain PySpark program cannot be prepared while another driver runs, so the running "
            "driver is stopped first.",
        )
    if paused:
        return Cold(
            ColdReason.PAUSED, "The deployment is paused, so there is nothing to keep running."
        )
    if installation.SPARK_MASTER and not installation.SPARK_MASTER.startswith("local"):
        return Cold(
            ColdReason.CLUSTER,
            "The running driver uses the cores of the cluster, so it is stopped first.",
        )
    needed = int(settings.get("memory_mb") or HEAP_MB) + BESIDE_HEAP_MB
    free = free_memory_mb() - installation.SPARE_MEMORY_MB
    if needed > free:
        facts = {"needed": f"{needed:,}", "free": f"{max(0, free):,}"}
        return Cold(
            ColdReason.MEMORY,
            f"A second driver needs {facts['needed']} MB of memory, but only {facts['free']} MB "
            "are free; the running one is stopped first.",
            facts,
        )
    return None


def shown(row: Deployment, settings: DeploymentSettings | None = None) -> HandoverJson | None:
    """Return how a change would replace the driver, as the API shows it; None if nothing runs."""
    if row.live_run is None:
        return None
    cold = cold_reason(
        row.settings if settings is None else settings, row.directory, paused=row.paused
    )
    return {
        "warm": cold is None,
        "reason": None if cold is None else cold.code.value,
        "message": None if cold is None else cold.message,
    }


def free_memory_mb(cgroup: Path = CGROUP) -> int:
    """Return the memory in MB that is free on this machine, or in the container if that is less."""
    free = psutil.virtual_memory().available
    try:
        most = (cgroup / "memory.max").read_text().strip()
        used = int((cgroup / "memory.current").read_text())
        lines = (cgroup / "memory.stat").read_text().splitlines()
    except (OSError, ValueError):
        return free // 1_000_000
    if most.isdecimal():
        # Cached files can be evicted.
        cached = sum(int(each.split()[1]) for each in lines if each.startswith("inactive_file "))
        free = min(free, int(most) - used + cached)
    return max(0, free // 1_000_000)
