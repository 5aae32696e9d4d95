"""Serializers of the git repository of a workspace and of changes in it."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from topologies.api.fields import DocumentField
from topologies.api.serializers import VersionSerializer
from topologies.choices import OutsideChange
from topologies.git.syncing import waiting_count
from topologies.git.taking import Change
from topologies.models import Repository, RepositoryFolder


class GitFailureSerializer(serializers.Serializer[Any]):
    """Why git did not do what was asked: the parts of an error of the API."""

    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField()
    facts = serializers.DictField(child=serializers.CharField())


class WaitingFolderSerializer(serializers.ModelSerializer[RepositoryFolder]):
    """A topology whose versions do not become commits."""

    topology = serializers.IntegerField(source="topology_id")
    topology_name = serializers.CharField(source="topology.name")
    failure = GitFailureSerializer()

    class Meta:
        model = RepositoryFolder
        fields: ClassVar = ["name", "topology", "topology_name", "failure"]
        read_only_fields = fields


class RepositorySerializer(serializers.ModelSerializer[Repository]):
    """The repository of a workspace, and how far it is in step with it."""

    failure = GitFailureSerializer(allow_null=True)
    working = serializers.SerializerMethodField(
        help_text="Whether a worker fetches and pushes now, or is about to."
    )
    retry_at = serializers.SerializerMethodField(help_text="When a failure is tried again.")
    waiting = serializers.SerializerMethodField(help_text="Versions that are no commits yet.")
    refused = serializers.SerializerMethodField(
        help_text="Topologies that wait until a change from outside is taken in."
    )

    class Meta:
        model = Repository
        fields: ClassVar = [
            *("url", "branch", "folder", "review", "head", "checked_at", "failure"),
            *("working", "retry_at", "waiting", "refused"),
        ]
        read_only_fields = fields

    def get_working(self, row: Repository) -> bool:
        """Whether it is due."""
        return row.due_at is not None and row.due_at <= timezone.now()

    def get_retry_at(self, row: Repository) -> str | None:
        """The time of the next attempt in ISO 8601."""
        later = row.failure is not None and row.due_at is not None
        return row.due_at.isoformat() if later and row.due_at is not None else None

    def get_waiting(self, row: Repository) -> int:
        """The number of versions."""
        return waiting_count(row)

    @extend_schema_field(WaitingFolderSerializer(many=True))
    def get_refused(self, row: Repository) -> list[dict[str, Any]]:
        """The folders with their reasons."""
        found = row.folders.exclude(failure=None).select_related("topology")
        return [dict(each) for each in WaitingFolderSerializer(found, many=True).data]


class RepositoryStateSerializer(serializers.Serializer[Any]):
    """The workspace's repository, and where the installation permits one."""

    roots = serializers.ListField(
        child=serializers.CharField(),
        help_text="Folders and URLs below which a repository is permitted; empty: none is.",
    )
    repository = RepositorySerializer(allow_null=True)


class NewRepositorySerializer(serializers.Serializer[Any]):
    """A repository for a workspace."""

    url = serializers.CharField(
        max_length=500, help_text="An absolute path, or an https:// URL without a password."
    )
    branch = serializers.CharField(max_length=100, default="main")
    folder = serializers.CharField(
        max_length=200,
        default="",
        allow_blank=True,
        help_text="Where the folders of topologies are; empty: in the root.",
    )
    review = serializers.BooleanField(
        default=False,
        help_text="Commit the versions of each topology to a branch of its own, for review.",
    )


class SyncSerializer(serializers.Serializer[Any]):
    """A request to fetch and push."""

    accept_history = serializers.BooleanField(
        default=False, help_text="Even if the history of the branch was rewritten."
    )


class OutsideChangeSerializer(serializers.Serializer[Change]):
    """A folder that somebody else changed."""

    folder = serializers.CharField()
    kind = serializers.ChoiceField(choices=OutsideChange.choices)
    topology = serializers.IntegerField(
        source="topology.pk", default=None, allow_null=True, read_only=True
    )
    topology_name = serializers.CharField(
        allow_null=True, help_text="Also of a topology that was deleted here."
    )
    deleted_by = serializers.SerializerMethodField(
        help_text="Who deleted the topology here; null for other changes."
    )
    deleted_at = serializers.SerializerMethodField(help_text="Epoch seconds.")
    commit = serializers.CharField(help_text="Newest commit of the branch, as last fetched.")
    author = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()
    at = serializers.SerializerMethodField(help_text="Epoch seconds.")
    document_changed = serializers.BooleanField()
    program_changed = serializers.BooleanField(
        help_text="Only the program was changed, not the document that it is generated from."
    )
    tests = serializers.ListField(child=serializers.CharField())
    conflict = serializers.BooleanField(help_text="Both sides have changed the document.")
    problem = serializers.CharField(allow_null=True)
    latest_version = serializers.IntegerField(
        source="mine.number", default=None, allow_null=True, read_only=True
    )

    def get_deleted_by(self, change: Change) -> str | None:
        """The name of the person who deleted the topology."""
        by = None if change.deletion is None else change.deletion.by
        return None if by is None else by.shown_name

    def get_deleted_at(self, change: Change) -> int | None:
        """The time of the deletion."""
        return None if change.deletion is None else int(change.deletion.at.timestamp())

    def get_author(self, change: Change) -> str | None:
        """Author of the last commit that changed the folder."""
        return change.last[0] if change.last else None

    def get_message(self, change: Change) -> str | None:
        """Its subject."""
        return change.last[1] if change.last else None

    def get_at(self, change: Change) -> int | None:
        """Its time."""
        return change.last[2] if change.last else None


class OutsideChangeDetailSerializer(OutsideChangeSerializer):
    """The same with the documents of both sides and their common ancestor."""

    base = VersionSerializer(allow_null=True)
    mine = VersionSerializer(allow_null=True)
    theirs = DocumentField(allow_null=True)


class TakeSerializer(serializers.Serializer[Any]):
    """What is taken in, as it was seen."""

    commit = serializers.CharField(max_length=64)
    base_version = serializers.IntegerField(
        min_value=1, allow_null=True, help_text="The latest version; null for a new topology."
    )
    document = DocumentField(
        required=False, help_text="The result of a decision between both sides."
    )


class TakenSerializer(serializers.Serializer[Any]):
    """The topology that a change was taken into, and its latest version."""

    topology = serializers.IntegerField(source="pk")
    version = serializers.IntegerField(source="latest_number")
