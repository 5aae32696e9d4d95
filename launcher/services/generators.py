"""The process that writes the records of generators, including those of the sample."""

from __future__ import annotations

from launcher import places
from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Return the service, which runs while there are running generators."""
    return Service(
        name="generators",
        command=[
            system.python, "-W", "ignore::DeprecationWarning",
            str(places.MANAGE), "millrace_generators",
        ],
        ready=_waits,
        needs=("setup",),
        deadline=120,
        socket=places.socket("generators"),
        environment=system.environment,
    )  # fmt: skip


async def _waits(running: Running) -> bool:
    return running.printed("READY")
