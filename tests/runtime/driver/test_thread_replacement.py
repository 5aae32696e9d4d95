"""A job that a record stopped starts again if its uncaught exception handler replaces threads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.driver.thread_replacement import LIMIT, WINDOW_SECONDS, Replacements
from millrace_runtime.errors import StreamStopped

from tests.compiler.kit import Raw, document, node, sink, stream
from tests.runtime.changing import Changing, Pair, Silent

FLAKY = """
class Flaky(Processor):
    def init(self, context):
        self.context = context
    def process(self, record):
        if record.value == "b" and self.context.current_system_time() < {until}:
            raise RuntimeError("the service does not answer")
        self.context.forward(record.replace(value='"' + record.value + '"'))
"""


class Lines(Silent):
    """A report that keeps the log lines about nodes."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str | None]] = []

    def log(self, _level: str, message: str, node: str | None = None) -> None:
        if node is not None:
            self.lines.append((message, node))


def flaky(pair: Pair, until: float, **settings: Any) -> Raw:
    code = FLAKY.format(until=int(until))
    output = {"key": "STRING", "value": "STRING"}
    nodes = [
        stream("in", [pair.source]),
        node("call", "process", code=code, class_name="Flaky", output=output),
        sink("out", topic=pair.sink),
    ]
    return document(nodes, ["in > call", "call > out"], settings=settings)


@pytest.mark.kafka
@pytest.mark.spark
@pytest.mark.slow
class TestOnABroker:
    @pytest.mark.long
    def test_a_failure_that_passes_ends_no_job_that_replaces_threads(
        self, changing: Changing, tmp_path: Path
    ) -> None:
        pair, report = Pair(changing.address), Lines()
        pair.write([("k", "a"), ("k", "b"), ("k", "c")])
        settings = {"processing_guarantee": "exactly_once",
                    "uncaught_exception_handler": "replace_thread"}  # fmt: skip
        topology = flaky(pair, time.time() * 1000 + 6_000, **settings)
        changing.run(topology, tmp_path, report=report)
        assert pair.new() == [("k", "a"), ("k", "b"), ("k", "c")]
        message, place = report.lines[0]
        assert place == "call"
        assert "the service does not answer (line 7). The threads are replaced in 0.5 s" in message

    def test_a_job_stops_if_its_topology_does_not_say_otherwise(
        self, changing: Changing, tmp_path: Path
    ) -> None:
        pair = Pair(changing.address)
        pair.write([("k", "a"), ("k", "b")])
        with pytest.raises(StreamStopped, match="does not answer"):
            changing.run(flaky(pair, time.time() * 1000 + 600_000), tmp_path)


def test_waits_grow_and_the_last_failure_within_the_time_ends_the_job() -> None:
    found = Replacements(enabled=True)
    waits = [found.wait_after_failure(n * 10.0) for n in range(LIMIT)]
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, None]
    assert found.wait_after_failure(WINDOW_SECONDS + 100.0) == 0.5
    assert Replacements(enabled=False).wait_after_failure(0.0) is None
