"""The only code that changes comments on the nodes of a topology."""

from __future__ import annotations

import re

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require, role_in
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from millrace_backend.errors import Conflict, Forbidden
from millrace_backend.quotas import require_room

from topologies.events import comments_changed
from topologies.models import Comment, Topology

#: a mention: @ and a user name, at the beginning of a word
MENTION = re.compile(r"(?<![\w@.+-])@([\w@.+-]{1,150})")


def add_comment(
    actor: User,
    topology: Topology,
    node: str,
    label: str,
    text: str,
    reply_to: Comment | None = None,
) -> Comment:
    """Add a comment on a node, or an answer to one, which belongs to the same node (editor).

    ``label``: of the node, for when it no longer exists. Raises Conflict if the quota is reached.
    """
    require(actor, topology.workspace_id, Role.EDITOR)
    with transaction.atomic():
        Topology.objects.select_for_update().get(pk=topology.pk)
        require_room("comments", topology.comments.count())
        first = reply_to and (reply_to.reply_to or reply_to)
        comment = Comment.objects.create(
            topology=topology,
            node=first.node if first else node,
            label=first.label if first else label,
            text=text,
            reply_to=first,
            author=actor,
        )
        comment.mentions.set(_mentioned(topology, text))
        _changed(actor, comment, "comment.add")
    return comment


def edit_comment(actor: User, comment: Comment, text: str) -> None:
    """Change the text of the actor's own comment. Raises Forbidden for any other."""
    require(actor, comment.topology.workspace_id, Role.EDITOR)
    _require_own(actor, comment)
    with transaction.atomic():
        comment.text, comment.edited_at = text, timezone.now()
        comment.save(update_fields=["text", "edited_at"])
        comment.mentions.set(_mentioned(comment.topology, text))
        _changed(actor, comment, "comment.edit")


def resolve_comment(actor: User, comment: Comment, *, resolved: bool) -> None:
    """Mark a comment as resolved with its answers, or open it again (editor)."""
    require(actor, comment.topology.workspace_id, Role.EDITOR)
    first = comment.reply_to or comment
    if (first.resolved_at is not None) == resolved:
        return
    with transaction.atomic():
        first.resolved_at = timezone.now() if resolved else None
        first.resolved_by = actor if resolved else None
        first.save(update_fields=["resolved_at", "resolved_by"])
        _changed(actor, first, "comment.resolve" if resolved else "comment.reopen")


def delete_comment(actor: User, comment: Comment) -> None:
    """Delete the actor's own comment (editor), or as an operator any.

    Raises Forbidden for a comment of somebody else, and Conflict for one with answers.
    """
    require(actor, comment.topology.workspace_id, Role.EDITOR)
    role = role_in(actor, comment.topology.workspace_id)
    if role is None or not role.allows(Role.OPERATOR):
        _require_own(actor, comment)
    with transaction.atomic():
        if comment.replies.exists():
            raise Conflict(
                "comment_answered",
                "This comment has answers.",
                "Resolve it, or delete the answers first.",
            )
        _changed(actor, comment, "comment.delete")
        comment.delete()


def mentions_of(user: User, workspace: int) -> QuerySet[Comment]:
    """Return open comments in a workspace that mention a user, the newest first."""
    rows = Comment.objects.filter(
        topology__workspace=workspace,
        mentions=user,
        resolved_at=None,
        reply_to__resolved_at=None,
    )
    return rows.select_related("topology", "author", "reply_to").order_by("-id")


def _mentioned(topology: Topology, text: str) -> list[User]:
    """Return the members whose user names are mentioned; a full stop after a name is none of it."""
    names = {each for name in MENTION.findall(text) for each in (name, name.rstrip("."))}
    members = topology.workspace.memberships.filter(user__username__in=names, user__is_active=True)
    return [member.user for member in members.select_related("user")]


def _require_own(actor: User, comment: Comment) -> None:
    if comment.author_id != actor.pk:
        raise Forbidden(
            "not_your_comment",
            "This comment is somebody else's.",
            "Answer it, or resolve it.",
        )


def _changed(actor: User, comment: Comment, action: str) -> None:
    audit(
        actor,
        comment.topology.workspace_id,
        action,
        "topology",
        comment.topology_id,
        topology=comment.topology.name,
        comment=comment.pk,
        node=comment.node,
    )
    comments_changed(comment.topology, actor)
