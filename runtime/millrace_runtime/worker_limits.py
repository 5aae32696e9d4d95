"""How long a call of user code may take, and how much memory."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

_SIGNAL = signal.SIGUSR1


class Deadline:
    """The time that a call may spend in Python. Waiting for the operator's answers is free.

    A call that is overdue gets a TimeoutError where it is, so that its line is known. Code that
    cannot be interrupted that way is ended by the operator, a little later.
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
        """A call begins. Returns the argument of `end`. Calls may be nested.

        `limit_ms`: where this call has a limit of its own.
        """
        before = self._until
        if self._timeout:
            seconds = self._timeout if limit_ms is None else limit_ms / 1000
            self._seconds = seconds
            self._until = time.monotonic() + seconds
        return before

    def end(self, before: float | None) -> None:
        """The call has ended."""
        self._until = before

    def pause(self) -> float:
        """The call waits from now on. Returns the remaining time, the argument of `resume`."""
        until, self._until = self._until, None
        return until - time.monotonic() if until is not None else 0.0

    def resume(self, left: float) -> None:
        """The call goes on."""
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
        # The call may have ended, or wait for an answer, since the watch looked.
        if self._until is not None and time.monotonic() > self._until:
            self._until = None
            raise TimeoutError(f"the call did not return within {self._seconds * 1000:.0f} ms")


def limit_memory(megabytes: int) -> None:
    """No more memory than that for the process's data; 0 for no limit.

    Where the system knows no such limit, there is none.
    """
    if megabytes <= 0:
        return
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        limit = megabytes << 20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
