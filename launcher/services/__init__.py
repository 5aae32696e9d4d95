"""The services of ``./millrace up``: one file each, each a function from `System` to `Service`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


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
