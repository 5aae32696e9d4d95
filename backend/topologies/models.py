"""Topologies, with their immutable versions and each user's private draft."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from accounts.models import User, Workspace
from django.db import models
from django.db.models.functions import Lower
from millrace_backend.json_field import WrittenJSONField
from millrace_model.documents import TopologyDocument

from topologies.choices import DOCUMENT_FORMAT


def hash_of(document: Mapping[str, object]) -> str:
    """SHA-256 of the document, independent of the order of its fields."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def size_of(*values: Any) -> int:
    """Size of values as JSON in bytes."""
    return sum(
        len(json.dumps(each, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        for each in values
    )


def empty_document(name: str) -> TopologyDocument:
    """Return a document with an empty canvas."""
    return {"format": DOCUMENT_FORMAT, "name": name, "nodes": [], "edges": []}


class Topology(models.Model):
    """A topology; its content is in its versions."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="topologies")
    name = models.CharField(max_length=150)
    description = models.TextField(blank=True)
    #: whether it is a part that other topologies use (`topologies.fragments`)
    is_fragment = models.BooleanField(default=False)
    #: number of the newest version; 0 before the first
    latest_number = models.PositiveIntegerField(default=0)
    #: nodes of the newest version
    node_count = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["-updated_at", "-id"]
        verbose_name_plural = "topologies"
        constraints: ClassVar = [
            models.UniqueConstraint("workspace", Lower("name"), name="one_name_per_workspace")
        ]

    def __str__(self) -> str:
        return self.name


class Version(models.Model):
    """A saved state of a topology. Only the name that people give it can change."""

    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    document = WrittenJSONField()
    #: of the document, in bytes
    size = models.PositiveIntegerField(default=0)
    hash = models.CharField(max_length=64)
    message = models.CharField(max_length=500, blank=True)
    name = models.CharField(max_length=150, blank=True)
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["topology", "number"], name="one_version_per_number")
        ]

    def __str__(self) -> str:
        return f"{self.topology_id} v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert the version with its hash. Raises ValueError for one that already exists."""
        if not self._state.adding:
            raise ValueError("a version cannot be changed; save a new one")
        self.hash, self.size = hash_of(self.document), size_of(self.document)
        super().save(*args, **kwargs)


class FragmentUse(models.Model):
    """The newest version of a topology contains a version of a fragment of its workspace."""

    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="fragment_uses")
    fragment = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="used_by")
    #: version of the fragment
    number = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["topology", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["topology", "fragment", "number"], name="one_use_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.fragment_id}@{self.number} in {self.topology_id}"


class Draft(models.Model):
    """A user's canvas that has not been saved as a version."""

    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="drafts")
    document = WrittenJSONField()
    #: of the document, in bytes
    size = models.PositiveIntegerField(default=0)
    node_count = models.PositiveIntegerField(default=0)
    #: number of the version that the draft is based on; null if there is none
    base_version = models.PositiveIntegerField(null=True, blank=True)
    updated_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["topology", "user"], name="one_draft_per_person")
        ]

    def __str__(self) -> str:
        return f"draft of {self.user_id} on {self.topology_id}"

    @property
    def revision(self) -> str:
        """Identifies the draft's content; a replacement names the revision it is based on."""
        return hash_of({"base_version": self.base_version, "document": self.document})


class TopologyTest(models.Model):
    """A test of a topology: input records and expected results."""

    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="tests")
    name = models.CharField(max_length=150)
    #: input lines of a simulation
    inputs = WrittenJSONField()
    #: outputs, stores, dropped, conditions; omitted parts are not compared
    expected = WrittenJSONField()
    #: of inputs and expected results, in bytes
    size = models.PositiveIntegerField(default=0)
    updated_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    updated_at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["name", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint("topology", Lower("name"), name="one_test_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class SampleInputs(models.Model):
    """Sample records of a topology, for people without records of their own."""

    topology = models.OneToOneField(
        Topology, on_delete=models.CASCADE, related_name="sample_inputs", primary_key=True
    )
    #: input lines of a simulation
    inputs = WrittenJSONField(default=list)

    def __str__(self) -> str:
        return f"inputs of {self.topology_id}"


class TestPass(models.Model):
    """A successful run of a test with a document on the server."""

    __test__ = False

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="test_passes")
    #: hashes of the document, and of the test's inputs and expected results (`topologies.required`)
    document_hash = models.CharField(max_length=64)
    test_hash = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["workspace", "document_hash", "test_hash"], name="one_pass_per_test"
            )
        ]

    def __str__(self) -> str:
        return f"{self.test_hash[:8]} passed with {self.document_hash[:8]}"


class Repository(models.Model):
    """The git repository of a workspace. Workers fetch it and push versions to it as commits."""

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="repository")
    #: a folder or a URL below one of the locations in MILLRACE_GIT_ROOTS
    url = models.CharField(max_length=500)
    branch = models.CharField(max_length=100, default="main")
    #: where the folders of topologies are; empty: in the root
    folder = models.CharField(max_length=200, blank=True)
    #: versions become commits of branches beside it, one for each topology
    review = models.BooleanField(default=False)
    #: newest commit of the branch that is known here
    head = models.CharField(max_length=64, blank=True)
    #: when the repository was last reached
    checked_at = models.DateTimeField(null=True, blank=True)
    #: why it could not be reached or did not accept commits: code, message, hint, facts
    failure = models.JSONField(null=True, blank=True)
    #: failed attempts since the last success
    attempts = models.PositiveIntegerField(default=0)
    #: when a worker is to work on it; null: when something changes
    due_at = models.DateTimeField(null=True, blank=True)
    #: a person permits that the branch has another history than before
    history_accepted = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "repositories"

    def __str__(self) -> str:
        return f"{self.url} of {self.workspace_id}"


class RepositoryFolder(models.Model):
    """What is known of a topology's folder in the repository of its workspace."""

    repository = models.ForeignKey(Repository, on_delete=models.CASCADE, related_name="folders")
    topology = models.OneToOneField(Topology, on_delete=models.CASCADE, related_name="git_folder")
    name = models.CharField(max_length=150)
    #: number of the last version that became a commit, on any branch, or came from one
    committed = models.PositiveIntegerField(default=0)
    #: number of the version that the files of the branch correspond to; 0: none
    base = models.PositiveIntegerField(default=0)
    #: hashes of these files by path; other ones in the branch were changed outside
    files = models.JSONField(default=dict)
    #: why its versions do not become commits: code, message, hint, facts
    failure = models.JSONField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint("repository", Lower("name"), name="one_folder_per_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.topology_id}"


class DeletedFolder(models.Model):
    """A folder of a topology that was deleted here; the repository may still have it."""

    repository = models.ForeignKey(
        Repository, on_delete=models.CASCADE, related_name="deleted_folders"
    )
    name = models.CharField(max_length=150)
    topology_name = models.CharField(max_length=150)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint("repository", Lower("name"), name="one_deletion_per_folder")
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.topology_name}"


class VersionCommit(models.Model):
    """The commit that a version became."""

    version = models.OneToOneField(Version, on_delete=models.CASCADE, related_name="commit")
    hash = models.CharField(max_length=64)
    branch = models.CharField(max_length=200)
    #: hashes of the topology's files by path
    files = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.hash[:8]} of {self.version_id}"


class VersionApproval(models.Model):
    """The approval of a version by somebody else than its author."""

    version = models.ForeignKey(Version, on_delete=models.CASCADE, related_name="approvals")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["version", "user"], name="one_approval_per_person")
        ]

    def __str__(self) -> str:
        return f"{self.version_id} by {self.user_id}"


class Comment(models.Model):
    """A comment on a node, or an answer to one. It stays when the node is deleted."""

    topology = models.ForeignKey(Topology, on_delete=models.CASCADE, related_name="comments")
    #: id of the node, which labels and positions do not change
    node = models.CharField(max_length=200)
    #: label of the node when the comment was written
    label = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    #: the first comment of the thread; null for itself
    reply_to = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="replies"
    )
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    mentions = models.ManyToManyField(User, related_name="mentioned_in")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    #: of the whole thread, at its first comment
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        return f"comment {self.pk} on {self.node}"
