"""What a state sees of a deployment: plain values, no database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace_workers.launchers.base import Process


@dataclass(frozen=True)
class Failure:
    """Why a deployment does not run, addressed to a node where one is to blame."""

    code: str
    message: str
    node: str | None = None
    parameter: str | None = None
    record: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The failure as the API shows it."""
        return {
            "code": self.code,
            "node": self.node,
            "parameter": self.parameter,
            "message": self.message,
            "record": self.record,
        }


@dataclass(frozen=True)
class Run:
    """One life of a driver process."""

    id: int
    pid: int
    #: seconds since the epoch; with the pid it names a process for good
    process_started_at: float
    version: int
    #: the driver reports into the Redis stream ``millrace:run:<report id>``
    report_id: str

    @property
    def process(self) -> Process:
        """The process behind this run."""
        return Process(self.pid, self.process_started_at)


@dataclass(frozen=True)
class Deployment:
    """A deployment as it stood when this step began."""

    id: int
    name: str
    #: number of the version that should run
    version: int
    document: dict[str, Any]
    settings: dict[str, Any]
    desired: str
    observed: str
    #: everything this deployment keeps on disk
    directory: Path
    run: Run | None = None
    #: the user asked for one restart after this time (epoch seconds)
    restart_requested: bool = False
    #: ends of runs that were not asked for, epoch seconds, oldest first
    crashes: tuple[float, ...] = ()
    #: epoch seconds at which the observed state was entered
    since: float = 0.0
    failure: dict[str, Any] | None = None
    #: number of the next run, counted over the whole life of the deployment
    next_epoch: int = 1

    @property
    def wants_to_run(self) -> bool:
        """Whether the user wants this deployment to run."""
        return self.desired == "running"

    @property
    def real_time(self) -> bool:
        """Whether records are to be taken as they arrive, and not in micro-batches."""
        return bool(self.settings.get("real_time_ms"))

    @property
    def job_directory(self) -> Path:
        """Where the code of the wanted version is staged."""
        return self.directory / "jobs" / f"v{self.version}"

    @property
    def checkpoint(self) -> Path:
        """The query's checkpoint; it outlives versions."""
        return self.directory / "checkpoint"

    @property
    def log_file(self) -> Path:
        """The driver's log, all runs after each other."""
        return self.directory / "driver.log"
