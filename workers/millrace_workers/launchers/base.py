"""The interface of launchers, which start, find and stop drivers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from millrace_workers.model import Cause, Failure, Process


@dataclass(frozen=True)
class JobSpec:
    """The command, folders and environment of a driver to start."""

    deployment: int
    job_directory: Path
    checkpoint: Path
    log_file: Path
    report_id: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    #: module that drives the job, if the job does not run by itself
    module: str | None = None
    #: name of the group of deployments that share a JVM, if this one shares
    host: str | None = None


class CheckpointInUse(OSError):
    """Another driver holds the checkpoint; the text identifies it."""

    def __init__(self, holder: str) -> None:
        message = f"Another driver runs on the checkpoint: {holder}."
        super().__init__(message)
        self.cause = Cause("checkpoint_in_use", message, facts={"holder": holder})


class NotStarted(OSError):
    """A driver could not be started; `failure` is the cause."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Ended:
    """A driver that has ended; ``exit_code`` is None if it was not observed."""

    exit_code: int | None


@dataclass(frozen=True)
class Standby:
    """A driver that was started beside the running one, to take over from it.

    ``job`` and ``arguments`` come from its command line; ``ready``: it is prepared and waits for
    the checkpoint; ``goes``: it takes the checkpoint as soon as that is free; ``ended``: it has
    ended, at ``ended_at`` (epoch seconds; 0 if that is unknown).
    """

    process: Process
    job: Path
    arguments: tuple[str, ...]
    ready: bool = False
    ended: Ended | None = None
    goes: bool = False
    ended_at: float = 0.0

    def runs(self, spec: JobSpec) -> bool:
        """Whether this standby was started for the same job and arguments."""
        return (self.job, self.arguments) == (spec.job_directory, spec.arguments)


class Launcher(Protocol):
    """Starts, finds and stops drivers; every answer is about the process as it is now."""

    def start(self, spec: JobSpec) -> Process:
        """Start the job detached from this process.

        Raises CheckpointInUse if another driver runs on the checkpoint, OSError if the job cannot
        be started.
        """
        ...

    def start_standby(self, spec: JobSpec) -> None:
        """Start a driver that prepares itself and leaves the checkpoint to the running one.

        Another standby is ended. Raises OSError if the driver cannot be started.
        """
        ...

    def standby(self, deployment_directory: Path) -> Standby | None:
        """Return the standby, if any; asking for it keeps it waiting."""
        ...

    def hand_over(self, deployment_directory: Path) -> None:
        """Have the standby take the checkpoint as soon as it is free."""
        ...

    def adopt(self, deployment: int, deployment_directory: Path) -> Process | None:
        """Make the standby the driver of the deployment and return it; None if it has ended."""
        ...

    def end_standby(self, deployment: int, deployment_directory: Path) -> None:
        """End the standby, if there is one."""
        ...

    def find(self, deployment_directory: Path) -> Process | None:
        """Return the running driver that any worker on this host started last."""
        ...

    def sees(self, deployment_directory: Path, process: Process) -> bool:
        """Whether this host can observe the driver; one of another host is only observed there."""
        ...

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """Return None while the driver is alive, then how it ended."""
        ...

    def ask_to_stop(self, process: Process) -> None:
        """Ask the driver to stop its query and exit; returns at once."""
        ...

    def kill(self, process: Process) -> None:
        """Kill the driver and all processes that it started."""
        ...

    def threads(self, process: Process, log_file: Path) -> str:
        """Return the thread dump of a driver that does not respond and will be killed."""
        ...

    def forget(self, deployment: int) -> None:
        """Forget the driver of this deployment, which has ended."""
        ...
