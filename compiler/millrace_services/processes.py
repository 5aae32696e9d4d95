"""A process that answers requests over pipes and can be killed at any time."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from millrace_services import frames

STARTING_SECONDS = 60.0
#: seconds after which a busy process lowers its priority, and by how much
_PATIENCE_SECONDS = 1.0
_LOWER_PRIORITY = 10


@dataclass(frozen=True)
class Limits:
    """Limits of one request. Waiting for a process does not count towards ``seconds``."""

    seconds: float = 3.0
    waiting_seconds: float = 10.0
    memory_megabytes: int = 512
    output_megabytes: int = 8


class Exceeded(Exception):
    """A limit was exceeded; ``limit`` is time, memory, output, waiting, busy or process."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


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
        starting_seconds: float = STARTING_SECONDS,
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
