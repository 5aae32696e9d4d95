"""Views for comments on nodes, and for approvals of versions."""

from __future__ import annotations

from accounts.permissions import workspace_for
from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from topologies import approving, commenting
from topologies.api import comment_serializers as shapes
from topologies.api.serializers import VersionSummarySerializer
from topologies.api.views import topology_of, version_of
from topologies.models import Comment, Topology


def _comments(topology: Topology) -> QuerySet[Comment]:
    answers = Comment.objects.select_related("author").prefetch_related("mentions").order_by("id")
    return (
        topology.comments.filter(reply_to=None)
        .select_related("author", "resolved_by")
        .prefetch_related("mentions", Prefetch("replies", answers))
        .order_by("-id")
    )


def _comment_of(topology: Topology, comment: int) -> Comment:
    found = topology.comments.select_related("topology", "reply_to").filter(pk=comment).first()
    if found is None:
        raise NotFound("not_found", f"Topology {topology.pk} has no comment {comment}.")
    return found


def _shown(comment: Comment) -> Response:
    """Return the whole thread of a comment."""
    first = comment.reply_to_id or comment.pk
    return Response(shapes.CommentSerializer(_comments(comment.topology).get(pk=first)).data)


class CommentsView(ApiView):
    """The comments on the nodes of a topology."""

    @extend_schema(
        parameters=PAGE_PARAMETERS,
        responses=paged(shapes.CommentSerializer),
        operation_id="comment_list",
    )
    def get(self, request: Request, topology: int) -> Response:
        """List comments with their answers, newest first, also those on deleted nodes."""
        return self.page(_comments(topology_of(self.person, topology)), shapes.CommentSerializer)

    @extend_schema(
        request=shapes.NewCommentSerializer,
        responses={201: shapes.CommentSerializer},
        operation_id="comment_create",
    )
    def post(self, request: Request, topology: int) -> Response:
        """Comment on a node, or answer a comment (editor). Returns the whole thread."""
        found = topology_of(self.person, topology)
        given = valid(shapes.NewCommentSerializer, request.data)
        answered = None if given["reply_to"] is None else _comment_of(found, given["reply_to"])
        made = commenting.add_comment(
            self.person, found, given["node"], given["node_label"], given["text"], answered
        )
        shown = _shown(made)
        shown.status_code = 201
        return shown


class CommentView(ApiView):
    """One comment."""

    @extend_schema(
        request=shapes.CommentChangeSerializer,
        responses=shapes.CommentSerializer,
        operation_id="comment_change",
    )
    def patch(self, request: Request, topology: int, comment: int) -> Response:
        """Change the text of one's own comment, or resolve or reopen a thread (editor)."""
        found = _comment_of(topology_of(self.person, topology), comment)
        given = valid(shapes.CommentChangeSerializer, request.data)
        if "text" in given:
            commenting.edit_comment(self.person, found, given["text"])
        if "resolved" in given:
            commenting.resolve_comment(self.person, found, resolved=given["resolved"])
        return _shown(found)

    @extend_schema(responses={204: None}, operation_id="comment_delete")
    def delete(self, request: Request, topology: int, comment: int) -> Response:
        """Delete one's own comment (editor), or any (operator). 409 if it has answers."""
        found = _comment_of(topology_of(self.person, topology), comment)
        commenting.delete_comment(self.person, found)
        return Response(status=204)


class MentionsView(ApiView):
    """Comments that mention the user."""

    @extend_schema(
        parameters=PAGE_PARAMETERS,
        responses=paged(shapes.MentionSerializer),
        operation_id="mention_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """List open comments of the workspace that mention the user, newest first."""
        found = workspace_for(self.person, workspace)
        rows = commenting.mentions_of(self.person, found.pk).prefetch_related("mentions")
        return self.page(rows, shapes.MentionSerializer)


class ApprovalView(ApiView):
    """The user's approval of a version."""

    @extend_schema(request=None, responses=VersionSummarySerializer, operation_id="version_approve")
    def post(self, request: Request, topology: int, number: int) -> Response:
        """Approve a version of somebody else (operator)."""
        version = version_of(self.person, topology, number)
        approving.approve(self.person, version)
        return Response(VersionSummarySerializer(version).data)

    @extend_schema(responses=VersionSummarySerializer, operation_id="version_withdraw_approval")
    def delete(self, request: Request, topology: int, number: int) -> Response:
        """Withdraw one's own approval (operator). Running deployments continue."""
        version = version_of(self.person, topology, number)
        approving.withdraw(self.person, version)
        return Response(VersionSummarySerializer(version).data)
