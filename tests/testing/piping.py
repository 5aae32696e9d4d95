"""Records into topics of a test driver, and out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from millrace_runtime.testing import TopologyTestDriver

Create = Callable[..., TopologyTestDriver]


def pipe(driver: TopologyTestDriver, topic: str, records: Iterable[tuple[Any, ...]]) -> None:
    """Pipe records: key, value and, if it matters, the timestamp."""
    piped = driver.input_topic(topic)
    for record in records:
        piped.pipe_input(*record)


def read(driver: TopologyTestDriver, topic: str) -> list[tuple[Any, Any]]:
    """Return the keys and values that a topic got since the last call."""
    return list(driver.output_topic(topic).read_key_values())
