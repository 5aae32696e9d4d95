"""The services of ``./millrace up``: one file each, each a function from `System` to `Service`."""

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
    """What the services of one installation share."""

    data: Path
    run: Path
    python: str
    web_port: int
    ports: dict[str, int]
    redis_password: str
    #: addresses of external services, by the name of the embedded part
    outside: frozenset[str]
    #: what every process gets
    environment: dict[str, str] = field(default_factory=dict)


async def answers(running: Running, variable: str, asked: dict[str, Any], part: str) -> bool:
    """Whether a line server, whose address is in a variable, answers with this part."""
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
