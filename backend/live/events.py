"""Writes events into the stream of a workspace, from which every open page reads."""

from __future__ import annotations

import json
from typing import Any

import structlog
from millrace_backend import redis
from redis.exceptions import RedisError
from rest_framework.utils.encoders import JSONEncoder

log = structlog.get_logger(__name__)


def publish(
    workspace: int, event: str, data: dict[str, Any], *, topology: int, actor: int | None = None
) -> None:
    """Append an event; call it on commit.

    Without Redis the event is lost and nothing else: pages take a fresh snapshot when it is back.
    """
    fields = {
        "event": event,
        "topology": str(topology),
        "actor": "" if actor is None else str(actor),
        "data": json.dumps(data, cls=JSONEncoder, ensure_ascii=False, separators=(",", ":")),
    }
    try:
        redis.client().xadd(
            redis.live_stream(workspace),
            fields,  # type: ignore[arg-type]
            maxlen=redis.LIVE_LENGTH,
            approximate=True,
        )
    except RedisError as error:
        log.warning("a live event was lost", event_type=event, topology=topology, reason=str(error))
