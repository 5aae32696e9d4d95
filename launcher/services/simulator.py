"""The simulator, which runs topologies on input records, and the store reader.

Their Spark sessions start on request. They are separate services, because simulations run code of
documents and the store reader has access to all checkpoints.
"""

from __future__ import annotations

from launcher import places
from launcher.services import System, answers
from launcher.supervisor import Running, Service

READER = "store-reader"


def service(system: System) -> Service:
    """Return the simulator, which is independent of all others."""
    return _service(system, "simulator")


def reader(system: System) -> Service:
    """Return the store reader, which is independent of all others."""
    return _service(system, READER, "--stores-only")


def _service(system: System, name: str, *options: str) -> Service:
    path = str(places.socket(name))
    return Service(
        name=name,
        command=[
            system.python, "-m", "millrace_runtime.simulator", *options, "--socket", path,
        ],
        ready=_answers,
        probe=5.0,
        socket=places.socket(name),
        # It stops its own processes.
        leads_children=True,
        environment=system.environment,
    )  # fmt: skip


async def _answers(running: Running) -> bool:
    asked = {"do": "cancel", "owner": ""}
    return await answers(running, places.socket(running.service.name), asked, "cancelled")
