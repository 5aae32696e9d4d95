"""The simulator: runs topologies on given records; its Spark sessions start when they are asked."""

from __future__ import annotations

from launcher.services import System, answers
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Needs nothing; nothing needs it to start."""
    port = system.ports["simulator"]
    return Service(
        name="simulator",
        command=[system.python, "-m", "millrace_runtime.simulator", "--port", str(port)],
        ready=_answers,
        probe=5.0,
        # It ends its processes itself.
        leads_children=True,
        environment=system.environment,
    )


async def _answers(running: Running) -> bool:
    asked = {"do": "cancel", "owner": ""}
    return await answers(running, "MILLRACE_SIMULATOR", asked, "cancelled")
