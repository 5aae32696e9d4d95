"""The pytest plugin: the fixture `topology_test_driver`.

It is the wheel's entry point `pytest11`, so pytest imports it in every run: it must not import
Spark before a test asks for it. Before it imports the first file of tests in which a driver's name
stands, it starts the JVM of the session, which is ready when the file is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from millrace_runtime.testing import TopologyTestDriver

#: texts of files whose tests use a driver
USES = (b"topology_test_driver", b"TopologyTestDriver")


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Start the session's JVM for a file whose tests use a driver, if all of them run."""
    option = parent.config.option
    if option.collectonly or option.keyword or option.markexpr or getattr(option, "lf", False):
        return
    text = module_path.read_bytes()
    if any(each in text for each in USES):
        from millrace_runtime.testing import sessions

        sessions.begin()


@pytest.fixture
def topology_test_driver() -> Iterator[Callable[..., TopologyTestDriver]]:
    """Create drivers of topologies, with the arguments of TopologyTestDriver.

    They share one Spark session with all tests of the run, and are closed after the test.
    """
    from millrace_runtime.testing import TopologyTestDriver

    made: list[TopologyTestDriver] = []

    def create(*args: Any, **options: Any) -> TopologyTestDriver:
        driver = TopologyTestDriver(*args, **options)
        made.append(driver)
        return driver

    yield create
    for driver in made:
        driver.close()
