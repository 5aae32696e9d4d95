"""Tests of programs in pytest, without Kafka: see docs/testing.md.

from millrace_runtime.testing import TopologyTestDriver

def test_words_are_counted(topology_test_driver):
    driver = topology_test_driver(topology)
    driver.input_topic("sentences").pipe_input(None, "to be or not to be")
    assert driver.output_topic("counts").read_key_values_to_map()["to"] == 2
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_runtime.testing.driver import Drop, TopologyTestDriver
    from millrace_runtime.testing.failures import RecordFailed
    from millrace_runtime.testing.mock_context import (
        CapturedForward,
        CapturedPunctuator,
        MockProcessorContext,
    )
    from millrace_runtime.testing.recorded import differences, plain_differences, read_test
    from millrace_runtime.testing.sessions import session
    from millrace_runtime.testing.topics import TestInputTopic, TestOutputTopic, TestRecord

__all__ = [
    "CapturedForward",
    "CapturedPunctuator",
    "Drop",
    "MockProcessorContext",
    "RecordFailed",
    "TestInputTopic",
    "TestOutputTopic",
    "TestRecord",
    "TopologyTestDriver",
    "differences",
    "plain_differences",
    "read_test",
    "session",
]


# Names are imported on first use: the session's JVM starts before the compiler is imported.
_HOMES = {
    "driver": ("Drop", "TopologyTestDriver"),
    "failures": ("RecordFailed",),
    "mock_context": ("CapturedForward", "CapturedPunctuator", "MockProcessorContext"),
    "recorded": ("differences", "plain_differences", "read_test"),
    "sessions": ("session",),
    "topics": ("TestInputTopic", "TestOutputTopic", "TestRecord"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
