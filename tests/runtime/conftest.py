"""Sessions of Spark that the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

#: what a process for simulations must not see
SECRETS = {"REDIS_URL", "DATABASE_URL", "MILLRACE_REGISTRY_PASSWORDS", "SOMETHING_NEW"}

if TYPE_CHECKING:
    from cli.simulating import Warm
    from tests.runtime.changing import Changing


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """A session in which one simulation runs after the other."""
    from cli.simulating import Warm

    session = Warm()
    yield session
    session.close()


@pytest.fixture(scope="module")
def changing(broker: Any) -> Iterator[Changing]:
    """Topologies on a broker whose versions take over from each other."""
    from tests.runtime.changing import Changing

    made = Changing(broker.address)
    yield made
    made.close()


@pytest.fixture(scope="module")
def simulators() -> Iterator[Any]:
    """One process for simulations, beside one that has secrets."""
    from millrace_compiler.isolated import Limits
    from millrace_runtime.simulator import Simulators

    with pytest.MonkeyPatch.context() as environment:
        for name in SECRETS:
            environment.setenv(name, "s3cret")
        found = Simulators(1, Limits(seconds=60, waiting_seconds=60, output_megabytes=32))
        yield found
        found.close()
