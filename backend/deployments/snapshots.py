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
    #: boot and start ticks; with host and pid it names a process for good
    process_born: str
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
    #: the failure of a version that uses topics which its workspace may not
    forbidden: dict[str, Any] | None = None
    #: what it waits for: code, message, attempts, and since and retry_at in epoch seconds
    outage: dict[str, Any] | None = None
    steps: tuple[dict[str, Any], ...] = field(default=())
    #: what becomes of stores whose rows cannot be carried over, by id
    state_decisions: dict[str, str | dict[str, str]] = field(default_factory=dict)
    #: what the driver is told about where it begins; it applies each request once, by its id
    beginning: dict[str, Any] | None = None
    #: number of the version that runs again should this one not reach its first batch
    fallback: int | None = None
    #: the driver lives and reads nothing
    paused: bool = False
    #: before it stops it reads up to the ends of its topics
    draining: bool = False
    #: whether a batch was ever done
    has_state: bool = False
