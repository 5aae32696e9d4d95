"""Work of the workers on repositories: fetch, and push each version as a commit.

Nothing in a repository is overwritten: a topology whose folder was changed by somebody else waits
until a person has taken the change in (`taking`). A failure is recorded and tried again later, and
never affects the saving of a version.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.utils import timezone
from millrace_backend.errors import ApiError
from millrace_model.documents import TopologyDocument

from topologies.git.content import (
    DOCUMENT,
    PROGRAM,
    Files,
    document_text,
    folder_name,
    found,
    stored,
    written,
)
from topologies.git.mirror import REVIEW, Author, Mirror, alone, blob_hash
from topologies.git.places import place_of
from topologies.models import Repository, RepositoryFolder, Topology, Version, VersionCommit

log = structlog.get_logger(__name__)

#: versions that become commits at once; more follow
MOST_AT_ONCE = 40
#: seconds after which no more commits are made at once
LONGEST_SECONDS = 30.0
#: attempts if somebody else pushes at the same time
ATTEMPTS = 3
FIRST_RETRY = timedelta(seconds=30)
LONGEST_RETRY = timedelta(hours=1)


@dataclass(frozen=True)
class Made:
    """A commit of a version that is not pushed yet."""

    version: Version
    folder: RepositoryFolder
    branch: str
    commit: str
    files: Files


def due() -> list[int]:
    """Return the repositories on which a worker is to work now."""
    rows = Repository.objects.filter(due_at__lte=timezone.now())
    return list(rows.order_by("due_at").values_list("pk", flat=True))


def sync(repository_id: int) -> None:
    """Fetch a repository and push what waits; record what became of it."""
    repository = Repository.objects.select_related("workspace").filter(pk=repository_id).first()
    if repository is None:
        return
    with alone(repository.workspace_id) as free:
        if not free:
            return
        repository.refresh_from_db()
        asked = repository.due_at
        try:
            more = _sync(repository)
        except ApiError as error:
            _failed(repository, error)
        else:
            _succeeded(repository, asked, more)


def mirror_of(repository: Repository) -> Mirror:
    """Return the copy of a repository. Raises ApiError if its address is not permitted any more."""
    place = place_of(repository.url, repository.workspace.slug)
    return Mirror(repository.workspace_id, place)


def path_of(repository: Repository, folder: str) -> str:
    """Return the path of a topology's folder in the repository."""
    return f"{repository.folder}/{folder}" if repository.folder else folder


def files_at(mirror: Mirror, repository: Repository, commit: str | None, folder: str) -> Files:
    """Return the files of a topology in a commit."""
    return found(mirror, mirror.below(commit, path_of(repository, folder)))


def _sync(repository: Repository) -> bool:
    """Return whether more versions wait."""
    mirror = mirror_of(repository)
    for attempt in range(1, ATTEMPTS + 1):
        mirror.fetch(repository.branch)
        tip = mirror.tip(repository.branch)
        _require_history(repository, mirror, tip)
        folders = _folders(repository)
        for folder in folders:
            _settle(repository, mirror, tip, folder)
        made, more = _commits(repository, mirror, tip, _waiting(folders))
        try:
            if made:
                # The last commit of a branch has the others in its history.
                mirror.push({each.branch: each.commit for each in made})
        except ApiError as error:
            if error.code != "git_behind" or attempt == ATTEMPTS:
                raise
            continue
        _record(repository, mirror, made)
        return more
    return False


def _require_history(repository: Repository, mirror: Mirror, tip: str | None) -> None:
    """Raise ApiError if the branch does not contain its last known commit."""
    known = repository.head
    if not known or repository.history_accepted:
        return
    if tip is None or not mirror.is_ancestor(known, tip):
        raise ApiError(
            "git_history",
            f"The history of the branch {repository.branch} was rewritten: it does not contain "
            f"{known[:10]} any more.",
            "Check the branch. Then accept its new history, or restore the old one.",
            branch=repository.branch,
            commit=known[:10],
        )


def _folders(repository: Repository) -> list[RepositoryFolder]:
    """Return the folders of all topologies with versions; new topologies get one."""
    rows = list(repository.folders.select_related("topology"))
    known = {row.topology_id for row in rows}
    topologies = repository.workspace.topologies.filter(latest_number__gt=0)
    for topology in topologies.exclude(pk__in=known).order_by("pk"):
        name = folder_name(topology.name, (row.name for row in rows))
        rows.append(repository.folders.create(topology=topology, name=name))
    return rows


def _settle(
    repository: Repository, mirror: Mirror, tip: str | None, folder: RepositoryFolder
) -> None:
    """Take note of files that the branch has and that are known here already.

    They are those of an earlier commit for review that was merged, or the same as the latest
    version and the tests.
    """
    files = files_at(mirror, repository, tip, folder.name)
    if files == folder.files:
        return
    commits = VersionCommit.objects.filter(version__topology=folder.topology_id)
    for commit in commits.select_related("version").order_by("-version__number"):
        if commit.files == files:
            folder.files, folder.base = files, commit.version.number
            folder.save(update_fields=["files", "base"])
            return
    topology = folder.topology
    latest = _latest(topology)
    if folder.base == 0 and latest is not None and _equals(latest.document, topology, files):
        folder.files, folder.base, folder.committed = files, latest.number, latest.number
        folder.save(update_fields=["files", "base", "committed"])


def _equals(document: TopologyDocument, topology: Topology, files: Files) -> bool:
    from topologies.exporting import test_files

    ours = {DOCUMENT: blob_hash(document_text(document))}
    for name, text in test_files(topology.tests.order_by("pk")).items():
        ours[f"tests/{name}"] = blob_hash(text.encode("utf-8", "surrogatepass"))
    return ours == {path: blob for path, blob in files.items() if path != PROGRAM}


def _latest(topology: Topology) -> Version | None:
    return topology.versions.filter(number=topology.latest_number).first()


def _waiting(folders: Sequence[RepositoryFolder]) -> list[tuple[Version, RepositoryFolder]]:
    """Return the versions that are no commits yet, the oldest first; of a new topology the last."""
    found = []
    for folder in folders:
        topology = folder.topology
        after = folder.committed or topology.latest_number - 1
        rows = topology.versions.filter(number__gt=after).order_by("number")
        found += [(version, folder) for version in rows.select_related("author")]
    return sorted(found, key=lambda each: (each[0].created_at, each[0].pk))


def _commits(
    repository: Repository,
    mirror: Mirror,
    tip: str | None,
    waiting: Sequence[tuple[Version, RepositoryFolder]],
) -> tuple[list[Made], bool]:
    """Make a commit of each version whose folder nobody else has changed.

    Return them, and whether more versions wait.
    """
    made: list[Made] = []
    tips: dict[str, str | None] = {repository.branch: tip}
    before: dict[int, Files] = {}
    refused: set[int] = set()
    until = time.monotonic() + LONGEST_SECONDS
    for version, folder in waiting:
        if folder.pk in refused:
            continue
        if len(made) == MOST_AT_ONCE or time.monotonic() > until:
            return made, True
        branch = f"{REVIEW}{folder.name}" if repository.review else repository.branch
        try:
            if branch not in tips:
                tips[branch] = _base_for_review(mirror, tip, branch)
            if folder.pk not in before:
                before[folder.pk] = _require_known(repository, mirror, tips[branch], folder)
        except ApiError as error:
            refused.add(folder.pk)
            _note(folder, error)
            continue
        known = before[folder.pk]
        made.append(_commit(repository, mirror, tips[branch], known, version, folder, branch))
        tips[branch], before[folder.pk] = made[-1].commit, made[-1].files
        _note(folder, None)
    return made, False


def _base_for_review(mirror: Mirror, tip: str | None, branch: str) -> str | None:
    """Return the commit on which a version for review is based.

    It is the branch's own, or that of the main branch once it has been merged.
    """
    own = mirror.tip(branch)
    if own is None or (tip is not None and mirror.is_ancestor(own, tip)):
        return tip
    return own


def _require_known(
    repository: Repository, mirror: Mirror, commit: str | None, folder: RepositoryFolder
) -> Files:
    """Return the topology's files in a commit. Raises ApiError if somebody else changed them."""
    files = files_at(mirror, repository, commit, folder.name)
    if files == folder.files:
        return files
    commits = VersionCommit.objects.filter(version__topology=folder.topology_id)
    if any(files == each for each in commits.values_list("files", flat=True)) and files:
        return files
    raise ApiError(
        "git_changed_outside",
        f"Somebody else changed the folder {folder.name} in the repository.",
        "Take the change in, or decide between both sides.",
        folder=folder.name,
    )


def _commit(
    repository: Repository,
    mirror: Mirror,
    parent: str | None,
    before: Files,
    version: Version,
    folder: RepositoryFolder,
    branch: str,
) -> Made:
    version.topology = folder.topology
    folder.topology.workspace = repository.workspace
    contents = written(version, folder.topology.tests.order_by("pk"))
    path = path_of(repository, folder.name)
    inner = stored(mirror, mirror.below(parent, path), before, contents)
    root = mirror.replaced(parent, path, inner)
    author = version.author
    name = _plain(author.shown_name if author else "") or "Millrace"
    email = _plain((author.email or f"{author.username}@localhost") if author else "")
    when = int(version.created_at.timestamp())
    commit = mirror.commit(
        root, parent, _message(version), Author(name, email or "millrace@localhost", when)
    )
    files = {each: blob_hash(content) for each, content in contents.items()}
    return Made(version, folder, branch, commit, files)


def _message(version: Version) -> str:
    subject = version.message.strip() or f"Version {version.number}"
    about = f"Topology: {version.topology.name}\nVersion: {version.number}\n"
    return f"{subject}\n\n{about}"


def _plain(text: str) -> str:
    """Return text without the characters that separate parts of a commit's header."""
    return " ".join("".join(" " if each in "<>\n\r\0" else each for each in text).split())


def _record(repository: Repository, mirror: Mirror, made: Sequence[Made]) -> None:
    with transaction.atomic():
        for each in made:
            if not Version.objects.filter(pk=each.version.pk).exists():
                continue
            VersionCommit.objects.update_or_create(
                version=each.version,
                defaults={"hash": each.commit, "branch": each.branch, "files": each.files},
            )
            each.folder.committed = each.version.number
            if each.branch == repository.branch:
                each.folder.base, each.folder.files = each.version.number, each.files
            each.folder.save(update_fields=["committed", "base", "files"])
        repository.head = mirror.tip(repository.branch) or ""
        repository.history_accepted = False
        repository.save(update_fields=["head", "history_accepted"])


def waiting_count(repository: Repository) -> int:
    """Return the number of versions that are no commits yet."""
    folders = {row.topology_id: row.committed for row in repository.folders.all()}
    rows = repository.workspace.topologies.filter(latest_number__gt=0)
    return sum(
        latest - committed if (committed := folders.get(pk, 0)) else 1
        for pk, latest in rows.values_list("pk", "latest_number")
    )


def _note(folder: RepositoryFolder, error: ApiError | None) -> None:
    failure = None if error is None else as_failure(error)
    if folder.failure != failure:
        folder.failure = failure
        folder.save(update_fields=["failure"])


def as_failure(error: ApiError) -> dict[str, object]:
    """Return an error as it is stored and shown."""
    facts = {name: str(value) for name, value in error.data.items()}
    return {"code": error.code, "message": error.message, "hint": error.hint, "facts": facts}


def _failed(repository: Repository, error: ApiError) -> None:
    log.warning("git", workspace=repository.workspace_id, code=error.code, reason=error.message)
    attempts = min(repository.attempts + 1, 20)
    wait = min(FIRST_RETRY * 2 ** (attempts - 1), LONGEST_RETRY)
    # A rewritten history waits for a person.
    again = None if error.code == "git_history" else timezone.now() + wait
    Repository.objects.filter(pk=repository.pk).update(
        failure=as_failure(error), attempts=attempts, due_at=again
    )


def _succeeded(repository: Repository, asked: datetime | None, more: bool) -> None:
    rows = Repository.objects.filter(pk=repository.pk)
    rows.update(failure=None, attempts=0, checked_at=timezone.now())
    if not more:
        # What was requested in the meantime is still due.
        rows.filter(due_at=asked).update(due_at=None)
