"""What a deployment whose program is one of the plain dialect cannot do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from millrace_backend.errors import ApiError, Conflict
from topologies.choices import Dialect

from deployments.models import Deployment

#: settings that such a program has nothing for, and why
_WITHOUT = {
    "trigger_ms": "each of its queries starts the next micro-batch as soon as one has ended",
    "real_time_ms": "it runs in micro-batches",
    "start": "each source begins where the topology says",
    "lost_offsets": "it ends if the broker has lost offsets",
    "checkpoint": "its checkpoint is in the server's data folder",
}


def dialect_of(settings: Mapping[str, Any]) -> Dialect:
    """What kind of program runs with these settings."""
    return Dialect(settings.get("dialect") or Dialect.EXACT)


def refuse_plain(row: Deployment, what: str) -> None:
    """Raises Conflict for a deployment of the plain dialect; ``what``: what it cannot do."""
    if row.is_plain:
        raise Conflict(
            "plain_dialect",
            f"The deployment of “{row.topology.name}” runs plain PySpark, which cannot {what}.",
            "Deploy it with the dialect “exact” for that.",
            deployment=row.pk,
        )


def require_plain_settings(settings: Mapping[str, Any]) -> None:
    """Raises ApiError for settings that a program of the plain dialect has nothing for."""
    if settings.get("dialect") != Dialect.PLAIN:
        return
    found = {name: why for name, why in _WITHOUT.items() if settings.get(name)}
    if found:
        name, why = next(iter(found.items()))
        raise ApiError(
            "plain_dialect",
            f"“{name}” cannot be set for plain PySpark: {why}.",
            f"Omit {', '.join(found)}, or choose the dialect “exact”.",
            fields={"settings": [f"{each}: {because}." for each, because in found.items()]},
        )
