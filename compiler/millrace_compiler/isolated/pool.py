"""A pool of compiler processes, and the order in which requests get one."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import Format, TopologyDocument
from millrace_model.plans import CompilationJson
from millrace_model.simulations import Conditioned, InputLine
from millrace_model.state import StateSchema

from millrace_compiler import local_services
from millrace_compiler.compilation import Dialect
from millrace_compiler.diagnostics import Diagnostic
from millrace_compiler.generating import Recipe
from millrace_compiler.isolated import frames
from millrace_compiler.types import DataType

#: environment variables of a compiler process, which include no secret of the server
ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "MILLRACE_SCHEMA_REGISTRIES", "MILLRACE_REGISTRY_PASSWORDS",
)  # fmt: skip
_PACKAGES = Path(__file__).parents[2]
_MODULE = "millrace_compiler.isolated.worker"
_STARTING_SECONDS = 60.0
#: maximum number of waiting requests of one owner; further ones are refused immediately
_MOST_WAITING = 8
#: seconds after which a busy process lowers its priority, and by how much
_PATIENCE_SECONDS = 1.0
_LOWER_PRIORITY = 10
#: seconds for which an owner counts as slow after a request that took half of its limit or more
_SLOW_SECONDS = 30.0


@dataclass(frozen=True)
class Limits:
    """Limits of one compilation. Waiting for a process does not count towards ``seconds``."""

    seconds: float = 3.0
    waiting_seconds: float = 10.0
    memory_megabytes: int = 512
    output_megabytes: int = 8


class Exceeded(Exception):
    """A limit was exceeded; ``limit`` is time, memory, output, waiting, busy or process."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Pool:
    """Up to ``size`` processes; calling threads wait for a free one.

    Waiting owners get free processes in turn. To keep slow documents from delaying other owners, an
    owner has at most half of the processes, the last free one is reserved for owners without one,
    and owners with slow documents together have at most half.
    """

    def __init__(self, size: int = 4, limits: Limits | None = None) -> None:
        self.size, self.limits = size, limits or Limits()
        #: number of processes that are started in advance
        self.spare = size
        #: seconds that a request waits for a busy process before another one is started
        self.patience = 0.0
        self._share = max(1, size // 2)
        self._changed = threading.Condition()
        self._idle: list[Process] = []
        #: number of processes, and of those that are not ready yet
        self._started = self._starting = 0
        #: number of starts that failed, and whether the last one did
        self._failed = 0
        self.last_failed = False
        self._closed = False
        self._held: Counter[str] = Counter()
        #: until when each owner counts as slow
        self._slow: dict[str, float] = {}
        #: number of waiting requests by owner, the next owner first
        self._waiting: OrderedDict[str, int] = OrderedDict()

    def warm(self) -> threading.Thread:
        """Start all processes in the background, instead of with the first requests.

        The returned thread ends when they are ready.
        """
        thread = threading.Thread(target=self._fill, name="compile-pool", daemon=True)
        thread.start()
        return thread

    def compile(
        self,
        document: TopologyDocument,
        analyzer: str,
        *,
        owner: str = "",
        real_time: bool = False,
        dialect: Dialect = "exact",
        registries: bool = True,
        conditions: Sequence[Conditioned] = (),
        partitions: Mapping[str, int] | None = None,
        limits: Limits | None = None,
    ) -> CompilationJson:
        """The response of the compile endpoint, without ``revision``. Never raises for a document.

        ``analyzer``: the path of the analyzer's socket. ``owner``: the account whose share
        of the pool is used. ``registries``: whether schema registries may be contacted.
        ``conditions`` of a test are checked too (:mod:`millrace_compiler.conditions`).
        ``partitions``: of topics on the broker, for the plan.
        """
        request = {
            "do": "compile",
            "document": document,
            "real_time": real_time,
            "dialect": dialect,
            "registries": registries,
            "conditions": list(conditions),
            "partitions": dict(partitions or {}),
            "analyzer": analyzer,
        }
        answer: CompilationJson = self._answer(
            request, owner, limits, ports={}, plan=None, summary={}, code=None
        )
        return answer

    def bundle(
        self,
        document: TopologyDocument,
        analyzer: str,
        directory: Path,
        runtime: Path,
        operator_jar: Path | None,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        driven: bool = False,
        partitions: Mapping[str, int] | None = None,
        limits: Limits | None = None,
    ) -> list[DiagnosticJson]:
        """Write the files of the job into a folder and return the diagnostics.

        If one of them is an error, nothing is written. ``driven``: include the packages that run a
        plain program as a deployment. ``partitions``: as for :meth:`compile`. See
        :func:`millrace_compiler.bundle_files`. Raises OSError if the folder is not writable.
        """
        request = {
            "do": "bundle",
            "document": document,
            "real_time": False,
            "dialect": dialect,
            "registries": True,
            "analyzer": analyzer,
            "directory": str(directory),
            "runtime": str(runtime),
            "operator_jar": str(operator_jar) if operator_jar else None,
            "driven": driven,
            "partitions": dict(partitions or {}),
        }
        found: list[DiagnosticJson] = self._answer(request, owner, limits)["diagnostics"]
        return found

    def state(
        self,
        document: TopologyDocument,
        analyzer: str,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        limits: Limits | None = None,
    ) -> tuple[StateSchema | None, list[DiagnosticJson]]:
        """The state schema (None if the document is refused), and the diagnostics."""
        request = {
            "do": "state",
            "document": document,
            "real_time": False,
            "dialect": dialect,
            "registries": True,
            "analyzer": analyzer,
        }
        answer = self._answer(request, owner, limits, state=None)
        return answer["state"], answer["diagnostics"]

    def types(
        self,
        formats: Mapping[str, Format],
        *,
        owner: str = "",
        registries: bool = True,
        limits: Limits | None = None,
    ) -> tuple[dict[str, DataType], list[DiagnosticJson]]:
        """The types of a document's formats by name, and the diagnostics.

        A faulty format has no type. ``registries``: whether schema registries may be contacted.
        """
        request = {"do": "types", "formats": formats, "registries": registries}
        answer = self._answer(request, owner, limits, types={})
        types = {name: DataType.from_json(raw) for name, raw in answer["types"].items() if raw}
        return types, answer["diagnostics"]

    def generate(
        self, recipe: Recipe, count: int, every: int, *, owner: str, limits: Limits
    ) -> list[InputLine]:
        """Random records as input lines of a simulation, on average ``every`` ms apart.

        Raises :class:`Exceeded`.
        """
        types = {part: each.to_json() for part, each in recipe.types.items()}
        settings = {each.name: getattr(recipe, each.name) for each in fields(recipe)}
        request = {
            "do": "generate",
            "recipe": {**settings, "types": types},
            "count": count,
            "every": every,
        }
        found: list[InputLine] = self.run(request, owner, limits)["lines"]
        return found

    def _answer(
        self, request: Mapping[str, object], owner: str, limits: Limits | None, **nothing: object
    ) -> Any:
        """The answer of a process; ``nothing`` with a diagnostic if a limit is exceeded."""
        limits = limits or self.limits
        try:
            return self.run(request, owner, limits)
        except Exceeded as error:
            return {"diagnostics": [_diagnostic(error, limits).to_json()], **nothing}

    @property
    def pids(self) -> list[int]:
        """Pids of the idle processes."""
        with self._changed:
            return [worker.pid for worker in self._idle]

    def close(self) -> None:
        """End all processes; busy ones end after their request."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
            self._changed.notify_all()
        for worker in idle:
            worker.end()

    # ---- one request ----------------------------------------------------------------------

    def run(self, request: Mapping[str, object], owner: str, limits: Limits) -> Any:
        """The answer of a process. Raises :class:`Exceeded`, or an OSError of the process.

        An analyzer that starts with its first request has started before the limits begin.
        """
        if request.get("analyzer"):
            local_services.wait_until_awake(str(request["analyzer"]))
        with self._turn(owner, limits) as worker:
            return worker.ask({**request, "seconds": limits.seconds}, limits)

    @contextlib.contextmanager
    def _turn(self, owner: str, limits: Limits) -> Iterator[Process]:
        """Borrow a process. Raises :class:`Exceeded` if none becomes free in time."""
        worker = self._take(owner, limits.waiting_seconds)
        try:
            yield worker
        finally:
            now = time.monotonic()
            with self._changed:
                if now - (worker.asked or now) >= limits.seconds / 2:
                    self._slow[owner] = now + _SLOW_SECONDS
                self._held[owner] -= 1
                if not self._held[owner]:
                    del self._held[owner]
                reusable = worker.restored() and not self._closed
                if reusable:
                    worker.idle_since, worker.asked = now, None
                    self._idle.append(worker)
                else:
                    self._started -= 1
                self._changed.notify_all()
            if not reusable:
                worker.end()
                self.warm()

    def _take(self, owner: str, seconds: float) -> Process:
        """Wait for the owner's turn and an idle process. The start of one may take longer."""
        began = time.monotonic()
        with self._changed:
            if self._waiting.get(owner, 0) >= _MOST_WAITING:
                raise Exceeded("busy")
            self._waiting[owner] = self._waiting.get(owner, 0) + 1
            failed = self._failed
            try:
                while not (self._idle and self._is_next(owner)):
                    if self._closed or (self._failed > failed and not self._started):
                        raise Exceeded("process")
                    waited = time.monotonic() - began
                    if waited >= self.patience or not self._started:
                        self._start_more()
                    if waited >= seconds and not self._starting:
                        raise Exceeded("waiting")
                    steps = (self.patience - waited, seconds - waited)
                    self._changed.wait(min((each for each in steps if each > 0), default=None))
            finally:
                self._waiting[owner] -= 1
                if not self._waiting[owner]:
                    del self._waiting[owner]
            if owner in self._waiting:
                self._waiting.move_to_end(owner)
            self._held[owner] += 1
            self._changed.notify_all()
            return self._idle.pop()

    def _start_more(self) -> None:
        """Start a process in the background if requests wait for which none is idle or starting."""
        waiting = sum(self._waiting.values())
        if waiting > len(self._idle) + self._starting and self._started < self.size:
            self._count_start()
            threading.Thread(target=self._add, name="compile-pool", daemon=True).start()

    def _count_start(self) -> None:
        self._started += 1
        self._starting += 1

    def _is_next(self, owner: str) -> bool:
        """Whether a process is free, and the owner is the first one entitled to it."""
        free = len(self._idle) + self._starting + self.size - self._started
        if not free:
            return False
        now = time.monotonic()
        self._slow = {each: until for each, until in self._slow.items() if until > now}
        slow_full = sum(self._held[each] for each in self._slow) >= self._share
        entitled = (
            each
            for each in self._waiting
            if self._held[each] < (self._share if free > 1 else 1)
            and not (slow_full and each in self._slow)
        )
        return next(entitled, None) == owner

    def _start(self) -> Process:
        known = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        # No registry unless an admin lists it: documents must not send requests anywhere.
        known.setdefault("MILLRACE_SCHEMA_REGISTRIES", "")
        return Process(
            [sys.executable, "-m", _MODULE, str(self.limits.memory_megabytes)],
            {**known, "PYTHONPATH": str(_PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def _fill(self) -> None:
        """Start processes until there are ``spare`` ones."""
        while True:
            with self._changed:
                if self._closed or self._started >= self.spare:
                    return
                self._count_start()
            if not self._add():
                return

    def _add(self) -> bool:
        """Start a process that is counted already; whether it became idle."""
        worker = None
        with contextlib.suppress(Exceeded, OSError):
            worker = self._start()
            worker.wait_until_ready()
        with self._changed:
            self._starting -= 1
            usable = worker is not None and worker.alive and not self._closed
            self.last_failed = not usable
            if usable and worker is not None:
                self._idle.append(worker)
            else:
                self._started -= 1
                self._failed += 1
            self._changed.notify_all()
        if worker is not None and not usable:
            worker.end()
        return usable


class Process:
    """A process, used by one thread at a time. :class:`Exceeded` means that it was killed.

    `leads`: it starts processes of its own, which are killed with it. `folder`: its temporary
    files, which are deleted with it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        leads: bool = False,
        starting_seconds: float = _STARTING_SECONDS,
        folder: str | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=leads,
        )
        self._leads, self._folder = leads, folder
        self._starting_seconds = starting_seconds
        self.pid = self._process.pid
        self._ready = False
        #: when the current request was sent
        self.asked: float | None = None
        #: the last progress report for the current request
        self.progress: Any = None
        self.alive = True
        self._priority: int | None = None
        self.idle_since = time.monotonic()

    def wait_until_ready(self) -> None:
        """Wait for the first frame of a new process."""
        if not self._ready:
            self._read(Limits(seconds=self._starting_seconds))
            self._ready = True

    def ask(self, request: Mapping[str, object], limits: Limits) -> Any:
        """The answer to a request. Raises :class:`Exceeded`, or an OSError of the process."""
        self.wait_until_ready()
        self.asked, self.progress = time.monotonic(), None
        stdin = self._process.stdin
        try:
            if stdin is None:
                raise BrokenPipeError
            stdin.write(frames.encode(request))
            stdin.flush()
        except OSError:
            self.end()
            raise Exceeded("process") from None
        found = self._read(limits)
        if "exceeded" in found:
            self.end()
            raise Exceeded(found["exceeded"])
        if "os_error" in found:
            raise OSError(*found["os_error"])
        return found["answer"]

    def _read(self, limits: Limits) -> Any:
        """The next frame that is not a progress report."""
        until = time.monotonic() + limits.seconds
        while "progress" in (found := self._frame(limits, until)):
            self.progress = found["progress"]
        return found

    def _frame(self, limits: Limits, until: float) -> Any:
        try:
            (size,) = frames.HEADER.unpack(self._bytes(frames.HEADER.size, until))
            if size > limits.output_megabytes << 20:
                raise Exceeded("output")
            found = frames.decode(self._bytes(size, until))
        except BaseException:
            # A process whose answer was not read completely cannot be reused.
            self.end()
            raise
        return found

    def _bytes(self, count: int, until: float) -> bytes:
        stdout = self._process.stdout
        if stdout is None:
            raise Exceeded("process")
        parts = []
        poll = select.poll()
        poll.register(stdout, select.POLLIN)
        while count:
            left = until - time.monotonic()
            if left <= 0:
                raise Exceeded("time")
            patience = left if self._priority is not None else min(left, _PATIENCE_SECONDS)
            if not poll.poll(patience * 1000):
                self._give_way()
                continue
            part = os.read(stdout.fileno(), min(count, 1 << 20))
            if not part:
                raise Exceeded("process")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _give_way(self) -> None:
        """Lower the priority of the process, so that it does not delay short requests."""
        if self._priority is None and self.asked is not None:
            with contextlib.suppress(OSError):
                self._priority = os.getpriority(os.PRIO_PROCESS, self.pid)
                os.setpriority(os.PRIO_PROCESS, self.pid, self._priority + _LOWER_PRIORITY)

    def restored(self) -> bool:
        """Restore the priority; False if the process is dead or the parent lacks the privilege."""
        if self._priority is not None and self.alive:
            try:
                os.setpriority(os.PRIO_PROCESS, self.pid, self._priority)
            except OSError:
                return False
            self._priority = None
        return self.alive

    def interrupt(self) -> bool:
        """Send SIGUSR1 if the process is working on a request; return whether it is."""
        if self.asked is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
        return True

    def kill(self) -> None:
        """Kill the process; a pending request raises :class:`Exceeded`."""
        with contextlib.suppress(ProcessLookupError):
            if self._leads:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> None:
        """Kill the process, wait for its end and close its pipes."""
        self.alive = False
        self.kill()
        self._process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _diagnostic(error: Exceeded, limits: Limits) -> Diagnostic:
    facts: dict[str, dict[str, object]] = {
        "time": {"limit": f"{limits.seconds:g}"},
        "memory": {"limit": limits.memory_megabytes},
        "output": {"limit": limits.output_megabytes},
        "waiting": {"limit": f"{limits.waiting_seconds:g}"},
        "busy": {"limit": _MOST_WAITING},
        "process": {},
    }
    return Diagnostic(f"compile_{error.limit}", data=facts[error.limit])
