"""Changes that other people made in a repository, and taking them in as versions.

They are read from the copy that a worker fetched; nothing here talks to the repository.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require
from django.db import transaction
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_backend.names import one_line
from millrace_model.documents import TopologyDocument

from topologies import actions, testing
from topologies.choices import OutsideChange
from topologies.exporting import test_files
from topologies.fragments import is_fragment
from topologies.git.binding import wake
from topologies.git.content import (
    DOCUMENT,
    PROGRAM,
    TESTS,
    Files,
    document_in,
    found,
    test_in,
)
from topologies.git.mirror import Mirror, blob_hash
from topologies.git.syncing import path_of
from topologies.models import (
    DeletedFolder,
    Repository,
    RepositoryFolder,
    Topology,
    TopologyTest,
    Version,
    hash_of,
)

_LONGEST_MESSAGE = 500
_LONGEST_NAME = 150


@dataclass
class Change:
    """A folder that is not as Millrace last left or took it.

    ``theirs``: its document; None if it was removed, is unreadable (``problem``), or has not
    changed. ``base``: the version that it was changed from; ``mine``: the latest version.
    """

    folder: str
    kind: OutsideChange
    commit: str
    files: Files
    row: RepositoryFolder | None = None
    #: the deletion here of the topology that had the folder, if it has none now
    deletion: DeletedFolder | None = None
    theirs: TopologyDocument | None = None
    problem: str | None = None
    base: Version | None = None
    mine: Version | None = None
    #: author, subject and epoch second of the newest commit that changed the folder
    last: tuple[str, str, int] | None = None
    #: names of the files of tests that were added or changed
    tests: list[str] = field(default_factory=list)

    @property
    def topology(self) -> Topology | None:
        """The topology of the folder, if there is one."""
        return None if self.row is None else self.row.topology

    @property
    def topology_name(self) -> str | None:
        """The name of the topology, also of one that was deleted here."""
        if self.deletion is not None:
            return self.deletion.topology_name
        return None if self.row is None else self.row.topology.name

    @property
    def conflict(self) -> bool:
        """Whether both sides have changed the document, differently."""
        if self.theirs is None or self.mine is None:
            return False
        theirs = hash_of(self.theirs)
        return theirs != self.mine.hash and (self.base is None or self.mine.hash != self.base.hash)

    @property
    def document_changed(self) -> bool:
        """Whether the document differs from the latest version."""
        return self.theirs is not None and (
            self.mine is None or hash_of(self.theirs) != self.mine.hash
        )

    @property
    def program_changed(self) -> bool:
        """Whether the program was changed, but not the document that it is generated from."""
        before = {} if self.row is None else self.row.files
        same = self.files.get(DOCUMENT) == before.get(DOCUMENT)
        return same and self.files.get(PROGRAM) != before.get(PROGRAM)


def changes(repository: Repository) -> list[Change]:
    """Return what other people changed, as last fetched, by folder."""
    mirror = Mirror(repository.workspace_id)
    tip = mirror.tip(repository.branch) if mirror.exists else None
    if tip is None:
        return []
    rows = {row.name: row for row in repository.folders.select_related("topology")}
    deletions = repository.deleted_folders.select_related("by")
    deleted = {each.name.lower(): each for each in deletions}
    there = mirror.entries(mirror.below(tip, repository.folder))
    result = []
    for name, entry in there.items():
        if entry.kind != "tree":
            continue
        row, files = rows.get(name), found(mirror, entry.hash)
        known = row.files if row is not None else {}
        if files != known and (DOCUMENT in files or known):
            change = _change(repository, mirror, tip, name, row, files)
            if change.kind == OutsideChange.NEW and name.lower() in deleted:
                change.kind, change.deletion = OutsideChange.DELETED, deleted[name.lower()]
            result.append(change)
    for name, row in rows.items():
        if row.files and name not in there:
            result.append(_change(repository, mirror, tip, name, row, {}))
    return sorted(result, key=lambda each: each.folder)


def change_of(repository: Repository, folder: str) -> Change:
    """Return the change of a folder. Raises NotFound if it is as Millrace left it."""
    result = next((each for each in changes(repository) if each.folder == folder), None)
    if result is None:
        raise NotFound(
            "no_such_change",
            f"Nobody else has changed the folder {folder[:100]!r} since it was last fetched.",
        )
    return result


def take(
    actor: User,
    repository: Repository,
    folder: str,
    commit: str,
    base_version: int | None,
    document: TopologyDocument | None = None,
) -> Topology:
    """Take a change in: as a new version, a new topology, and tests.

    ``commit``: the one that the person has seen; ``base_version``: number of the latest version,
    None for a new topology; ``document``: the result of a decision between both sides. A folder
    that was removed is written again; a topology that was deleted here is made anew. Raises
    Conflict if the repository or the topology has changed since, and Conflict with both sides if
    both have changed and nothing was decided.
    """
    require(actor, repository.workspace_id, Role.EDITOR)
    with transaction.atomic():
        Repository.objects.select_for_update().get(pk=repository.pk)
        change = change_of(repository, folder)
        if change.commit != commit:
            raise Conflict(
                "git_moved",
                "The repository has changed since.",
                "Look at the change again.",
                commit=change.commit,
            )
        if change.problem is not None:
            raise ApiError(
                "git_unreadable",
                f"{DOCUMENT} cannot be read: {change.problem}",
                "Correct it in the repository.",
                complaint=change.problem,
            )
        if change.conflict and document is None:
            raise _conflict(change)
        row = _taken(actor, repository, change, base_version, document)
        mirror = Mirror(repository.workspace_id)
        skipped = _take_tests(actor, row.topology, mirror, change)
        row.files, row.failure = change.files, None
        row.save()
        repository.deleted_folders.filter(name__iexact=folder).delete()
        audit(
            actor,
            repository.workspace_id,
            "repository.take",
            "topology",
            row.topology_id,
            topology=row.topology.name,
            folder=folder,
            commit=commit,
            version=row.topology.latest_number,
            skipped=skipped,
        )
        wake(repository)
    return row.topology


def _change(
    repository: Repository,
    mirror: Mirror,
    tip: str,
    name: str,
    row: RepositoryFolder | None,
    files: Files,
) -> Change:
    kind = OutsideChange.NEW if row is None else OutsideChange.CHANGED
    change = Change(name, kind if files else OutsideChange.REMOVED, tip, files, row)
    change.last = mirror.last_change(tip, path_of(repository, name))
    known: Files = {} if row is None else row.files
    change.tests = [
        path.removeprefix(TESTS)
        for path, blob in files.items()
        if path.startswith(TESTS) and known.get(path) != blob
    ]
    if row is not None:
        numbers = {row.base, row.topology.latest_number}
        versions = row.topology.versions.select_related("author", "topology")
        by_number = {each.number: each for each in versions.filter(number__in=numbers)}
        change.base, change.mine = (
            by_number.get(row.base),
            by_number.get(row.topology.latest_number),
        )
    if files.get(DOCUMENT) != known.get(DOCUMENT) and files:
        try:
            change.theirs = document_in(mirror, files)
        except ApiError as error:
            change.kind = OutsideChange.UNREADABLE
            change.problem = str(error.data.get("complaint", error.message))
    return change


def _taken(
    actor: User,
    repository: Repository,
    change: Change,
    base_version: int | None,
    decided: TopologyDocument | None,
) -> RepositoryFolder:
    """Save the version and return the topology's row with the numbers of its versions."""
    message = _message(change)
    if change.row is None:
        document = decided or change.theirs
        if document is None:
            raise AssertionError("a new folder has a document")
        name = one_line(document["name"] or change.folder).strip()[:_LONGEST_NAME]
        topology = actions.create_topology(
            actor, repository.workspace, name or change.folder, document, message=message,
            fragment=is_fragment(document),
        )  # fmt: skip
        topology.refresh_from_db()
        same = decided is None or change.theirs == decided
        return RepositoryFolder(
            repository=repository,
            topology=topology,
            name=change.folder,
            base=1,
            committed=1 if same else 0,
        )
    row = change.row
    topology = row.topology
    if change.kind == OutsideChange.REMOVED:
        # The latest version becomes a commit again.
        row.base, row.committed = 0, max(0, topology.latest_number - 1)
        return row
    document = decided or change.theirs
    if document is None:
        return row
    latest = None if change.mine is None else change.mine.hash
    if hash_of(document) != latest:
        actions.save_version(actor, topology, document, message, base_version, keep_draft=True)
        topology.refresh_from_db()
    row.base = topology.latest_number
    theirs = change.theirs is not None and hash_of(document) == hash_of(change.theirs)
    row.committed = topology.latest_number - (0 if theirs else 1)
    return row


def _message(change: Change) -> str:
    author, subject, _ = change.last or ("", "", 0)
    text = f"{subject} ({author}, {change.commit[:10]})" if subject else change.commit[:10]
    return one_line(text)[:_LONGEST_MESSAGE]


def _take_tests(actor: User, topology: Topology, mirror: Mirror, change: Change) -> list[str]:
    """Keep the tests that were added or changed; return the names of files that are no tests.

    A test that was changed on both sides is kept beside the other one, under another name.
    """
    from topologies.api.testing_serializers import TopologyTestSerializer

    known: Files = {} if change.row is None else change.row.files
    skipped = []
    for name in change.tests:
        try:
            content = test_in(mirror, change.files, TESTS + name)
        except ApiError:
            skipped.append(name)
            continue
        given = dict(content) if isinstance(content, dict) else {}
        title = str(given.get("title") or name.removesuffix(".json"))[:_LONGEST_NAME]
        checked = TopologyTestSerializer(data={**given, "name": one_line(title)})
        if not checked.is_valid():
            skipped.append(name)
            continue
        values = checked.validated_data
        mine = topology.tests.filter(name__iexact=values["name"]).first()
        title = values["name"]
        if mine is not None and _blob_of(mine) != known.get(TESTS + name):
            title, mine = _free_name(topology, title), None
        testing.keep_test(actor, topology, title, values["inputs"], values["expected"], mine)
    return skipped


def _blob_of(test: TopologyTest) -> str:
    """Return the hash that the file of a test has in a repository."""
    text = next(iter(test_files([test]).values()))
    return blob_hash(text.encode("utf-8", "surrogatepass"))


def _free_name(topology: Topology, name: str) -> str:
    number, found_name = 1, f"{name[:130]} (git)"
    while topology.tests.filter(name__iexact=found_name).exists():
        number += 1
        found_name = f"{name[:130]} (git {number})"
    return found_name


def _conflict(change: Change) -> Conflict:
    from topologies.api.serializers import VersionSerializer

    return Conflict(
        "git_conflict",
        f"Both this workspace and the repository have changed {change.folder}.",
        "Decide between both sides for each node, and send the resulting document.",
        base=None if change.base is None else VersionSerializer(change.base).data,
        mine=VersionSerializer(change.mine).data,
        theirs=change.theirs,
    )
