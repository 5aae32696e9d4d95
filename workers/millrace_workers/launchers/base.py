"""The contract of a launcher: start, find again, stop."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from millrace_workers.model import Cause, Failure, Process


@dataclass(frozen=True)
class JobSpec:
    """What to start."""

    deployment: int
    job_directory: Path
    checkpoint: Path
    log_file: Path
    report_id: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    #: what drives the job, if not the job itself
    module: str | None = None


class CheckpointInUse(OSError):
    """Another driver holds the checkpoint; the text identifies it."""

    def __init__(self, holder: str) -> None:
        message = f"Another driver runs on the checkpoint: {holder}."
        super().__init__(message)
        self.cause = Cause("checkpoint_in_use", message, facts={"holder": holder})


class NotStarted(OSError):
    """A driver could not be started; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Ended:
    """A driver that is gone; ``exit_code`` is None where it was not observed."""

    exit_code: int | None


@dataclass(frozen=True)
class Standby:
    """A driver that was started beside the one that runs, to take its place.

    ``job`` and ``arguments`` are those of its command; ``ready``: it waits for the checkpoint,
    prepared; ``ended``: it is gone.
    """

    process: Process
    job: Path
    arguments: tuple[str, ...]
    ready: bool = False
    ended: Ended | None = None

    def runs(self, spec: JobSpec) -> bool:
        """Whether it was started for this."""
        return (self.job, self.arguments) == (spec.job_directory, spec.arguments)


class Launcher(Protocol):
    """Every answer is about the process as it is now, never about what was last known."""

    def start(self, spec: JobSpec) -> Process:
        """Start the job detached from this process.

        Raises CheckpointInUse where another driver runs on the checkpoint, OSError where it cannot
        be started.
        """
        ...

    def start_standby(self, spec: JobSpec) -> None:
        """Start a driver that prepares itself and leaves the checkpoint to the one that runs.

        Another one that waits is ended. Raises OSError where it cannot be started.
        """
        ...

    def standby(self, deployment_directory: Path) -> Standby | None:
        """The driver that was started last to take the place of another; it goes on waiting."""
        ...

    def hand_over(self, deployment_directory: Path) -> None:
        """Have the driver that waits take the checkpoint, as soon as it is free."""
        ...

    def adopt(self, deployment: int, deployment_directory: Path) -> Process | None:
        """Make the driver that waits the one of the deployment; None where it is gone."""
        ...

    def end_standby(self, deployment: int, deployment_directory: Path) -> None:
        """End the driver that waits, if there is one."""
        ...

    def find(self, deployment_directory: Path) -> Process | None:
        """The running driver that was started last on this host, by any worker."""
        ...

    def sees(self, deployment_directory: Path, process: Process) -> bool:
        """Whether this host can say if the driver lives; what another host runs, only that one."""
        ...

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """None while the driver lives."""
        ...

    def ask_to_stop(self, process: Process) -> None:
        """Ask the driver to stop its query and exit; returns at once."""
        ...

    def kill(self, process: Process) -> None:
        """End the driver and all it started, now."""
        ...

    def threads(self, process: Process, log_file: Path) -> str:
        """The thread dump of a driver that does not respond, as text; it is killed afterwards."""
        ...

    def forget(self, deployment: int) -> None:
        """The driver of this deployment has ended and will not return."""
        ...
