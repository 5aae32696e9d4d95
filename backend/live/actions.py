"""Presence: the nodes that people are editing."""

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
        raise Unavailable(
            "redis_unreachable",
            f"Redis does not respond: {error}",
            "It is restarted automatically. Only the mark on the node is lost.",
        ) from error
    publish(
        topology.workspace_id,
        "presence",
        {"topology": topology.pk, "users": present(found, time.time() * 1000)},
        topology=topology.pk,
        actor=actor.pk,
    )
