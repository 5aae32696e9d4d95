"""The threads in which requests, and the queries of live events, run. People share them."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections
from millrace_services.owners import Owners

P = ParamSpec("P")
T = TypeVar("T")
#: the owner of a call, as far as it is known at that moment
Whose = Callable[[], str]


class Full(Exception):
    """A call can neither run nor wait. `own`: its owner has all that one owner can have."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


class _Call:
    """A call that has a thread, or waits for its turn."""

    def __init__(self, threads: SharedThreads, whose: Whose) -> None:
        self.threads, self.whose = threads, whose
        self.owner = whose()
        #: whether a thread is reserved for it
        self.placed = False
        #: done when it need not wait for that any more
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()


#: the call that runs in this thread
_current: ContextVar[_Call | None] = ContextVar("current_call", default=None)


class SharedThreads:
    """Threads for the calls of many owners, each of which has a quarter of them at most.

    Further calls of an owner wait in their order without holding a thread, and owners that wait get
    threads in turn. At most ``waiting`` calls wait, of which at most ``waiting_of_one`` are of
    one owner.
    """

    def __init__(
        self,
        name: str,
        threads: int,
        *,
        waiting: float = math.inf,
        waiting_of_one: float = math.inf,
    ) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = threads
        self._owners = Owners(threads, threads // 4)
        self._most, self._most_of_one = waiting, waiting_of_one
        self._queues: dict[str, deque[_Call]] = {}
        self._lock = threading.Lock()

    async def run(
        self,
        whose: Whose,
        function: Callable[[], T],
        *,
        leaving: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        """Return what the function returns in a thread, which keeps its connections.

        Django's own way makes a thread, with new connections to the database, for each request.
        ``leaving`` raises when nobody waits for the result any more; a call that still waits for
        its turn then gives it up. Raises Full if too many calls wait.
        """
        call = _Call(self, whose)
        with self._lock:
            self._enter(call)
        if not call.placed:
            await self._wait(call, leaving)
        context = copy_context()
        context.run(_current.set, call)
        running = asyncio.get_running_loop().run_in_executor(
            self._pool, partial(context.run, self._called, call, function)
        )
        # The thread works until the function returns, also if nobody waits for it any more.
        return await asyncio.shield(running)

    def belongs_to(self, call: _Call, owner: str) -> None:
        """Count the thread of a call as another owner's. Raises Full if that has its share."""
        with self._lock:
            if owner == call.owner:
                return
            if self._owners.held[owner] >= self._owners.share:
                raise Full(own=True)
            self._owners.give_back(call.owner)
            self._owners.take(owner)
            call.owner = owner
            self._wake()

    # ---- with the lock ------------------------------------------------------------------------

    def _enter(self, call: _Call) -> None:
        """Reserve a thread for a new call, or let it wait. Raises Full."""
        owner = call.owner
        if owner not in self._owners.waits and self._owners.may_take(owner, self._free):
            self._place(call)
            return
        if self._owners.waits.get(owner, 0) >= self._most_of_one:
            raise Full(own=True)
        if sum(self._owners.waits.values()) >= self._most:
            raise Full(own=False)
        self._queue(call)

    def _queue(self, call: _Call) -> None:
        self._queues.setdefault(call.owner, deque()).append(call)
        self._owners.wait(call.owner)

    def _dequeue(self, call: _Call) -> None:
        queue = self._queues[call.owner]
        queue.remove(call)
        if not queue:
            del self._queues[call.owner]
        self._owners.leave(call.owner)

    def _place(self, call: _Call) -> None:
        self._free -= 1
        self._owners.take(call.owner)
        call.placed = True

    def _release(self, call: _Call) -> None:
        self._free += 1
        self._owners.give_back(call.owner)
        self._wake()

    def _wake(self) -> None:
        """Reserve free threads for those whose turn it is."""
        while (owner := self._owners.next(self._free)) is not None:
            call = self._queues[owner][0]
            self._dequeue(call)
            call.owner = call.whose()
            if call.owner != owner:
                # Meanwhile it has become known whose it is.
                self._queue(call)
                continue
            self._place(call)
            call.turn.get_loop().call_soon_threadsafe(_done, call.turn)

    # ---- without it ---------------------------------------------------------------------------

    async def _wait(self, call: _Call, leaving: Callable[[], Awaitable[None]] | None) -> None:
        """Return when the call has a thread; if it is not wanted any more, take it out."""
        left = None if leaving is None else asyncio.ensure_future(leaving())
        try:
            if left is not None:
                await asyncio.wait((call.turn, left), return_when=asyncio.FIRST_COMPLETED)
                if left.done():
                    left.result()
            await call.turn
        except BaseException:
            with self._lock:
                if call.placed:
                    self._release(call)
                else:
                    self._dequeue(call)
            raise
        finally:
            if left is not None:
                left.cancel()

    def _called(self, call: _Call, function: Callable[[], T]) -> T:
        try:
            close_old_connections()
            try:
                return function()
            finally:
                close_old_connections()
        finally:
            with self._lock:
                self._release(call)


def _done(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)


def belongs_to(owner: str) -> None:
    """Count the thread of this call as the owner's. Raises Full if the owner has its share."""
    call = _current.get()
    if call is not None:
        call.threads.belongs_to(call, owner)


#: threads of requests. With those of live events, they are as many as connections to the database.
REQUESTS = SharedThreads("request", 56, waiting=1_000, waiting_of_one=200)
#: threads of the short queries of live events, which neither wait for requests nor delay them. A
#: stream has two at a time, so that these need no other limit.
LIVE = SharedThreads("live", 8)
