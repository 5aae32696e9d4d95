"""The services of ``./millrace up``, each in a file with a function from `System` to `Service`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from millrace_services import local_services

from launcher.supervisor import Running


@dataclass(frozen=True)
class System:
    """Settings that the services of one installation share."""

    data: Path
    run: Path
    python: str
    web_port: int
    ports: dict[str, int]
    redis_password: str
    #: embedded services that external ones replace
    outside: frozenset[str]
    #: environment of every process
    environment: dict[str, str] = field(default_factory=dict)


async def answers(running: Running, path: Path, asked: Mapping[str, object], part: str) -> bool:
    """Return whether the local service at this socket replies with this part."""
    if not running.printed("READY"):
        return False
    try:
        request = {**asked, "probe": True}
        return part in await asyncio.to_thread(local_services.ask, str(path), request, 10.0)
    except (OSError, ValueError):
        return False
