"""The check of quotas (`quota_table`)."""

from __future__ import annotations

from django.conf import settings

from millrace_backend.errors import Conflict
from millrace_backend.quota_table import QUOTAS

MEGABYTE = 1024 * 1024


def require_room(name: str, used: int, adding: int = 1) -> None:
    """Raise Conflict if a quota does not allow ``adding`` more things than those in use.

    For a quota in megabytes, both are bytes.
    """
    quota, most = QUOTAS[name], settings.QUOTAS[name]
    limit = most * MEGABYTE if name.endswith("_mb") else most
    if used + adding <= limit:
        return
    raise Conflict(
        "quota_reached",
        f"This {quota.owner} can have {most:,} {quota.things} at most.",
        "Delete some that are no longer needed, or ask the installation's admin for a larger "
        f"{quota.setting}.",
        quota=name,
        limit=most,
        setting=quota.setting,
    )
