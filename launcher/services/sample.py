"""The generator of the sample: sentences into a topic, so that the first page is alive."""

from __future__ import annotations

from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Some twenty sentences a second into the topic `sentences`."""
    return Service(
        name="sample",
        command=[system.python, "-m", "launcher.sample"],
        ready=_writes,
        needs=("broker",),
        deadline=120,
        environment=system.environment,
    )


async def _writes(running: Running) -> bool:
    return running.said("READY")
