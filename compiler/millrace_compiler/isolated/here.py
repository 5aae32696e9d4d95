"""A compiler in this process, for one that ends after a single command."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any, cast

from millrace_services import local_services
from millrace_services.processes import Exceeded, Limits

from millrace_compiler.isolated import worker
from millrace_compiler.isolated.compilers import Pool


class CompilerHere(Pool):
    """Compiles in the main thread of this process, within the limits of a compiler process.

    The limit of memory is for the whole process from now on, and it contacts only the schema
    registries that an admin lists.
    """

    def __init__(self) -> None:
        super().__init__(size=1)
        os.environ.setdefault("MILLRACE_SCHEMA_REGISTRIES", "")
        worker.limit_memory(self.limits.memory_megabytes)

    def run(self, request: Mapping[str, object], owner: str, limits: Limits) -> Any:
        """The answer to a request. Raises :class:`Exceeded`, or an OSError."""
        if request.get("analyzer"):
            local_services.wait_until_awake(str(request["analyzer"]))
        before = signal.signal(signal.SIGALRM, _too_late)
        signal.setitimer(signal.ITIMER_REAL, limits.seconds)
        try:
            asked = cast(worker.Request, {**request, "seconds": limits.seconds})
            found: Any = worker.answer(asked)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        if "exceeded" in found:
            raise Exceeded(found["exceeded"])
        if "os_error" in found:
            raise OSError(*found["os_error"])
        return found["answer"]


def _too_late(*_: object) -> None:
    raise Exceeded("time")
