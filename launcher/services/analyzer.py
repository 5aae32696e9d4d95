"""The analyzer: one warm Spark session that parses and type-checks expressions."""

from __future__ import annotations

from launcher import archive
from launcher.ports import HOST
from launcher.services import System, answers
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Return the service. It needs no other, so its session warms up while the others start."""
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
        # When its first run ends, it writes the archive for faster starts.
        grace=archive.WRITING_SECONDS if writes else 10.0,
        environment={
            **system.environment,
            **archive.with_options(classes.use_or_make()),
            "MILLRACE_ANALYZER": f"{HOST}:{port}",
        },
    )


async def _answers(running: Running) -> bool:
    asked = {"id": 0, "expressions": [], "types": ["STRING"]}
    return await answers(running, "MILLRACE_ANALYZER", asked, "types")
