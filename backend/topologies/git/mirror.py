"""The copy of a workspace's repository on this machine, without a working tree.

Commits are made of objects, so no file of the repository is ever written to disk or filtered.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from millrace_backend.errors import ApiError

from topologies.git.places import NOWHERE, Place
from topologies.git.process import Git

#: prefix of branches for review, and of the same branches here
REVIEW = "millrace/"
REMOTE = "refs/remotes/origin/"
_PARTS = 3


@dataclass(frozen=True)
class Entry:
    """An entry of a tree: mode, kind (blob, tree, commit) and hash."""

    mode: str
    kind: str
    hash: str


@dataclass(frozen=True)
class Author:
    """Who made a commit, and when, in epoch seconds."""

    name: str
    email: str
    at: int


def mirror_folder(workspace: int) -> Path:
    """Return the folder of the copy; it may not exist yet."""
    return Path(settings.MILLRACE_DATA) / "git" / str(workspace) / "mirror.git"


@contextmanager
def alone(workspace: int) -> Iterator[bool]:
    """Yield whether no other process of this machine works with a copy.

    One at a time, of all workspaces: repositories that do not respond must not keep all workers.
    """
    folder = mirror_folder(workspace).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder.parent / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


class Mirror:
    """The copy, with what is done in it."""

    def __init__(self, workspace: int, place: Place = NOWHERE) -> None:
        """Without a place, it can be read only."""
        self.folder = mirror_folder(workspace)
        self.git = Git(self.folder, place)

    @property
    def exists(self) -> bool:
        """Whether something was fetched already."""
        return (self.folder / "HEAD").is_file()

    def fetch(self, branch: str) -> None:
        """Fetch the branch and the branches for review as they are now.

        A copy that cannot be used, as after a crash, is made again.
        """
        if not self.exists:
            self._create()
        try:
            self._fetch(branch)
        except ApiError as error:
            if error.code != "git_failed":
                raise
            self._create()
            self._fetch(branch)

    def push(self, commits: Mapping[str, str]) -> None:
        """Push commits to branches, all or none. Raises ApiError, `git_behind` if one has moved."""
        _, receiving = self.git.without_hooks()
        moves = [f"{commit}:refs/heads/{branch}" for branch, commit in commits.items()]
        together = ("--atomic",) if len(moves) > 1 else ()
        self.git.remote("push", *together, "--no-verify", receiving, "--", "@", *moves)
        for branch, commit in commits.items():
            self.git("update-ref", f"{REMOTE}{branch}", commit)

    def tip(self, branch: str) -> str | None:
        """Return the newest commit of a branch of the repository, as last fetched."""
        found = self.git("for-each-ref", "--format=%(objectname)", f"{REMOTE}{branch}")
        return found.decode().strip() or None

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether a commit is in the history of another; one that is not here is not."""
        try:
            return self.git("merge-base", old, new).decode().strip() == old
        except ApiError:
            return False

    def entries(self, tree: str | None) -> dict[str, Entry]:
        """Return what a tree or commit contains, by name; nothing for None."""
        if tree is None:
            return {}
        found = {}
        for line in self.git("ls-tree", "-z", tree).split(b"\0"):
            if line:
                about, _, name = line.partition(b"\t")
                mode, kind, hash_ = about.decode().split()
                found[name.decode("utf-8", "surrogateescape")] = Entry(mode, kind, hash_)
        return found

    def below(self, tree: str | None, path: str) -> str | None:
        """Return the tree at a path of a tree or commit; None if there is none."""
        for name in filter(None, path.split("/")):
            entry = self.entries(tree).get(name)
            if entry is None or entry.kind != "tree":
                return None
            tree = entry.hash
        return tree

    def read(self, blob: str, most: int) -> bytes | None:
        """Return the content of a file; None if it is larger than this many bytes."""
        if int(self.git("cat-file", "-s", blob)) > most:
            return None
        return self.git("cat-file", "blob", blob)

    def write(self, content: bytes) -> str:
        """Store a file and return its hash."""
        return (
            self.git("hash-object", "-w", "--no-filters", "--stdin", text=content).decode().strip()
        )

    def tree(self, entries: Mapping[str, Entry]) -> str:
        """Store a tree and return its hash."""
        lines = b"".join(
            f"{each.mode} {each.kind} {each.hash}\t".encode()
            + name.encode("utf-8", "surrogateescape")
            + b"\0"
            for name, each in entries.items()
        )
        return self.git("mktree", "-z", text=lines).decode().strip()

    def replaced(self, tree: str | None, path: str, inner: str) -> str:
        """Return a tree with another tree at a path; everything else is as before."""
        first, _, rest = path.partition("/")
        if not first:
            return inner
        entries = self.entries(tree)
        before = entries.get(first)
        below = before.hash if before is not None and before.kind == "tree" else None
        entries[first] = Entry("040000", "tree", self.replaced(below, rest, inner))
        return self.tree(entries)

    def commit(self, tree: str, parent: str | None, message: str, author: Author) -> str:
        """Store a commit and return its hash."""
        when = f"{author.at} +0000"
        people = {
            "GIT_AUTHOR_NAME": author.name,
            "GIT_AUTHOR_EMAIL": author.email,
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": "Millrace",
            "GIT_COMMITTER_EMAIL": settings.DEFAULT_FROM_EMAIL,
            "GIT_COMMITTER_DATE": when,
        }
        parents = ("-p", parent) if parent else ()
        made = self.git("commit-tree", tree, *parents, text=message.encode(), more=people)
        return made.decode().strip()

    def last_change(self, commit: str, path: str) -> tuple[str, str, int] | None:
        """Return author, subject and epoch second of the newest commit that changed a path."""
        shown = self.git("log", "-1", "--format=%an%x00%s%x00%at", commit, "--", path or ".")
        parts = shown.decode("utf-8", "replace").rstrip("\n").split("\0")
        return (parts[0], parts[1], int(parts[2])) if len(parts) == _PARTS else None

    def _create(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, mode=0o700)
        self.git("init", "--quiet", "--bare", "--template=")

    def _fetch(self, branch: str) -> None:
        serving, _ = self.git.without_hooks()
        wanted = (f"refs/heads/{branch}", f"refs/heads/{REVIEW}*")
        shown = self.git.remote("ls-remote", "--heads", serving, "--", "@", *wanted).decode()
        there = re.findall(r"^\S+\trefs/heads/(\S+)$", shown, re.MULTILINE)
        there = [each for each in there if each == branch or each.startswith(REVIEW)]
        specs = [f"+refs/heads/{each}:{REMOTE}{each}" for each in there]
        if specs:
            options = ("--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", serving)
            self.git.remote("fetch", "--quiet", *options, "--", "@", *specs)
        here = self.git("for-each-ref", "--format=%(refname)", REMOTE).decode().split()
        for ref in here:
            if ref.removeprefix(REMOTE) not in there:
                self.git("update-ref", "-d", ref)


def blob_hash(content: bytes) -> str:
    """Return the hash that git gives a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
