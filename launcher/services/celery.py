"""The Celery worker, which reconciles deployments, and beat, which schedules it every second."""

from __future__ import annotations

from launcher.services import System
from launcher.supervisor import Running, Service


def worker(system: System) -> Service:
    """Return a worker with two processes for short tasks; drivers are not their children."""
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
        probe=2.0,
        # A pool that loses a busy process logs a stack trace.
        leads_children=True,
        # A Celery task may be waiting for a response from Kafka or for a driver's first report.
        grace=20,
        environment=system.environment,
    )  # fmt: skip


def beat(system: System) -> Service:
    """Return beat, which sends the reconciling task on the application's schedule."""
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
    # A worker that gives up because Redis is full may wait for its children forever.
    if running.printed("Unrecoverable error"):
        return False
    # Celery logs this when its consumer is connected to Redis.
    return running.answered_after is not None or running.printed(" ready.")


async def _beat_ready(running: Running) -> bool:
    return running.printed("is starting.")
