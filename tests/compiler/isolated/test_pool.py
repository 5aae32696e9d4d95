"""A pool of processes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import millrace_services
import pytest
from millrace_services.pool import ProcessPool
from millrace_services.processes import Exceeded, Limits, Process

READY = """
import sys
from millrace_services import frames
sys.stdout.buffer.write(frames.encode({}))
sys.stdout.flush()
sys.stdin.read()
"""


def test_a_start_that_raises_fails_one_request_and_the_next_may_succeed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = True

    def start() -> Process:
        if broken:
            raise RuntimeError("a jar is missing")
        packages = str(Path(millrace_services.__file__).parents[1])
        return Process([sys.executable, "-c", READY], {"PYTHONPATH": packages})

    limits = Limits(seconds=5, waiting_seconds=20)
    pool = ProcessPool(start, 1, limits, spare=1)
    began = time.monotonic()
    with pytest.raises(Exceeded) as refused, pool.turn("a", limits):
        pass
    assert refused.value.limit == "process"
    assert time.monotonic() - began < 10
    assert caplog.messages == ["A process could not be started: a jar is missing"]
    broken = False
    with pool.turn("a", limits) as process:
        assert process.alive
    pool.close()
