"""Deployments as plain values, which backend and workers share, without the database.

Uses nothing of Django: the states of the workers import it without Django.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypedDict

from millrace_compiler.graphs.kinds import runs_only_expressions
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import BeginRequest, DecidedRecord, DeploymentSettings, StartStep
from millrace_model.events import CauseJson, FailedRecord, FailureJson, OutageJson

from deployments import files


def stores_socket(directory: Path) -> Path:
    """Return the socket on which a deployment's driver answers queries of its stores.

    Its folder is one that only the user of Millrace can open.
    """
    return directory / "live" / "stores"


@dataclass(frozen=True)
class Process:
    """A driver process, identified by its host, its pid and its start."""

    host: str
    pid: int
    #: boot id and start ticks of the process (``shim.born``), independent of the clock
    born: str


@dataclass(frozen=True)
class Cause:
    """The cause of something: a code, and a sentence in English."""

    code: str
    message: str
    #: values that the message contains, for a message in another language
    facts: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    #: the underlying cause, which the message quotes
    cause: Cause | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the cause from which `as_json` came; unknown values are ignored."""
        known = {each.name: given[each.name] for each in fields(cls) if each.name in given}
        cause = given.get("cause")
        return cls(**{**known, "cause": None if cause is None else Cause.of(cause)})

    def as_json(self) -> Mapping[str, object]:
        """Return the cause as the database stores it and the API shows it."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | dict(
            self.cause_fields()
        )

    def cause_fields(self) -> CauseJson:
        """Return the fields that all causes have."""
        cause = None if self.cause is None else self.cause.cause_fields()
        return {
            "code": self.code, "message": self.message, "facts": dict(self.facts), "cause": cause,
        }  # fmt: skip


@dataclass(frozen=True)
class Failure(Cause):
    """Why a deployment does not run, and the node and parameter that cause it, if any do."""

    node: str | None = None
    parameter: str | None = None
    record: FailedRecord | None = None


class Unanswered(ConnectionError):
    """A service that a deployment needs does not respond; `cause` names it."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause


class Rejected(RuntimeError):
    """A service that a deployment needs rejects a request; `failure` contains the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Outage(Cause):
    """What a deployment waits for, since when, and the time of the next attempt (epoch seconds)."""

    since: float
    attempts: int
    retry_at: float

    def as_json(self) -> OutageJson:
        return {
            **self.cause_fields(),
            "since": self.since, "attempts": self.attempts, "retry_at": self.retry_at,
        }  # fmt: skip


@dataclass(frozen=True)
class RunSnapshot:
    """The running driver process, according to the database."""

    id: int
    process: Process
    #: number of the version that it runs
    version: int
    #: names the Redis stream that the driver reports to: ``millrace:run:<report id>``
    report_id: str


@dataclass(frozen=True)
class Follows:
    """The checkpoint that a shadow follows, and whether it begins with a copy of its state."""

    checkpoint: Path
    copies_state: bool


@dataclass(frozen=True)
class DeploymentSnapshot:
    """A deployment as it stood when it was loaded."""

    id: int
    #: the topology's name
    name: str
    #: number of the requested version
    version: int
    document: TopologyDocument
    settings: DeploymentSettings
    desired: str
    observed: str
    #: everything this deployment keeps on disk
    directory: Path
    run: RunSnapshot | None = None
    #: the user requested one restart that no run has fulfilled yet
    restart_requested: bool = False
    #: ends of crashed or killed runs since the user last started it, in epoch seconds
    crashes: tuple[float, ...] = ()
    #: epoch seconds at which the observed state was entered
    since: float = 0.0
    failure: FailureJson | None = None
    #: why the workspace may not run this version, if so
    forbidden: Failure | None = None
    #: what becomes of stores whose rows cannot be carried over, by id
    state_decisions: dict[str, str | dict[str, str]] = field(default_factory=dict)
    #: where the driver begins to read; it applies each request once, by its id
    beginning: BeginRequest | None = None
    #: decisions about single records: topic, partition, offset, and skip or dead_letter
    record_decisions: tuple[DecidedRecord, ...] = ()
    #: number of the version that runs again if this one does not finish its first batch
    fallback: int | None = None
    #: the driver stays alive and reads nothing
    paused: bool = False
    #: before it stops, the driver reads up to the ends of its topics
    draining: bool = False
    #: whether a batch has ever finished, so that a missing checkpoint is a lost one
    has_state: bool = False
    #: URI of a checkpoint outside the directory, which then contains only its notes
    state_location: str | None = None
    #: what a shadow follows; None for every other deployment
    follows: Follows | None = None
    #: once it has stopped it is deleted, with its topics
    ending: bool = False
    #: what it waits for, if a service that it needs does not respond
    outage: Outage | None = None
    #: number of the next run of the deployment
    next_epoch: int = 1
    #: id of the workspace, whose deployments may share JVMs with each other
    workspace: int = 0

    @property
    def wants_to_run(self) -> bool:
        """Whether the user wants this deployment to run."""
        return self.desired == "running"

    @property
    def next_report_id(self) -> str:
        """What the next run's driver reports as."""
        return f"{self.id}-{self.next_epoch}"

    def waits(self, now: float) -> bool:
        """Whether to do nothing before the next attempt; a driver that is starting is observed."""
        if self.outage is None or not self.wants_to_run or now >= self.outage.retry_at:
            return False
        return self.observed != "starting" or self.run is None

    @property
    def real_time(self) -> bool:
        """Whether records are processed as they arrive, not in micro-batches."""
        return bool(self.settings.get("real_time_ms"))

    @property
    def plain(self) -> bool:
        """Whether it runs a program of the plain dialect."""
        return self.settings.get("dialect") == "plain"

    @property
    def host(self) -> str | None:
        """The group of deployments that share a JVM, if this one does; a shadow has its own."""
        shares = self.settings.get("jvm") == "shared" and self.follows is None
        shares = shares and runs_only_expressions(self.document)
        return f"workspace-{self.workspace}" if shares else None

    @property
    def job_directory(self) -> Path:
        """The folder in which the code of the requested version is staged.

        It depends on the dialect, and on the environment whose values the code contains.
        """
        environment = self.settings.get("environment")
        name = f"v{self.version}{'-plain' if self.plain else ''}"
        return self.directory / "jobs" / (f"{name}-{environment}" if environment else name)

    @property
    def staged(self) -> bool:
        """Whether the code of the requested version is staged."""
        return (self.job_directory / "job.py").exists()

    @property
    def checkpoint(self) -> Path:
        """The query's checkpoint, or the notes of one that lies elsewhere; it outlives versions."""
        return self.directory / "checkpoint"

    @property
    def control(self) -> Path:
        """The driver's control file, which contains pause or drain, or does not exist."""
        return self.directory / "control"

    @property
    def stores_socket(self) -> Path:
        """The socket on which the driver answers queries of its stores while it runs."""
        return stores_socket(self.directory)

    def threads_file(self, run: int) -> Path:
        """Return the path of the thread dump of a run."""
        return self.directory / "threads" / f"{run}.txt"

    @property
    def arrived(self) -> bool:
        """Whether the running driver has finished a batch."""
        try:
            folder = self.directory / "plain" if self.plain else self.checkpoint
            noted = files.read_text(self.directory, folder / "arrived")
        except (OSError, ValueError):
            return False
        return self.run is not None and noted == self.run.report_id

    @property
    def log_file(self) -> Path:
        """The driver's log, with all runs one after another."""
        return self.directory / "driver.log"


class StartSnapshot(TypedDict):
    """A start of a version, with its steps as the API shows them."""

    deployment: int
    topology: str
    workspace: str
    version: int
    steps: list[StartStep]
