"""Spark sessions shared by the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

#: variables that a simulation process must not see
SECRETS = {"REDIS_URL", "DATABASE_URL", "MILLRACE_REGISTRY_PASSWORDS", "SOMETHING_NEW"}

if TYPE_CHECKING:
    from tests.runtime.changing import Changing
    from tests.runtime.figures import Figures


@pytest.fixture(scope="module")
def changing(broker: Any) -> Iterator[Changing]:
    """Runs versions of a topology one after another on a checkpoint, with a real broker."""
    from tests.runtime.changing import Changing

    made = Changing(broker.address)
    yield made
    made.close()


@pytest.fixture(scope="module")
def figures(broker: Any) -> Iterator[Figures]:
    """Runs jobs on a real broker and collects their reports."""
    from tests.runtime.figures import Figures

    found = Figures(broker.address)
    yield found
    found.close()


@pytest.fixture(scope="module")
def simulators() -> Iterator[Any]:
    """A pool of one simulation process, started by a process that has secrets."""
    from millrace_compiler.isolated import Limits
    from millrace_runtime.simulator.simulator import Simulators

    with pytest.MonkeyPatch.context() as environment:
        for name in SECRETS:
            environment.setenv(name, "s3cret")
        found = Simulators(1, Limits(seconds=60, waiting_seconds=60, output_megabytes=32))
        yield found
        found.close()
