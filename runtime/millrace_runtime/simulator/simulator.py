"""The simulator: runs topologies on input lines, in processes that can be killed.

    python -m millrace_runtime.simulator --socket PATH
    python -m millrace_runtime.simulator --stores-only --socket PATH

The second form is the store reader. Both are local services (`millrace_services.local_services`):
a request is one line of JSON, as is its response. Simulations run code of documents, so they cannot
reach the store reader: it is a separate service with a secret of its own.

The simulator handles

- `{"do": "simulate", "owner", "run", "document", "inputs", "trace", "expected", "breakpoints",
  "partitions", "plain", "begins"}` →
  `{"result": …, "diagnostics": …, "plain": …}`
  (`millrace_runtime.simulator.process`), or `{"error": {"code", "message", ...}}`; `run` is the
  owner's name for the run, if it has one
- `{"do": "differ", "owner", "run", "old", "new", "inputs", "seconds"}` → `{"result": …,
  "diagnostics": …}`: the shortest input on which two documents give different results, or an error
- `{"do": "encode", "owner", "format", "texts"}` → `{"bytes": …}`: values, as JSON, in a format of
  the document (`millrace_runtime.simulator.encoding`), or an error
- `{"do": "read_program", "owner", "run", "name", "program", "files"}` → `{"document": …}`: the
  document of a Python program, which runs in a process of its own, without a Spark session
  (`millrace_runtime.simulator.programs`), or an error; `files` are the texts of the modules beside
  it, by path. It ends the reading of the same owner and `run` that is in progress, if there is one.

The store reader handles

- `{"do": "read_state", "owner", "checkpoint", "store", "query"}` → a page of a store's rows
  (`millrace_runtime.stores.reading`), or an error
- `{"do": "read_batches", "owner", "checkpoint"}` and
  `{"do": "read_task_states", "owner", "checkpoint", "batch", "tasks"}` → what a simulation can
  begin with (`millrace_runtime.stores.task_states`)
- `{"do": "kept_sizes" | "delete_kept", "owner", "checkpoint", "names"}`: sizes, or deletion, of
  folders that earlier versions left

Both handle

- `{"do": "prepare", "owner", "run"}` → `{"state": "ready" | "starting", "progress": …}`, and starts
  a process if there is none; `progress` is that of the owner's run of this name, or of any:
  input lines that are `done`, all `lines`, and counts by edge and node, except of plain Spark
- `{"do": "cancel", "owner", "run"}` → `{"cancelled": bool}`: with `run`, the run of this name
  processes no further input lines, and its response is the result of those before; without, all
  runs of this owner are killed

Processes with a warm Spark session start with the first request, and end after some time without
requests. The server prints READY once it accepts requests.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import millrace_compiler
from millrace_compiler.graphs.kinds import python_kinds
from millrace_model.documents import TopologyDocument
from millrace_model.traces import RunProgress
from millrace_services.line_server import LineServer, serve
from millrace_services.pool import ProcessPool
from millrace_services.processes import Exceeded, Limits, Process

from millrace_runtime.checkpoint.storage import S3_ENVIRONMENT
from millrace_runtime.jars import PACKAGE, operator_jar
from millrace_runtime.services import confinement
from millrace_runtime.session import session
from millrace_runtime.simulator import programs

#: environment variables that are passed to simulations; they contain no secrets of the server
ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "JAVA_HOME", "SPARK_LOCAL_IP", "SPARK_SUBMIT_OPTS",
    "MILLRACE_CACHE", "MILLRACE_JARS", "MILLRACE_SCHEMA_REGISTRIES", "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)  # fmt: skip
#: limits of processors: milliseconds per call, and megabytes per process
PROCESSORS = {"MILLRACE_PROCESSOR_TIMEOUT_MS": "5000", "MILLRACE_PROCESSOR_MEMORY_MB": "512"}
LIMITS = Limits(seconds=60, waiting_seconds=30, output_megabytes=32)
#: of readings of programs, whose process ends them itself before that
PROGRAM_LIMITS = Limits(seconds=programs.SECONDS + 10, waiting_seconds=30, output_megabytes=32)
#: concurrent readings of programs
MOST_PROGRAMS = 2
#: a run that should stop is killed after this time if it is still in the same input line
STOPPING_SECONDS = 2.0
#: the same with plain Spark, whose micro-batches take longer and whose queries have to end
STOPPING_PLAIN_SECONDS = 6.0
#: allows for a busy machine; on an idle one, a Spark session starts within seconds
STARTING_SECONDS = 180.0
IDLE_SECONDS = 600.0
#: how long a request waits for a process that starts, before the response says so
START_SECONDS = 3.0
#: a request that waits longer starts another process; most simulations take less
PATIENCE_SECONDS = 1.0
#: memory of the machine for each process: a third of it is the process's own
MEMORY_EACH = 3 << 30
#: import paths of this package and of the compiler
_PACKAGES = os.pathsep.join(
    str(folder) for folder in (PACKAGE.parent, Path(millrace_compiler.__file__).parents[1])
)

_NOT_CONFINED = (
    "This system cannot confine simulations (it has no Landlock): code of processors can read all "
    "files of this user."
)

_MESSAGES = {
    "time": (
        "simulation_too_long",
        f"The simulation took longer than {LIMITS.seconds:g} s and was stopped.",
        "Simulate fewer records, or look for a step that does not end.",
    ),
    "output": (
        "simulation_too_large",
        f"The results are larger than {LIMITS.output_megabytes} MB.",
        "Simulate fewer records.",
    ),
    "waiting": (
        "simulator_busy",
        "All simulator processes are in use.",
        "Try again in a few seconds.",
    ),
    "busy": (
        "simulator_busy",
        "You already have too many waiting simulations.",
        "Wait until one of them is done.",
    ),
    "process": (
        "simulation_ended",
        "The simulation's process ended: it may have needed too much memory.",
        "Simulate fewer records, or look for a step that collects too much data.",
    ),
    "cancelled": ("simulation_cancelled", "The simulation was canceled.", ""),
    "start": (
        "process_not_started",
        "No process could be started for this.",
        "The reason is in the log of the simulator or of the store reader. The next request tries "
        "again.",
    ),
}
#: the same for requests to read stores
_READING = {
    "time": (
        "state_too_large",
        f"Reading the store took longer than {LIMITS.seconds:g} s and was stopped.",
        "A page is found by reading the state of the store's whole sub-topology, which is very "
        "large here.",
    ),
    "output": (
        "state_too_large",
        f"The rows are larger than {LIMITS.output_megabytes} MB.",
        "Request fewer rows.",
    ),
    "waiting": _MESSAGES["waiting"],
    "busy": (
        "simulator_busy",
        "You already have too many waiting queries.",
        "Wait until one of them is done.",
    ),
    "process": (
        "reading_ended",
        "The process that reads stores ended: it may have needed too much memory.",
        "Request fewer rows.",
    ),
    "cancelled": ("simulation_cancelled", "Reading was canceled.", ""),
}
#: the same for programs
_PROGRAMS = {
    "time": (*programs.TOO_LONG, ""),
    "output": (*programs.TOO_LARGE, ""),
    "waiting": (
        "simulator_busy",
        "All processes that read programs are in use.",
        "Try again in a few seconds.",
    ),
    "busy": (
        "simulator_busy",
        "You already have too many programs that wait to be read.",
        "Wait until one of them is done.",
    ),
    "process": (*programs.ENDED, ""),
    "cancelled": (*programs.CANCELLED, ""),
}


@dataclass
class Running:
    """A request in progress. `name`: its owner's name for it; `killed`: whether it was canceled."""

    process: Process
    name: str | None
    plain: bool
    killed: bool = False

    def kill(self) -> None:
        """Kill its process."""
        self.killed = True
        self.process.kill()


class Request(TypedDict, total=False):
    """What the simulator itself reads of a request; the process reads the rest."""

    do: str
    owner: str
    run: str | None
    name: str
    program: str
    plain: str | None
    document: TopologyDocument


@dataclass(frozen=True)
class Kind:
    """A kind of warm processes, and what they are asked.

    `module`: what a process runs; `requests`: those that are passed to it; `messages`: for exceeded
    limits; `environment`: variables that it gets. `confined`: whether it is confined to a folder of
    its own, because it runs code of documents.
    """

    module: str
    requests: tuple[str, ...]
    messages: Mapping[str, tuple[str, str, str]]
    environment: tuple[str, ...] = ENVIRONMENT
    confined: bool = True


SIMULATING = Kind(
    "millrace_runtime.counterexamples.starting",
    ("simulate", "differ", "encode"),
    _MESSAGES,
)
#: A process that reads programs, each in a child of its own.
PROGRAMS = Kind("millrace_runtime.simulator.programs", ("read_program",), _PROGRAMS)
#: Processes that read stores. They access checkpoints, and run no code of documents.
READING = Kind(
    "millrace_runtime.stores.reader",
    ("read_state", "read_batches", "read_task_states", "kept_sizes", "delete_kept"),
    _READING,
    # Settings of the file systems of checkpoints, including credentials.
    (*ENVIRONMENT, "HADOOP_CONF_DIR", *S3_ENVIRONMENT),
    confined=False,
)


class Simulators:
    """Warm processes of a kind: started by the first request, ended when idle."""

    def __init__(self, size: int, limits: Limits = LIMITS, kind: Kind = SIMULATING) -> None:
        self.kind, self.limits = kind, limits
        self.pool = ProcessPool(self._start, size, limits, spare=1, patience=PATIENCE_SECONDS)
        self._lock = threading.Lock()
        self._running: dict[str, list[Running]] = {}

    def _start(self) -> Process:
        known = {name: os.environ[name] for name in self.kind.environment if name in os.environ}
        known.setdefault("MILLRACE_SCHEMA_REGISTRIES", "")
        folder = None
        if self.kind.confined and confinement.version():
            folder = tempfile.mkdtemp(prefix="millrace-simulation-", dir=session.local_dir())
            known |= dict.fromkeys((confinement.FOLDER, session.SCRATCH, "TMPDIR"), folder)
        return Process(
            [sys.executable, "-m", self.kind.module],
            {
                **known,
                **PROCESSORS,
                "JAVA_HOME": session.java_for_spark(),
                "MILLRACE_OPERATOR_JAR": str(operator_jar()),
                "PYTHONPATH": _PACKAGES,
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            leads=True,
            starting_seconds=STARTING_SECONDS,
            folder=folder,
        )

    @property
    def pids(self) -> list[int]:
        """Pids of the idle processes."""
        return self.pool.pids

    def close(self) -> None:
        """End all processes; busy ones end after their request."""
        self.pool.close()

    def simulate(self, request: Request, owner: str) -> Any:
        """Return the response of a process. Raises Exceeded, whose limit may be `cancelled`."""
        with self.pool.turn(owner, self.limits) as process:
            running = Running(process, request.get("run"), bool(request.get("plain")))
            with self._lock:
                self._running.setdefault(owner, []).append(running)
            try:
                return process.ask(request, self.limits)
            except Exceeded:
                if running.killed:
                    raise Exceeded("cancelled") from None
                raise
            finally:
                if _runs_code(request):
                    process.end()
                with self._lock:
                    self._running[owner].remove(running)

    def progress(self, owner: str, name: str | None = None) -> RunProgress | None:
        """Return the progress of a run of the owner, or None if none reports it."""
        found = [running.process.progress for running in self._found(owner, name)]
        return next((each for each in found if each is not None), None)

    def cancel(self, owner: str, name: str | None = None) -> bool:
        """Stop the owner's run of this name, or kill all; return whether there was any."""
        found = self._found(owner, name)
        for running in found:
            if name is None or not running.process.interrupt():
                running.kill()
            else:
                seconds = STOPPING_PLAIN_SECONDS if running.plain else STOPPING_SECONDS
                threading.Timer(seconds, self._kill, [owner, running]).start()
        return bool(found)

    def _found(self, owner: str, name: str | None) -> list[Running]:
        with self._lock:
            found = self._running.get(owner, [])
            return [running for running in found if name is None or running.name == name]

    def _kill(self, owner: str, running: Running) -> None:
        """Kill a run that has not stopped in time."""
        with self._lock:
            if any(each is running for each in self._running.get(owner, [])):
                running.kill()


def _runs_code(request: Request) -> bool:
    """Whether code of the document runs in the process itself, which must not be reused then.

    A plain program contains the classes of its processors.
    """
    nodes = request["document"]["nodes"] if request.get("plain") else ()
    return any(node["kind"] in python_kinds() for node in nodes)


def respond(simulators: Simulators, request: Request, readers: Simulators | None = None) -> Any:
    """Return the response to a request. `readers`: the processes that read programs."""
    owner, run = str(request.get("owner") or ""), request.get("run")
    do = request.get("do")
    if do == "prepare":
        ready = {"state": "ready"} if simulators.pool.prepare() else _not_ready(simulators)
        return {**ready, "progress": simulators.progress(owner, run)}
    if do == "cancel":
        cancelled = simulators.cancel(owner, run)
        return {"cancelled": (readers is not None and readers.cancel(owner, run)) or cancelled}
    if readers is not None and do in readers.kind.requests:
        return _read(readers, request, owner)
    if do not in simulators.kind.requests:
        return _error("request_invalid", f"Unknown request {do!r}.", "")
    if not simulators.pool.prepare(START_SECONDS):
        return _not_ready(simulators)
    try:
        return simulators.simulate(request, owner)
    except Exceeded as exceeded:
        return _error(*simulators.kind.messages[exceeded.limit])


def _read(readers: Simulators, request: Request, owner: str) -> Any:
    """Read a program. Their processes start within the time of a request."""
    if request.get("run") is not None:
        readers.cancel(owner, request["run"])
    try:
        return readers.simulate(request, owner)
    except Exceeded as exceeded:
        if exceeded.limit == "process" and readers.pool.last_failed:
            return _not_ready(readers)
        return _error(*readers.kind.messages[exceeded.limit])


def _not_ready(simulators: Simulators) -> dict[str, object]:
    if not simulators.pool.last_failed:
        return {"state": "starting"}
    return _error(*_MESSAGES["start"])


def _error(code: str, message: str, hint: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message, "hint": hint}}


class Server(LineServer):
    """Handles requests, and ends idle processes."""

    def __init__(
        self, path: str, simulators: Simulators, readers: Simulators | None = None
    ) -> None:
        self.pools = [each.pool for each in (simulators, readers) if each is not None]
        super().__init__(path, lambda request: respond(simulators, request, readers))

    def service_actions(self) -> None:
        """Called by the server between requests, a few times a second."""
        super().service_actions()
        for pool in self.pools:
            pool.end_idle(IDLE_SECONDS)


def most_processes() -> int:
    """Return how many processes this machine has CPUs and memory for, from 2 to 4.

    One person's simulations never use the last of them, so that others need not wait for these.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(2, min(4, os.cpu_count() or 1, memory // MEMORY_EACH))


def main(argv: list[str] | None = None) -> int:
    """Serve until a stop is requested."""
    parser = argparse.ArgumentParser(prog="python -m millrace_runtime.simulator")
    parser.add_argument("--socket", required=True, metavar="PATH", help="Unix socket to listen on")
    parser.add_argument(
        "--most", type=int, default=most_processes(),
        help="concurrent simulations (default: the number of CPUs, at most 4 and at most one for "
             "every 3 GB of memory, but at least 2)",
    )  # fmt: skip
    parser.add_argument(
        "--stores-only", action="store_true",
        help="read stores from checkpoints instead of running simulations",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    kind = READING if arguments.stores_only else SIMULATING
    simulators = Simulators(arguments.most, kind=kind)
    readers = None
    if not arguments.stores_only:
        readers = Simulators(MOST_PROGRAMS, PROGRAM_LIMITS, PROGRAMS)
    if kind.confined and not confinement.version():
        print(_NOT_CONFINED, file=sys.stderr, flush=True)
    try:
        return serve(lambda: Server(arguments.socket, simulators, readers), arguments.socket)
    finally:
        simulators.close()
        if readers is not None:
            readers.close()
