"""The connection between Python and the JVM of a session."""

from __future__ import annotations

import statistics
import threading
import time

import pytest
from millrace_runtime import columns
from millrace_runtime.session import simulation

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def _long_answers() -> float:
    """Return the median of the seconds that an answer of 20 kB takes."""
    context = simulation.simulation_session().sparkContext
    text = columns.java_class(context._gateway, "org.apache.commons.lang3.StringUtils")
    times = []
    for _ in range(60):
        began = time.monotonic()
        assert len(text.repeat("x", 20_000)) == 20_000
        times.append(time.monotonic() - began)
    return statistics.median(times)


def test_long_answers_of_java_wait_for_no_acknowledgement() -> None:
    found = [_long_answers()]
    # Another thread has a connection of its own, which is made later.
    other = threading.Thread(target=lambda: found.append(_long_answers()))
    other.start()
    other.join(60)
    assert len(found) == 2
    assert max(found) < 0.02, found
