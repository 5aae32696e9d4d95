"""The services of ``./millrace up``, each in a file with a function from `System` to `Service`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from launcher.ports import HOST
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


async def answers(running: Running, variable: str, asked: dict[str, Any], part: str) -> bool:
    """Return whether a line server, whose address is in a variable, replies with this part."""
    if not running.printed("READY"):
        return False
    host, _, port = running.service.environment[variable].partition(":")
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection(host or HOST, int(port))
            writer.write(json.dumps(asked).encode() + b"\n")
            answer = await reader.readline()
            writer.close()
            return part in json.loads(answer or b"{}")
    except (OSError, TimeoutError, ValueError):
        return False
