"""Places that people share, so that nobody can hold all of them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

from millrace_services.owners import Owners

#: the account whose request is being answered; empty outside of requests
current_owner: ContextVar[str] = ContextVar("current_owner", default="")


class Busy(Exception):
    """No place became free in time. `own`: the owner has all that one owner can have."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


class Turns:
    """A number of places, which owners get in the order of `millrace_services.owners`."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._owners = Owners(places)
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def place(self, owner: str, seconds: float) -> Iterator[None]:
        """Hold a place during the block. Raises Busy if the owner gets none in time."""
        self._take(owner, time.monotonic() + seconds)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._owners.give_back(owner)
                self._changed.notify_all()

    def _take(self, owner: str, until: float) -> None:
        with self._changed:
            with self._owners.waiting(owner):
                while self._owners.next(self._free) != owner:
                    left = until - time.monotonic()
                    if left <= 0:
                        own = self._free > 0 and not self._owners.may_take(owner, self._free)
                        raise Busy(own=own)
                    self._changed.wait(left)
            self._free -= 1
            self._owners.take(owner)
            self._changed.notify_all()
