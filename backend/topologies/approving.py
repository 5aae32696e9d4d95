"""Approval of a version by a second person before it is deployed, if the workspace requires it.

An approval counts while its author is a member of the workspace with the role operator or admin.
The author of a version cannot approve it.
"""

from __future__ import annotations

from collections.abc import Sequence

from accounts.choices import Role
from accounts.events import audit
from accounts.models import Membership, User
from accounts.permissions import require
from django.db import transaction
from django.db.models import QuerySet
from millrace_backend.errors import Conflict
from millrace_model.changes import ApprovalJson

from topologies.events import version_approved
from topologies.models import Version, VersionApproval

#: maximum number of people named in an error message
NAMED = 5


def approve(actor: User, version: Version) -> None:
    """Approve a version (operator). Raises Conflict for its author."""
    require(actor, version.topology.workspace_id, Role.OPERATOR)
    if version.author_id == actor.pk:
        raise Conflict(
            "own_version",
            "The author of a version cannot approve it.",
            "Ask another operator or admin of the workspace.",
        )
    with transaction.atomic():
        _, made = VersionApproval.objects.get_or_create(version=version, user=actor)
        if made:
            _audit(actor, version, "version.approve")


def withdraw(actor: User, version: Version) -> None:
    """Withdraw the actor's own approval, if there is one (operator)."""
    require(actor, version.topology.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        deleted, _ = VersionApproval.objects.filter(version=version, user=actor).delete()
        if deleted:
            _audit(actor, version, "version.withdraw_approval")


def approval_of(version: Version) -> ApprovalJson:
    """Return whether a version needs an approval, who has approved it, and who can."""
    workspace = version.topology.workspace
    can = [member.user for member in _approvers(version)]
    # A document that becomes a version with the deploy has none yet.
    saved = version.pk is not None
    approved = set(version.approvals.values_list("user", flat=True)) if saved else set()
    return {
        "required": workspace.approval_required,
        "approved_by": _names([each for each in can if each.pk in approved]),
        "possible_by": _names([each for each in can if each.pk not in approved]),
    }


def require_approval(version: Version, actor: User) -> None:
    """Raise Conflict if the workspace requires an approval that the version does not have.

    The error names the people who can approve it, other than the actor.
    """
    if not version.topology.workspace.approval_required or approval_of(version)["approved_by"]:
        return
    can = [member.user for member in _approvers(version)]
    names = _names([each for each in can if each.pk != actor.pk])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    people = ", ".join(names[:NAMED]) + more
    if len(names) < len(can):
        others = f", or ask one of them: {people}" if people else ""
        raise Conflict(
            "approval_by_you",
            f"Version {version.number} of “{version.topology.name}” must be approved before it is "
            "deployed. You can approve it, because somebody else made it.",
            f"Approve it in Versions{others}.",
            version=version.number,
            people=people or "–",
        )
    raise Conflict(
        "approval_missing",
        f"Version {version.number} of “{version.topology.name}” must be approved by a second "
        "person before it is deployed.",
        f"Ask one of them to approve it: {people}."
        if people
        else "Nobody else in this workspace is an operator. Ask an admin to add one.",
        version=version.number,
        people=people or "–",
    )


def _approvers(version: Version) -> QuerySet[Membership]:
    roles = [role for role in Role if role.allows(Role.OPERATOR)]
    found = version.topology.workspace.memberships.filter(role__in=roles, user__is_active=True)
    return found.exclude(user=version.author_id).select_related("user").order_by("user__username")


def _names(people: Sequence[User]) -> list[str]:
    return [person.shown_name for person in people]


def _audit(actor: User, version: Version, action: str) -> None:
    topology = version.topology
    audit(
        actor,
        topology.workspace_id,
        action,
        "topology",
        topology.pk,
        topology=topology.name,
        number=version.number,
        hash=version.hash,
    )
    version_approved(version, actor)
