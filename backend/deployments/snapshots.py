"""Deployments as plain values, for those who step them without the database at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RunSnapshot:
    """The driver process that lives, as far as the database knows."""

    id: int
    epoch: int
    pid: int
    host: str
    #: seconds since the epoch; with the pid it names a process for good
    process_started_at: float
    #: number of the version that it runs
    version: int
    #: the driver reports into the Redis stream ``millrace:run:<report id>``
    report_id: str


@dataclass(frozen=True)
class DeploymentSnapshot:
    """A deployment as it stood when it was loaded."""

    id: int
    workspace: int
    topology: int
    #: the topology's name
    name: str
    #: number of the version that should run
    version: int
    document: dict[str, Any]
    target: str
    settings: dict[str, Any]
    desired: str
    observed: str
    #: everything this deployment keeps on disk
    directory: Path
    #: epoch seconds at which the observed state was entered
    since: float
    #: number of the next run, counted over the whole life of the deployment
    next_epoch: int
    run: RunSnapshot | None = None
    #: the user asked for one restart that no run has fulfilled yet
    restart_requested: bool = False
    #: ends of runs that nobody asked for since the user last started it, epoch seconds
    crashes: tuple[float, ...] = ()
    failure: dict[str, Any] | None = None
    steps: tuple[dict[str, Any], ...] = field(default=())
