"""Places that people share, so that nobody can hold all of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextvars import ContextVar

#: the account whose request is being answered; empty outside of requests
current_owner: ContextVar[str] = ContextVar("current_owner", default="")


class Busy(Exception):
    """No place became free in time. `own`: the owner has all that one owner can have."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


class Turns:
    """A number of places, with the rules of the compiler's processes (`isolated.Pool`).

    An owner has at most half of the places, the last free one is reserved for owners without one,
    and waiting owners get free places in turn.
    """

    def __init__(self, places: int) -> None:
        self._free, self._share = places, max(1, places // 2)
        self._changed = threading.Condition()
        self._held: Counter[str] = Counter()
        #: number of waiting requests by owner, the next owner first
        self._waiting: OrderedDict[str, int] = OrderedDict()

    @contextlib.contextmanager
    def place(self, owner: str, seconds: float) -> Iterator[None]:
        """Hold a place during the block. Raises Busy if the owner gets none in time."""
        self._take(owner, time.monotonic() + seconds)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._held[owner] -= 1
                if not self._held[owner]:
                    del self._held[owner]
                self._changed.notify_all()

    def _take(self, owner: str, until: float) -> None:
        with self._changed:
            self._waiting[owner] = self._waiting.get(owner, 0) + 1
            try:
                while self._next() != owner:
                    left = until - time.monotonic()
                    if left <= 0:
                        raise Busy(own=self._free > 0 and not self._entitled(owner))
                    self._changed.wait(left)
                self._free -= 1
                self._held[owner] += 1
            finally:
                self._waiting[owner] -= 1
                if not self._waiting[owner]:
                    del self._waiting[owner]
            if owner in self._waiting:
                self._waiting.move_to_end(owner)
            self._changed.notify_all()

    def _next(self) -> str | None:
        """Return the first waiting owner that is entitled to a free place."""
        return next((each for each in self._waiting if self._entitled(each)), None)

    def _entitled(self, owner: str) -> bool:
        most = self._share if self._free > 1 else 1
        return self._free > 0 and self._held[owner] < most
