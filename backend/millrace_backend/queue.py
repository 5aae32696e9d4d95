"""Tasks of the workers, sent by their names: the backend does not import the workers."""

from __future__ import annotations

from functools import cache

from celery import Celery
from django.conf import settings


@cache
def client() -> Celery:
    """The connection to the task queue. It gives up after a second."""
    return Celery(
        "millrace",
        broker=settings.REDIS_URL,
        set_as_current=False,
        broker_transport_options={"socket_timeout": 1, "socket_connect_timeout": 1},
    )


def send(task: str, argument: object, *, expires: float) -> None:
    """Send a task that nobody waits for. `expires`: seconds after which it is not started.

    Raises KombuError, RedisError or OSError where the queue does not answer.
    """
    client().send_task(task, args=[argument], retry=False, expires=expires)
