"""The order in which owners get shared places, so that none of them can hold all."""

from __future__ import annotations

import contextlib
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator


class Owners:
    """Who holds places, who waits for one, and who gets the next one.

    An owner has at most a share of the places (default: half of them), the last free one is
    reserved for owners without one, and waiting owners get free places in turn. Callers hold a
    lock of their own.
    """

    def __init__(self, places: int, share: int | None = None) -> None:
        #: maximum number of places of one owner
        self.share = max(1, places // 2 if share is None else share)
        self.held: Counter[str] = Counter()
        #: number of waiting requests by owner, the next owner first
        self.waits: OrderedDict[str, int] = OrderedDict()

    @contextlib.contextmanager
    def waiting(self, owner: str) -> Iterator[None]:
        """Count a request as waiting during the block."""
        self.wait(owner)
        try:
            yield
        finally:
            self.leave(owner)

    def wait(self, owner: str) -> None:
        """Count one more request as waiting."""
        self.waits[owner] = self.waits.get(owner, 0) + 1

    def leave(self, owner: str) -> None:
        """Count one request less as waiting."""
        self.waits[owner] -= 1
        if not self.waits[owner]:
            del self.waits[owner]

    def take(self, owner: str) -> None:
        """Give a place to an owner; the others that wait come before its next request."""
        self.held[owner] += 1
        if owner in self.waits:
            self.waits.move_to_end(owner)

    def give_back(self, owner: str) -> None:
        """Take a place back."""
        self.held[owner] -= 1
        if not self.held[owner]:
            del self.held[owner]

    def may_take(self, owner: str, free: int) -> bool:
        """Whether an owner may have one of the free places."""
        return free > 0 and self.held[owner] < (self.share if free > 1 else 1)

    def next(self, free: int, barred: Collection[str] = ()) -> str | None:
        """The first waiting owner that may have one of the free places and is not barred."""
        return next(
            (each for each in self.waits if each not in barred and self.may_take(each, free)), None
        )
