"""Who has a topology open, and which node they are editing; kept in Redis with an expiry."""

from __future__ import annotations

import json
from typing import Any, TypedDict

from millrace_backend import redis as names
from redis.asyncio import Redis

#: a page without a heartbeat for this time is gone; it sends one every 15 s
GONE_MS = 40_000
KEPT_SECONDS = 3600


class Person(TypedDict):
    """Somebody who has a topology open."""

    id: int
    display_name: str


class Present(Person):
    """The same, with the node that they are editing."""

    node: str | None


async def arrive(
    client: Redis, topology: int, connection: str, user: Person, now_ms: float
) -> None:
    """Record that a page is open; repeated as its heartbeat."""
    entry = json.dumps({**user, "at": now_ms})
    await client.hset(names.presence(topology), f"page:{connection}", entry)
    await client.expire(names.presence(topology), KEPT_SECONDS)


async def leave(client: Redis, topology: int, connection: str) -> None:
    """Record that a page was closed."""
    await client.hdel(names.presence(topology), f"page:{connection}")


async def users(client: Redis, topology: int, now_ms: float) -> list[Present]:
    """Return everybody who has the topology open, once each, ordered by name."""
    found: Any = await client.hgetall(names.presence(topology))
    return present(found, now_ms)


def present(found: dict[bytes, bytes], now_ms: float) -> list[Present]:
    """Return everybody in a presence hash, once each, ordered by name, with the node they edit."""
    people: dict[int, Present] = {}
    nodes: dict[int, str | None] = {}
    for name, value in found.items():
        kind, _, rest = name.decode().partition(":")
        content = json.loads(value)
        if kind == "page" and now_ms - content["at"] < GONE_MS:
            people[content["id"]] = {
                "id": content["id"],
                "display_name": content["display_name"],
                "node": None,
            }
        elif kind == "node":
            nodes[int(rest)] = content
    for person in people.values():
        person["node"] = nodes.get(person["id"])
    return sorted(people.values(), key=lambda each: (each["display_name"], each["id"]))
