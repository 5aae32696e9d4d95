"""Restrictions of deployments of the plain dialect."""

from __future__ import annotations

from millrace_backend.errors import ApiError, Conflict
from millrace_model.drivers import DeploymentSettings
from topologies.choices import Dialect

from deployments.beginnings import Beginning
from deployments.models import Deployment

#: settings that plain PySpark does not support, and why
_WITHOUT = {
    "real_time_ms": "it runs in micro-batches",
    "lost_offsets": "it ends if the broker has lost offsets",
    "standby": "its program cannot be prepared beside the one that runs",
}


def dialect_of(settings: DeploymentSettings) -> Dialect:
    """Return the dialect of the program that runs with these settings."""
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


def require_plain_beginning(
    row: Deployment, settings: DeploymentSettings | None, beginning: Beginning
) -> None:
    """Raise Conflict for a position that keeps stores, if either dialect of the change is plain."""
    dialects = {
        dialect_of(row.settings),
        dialect_of(row.settings if settings is None else settings),
    }
    if Dialect.PLAIN in dialects and not (beginning.continues or beginning.resets_stores):
        raise Conflict(
            "plain_dialect",
            "Spark keeps the offsets and the state of plain PySpark in one checkpoint, so that "
            "another position starts with empty stores.",
            "Add “stores” to “reset”.",
            deployment=row.pk,
        )


def require_plain_settings(settings: DeploymentSettings) -> None:
    """Raises ApiError for settings that plain PySpark does not support."""
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
