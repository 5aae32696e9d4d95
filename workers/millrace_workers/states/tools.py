"""The tools that a state may use: launcher, reports, record, compiler and topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from millrace_model.documents import TopologyDocument

from millrace_workers.launchers import Launcher
from millrace_workers.model import Cause, Deployment, Failure, Outage, Process, Run
from millrace_workers.monitors import Pulse, StateReport


class ReportReader(Protocol):
    """Reads what drivers report."""

    def last_state(self, report_id: str) -> StateReport | None:
        """The newest state a driver reported."""
        ...

    def pulse(self, report_id: str) -> Pulse | None:
        """The newest sign of life of a driver."""
        ...

    def grant(self, report_id: str) -> str:
        """The address that the driver of a run reports to."""
        ...

    def forget(self, report_id: str) -> None:
        """Delete what an earlier run left under this report id."""
        ...


class Record(Protocol):
    """Records what happened; each call is one transaction with its event."""

    def step(self, name: str, state: str, detail: Cause | None = None) -> None:
        """Record the state of a step: running, done or failed."""
        ...

    def fail(self, failure: Failure) -> None:
        """Record the failure that the page shows at its node."""
        ...

    def clear_failure(self) -> None:
        """Remove the failure."""
        ...

    def outage(self, outage: Outage) -> None:
        """Record what the deployment waits for; the wait ends with any next state but a restart."""
        ...

    def begin_run(
        self, process: Process, epoch: int, report_id: str, *, standby: bool = False
    ) -> Run:
        """Record a running driver, which may have been a standby.

        Raises RunExists if another one is alive.
        """
        ...

    def standby_changed(self) -> None:
        """Show the standby, which was started, is ready or has ended."""
        ...

    def end_run(self, outcome: str, failure: Failure | None = None) -> None:
        """Record the end of the driver: stopped, crashed, failed, killed or outage."""
        ...

    def keep_version(self, version: int) -> None:
        """Request the running version again, because the requested one was refused."""
        ...

    def fall_back(self) -> int | None:
        """Request the previous version, as this one never finished a batch; return its number."""
        ...

    def delete(self) -> None:
        """Delete a shadow that has ended. Raises Unanswered if Kafka does not respond."""
        ...

    def arrived(self) -> None:
        """Record that the requested version has finished its first batch: the fallback ends."""
        ...


class RunExists(RuntimeError):
    """Another driver of this deployment is alive."""


class CompileJob(Protocol):
    """Compiles documents and writes jobs; a refused document results in a failure."""

    def check(
        self, document: TopologyDocument, *, real_time: bool = False, plain: bool = False
    ) -> Failure | None:
        """Return the first error, or None if the document compiles."""
        ...

    def between(self, document: TopologyDocument) -> list[str]:
        """Topics that the plain program of a document needs between its queries."""
        ...

    def write(
        self, document: TopologyDocument, directory: Path, *, plain: bool = False
    ) -> Failure | None:
        """Write everything the job needs into the directory; return the failure, if any."""
        ...


class Topics(Protocol):
    """The topics of the cluster, as far as a deployment needs them."""

    def ensure(self, needed: Mapping[str, int], create: bool) -> dict[str, int]:
        """Create missing topics (name to partitions) if allowed; return those that then exist.

        Raises Unanswered if the cluster does not respond, Rejected if it refuses.
        """
        ...


@dataclass(frozen=True)
class Tools:
    """Everything that one step may use."""

    launcher: Launcher
    reports: ReportReader
    record: Record
    compiler: CompileJob
    topics: Topics
    #: current time in seconds since the epoch
    now: Callable[[], float]
    #: command line arguments for the broker and the Spark master
    driver_arguments: Callable[[Deployment], tuple[str, ...]]
    #: the group of deployments whose JVM a deployment shares; None if it has its own
    host: Callable[[Deployment], str | None]
    #: number of staged versions to keep besides those in use
    jobs_kept: int
    #: seconds without a report until a driver is degraded, and seconds from then until its restart
    silent_seconds: float
    degraded_seconds: float
    #: why no standby can be prepared beside the running driver; None if it can
    cold: Callable[[Deployment], Cause | None]
    #: bytes free on the disk of a folder
    free_space: Callable[[Path], int]
