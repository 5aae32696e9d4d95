"""Presence: the nodes that people are editing, and where their pointers are."""

from __future__ import annotations

import json
import time
from typing import Any

from accounts.choices import Role
from accounts.models import User
from accounts.permissions import require
from millrace_backend import redis
from millrace_backend.errors import Unavailable
from redis.exceptions import RedisError
from topologies.models import Topology

from live.events import publish
from live.presence import present

#: a pointer is shown at most this often for each person; positions in between are dropped
CURSOR_MS = 180
#: seconds after which the last positions of pointers are forgotten
CURSOR_SECONDS = 10


def unavailable(error: RedisError) -> Unavailable:
    """Return the error for a Redis that does not respond."""
    return Unavailable(
        "redis_unreachable",
        f"Redis does not respond: {error}",
        "It is restarted automatically. Only the mark on the canvas is lost.",
    )


def edit_node(actor: User, topology: Topology, node: str | None) -> None:
    """Show others which node the actor is editing, if any.

    Nothing is stored permanently, so there is no audit entry. Raises Unavailable without Redis.
    """
    require(actor, topology.workspace_id, Role.VIEWER)
    key = redis.presence(topology.pk)
    try:
        client = redis.client()
        client.hset(key, f"node:{actor.pk}", json.dumps(node))
        found: Any = client.hgetall(key)
    except RedisError as error:
        raise unavailable(error) from error
    publish(
        topology.workspace_id,
        "presence",
        {"topology": topology.pk, "users": present(found, time.time() * 1000)},
        topology=topology.pk,
        actor=actor.pk,
    )


def move_cursor(actor: User, topology: Topology, place: tuple[int, int] | None) -> None:
    """Show others where the actor's pointer is on the canvas; None if it left.

    At most one position in `CURSOR_MS` is passed on, and none is stored for longer than
    `CURSOR_SECONDS`. Raises Unavailable without Redis.
    """
    require(actor, topology.workspace_id, Role.VIEWER)
    stream = redis.cursor_stream(topology.pk)
    try:
        client = redis.client()
        turn = f"{stream}:{actor.pk}"
        if place is not None and not client.set(turn, 1, nx=True, px=CURSOR_MS):
            return
        data = json.dumps({"user": actor.pk, "at": place})
        client.xadd(stream, {"cursor": data}, maxlen=redis.CURSORS, approximate=True)
        client.expire(stream, CURSOR_SECONDS)
    except RedisError as error:
        raise unavailable(error) from error
