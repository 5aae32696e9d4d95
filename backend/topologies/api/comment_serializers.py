"""Serializers of comments on nodes."""

from __future__ import annotations

from typing import Any, ClassVar

from millrace_backend.names import NameField
from rest_framework import serializers

from topologies.models import Comment

LONGEST_TEXT = 4_000


class ReplySerializer(serializers.ModelSerializer[Comment]):
    """An answer to a comment."""

    author = serializers.CharField(
        source="author.shown_name", default=None, allow_null=True, read_only=True
    )
    author_id = serializers.IntegerField(allow_null=True, read_only=True)
    mentions = serializers.SerializerMethodField(help_text="User names of mentioned members.")

    class Meta:
        model = Comment
        fields: ClassVar = [
            *("id", "text", "author", "author_id", "created_at", "edited_at", "mentions")
        ]
        read_only_fields = fields

    def get_mentions(self, comment: Comment) -> list[str]:
        """The user names."""
        return [user.username for user in comment.mentions.all()]


class CommentSerializer(ReplySerializer):
    """A comment on a node, with its answers, the oldest first."""

    resolved_by = serializers.CharField(
        source="resolved_by.shown_name", default=None, allow_null=True, read_only=True
    )
    replies = ReplySerializer(many=True, read_only=True)

    class Meta(ReplySerializer.Meta):
        fields: ClassVar = [
            *ReplySerializer.Meta.fields,
            *("node", "node_label", "resolved_at", "resolved_by", "replies"),
        ]
        read_only_fields = fields

    node_label = serializers.CharField(
        source="label", read_only=True, help_text="Label of the node when it was written."
    )


class MentionSerializer(ReplySerializer):
    """An open comment that mentions the reader."""

    topology = serializers.IntegerField(source="topology_id", read_only=True)
    topology_name = serializers.CharField(source="topology.name", read_only=True)
    node_label = serializers.CharField(source="label", read_only=True)

    class Meta(ReplySerializer.Meta):
        fields: ClassVar = [
            *ReplySerializer.Meta.fields,
            *("topology", "topology_name", "node", "node_label"),
        ]
        read_only_fields = fields


class NewCommentSerializer(serializers.Serializer[Any]):
    """A comment on a node, or an answer."""

    node = serializers.CharField(max_length=200)
    node_label = NameField(max_length=200, required=False, default="", allow_blank=True)
    text = serializers.CharField(
        max_length=LONGEST_TEXT, help_text="@ and a user name mention a member."
    )
    reply_to = serializers.IntegerField(
        required=False, default=None, allow_null=True, help_text="The comment that is answered."
    )


class CommentChangeSerializer(serializers.Serializer[Any]):
    """A new text, or whether the comment is resolved."""

    text = serializers.CharField(max_length=LONGEST_TEXT, required=False)
    resolved = serializers.BooleanField(required=False)
