"""A pool of processes, and the order in which requests get one."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from millrace_services.owners import Owners
from millrace_services.processes import Exceeded, Limits, Process

log = logging.getLogger(__name__)

#: maximum number of waiting requests of one owner; further ones are refused immediately
MOST_WAITING = 8
#: seconds for which an owner counts as slow after a request that took half of its limit or more
_SLOW_SECONDS = 30.0


class ProcessPool:
    """Up to ``size`` processes; calling threads wait for a free one.

    Owners get processes in the order of :class:`Owners`. To keep slow documents from delaying
    others, owners with slow documents together have at most half of the processes.

    ``start`` starts a process; ``spare``: how many are started in advance; ``patience``: seconds
    that a request waits for a busy process before another one is started.
    """

    def __init__(
        self,
        start: Callable[[], Process],
        size: int,
        limits: Limits,
        *,
        spare: int | None = None,
        patience: float = 0.0,
    ) -> None:
        self.size, self.limits = size, limits
        self._start = start
        self._spare = size if spare is None else spare
        self._patience = patience
        self._owners = Owners(size)
        self._changed = threading.Condition()
        self._idle: list[Process] = []
        #: number of processes, and of those that are not ready yet
        self._started = self._starting = 0
        #: number of starts that failed, and whether the last one did
        self._failed = 0
        self.last_failed = False
        self._closed = False
        #: until when each owner counts as slow
        self._slow: dict[str, float] = {}

    def warm(self) -> threading.Thread:
        """Start all processes in the background, instead of with the first requests.

        The returned thread ends when they are ready.
        """
        thread = threading.Thread(target=self._fill, name="process-pool", daemon=True)
        thread.start()
        return thread

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

    @property
    def busy(self) -> bool:
        """Whether a process is working on a request."""
        with self._changed:
            return bool(self._owners.held)

    def prepare(self, seconds: float = 0.0) -> bool:
        """Return whether a process is idle or busy; if not, start one in the background.

        ``seconds``: how long to wait for one that starts.
        """
        with self._changed:
            ready, starting, failed = self._ready(), self._started > 0, self._failed
        if ready:
            return True
        if not starting:
            self.warm()
        with self._changed:
            self._changed.wait_for(
                lambda: self._ready() or self._closed or self._failed > failed, seconds
            )
            return self._ready()

    def _ready(self) -> bool:
        return bool(self._idle or self._owners.held)

    def end_idle(self, seconds: float) -> None:
        """End processes that have been idle for this many seconds."""
        with self._changed:
            old = [p for p in self._idle if time.monotonic() - p.idle_since >= seconds]
            self._idle = [process for process in self._idle if process not in old]
            self._started -= len(old)
            self._changed.notify_all()
        for process in old:
            process.end()

    # ---- one request ----------------------------------------------------------------------

    def run(self, request: Mapping[str, object], owner: str, limits: Limits) -> Any:
        """The answer of a process. Raises :class:`Exceeded`, or an OSError of the process."""
        with self.turn(owner, limits) as worker:
            return worker.ask(request, limits)

    @contextlib.contextmanager
    def turn(self, owner: str, limits: Limits) -> Iterator[Process]:
        """Borrow a process. Raises :class:`Exceeded` if none becomes free in time."""
        worker = self._take(owner, limits.waiting_seconds)
        try:
            yield worker
        finally:
            now = time.monotonic()
            with self._changed:
                if now - (worker.asked or now) >= limits.seconds / 2:
                    self._slow[owner] = now + _SLOW_SECONDS
                self._owners.give_back(owner)
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
            if self._owners.waits.get(owner, 0) >= MOST_WAITING:
                raise Exceeded("busy")
            failed = self._failed
            with self._owners.waiting(owner):
                while not (self._idle and self._is_next(owner)):
                    if self._closed or (self._failed > failed and not self._started):
                        raise Exceeded("process")
                    waited = time.monotonic() - began
                    if waited >= self._patience or not self._started:
                        self._start_more()
                    if waited >= seconds and not self._starting:
                        raise Exceeded("waiting")
                    steps = (self._patience - waited, seconds - waited)
                    self._changed.wait(min((each for each in steps if each > 0), default=None))
            self._owners.take(owner)
            self._changed.notify_all()
            return self._idle.pop()

    def _start_more(self) -> None:
        """Start a process in the background if requests wait for which none is idle or starting."""
        waiting = sum(self._owners.waits.values())
        if waiting > len(self._idle) + self._starting and self._started < self.size:
            self._count_start()
            threading.Thread(target=self._add, name="process-pool", daemon=True).start()

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
        owners = self._owners
        slow_full = sum(owners.held[each] for each in self._slow) >= owners.share
        return owners.next(free, self._slow if slow_full else ()) == owner

    def _fill(self) -> None:
        """Start processes until there are ``spare`` ones."""
        while True:
            with self._changed:
                if self._closed or self._started >= self._spare:
                    return
                self._count_start()
            if not self._add():
                return

    def _add(self) -> bool:
        """Start a process that is counted already; whether it became idle."""
        worker = None
        try:
            worker = self._start()
            worker.wait_until_ready()
        except (Exceeded, OSError):
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, requests must not wait for it
            log.warning("A process could not be started: %s", error)
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
