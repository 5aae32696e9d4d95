"""The analyzer: one warm Spark session that parses and type-checks expressions."""

from __future__ import annotations

from launcher import archive, places
from launcher.services import System, answers
from launcher.supervisor import Running, Service


def service(system: System, *, eager: bool = False) -> Service:
    """Return the service. It needs no other.

    `eager`: its session starts while the others do, because it is needed immediately.
    """
    classes = archive.spark()
    writes = not classes.ready()
    return Service(
        name="analyzer",
        command=[
            system.python,
            "-m",
            "millrace_runtime.analyzer",
            "--socket",
            str(places.socket("analyzer")),
            *(["--preload"] if writes else []),
        ],
        ready=_answers,
        deadline=300,
        socket=places.socket("analyzer"),
        eager=eager,
        probe=5.0,
        # When its first run ends, it writes the archive for faster starts.
        grace=archive.WRITING_SECONDS if writes else 10.0,
        environment={**system.environment, **archive.with_options(classes.use_or_make())},
    )


async def _answers(running: Running) -> bool:
    asked = {"id": 0, "expressions": [], "types": ["STRING"]}
    return await answers(running, places.socket("analyzer"), asked, "types")
