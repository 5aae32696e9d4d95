"""Deletion of rows about people's access after their retention time."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import ApiToken, AuditEntry, SignInLink

#: rows deleted in one transaction, few enough not to block the database
BATCH = 1000


def forget_old() -> dict[str, int]:
    """Delete rows that are past their retention time; return their number by kind.

    Safe to repeat. Sign-in links and API tokens are deleted ``ACCESS_KEPT`` after their use or
    expiry, audit entries ``AUDIT_KEPT`` after they were written, sessions when they have expired,
    and failed sign-ins when they no longer count towards a lock-out.
    """
    now = timezone.now()
    ended = now - settings.ACCESS_KEPT
    old: dict[str, QuerySet[Any]] = {
        "links": SignInLink.objects.filter(Q(used_at__lt=ended) | Q(expires_at__lt=ended)),
        "tokens": ApiToken.objects.filter(expiry__lt=ended),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "attempts": AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME),
        "audit": AuditEntry.objects.filter(at__lt=now - settings.AUDIT_KEPT),
    }
    return {kind: _delete(rows) for kind, rows in old.items()}


def _delete(rows: QuerySet[Any]) -> int:
    """Delete the rows in batches and return their number."""
    deleted = 0
    while batch := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH]):
        rows.model._default_manager.filter(pk__in=batch).delete()
        deleted += len(batch)
    return deleted
