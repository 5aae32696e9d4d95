"""Celery tasks, sent by name because the backend does not import the workers."""

from __future__ import annotations

from functools import cache

from celery import Celery
from django.conf import settings


@cache
def client() -> Celery:
    """Return the connection to the task queue, with a timeout of one second."""
    return Celery(
        "millrace",
        broker=settings.REDIS_URL,
        set_as_current=False,
        broker_transport_options={"socket_timeout": 1, "socket_connect_timeout": 1},
    )


def send(task: str, argument: object, *, expires: float) -> None:
    """Send a Celery task without waiting for it.

    `expires`: seconds after which it is not started. Raises KombuError, RedisError or OSError if
    the queue does not respond.
    """
    client().send_task(task, args=[argument], retry=False, expires=expires)
