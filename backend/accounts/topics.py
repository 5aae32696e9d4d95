"""The topics that the members of a workspace may list, read and write."""

from __future__ import annotations

from collections.abc import Sequence

#: prefix of Kafka's own topics, which no workspace may use
INTERNAL = "__"


def allows(prefixes: Sequence[str], topic: str) -> bool:
    """Return whether a workspace with these prefixes may use the topic.

    Without prefixes, it may use all topics but internal ones.
    """
    if topic.startswith(INTERNAL):
        return False
    return not prefixes or topic.startswith(tuple(prefixes))


def described(prefixes: Sequence[str]) -> str:
    """Return the prefixes as text for a message."""
    return ", ".join(f"{prefix}…" for prefix in prefixes)
