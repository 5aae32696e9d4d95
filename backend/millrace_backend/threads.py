"""The threads in which requests, and the queries of live events, run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

#: calls that run at the same time; more of them wait
THREADS = 64
_POOL = ThreadPoolExecutor(THREADS, thread_name_prefix="request")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns in a thread, which keeps its connection to the database.

    Django's own way makes a thread, with new connections, for each request.
    """
    call = partial(copy_context().run, _called, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_POOL, call)


def _called(function: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return function()
    finally:
        close_old_connections()
