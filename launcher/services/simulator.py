"""The simulator: runs topologies on given records; its Spark sessions start when they are asked."""

from __future__ import annotations

import asyncio
import json

from launcher.ports import HOST
from launcher.services import System
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
    if not running.printed("READY"):
        return False
    host, _, port = running.service.environment["MILLRACE_SIMULATOR"].partition(":")
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(host or HOST, int(port))
            writer.write(b'{"do": "cancel", "owner": ""}\n')
            answer = await reader.readline()
            writer.close()
            return "cancelled" in json.loads(answer or b"{}")
    except (OSError, TimeoutError, ValueError):
        return False
