"""Locations of checkpoints: folders, and URIs of file systems that Hadoop has connectors for."""

from __future__ import annotations

import posixpath
import re
from pathlib import PurePosixPath

#: file systems whose files can be listed, renamed and written: those of Hadoop and of its
#: connectors for object stores
SCHEMES = (
    "s3a", "hdfs", "viewfs", "webhdfs", "swebhdfs", "abfs", "abfss", "gs", "ofs", "o3fs", "oss",
    "cosn",
)  # fmt: skip
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(/.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?(?::\d{1,5})?")
_PATH = re.compile(r"[^\s?#%\\{}\[\]*]*")


def problem_of_uri(location: str) -> str | None:
    """What is wrong with a location outside of this machine; None if nothing is.

    The sentence continues “The location”.
    """
    parts = _URI.fullmatch(location)
    if parts is None:
        return "is not a URI such as s3a://bucket/folder"
    scheme, authority, path = parts[1], parts[2], parts[3] or ""
    if scheme not in SCHEMES:
        return f"has the scheme {scheme}, which is none of {', '.join(SCHEMES)}"
    if not _AUTHORITY.fullmatch(authority) and not _is_container(scheme, authority):
        return "has no valid bucket or host, or a user or password"
    if not _PATH.fullmatch(path):
        return "has a query, a space, a wildcard or a percent sign in its path"
    return _problem_of_path(path)


def problem_of(location: str) -> str | None:
    """The same for a location that can also be a folder: a path, or `file:///PATH`."""
    if "://" not in location:
        colon = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", location)
        return None if location and colon is None else "is not a folder or a URI"
    if not location.startswith("file://"):
        return problem_of_uri(location)
    path = location.removeprefix("file://")
    if not path.startswith("/"):
        return "has a host; a folder of this machine is written file:///PATH"
    if not _PATH.fullmatch(path):
        return "has a query, a space, a wildcard or a percent sign in its path"
    return _problem_of_path(path)


def _is_container(scheme: str, authority: str) -> bool:
    """Whether it is a container of Azure's storage, which stands before the account."""
    container, _, account = authority.partition("@")
    return (
        scheme in ("abfs", "abfss")
        and re.fullmatch(r"[a-z0-9-]+", container) is not None
        and _AUTHORITY.fullmatch(account) is not None
    )


def _problem_of_path(path: str) -> str | None:
    whole = path.rstrip("/")
    if not whole:
        return None
    if posixpath.normpath(whole) != whole or ".." in PurePosixPath(whole).parts or "//" in whole:
        return "has a path with “.”, “..” or an empty part"
    return None
