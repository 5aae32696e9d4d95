"""Processes that compile, kept warm, and the order in which requests get them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from millrace_compiler.compilation import Dialect
from millrace_compiler.diagnostics import Diagnostic
from millrace_compiler.isolated import frames
from millrace_compiler.types import DataType

#: what a worker knows of the environment: no secret of the server is among it
ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "MILLRACE_SCHEMA_REGISTRIES", "MILLRACE_REGISTRY_PASSWORDS",
)  # fmt: skip
_PACKAGES = Path(__file__).parents[2]
_MODULE = "millrace_compiler.isolated.worker"
_STARTING_SECONDS = 60.0
#: requests of one owner that may wait; more are refused at once
_MOST_WAITING = 8
#: seconds after which a process at work gives way to the others, and by how much
_PATIENCE_SECONDS = 1.0
_LOWER_PRIORITY = 10
#: seconds for which an owner counts as slow after a request that took half of its time or more
_SLOW_SECONDS = 30.0


@dataclass(frozen=True)
class Limits:
    """What one compilation may use. Seconds of waiting for a process do not count as its own."""

    seconds: float = 3.0
    waiting_seconds: float = 10.0
    memory_megabytes: int = 512
    output_megabytes: int = 8


class Exceeded(Exception):
    """A limit was exceeded; ``limit`` names it: time, memory, output, waiting, busy
    or process.
    """

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Pool:
    """Up to ``size`` processes; threads of the caller wait for one that is free.

    Waiting owners get free processes in turn. An owner has at most half of them, the last free one
    is for owners that have none, and owners with slow documents have at most half of them together,
    so that slow documents do not delay the other owners.
    """

    def __init__(self, size: int = 4, limits: Limits | None = None) -> None:
        self.size, self.limits = size, limits or Limits()
        #: so many are started ahead
        self.spare = size
        self._share = max(1, size // 2)
        self._changed = threading.Condition()
        self._idle: list[Process] = []
        self._started = 0
        self._closed = False
        self._held: Counter[str] = Counter()
        #: until when an owner counts as slow
        self._slow: dict[str, float] = {}
        #: waiting owners, the next one first
        self._waiting: OrderedDict[str, int] = OrderedDict()

    def warm(self) -> threading.Thread:
        """Start all processes in the background; without it they start with the first requests.

        The thread ends when they are ready.
        """
        thread = threading.Thread(target=self._fill, name="compile-pool", daemon=True)
        thread.start()
        return thread

    def compile(
        self,
        document: Mapping[str, Any],
        analyzer: str,
        *,
        owner: str = "",
        real_time: bool = False,
        dialect: Dialect = "exact",
        registries: bool = True,
        conditions: Sequence[Mapping[str, Any]] = (),
        limits: Limits | None = None,
    ) -> dict[str, Any]:
        """The answer of the compile endpoint, without ``revision``. Never raises for a document.

        ``analyzer``: its address, ``host:port``. ``owner``: on whose behalf, for a fair share.
        ``registries``: whether schema registries may be asked. ``conditions`` of a test are checked
        too (:mod:`millrace_compiler.conditions`).
        """
        request = {
            "do": "compile",
            "document": document,
            "real_time": real_time,
            "dialect": dialect,
            "registries": registries,
            "conditions": list(conditions),
            "analyzer": analyzer,
        }
        nothing: dict[str, Any] = {"ports": {}, "plan": None, "summary": {}, "code": None}
        return self._answer(request, owner, limits, **nothing)

    def bundle(
        self,
        document: Mapping[str, Any],
        analyzer: str,
        directory: Path,
        runtime: Path,
        operator_jar: Path | None,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        driven: bool = False,
        limits: Limits | None = None,
    ) -> list[dict[str, Any]]:
        """Write the files of the job into a folder and return the diagnostics.

        ``driven``: with the packages that drive a plain program as a deployment.
        With an error among them nothing is written. See :func:`millrace_compiler.bundle_files`.
        Raises OSError where the folder cannot be written.
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
        }
        found: list[dict[str, Any]] = self._answer(request, owner, limits)["diagnostics"]
        return found

    def state(
        self,
        document: Mapping[str, Any],
        analyzer: str,
        *,
        owner: str = "",
        dialect: Dialect = "exact",
        limits: Limits | None = None,
    ) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
        """The schema of the job's state (None where the document is refused), and diagnostics."""
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
        formats: Mapping[str, Any],
        *,
        owner: str = "",
        registries: bool = True,
        limits: Limits | None = None,
    ) -> tuple[dict[str, DataType], list[dict[str, Any]]]:
        """The types of formats of a document by their names, and diagnostics.

        A format with an error among them has no type. ``registries``: whether they may be asked.
        """
        request = {"do": "types", "formats": formats, "registries": registries}
        answer = self._answer(request, owner, limits, types={})
        types = {name: DataType.from_json(raw) for name, raw in answer["types"].items() if raw}
        return types, answer["diagnostics"]

    def _answer(
        self, request: dict[str, Any], owner: str, limits: Limits | None, **nothing: Any
    ) -> dict[str, Any]:
        """What a process answers; ``nothing`` with a diagnostic where it exceeds its limits."""
        limits = limits or self.limits
        try:
            return self.run(request, owner, limits)
        except Exceeded as error:
            return {"diagnostics": [_diagnostic(error, limits).to_json()], **nothing}

    @property
    def pids(self) -> list[int]:
        """The processes that wait for a request."""
        with self._changed:
            return [worker.pid for worker in self._idle]

    def close(self) -> None:
        """End all processes."""
        with self._changed:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    # ---- one request ----------------------------------------------------------------------

    def run(self, request: dict[str, Any], owner: str, limits: Limits) -> dict[str, Any]:
        """The answer of a free process. Raises :class:`Exceeded`, or OSError as it did."""
        with self._turn(owner, limits) as worker:
            return worker.ask({**request, "seconds": limits.seconds}, limits)

    @contextlib.contextmanager
    def _turn(self, owner: str, limits: Limits) -> Iterator[Process]:
        """A process for a while. Raises :class:`Exceeded` where none becomes free in time."""
        worker = self._take(owner, limits.waiting_seconds)
        try:
            worker = worker or self._start()
            yield worker
        finally:
            now = time.monotonic()
            with self._changed:
                if worker is not None and now - (worker.asked or now) >= limits.seconds / 2:
                    self._slow[owner] = now + _SLOW_SECONDS
                self._held[owner] -= 1
                if not self._held[owner]:
                    del self._held[owner]
                reusable = worker is not None and worker.restored() and not self._closed
                if reusable and worker is not None:
                    worker.idle_since, worker.asked = now, None
                    self._idle.append(worker)
                else:
                    self._started -= 1
                self._changed.notify_all()
            if worker is not None and not reusable:
                worker.end()
                self.warm()

    def _take(self, owner: str, seconds: float) -> Process | None:
        """An idle process, or None for the right to start one, when it is the owner's turn."""
        until = time.monotonic() + seconds
        with self._changed:
            if self._waiting.get(owner, 0) >= _MOST_WAITING:
                raise Exceeded("busy")
            self._waiting[owner] = self._waiting.get(owner, 0) + 1
            try:
                while not self._is_next(owner):
                    left = until - time.monotonic()
                    if left <= 0:
                        raise Exceeded("waiting")
                    self._changed.wait(left)
            finally:
                self._waiting[owner] -= 1
                if not self._waiting[owner]:
                    del self._waiting[owner]
            if owner in self._waiting:
                self._waiting.move_to_end(owner)
            self._held[owner] += 1
            self._changed.notify_all()
            if self._idle:
                return self._idle.pop()
            self._started += 1
            return None

    def _is_next(self, owner: str) -> bool:
        """Whether a process is free, and the owner the first who may have it."""
        free = len(self._idle) + self.size - self._started
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
        # Off unless an admin lists some: on a server a document must not choose whom it asks.
        known.setdefault("MILLRACE_SCHEMA_REGISTRIES", "")
        return Process(
            [sys.executable, "-m", _MODULE, str(self.limits.memory_megabytes)],
            {**known, "PYTHONPATH": str(_PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def _fill(self) -> None:
        """Start processes until there are as many as there may be."""
        while True:
            with self._changed:
                if self._closed or self._started >= self.spare:
                    return
                self._started += 1
            worker = self._start()
            with contextlib.suppress(Exceeded):
                worker.wait_until_ready()
            with self._changed:
                if worker.alive and not self._closed:
                    self._idle.append(worker)
                    self._changed.notify_all()
                    continue
                self._started -= 1
                self._changed.notify_all()
            worker.end()
            return


class Process:
    """One process; used by one thread at a time. After :class:`Exceeded` it is dead.

    `leads`: it starts processes of its own, which end with it.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        leads: bool = False,
        starting_seconds: float = _STARTING_SECONDS,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=leads,
        )
        self._leads = leads
        self._starting_seconds = starting_seconds
        self.pid = self._process.pid
        self._ready = False
        #: when the request in work was sent
        self.asked: float | None = None
        #: what the process last reported of the request in work
        self.progress: dict[str, Any] | None = None
        self.alive = True
        self._priority: int | None = None
        self.idle_since = time.monotonic()

    def wait_until_ready(self) -> None:
        """Wait for the first line of a process that has just been started."""
        if not self._ready:
            self._read(Limits(seconds=self._starting_seconds))
            self._ready = True

    def ask(self, request: dict[str, Any], limits: Limits) -> dict[str, Any]:
        """The answer to a request. Raises :class:`Exceeded`, or OSError as the process did."""
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
        answer: dict[str, Any] = found["answer"]
        return answer

    def _read(self, limits: Limits) -> dict[str, Any]:
        """The next frame that is no progress."""
        until = time.monotonic() + limits.seconds
        while "progress" in (found := self._frame(limits, until)):
            self.progress = found["progress"]
        return found

    def _frame(self, limits: Limits, until: float) -> dict[str, Any]:
        try:
            (size,) = frames.HEADER.unpack(self._bytes(frames.HEADER.size, until))
            if size > limits.output_megabytes << 20:
                raise Exceeded("output")
            found: dict[str, Any] = frames.decode(self._bytes(size, until))
        except BaseException:
            # A process whose answer was not read to its end cannot be asked again.
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
        """Work on with a lower priority: other people's requests are short."""
        if self._priority is None and self.asked is not None:
            with contextlib.suppress(OSError):
                self._priority = os.getpriority(os.PRIO_PROCESS, self.pid)
                os.setpriority(os.PRIO_PROCESS, self.pid, self._priority + _LOWER_PRIORITY)

    def restored(self) -> bool:
        """Whether it lives and has its priority back, which only a privileged parent may give."""
        if self._priority is not None and self.alive:
            try:
                os.setpriority(os.PRIO_PROCESS, self.pid, self._priority)
            except OSError:
                return False
            self._priority = None
        return self.alive

    def interrupt(self) -> bool:
        """Send SIGUSR1 to a process that works on a request; whether it does."""
        if self.asked is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)
        return True

    def kill(self) -> None:
        """Kill the process; the request that waits for its answer gets :class:`Exceeded`."""
        with contextlib.suppress(ProcessLookupError):
            if self._leads:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> None:
        """Kill the process and forget it."""
        self.alive = False
        self.kill()
        self._process.wait()
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
