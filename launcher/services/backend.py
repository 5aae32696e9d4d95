"""The backend: API, live events and the built page, from one address."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

from launcher.ports import HOST
from launcher.services import System
from launcher.supervisor import Running, Service


def service(system: System) -> Service:
    """Return uvicorn with one process; it closes open event streams three seconds after SIGTERM."""
    return Service(
        name="backend",
        command=[
            system.python, "-m", "uvicorn", "millrace_backend.asgi:application",
            "--host", HOST, "--port", str(system.web_port),
            "--no-proxy-headers", "--timeout-graceful-shutdown", "3",
            "--no-access-log", "--log-level", "warning",
        ],
        ready=_answers,
        needs=("redis", "setup"),
        deadline=120,
        environment={**system.environment, "MILLRACE_PROBE": f"http://{HOST}:{system.web_port}"},
    )  # fmt: skip


async def _answers(running: Running) -> bool:
    return await asyncio.to_thread(_get, running.service.environment["MILLRACE_PROBE"])


def _get(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/api/session", timeout=5) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
