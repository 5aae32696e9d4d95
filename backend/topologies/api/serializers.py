"""Serializers of topologies, versions and drafts."""

from __future__ import annotations

from typing import Any, ClassVar

from deployments.choices import Desired, Environment, Observed, Shown
from drf_spectacular.utils import extend_schema_field
from millrace_backend.names import NameField
from rest_framework import serializers

from topologies.api.fields import DocumentField
from topologies.models import Draft, Topology, Version, VersionApproval


class TopologyQuerySerializer(serializers.Serializer[Any]):
    """Which topologies are listed."""

    state = serializers.ChoiceField(
        choices=Shown.choices,
        required=False,
        help_text="Only those with a deployment that is active, has a problem or is stopped, or "
        "without any.",
    )


class DeploymentBriefSerializer(serializers.Serializer[Any]):
    """A deployment in a list."""

    id = serializers.IntegerField()
    observed = serializers.ChoiceField(choices=Observed.choices, source="observation.state")
    desired = serializers.ChoiceField(choices=Desired.choices)
    version = serializers.IntegerField(source="version.number")
    environment = serializers.ChoiceField(
        choices=Environment.choices,
        allow_null=True,
        help_text="Whose values the parameters have; null: their defaults.",
    )


class TopologySerializer(serializers.ModelSerializer[Topology]):
    """A topology in a list."""

    workspace = serializers.CharField(source="workspace.slug", read_only=True)
    updated_by = serializers.CharField(
        source="updated_by.shown_name", default=None, read_only=True, allow_null=True
    )
    description = serializers.SerializerMethodField()
    latest_version = serializers.SerializerMethodField()
    draft = serializers.BooleanField(
        source="has_draft", read_only=True, help_text="Whether the reader has an unsaved draft."
    )
    deployment = serializers.SerializerMethodField()
    deployments = DeploymentBriefSerializer(
        many=True, read_only=True, help_text="One for each environment, newest first."
    )
    node_count = serializers.IntegerField(source="shown_node_count", read_only=True)

    class Meta:
        model = Topology
        fields: ClassVar = [
            "id",
            "workspace",
            "name",
            "is_fragment",
            "description",
            "created_at",
            "updated_at",
            "updated_by",
            "latest_version",
            "draft",
            "deployment",
            "deployments",
            "node_count",
        ]
        read_only_fields = fields

    def get_description(self, topology: Topology) -> str:
        """Return the description of the reader's draft, if any, or of the topology."""
        drafted: str | None = getattr(topology, "draft_description", None)
        return topology.description if drafted is None else drafted

    def get_latest_version(self, topology: Topology) -> int | None:
        """Number of the newest version; null before the first."""
        return topology.latest_number or None

    @extend_schema_field(DeploymentBriefSerializer(allow_null=True))
    def get_deployment(self, topology: Topology) -> dict[str, Any] | None:
        """The newest deployment, if there is one."""
        found = next(iter(topology.deployments.all()), None)
        return None if found is None else DeploymentBriefSerializer(found).data


class NewTopologySerializer(serializers.Serializer[Any]):
    """A new topology: empty, from a document, or from a template."""

    name = NameField()
    description = serializers.CharField(
        max_length=5000, required=False, default="", allow_blank=True
    )
    document = DocumentField(required=False)
    template = serializers.CharField(max_length=100, required=False)
    fragment = serializers.BooleanField(
        required=False, default=False, help_text="Whether it is a part for other topologies."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Accept a document or a template, not both; a fragment has no template."""
        if attrs["fragment"] and "template" in attrs:
            raise serializers.ValidationError({"template": "A fragment begins without a template."})
        if "document" in attrs and "template" in attrs:
            raise serializers.ValidationError(
                {"template": "Send a document or a template, not both."}
            )
        return attrs


class TopologyChangeSerializer(serializers.Serializer[Any]):
    """A new name or description."""

    name = NameField(required=False)
    description = serializers.CharField(max_length=5000, required=False, allow_blank=True)


class VersionApprovalSerializer(serializers.ModelSerializer[VersionApproval]):
    """The approval of a version by a person."""

    user_id = serializers.IntegerField(read_only=True)
    name = serializers.CharField(source="user.shown_name", read_only=True)

    class Meta:
        model = VersionApproval
        fields: ClassVar = ["user_id", "name", "at"]
        read_only_fields = fields


class VersionSummarySerializer(serializers.ModelSerializer[Version]):
    """A version without its document."""

    name = serializers.SerializerMethodField()
    author = serializers.CharField(
        source="author.shown_name", default=None, read_only=True, allow_null=True
    )

    author_id = serializers.IntegerField(allow_null=True, read_only=True)
    approved_by = VersionApprovalSerializer(source="approvals", many=True, read_only=True)
    commit = serializers.CharField(
        source="commit.hash",
        default=None,
        read_only=True,
        allow_null=True,
        help_text="The git commit that it became; null if it is none.",
    )

    class Meta:
        model = Version
        fields: ClassVar = [
            *("number", "message", "name", "author", "author_id", "created_at", "hash", "commit"),
            "approved_by",
        ]
        read_only_fields = fields

    def get_name(self, version: Version) -> str | None:
        """The version's name; null without one."""
        return version.name or None


class VersionSerializer(VersionSummarySerializer):
    """A version with its document."""

    document = DocumentField(read_only=True)

    class Meta(VersionSummarySerializer.Meta):
        fields: ClassVar = [*VersionSummarySerializer.Meta.fields, "document"]
        read_only_fields = fields


class NewVersionSerializer(serializers.Serializer[Any]):
    """A document to save and the version it is based on (null if there is none)."""

    document = DocumentField()
    message = serializers.CharField(max_length=500, required=False, default="", allow_blank=True)
    base_version = serializers.IntegerField(min_value=1, allow_null=True)
    draft_revision = serializers.CharField(
        max_length=64,
        required=False,
        default=None,
        allow_null=True,
        help_text="Delete the draft only if it has this revision; null deletes any.",
    )


class VersionNameSerializer(serializers.Serializer[Any]):
    """A name for a version; an empty name removes it."""

    name = NameField(allow_blank=True)


class DraftSerializer(serializers.ModelSerializer[Draft]):
    """The user's draft; ``updated_at`` is null if there are no unsaved changes."""

    document = DocumentField()
    base_version = serializers.IntegerField(allow_null=True)
    updated_at = serializers.DateTimeField(allow_null=True, read_only=True)
    revision = serializers.CharField(
        allow_null=True, read_only=True, help_text="Null if there is no unsaved draft."
    )

    class Meta:
        model = Draft
        fields: ClassVar = ["document", "base_version", "updated_at", "revision"]


class NewDraftSerializer(serializers.Serializer[Any]):
    """A draft document and the version it is based on (null if there is none)."""

    document = DocumentField()
    base_version = serializers.IntegerField(min_value=1, allow_null=True)
    revision = serializers.CharField(
        max_length=64,
        required=False,
        default=None,
        allow_null=True,
        help_text="Revision of the draft to replace; null if there is none.",
    )


class DraftConflictDetailSerializer(serializers.Serializer[Any]):
    """The existing draft, and the one that was not saved."""

    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField()
    theirs = DraftSerializer()
    yours = DocumentField()


class DraftConflictSerializer(serializers.Serializer[Any]):
    """Response 409: the draft was changed in another window."""

    error = DraftConflictDetailSerializer()


class VersionConflictDetailSerializer(serializers.Serializer[Any]):
    """Both versions of a conflict and their common ancestor."""

    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField()
    base = VersionSerializer(allow_null=True)
    theirs = VersionSerializer()
    yours = DocumentField()


class VersionConflictSerializer(serializers.Serializer[Any]):
    """Response 409: another version was saved in the meantime."""

    error = VersionConflictDetailSerializer()
