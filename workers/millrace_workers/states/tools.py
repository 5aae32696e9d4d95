"""What a state may use: the compiler, the launcher, the reports, and words to the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from millrace_workers.launchers import Launcher
from millrace_workers.model import Cause, Deployment, Failure, Outage, Process, Run
from millrace_workers.monitors import Pulse, StateReport


class ReportReader(Protocol):
    """Reads what drivers say."""

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
        """Drop what an earlier run left under this name."""
        ...


class Record(Protocol):
    """Writes down what happened; each call is one transaction with its event."""

    def step(self, name: str, state: str, detail: Cause | None = None) -> None:
        """A step of the deployment: running, done or failed."""
        ...

    def fail(self, failure: Failure) -> None:
        """The cause that the page shows at the node."""
        ...

    def clear_failure(self) -> None:
        """The cause is gone."""
        ...

    def outage(self, outage: Outage) -> None:
        """The deployment waits; the next state but a restart ends the wait."""
        ...

    def begin_run(self, process: Process, epoch: int, report_id: str) -> Run:
        """A driver lives. Raises RunExists where another one does already."""
        ...

    def end_run(self, outcome: str, failure: Failure | None = None) -> None:
        """The driver is gone: stopped, crashed, failed or killed, or ended by an outage."""
        ...

    def keep_version(self, version: int) -> None:
        """The wanted version was refused: request the running one again."""
        ...

    def fall_back(self) -> int | None:
        """The wanted version failed before its first batch: request the one before; its number."""
        ...

    def delete(self) -> None:
        """A shadow has ended: delete it. Raises Unanswered where Kafka does not answer."""
        ...

    def arrived(self) -> None:
        """The wanted version has done its first batch: nothing falls back any more."""
        ...


class RunExists(RuntimeError):
    """Another driver of this deployment is alive."""


class CompileJob(Protocol):
    """Compiles a document and writes the job; returns the failure where it is refused."""

    def check(
        self, document: dict[str, Any], *, real_time: bool = False, plain: bool = False
    ) -> Failure | None:
        """None where the document compiles."""
        ...

    def between(self, document: dict[str, Any]) -> list[str]:
        """Topics that the plain program of a document needs between its queries."""
        ...

    def write(
        self, document: dict[str, Any], directory: Path, *, plain: bool = False
    ) -> Failure | None:
        """Write everything the job needs into the directory, or the reason why not."""
        ...


class Topics(Protocol):
    """The topics of the cluster, as far as a deployment needs them."""

    def ensure(self, needed: Mapping[str, int], create: bool) -> dict[str, int]:
        """Create what is missing (name to partitions) if allowed; what is there afterwards.

        Raises Unanswered where the cluster does not answer, Rejected where it refuses.
        """
        ...


@dataclass(frozen=True)
class Tools:
    """One set for one step."""

    launcher: Launcher
    reports: ReportReader
    record: Record
    compiler: CompileJob
    topics: Topics
    #: seconds since the epoch
    now: Callable[[], float]
    #: command line arguments that say where a driver runs and what it talks to
    driver_arguments: Callable[[Deployment], tuple[str, ...]]
    #: staged versions that are kept beside those in use
    jobs_kept: int
    #: a driver that has reported nothing for so long is degraded; then, after more, restarted
    silent_seconds: float
    degraded_seconds: float
    #: why a driver cannot be prepared beside the one that runs; None: it can
    cold: Callable[[Deployment], Cause | None]
    #: bytes free on the disk of a folder
    free_space: Callable[[Path], int]
