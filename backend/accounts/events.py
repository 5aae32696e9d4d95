"""Audit entries for changes to accounts."""

from __future__ import annotations

from typing import Any

from millrace_backend.clients import current_address

from accounts.models import AuditEntry, User


def audit(
    actor: User | None,
    workspace: int | None,
    action: str,
    subject: str,
    subject_id: int | None,
    **detail: Any,
) -> None:
    """Record who did what. Call it in the transaction of the change itself."""
    AuditEntry.objects.create(
        workspace_id=workspace,
        actor=actor,
        actor_name=actor.shown_name if actor else "",
        address=current_address.get(),
        action=action,
        subject=subject,
        subject_id=subject_id,
        detail=detail,
    )
