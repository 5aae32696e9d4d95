"""Test doubles for the external parts of a step; each can be made to fail."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from millrace_model.documents import TopologyDocument
from millrace_model.events import FailureJson

from millrace_workers.launchers import CheckpointInUse, Ended, JobSpec, Standby
from millrace_workers.model import (
    Cause,
    Deployment,
    Failure,
    Outage,
    Process,
    Rejected,
    Run,
    Unanswered,
)
from millrace_workers.monitors import Pulse, StateReport
from millrace_workers.states import TRANSITIONS, step
from millrace_workers.states.tools import Tools

AWAY = Cause("broker_unreachable", "Kafka at nowhere:1 does not answer")


@dataclass
class ScriptedLauncher:
    """Drivers in memory; they end on request, or at once with exit code ``dies`` if it is set."""

    dies: int | None = None
    deaf: bool = False
    refuses: str | None = None
    #: the other driver that holds the checkpoint, if any
    holder: str | None = None
    alive: dict[int, Process] = field(default_factory=dict)
    ended: dict[int, Ended] = field(default_factory=dict)
    started: list[JobSpec] = field(default_factory=list)
    killed: list[int] = field(default_factory=list)
    #: the standby, and whether it was asked to take over
    waits: Standby | None = None
    goes: bool = False
    _pids: itertools.count[int] = field(default_factory=lambda: itertools.count(1000))

    def start(self, spec: JobSpec) -> Process:
        """Return a new process, which is alive unless ``dies`` is set."""
        if self.refuses:
            raise OSError(self.refuses)
        if self.holder:
            raise CheckpointInUse(self.holder)
        process = Process("here", next(self._pids), "boot/1")
        self.started.append(spec)
        if self.dies is None:
            self.alive[process.pid] = process
        else:
            self.ended[process.pid] = Ended(self.dies)
        return process

    def start_standby(self, spec: JobSpec) -> None:
        """Start a standby that is not ready yet, or has ended already if ``dies`` is set."""
        if self.refuses:
            raise OSError(self.refuses)
        process = Process("here", next(self._pids), "boot/1")
        self.started.append(spec)
        ended = None if self.dies is None else Ended(self.dies)
        self.waits = Standby(process, spec.job_directory, spec.arguments, ended=ended)
        self.goes = False

    def standby(self, deployment_directory: Path) -> Standby | None:
        """Return the standby, if any."""
        return self.waits

    def prepare(self) -> None:
        """Mark the standby as ready."""
        if self.waits is None:
            raise AssertionError("no driver waits")
        self.waits = replace(self.waits, ready=True)

    def hand_over(self, deployment_directory: Path) -> None:
        """Note that the standby was asked to take over."""
        self.goes = True
        if self.waits is not None:
            self.waits = replace(self.waits, goes=True)

    def adopt(self, deployment: int, deployment_directory: Path) -> Process | None:
        """Make the standby the running driver."""
        found, self.waits = self.waits, None
        if found is None or found.ended is not None:
            return None
        self.alive[found.process.pid] = found.process
        return found.process

    def end_standby(self, deployment: int, deployment_directory: Path) -> None:
        """End the standby, and note its pid if it was alive."""
        if self.waits is not None and self.waits.ended is None:
            self.killed.append(self.waits.process.pid)
        self.waits = None

    def find(self, deployment_directory: Path) -> Process | None:
        """Return a living driver, if any."""
        return next(iter(self.alive.values()), None)

    def sees(self, deployment_directory: Path, process: Process) -> bool:
        """Return True: every driver runs on this host."""
        return True

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """Return None while the driver is alive, then how it ended."""
        if process.pid in self.alive:
            return None
        return self.ended.get(process.pid, Ended(None))

    def ask_to_stop(self, process: Process) -> None:
        """End the driver with exit code 0, unless ``deaf`` is set."""
        if not self.deaf:
            self.lose(process.pid, 0)

    def kill(self, process: Process) -> None:
        """End the driver without an exit code."""
        self.killed.append(process.pid)
        self.lose(process.pid, None)

    def threads(self, process: Process, log_file: Path) -> str:
        """Return a short text in place of a dump."""
        return f"threads of {process.pid}"

    def forget(self, deployment: int) -> None:
        """Do nothing: there is no list of drivers."""

    def lose(self, pid: int, exit_code: int | None) -> None:
        """End a driver with this exit code."""
        if self.alive.pop(pid, None) is not None:
            self.ended[pid] = Ended(exit_code)


@dataclass
class ScriptedReports:
    """Returns the configured reports for each run."""

    states: dict[str, StateReport] = field(default_factory=dict)
    pulses: dict[str, Pulse] = field(default_factory=dict)

    def last_state(self, report_id: str) -> StateReport | None:
        """Return the configured report."""
        return self.states.get(report_id)

    def pulse(self, report_id: str) -> Pulse | None:
        """Return the configured pulse, or None."""
        return self.pulses.get(report_id)

    def grant(self, report_id: str) -> str:
        """Return an address where no server listens."""
        return f"redis://{report_id}@127.0.0.1:1/0"

    def forget(self, report_id: str) -> None:
        """Drop the configured report."""
        self.states.pop(report_id, None)


@dataclass
class ScriptedCompiler:
    """Accepts every document unless a failure is configured."""

    failure: Failure | None = None
    #: error that writing a job raises
    disk: OSError | None = None
    #: options of the last check
    real_time: bool = False
    plain: bool = False
    #: topics between the queries of a plain program
    between_queries: list[str] = field(default_factory=list)
    #: identity of the plain program that `write` stores
    program: str = ""
    checked: list[TopologyDocument] = field(default_factory=list)
    written: list[TopologyDocument] = field(default_factory=list)

    def check(
        self, document: TopologyDocument, *, real_time: bool = False, plain: bool = False
    ) -> Failure | None:
        """Return the configured failure."""
        self.real_time, self.plain = real_time, plain
        self.checked.append(document)
        return self.failure

    def between(self, document: TopologyDocument) -> list[str]:
        """Return the configured topics."""
        return self.between_queries

    def write(
        self, document: TopologyDocument, directory: Path, *, plain: bool = False
    ) -> Failure | None:
        """Write a job that does nothing."""
        if self.disk is not None:
            raise self.disk
        self.written.append(document)
        (directory / "job.py").write_text("", encoding="utf-8")
        state = json.dumps({"identity": self.program})
        (directory / "state.json").write_text(state, encoding="utf-8")
        return None


@dataclass
class ScriptedTopics:
    """A cluster in memory that can be unreachable (``away``) or refuse requests (``refuses``)."""

    there: dict[str, int] = field(default_factory=dict)
    away: bool = False
    refuses: str | None = None
    asked: int = 0

    def ensure(self, needed: Mapping[str, int], create: bool) -> dict[str, int]:
        """Create missing topics if allowed; return those that exist."""
        self.asked += 1
        if self.away:
            raise Unanswered(AWAY)
        if self.refuses:
            raise Rejected(Failure("kafka_refused", self.refuses))
        if create:
            for name, partitions in needed.items():
                self.there.setdefault(name, partitions)
        return {name: self.there[name] for name in needed if name in self.there}


@dataclass
class Bench:
    """A deployment in memory with all its tools, which tests advance with `tick`."""

    deployment: Deployment
    launcher: ScriptedLauncher = field(default_factory=ScriptedLauncher)
    reports: ScriptedReports = field(default_factory=ScriptedReports)
    compiler: ScriptedCompiler = field(default_factory=ScriptedCompiler)
    topics: ScriptedTopics = field(default_factory=ScriptedTopics)
    steps: list[tuple[str, str, Cause | None]] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    #: drivers that were a standby before
    took_over: list[int] = field(default_factory=list)
    now: float = 1000.0
    #: whether the deployment was deleted, as a shadow is when it has ended
    deleted: bool = False
    #: free bytes on the disk
    free: int = 1_000_000_000
    #: why no standby can be prepared, if so
    cold: Cause | None = None

    # -- Record ---------------------------------------------------------------------------------
    def step(self, name: str, state: str, detail: Cause | None = None) -> None:
        """Keep the step."""
        self.steps.append((name, state, detail))

    def fail(self, failure: Failure) -> None:
        """Keep the failure."""
        self.deployment = replace(self.deployment, failure=cast(FailureJson, failure.as_json()))

    def clear_failure(self) -> None:
        """Forget the failure."""
        self.deployment = replace(self.deployment, failure=None)

    def outage(self, outage: Outage) -> None:
        """Keep the outage, as the database does."""
        self.deployment = replace(self.deployment, outage=outage)

    def begin_run(
        self, process: Process, epoch: int, report_id: str, *, standby: bool = False
    ) -> Run:
        """Keep the run."""
        if standby:
            self.took_over.append(process.pid)
        version = self.deployment.version
        run = Run(epoch, process, version, report_id)
        self.deployment = replace(
            self.deployment, run=run, next_epoch=epoch + 1, restart_requested=False
        )
        return run

    def standby_changed(self) -> None:
        """Do nothing: nobody looks."""

    def end_run(self, outcome: str, failure: Failure | None = None) -> None:
        """Forget the run, but remember a crash."""
        self.outcomes.append(outcome)
        crashes = self.deployment.crashes
        if outcome in {"crashed", "killed"} and failure is not None:
            crashes = (*crashes, self.now)
        self.deployment = replace(self.deployment, run=None, crashes=crashes)

    def keep_version(self, version: int) -> None:
        """Request the running version again."""
        self.deployment = replace(self.deployment, version=version)

    def fall_back(self) -> int | None:
        """Request the previous version again."""
        before = self.deployment.fallback
        if before is not None:
            self.deployment = replace(
                self.deployment, version=before, fallback=None, state_decisions={}
            )
        return before

    def delete(self) -> None:
        """Note the deletion. Raises Unanswered if the cluster is away."""
        if self.topics.away:
            raise Unanswered(AWAY)
        self.deleted = True

    def arrived(self) -> None:
        """Drop the fallback: the version has finished its first batch."""
        self.deployment = replace(self.deployment, fallback=None, has_state=True)

    # -- Minimal reconciler --------------------------------------------------------------------
    def tools(self) -> Tools:
        """The tools of one step."""
        return Tools(
            self.launcher,
            self.reports,
            self,
            self.compiler,
            self.topics,
            lambda: self.now,
            lambda _deployment: ("--bootstrap-servers", "nowhere:1"),
            lambda deployment: deployment.host,
            2,
            15.0,
            30.0,
            lambda _deployment: self.cold,
            lambda _folder: self.free,
        )

    def tick(self) -> str:
        """Step until the state no longer changes, and return it."""
        for _ in range(20):
            left = step(self.deployment, self.tools())
            if left is None:
                return self.deployment.observed
            if left not in TRANSITIONS[self.deployment.observed]:
                raise AssertionError(f"{self.deployment.observed} may not lead to {left}")
            before = self.deployment
            kept = {before.observed, left} <= {"running", "starting", "restarting"}
            outage = before.outage if kept and left != "running" else None
            self.deployment = replace(before, observed=left, since=self.now, outage=outage)
        raise AssertionError("the states go round in a circle")

    def report(
        self, state: str, failure: Failure | None = None, *, detail: Cause | None = None
    ) -> None:
        """Have the running driver report this state."""
        if self.deployment.run is None:
            raise AssertionError("nothing runs that could report")
        self.reports.states[self.deployment.run.report_id] = StateReport(
            state, self.now, failure, detail
        )
