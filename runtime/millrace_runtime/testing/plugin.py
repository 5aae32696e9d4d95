"""The pytest plugin: the fixture `topology_test_driver`.

It is the wheel's entry point `pytest11`, so pytest imports it in every run: it must not import
Spark before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from millrace_runtime.testing import TopologyTestDriver


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
