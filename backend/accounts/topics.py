"""Which topics the people of a workspace may list, read and write."""

from __future__ import annotations

from collections.abc import Sequence

#: how names of Kafka's own topics begin; no workspace uses them
INTERNAL = "__"


def allows(prefixes: Sequence[str], topic: str) -> bool:
    """Whether a workspace with these prefixes may use the topic; no prefixes: all but internal."""
    if topic.startswith(INTERNAL):
        return False
    return not prefixes or topic.startswith(tuple(prefixes))


def described(prefixes: Sequence[str]) -> str:
    """The prefixes as a list for people."""
    return ", ".join(f"{prefix}…" for prefix in prefixes)
