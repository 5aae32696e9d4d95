"""Limits of the time and memory that user code may use."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

_SIGNAL = signal.SIGUSR1


class Deadline:
    """The time that a call may spend in Python, not counting waits for the operator.

    An overdue call gets a TimeoutError at its current line, which is then known. Code that cannot
    be interrupted that way is ended by the operator a little later.
    """

    def __init__(self, timeout_ms: int) -> None:
        """`timeout_ms`: 0 for no limit."""
        self._timeout = timeout_ms / 1000
        self._until: float | None = None
        self._seconds = self._timeout
        if timeout_ms > 0:
            signal.signal(_SIGNAL, self._overdue)
            threading.Thread(target=self._watch, name="deadline", daemon=True).start()

    def begin(self, limit_ms: int | None) -> float | None:
        """Begin a call, and return the argument of `end`. Calls may be nested.

        `limit_ms`: the call's own limit, if it has one.
        """
        before = self._until
        if self._timeout:
            seconds = self._timeout if limit_ms is None else limit_ms / 1000
            self._seconds = seconds
            self._until = time.monotonic() + seconds
        return before

    def end(self, before: float | None) -> None:
        """End a call."""
        self._until = before

    def pause(self) -> float:
        """Stop the clock while a call waits; return the time left, the argument of `resume`."""
        until, self._until = self._until, None
        return until - time.monotonic() if until is not None else 0.0

    def resume(self, left: float) -> None:
        """Let the clock of a call run again."""
        if self._timeout:
            self._until = time.monotonic() + left

    def _watch(self) -> None:
        main = threading.main_thread().ident
        while main is not None:
            time.sleep(min(0.5, self._timeout / 4))
            until = self._until
            if until is not None and time.monotonic() > until:
                signal.pthread_kill(main, _SIGNAL)

    def _overdue(self, *_: object) -> None:
        # Since the check, the call may have ended or begun to wait for a response.
        if self._until is not None and time.monotonic() > self._until:
            self._until = None
            raise TimeoutError(f"the call did not return within {self._seconds * 1000:.0f} ms")


def limit_memory(megabytes: int) -> None:
    """Limit the memory of the process's data; 0 for no limit.

    Does nothing if the system does not support such a limit.
    """
    if megabytes <= 0:
        return
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = megabytes << 20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
