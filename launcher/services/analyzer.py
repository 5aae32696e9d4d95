"""The analyzer: one warm Spark session that parses and type-checks expressions."""

from __future__ import annotations

import asyncio
import json

from launcher import archive
from launcher.ports import HOST
from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Needs nothing, so that its session warms up while the others start."""
    port = system.ports["analyzer"]
    classes = archive.spark()
    writes = not classes.ready()
    return Service(
        name="analyzer",
        command=[
            system.python,
            "-m",
            "millrace_runtime.analyzer",
            "--port",
            str(port),
            *(["--preload"] if writes else []),
        ],
        ready=_answers,
        deadline=300,
        probe=5.0,
        # At the end of its first run it writes the archive that makes later starts quick.
        grace=archive.WRITING_SECONDS if writes else 10.0,
        environment={
            **system.environment,
            **archive.with_options(classes.use_or_make()),
            "MILLRACE_ANALYZER": f"{HOST}:{port}",
        },
    )


async def _answers(running: Running) -> bool:
    if not running.printed("READY"):
        return False
    host, _, port = running.service.environment["MILLRACE_ANALYZER"].partition(":")
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b'{"id": 0, "expressions": [], "types": ["STRING"]}\n')
            answer = await reader.readline()
            writer.close()
            return "types" in json.loads(answer or b"{}")
    except (OSError, TimeoutError, ValueError):
        return False
