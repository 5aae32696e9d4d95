"""The pytest plugin: the fixture `topology_test_driver`.

It is the wheel's entry point `pytest11`, so pytest imports it in every run: it must not import
Spark before a test asks for it. If a driver's name stands in a file of tests, it starts the JVM of
the session before pytest loads its plugins and the file, so that it is ready when they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from millrace_runtime.testing import TopologyTestDriver

#: texts of files whose tests use a driver
USES = (b"topology_test_driver", b"TopologyTestDriver")
#: how many files are looked at before pytest collects them
LOOKED_AT = 200


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the session's JVM if one of the first files uses a driver."""
    option = config.option
    controls = getattr(option, "dist", "no") != "no" and not hasattr(config, "workerinput")
    if controls or option.help or option.version or not _all_tests(config):
        return
    for path in islice(_files(config), LOOKED_AT):
        if _begin_for(path):
            return


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> None:
    """Start the session's JVM for a file whose tests use a driver, if all of them run."""
    if _all_tests(parent.config):
        _begin_for(module_path)


def _all_tests(config: pytest.Config) -> bool:
    option = config.option
    chosen = option.keyword or option.markexpr or getattr(option, "lf", False)
    return not (option.collectonly or chosen)


def _begin_for(path: Path) -> bool:
    """Start the JVM if a file uses a driver; return whether it does."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    uses = any(each in text for each in USES)
    if uses:
        from millrace_runtime.testing import sessions

        sessions.begin()
    return uses


def _files(config: pytest.Config) -> Iterator[Path]:
    """Return the files of tests in the folders and files that pytest is called with."""
    patterns, skipped = config.getini("python_files"), config.getini("norecursedirs")
    for argument in config.args:
        given = Path(config.invocation_params.dir, argument.split("::", 1)[0])
        if given.is_file():
            yield given
        for folder, inner, names in os.walk(given):
            inner[:] = [each for each in inner if not any(fnmatch(each, one) for one in skipped)]
            yield from (
                Path(folder, name) for name in names if any(fnmatch(name, one) for one in patterns)
            )


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
