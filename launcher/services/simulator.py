"""The simulator: runs topologies on input records; its Spark sessions start on request."""

from __future__ import annotations

from launcher.services import System, answers
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Return the service, which is independent of all others."""
    port = system.ports["simulator"]
    return Service(
        name="simulator",
        command=[system.python, "-m", "millrace_runtime.simulator", "--port", str(port)],
        ready=_answers,
        probe=5.0,
        # The simulator stops its own processes.
        leads_children=True,
        environment=system.environment,
    )


async def _answers(running: Running) -> bool:
    asked = {"do": "cancel", "owner": ""}
    return await answers(running, "MILLRACE_SIMULATOR", asked, "cancelled")
