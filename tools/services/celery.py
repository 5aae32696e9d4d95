"""The Celery worker, which moves deployments, and the beat, which looks after them every second."""

from __future__ import annotations

from tools.services import System
from tools.supervisor import Running, Service


def worker(system: System) -> Service:
    """Two processes for short tasks; drivers are no children of theirs."""
    return Service(
        name="worker",
        command=[
            system.python, "-m", "celery", "-A", "millrace_workers.app", "worker",
            "--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "INFO",
            "--hostname", "worker@%h",
        ],
        ready=_worker_ready,
        needs=("redis", "setup"),
        deadline=180,
        environment=system.environment,
    )  # fmt: skip


def beat(system: System) -> Service:
    """Sends the reconciling task; its schedule is the application's."""
    return Service(
        name="beat",
        command=[
            system.python, "-m", "celery", "-A", "millrace_workers.app", "beat",
            "--schedule", str(system.run / "beat"), "--pidfile=", "--loglevel", "INFO",
        ],
        ready=_beat_ready,
        needs=("redis", "setup"),
        deadline=120,
        environment=system.environment,
    )  # fmt: skip


async def _worker_ready(running: Running) -> bool:
    # Celery says so once its consumer has its connection to Redis.
    return running.said(" ready.")


async def _beat_ready(running: Running) -> bool:
    return running.said("is starting.")
