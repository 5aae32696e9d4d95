"""Which repositories a workspace may use: those below a location that the installation lists.

`MILLRACE_GIT_ROOTS` has folders and URLs. Everything else is refused, so neither a scheme of git
that runs a command nor an option can be given as an address.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from millrace_backend.errors import ApiError

#: ports of the schemes of remote repositories
SCHEMES = {"https": 443, "http": 80}
#: stands for the workspace's slug in a listed location
WORKSPACE = "{workspace}"
_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._~+-]*"
_PATH = re.compile(rf"(?:/{_SEGMENT})+/?")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_BRANCH = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})*")
_FOLDER = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)*")


@dataclass(frozen=True)
class Place:
    """What git may be given: a resolved folder or a URL; `scheme`: the protocol, in git's words."""

    scheme: str
    address: str


#: for what does not leave this machine
NOWHERE = Place("none", "")


def roots_of(slug: str) -> list[str]:
    """Return the locations in which a workspace may use repositories."""
    return [root.replace(WORKSPACE, slug) for root in settings.MILLRACE_GIT_ROOTS]


def place_of(url: str, slug: str) -> Place:
    """Return what git may be given for the address of a workspace's repository.

    Links in the path of a folder are followed, here and not by git. Raises ApiError for an address
    that is not below a listed location.
    """
    roots = roots_of(slug)
    if not roots:
        raise _refusal_of(
            "git_not_configured",
            "This installation permits no git repositories.",
            "Its admin lists folders and URLs in MILLRACE_GIT_ROOTS.",
        )
    if url.startswith("/"):
        return _folder(url, [root for root in roots if root.startswith("/")])
    problem = problem_of_url(url)
    if problem is not None:
        raise _refusal_of(
            "git_address_invalid",
            f"“{url[:100]}” is not the address of a repository: {problem}",
            "Enter an absolute path, or a URL that begins with https://.",
        )
    if not any(_is_below(url, root) for root in roots if not root.startswith("/")):
        raise _not_listed()
    return Place(urlsplit(url).scheme, url)


def problem_of_url(url: str) -> str | None:
    """What is wrong with a URL; None if nothing is."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"{error}."
    if parts.scheme not in SCHEMES or not url.startswith(f"{parts.scheme}://"):
        return "it begins with neither https:// nor /."
    if parts.username is not None or parts.password is not None:
        return "it must not contain a user name or a password."
    if port == 0 or not _HOST.fullmatch(parts.hostname or ""):
        return "it has no valid host and port."
    if parts.query or parts.fragment or url.endswith(("?", "#")) or not _PATH.fullmatch(parts.path):
        return "its path has other characters than letters, digits and . _ ~ + - within names."
    return None


def require_branch(name: str) -> None:
    """Raise ApiError for a name that cannot be a branch."""
    parts = name.split("/")
    wrong = any(part.endswith((".", ".lock")) or ".." in part for part in parts)
    if wrong or not _BRANCH.fullmatch(name) or name == "HEAD":
        raise ApiError(
            "git_branch_invalid",
            f"“{name[:100]}” cannot be the name of a branch.",
            "Use letters, digits and . _ - / only.",
            fields={"branch": ["Not a name of a branch."]},
        )


def require_folder(path: str) -> None:
    """Raise ApiError for a path that cannot be a folder of the repository; empty: its root."""
    parts = path.lower().split("/")
    if path and (not _FOLDER.fullmatch(path) or any(".." in each for each in parts)):
        raise ApiError(
            "git_folder_invalid",
            f"“{path[:100]}” cannot be a folder of the repository.",
            "Use names of letters, digits and . _ - with / between them, or leave it empty.",
            fields={"folder": ["Not a folder of a repository."]},
        )


def _folder(path: str, roots: list[str]) -> Place:
    try:
        found = Path(path).resolve()
        allowed = [Path(root).resolve() for root in roots]
    except (OSError, RuntimeError, ValueError):
        raise _not_listed() from None
    if not any(found.is_relative_to(root) for root in allowed):
        raise _not_listed()
    if not found.is_dir():
        raise _refusal_of(
            "git_no_folder",
            f"The folder {path[:200]} does not exist.",
            "Create a repository there, for example with `git init --bare`.",
        )
    return Place("file", str(found))


def _is_below(url: str, root: str) -> bool:
    one, other = urlsplit(url), urlsplit(root)
    same = (one.scheme, (one.hostname or "").lower(), one.port or SCHEMES.get(one.scheme)) == (
        other.scheme,
        (other.hostname or "").lower(),
        other.port or SCHEMES.get(other.scheme),
    )
    parts = [part for part in one.path.split("/") if part]
    above = [part for part in other.path.split("/") if part]
    return same and parts[: len(above)] == above


def _not_listed() -> ApiError:
    return _refusal_of(
        "git_not_allowed",
        "This workspace may not use a repository at this address.",
        "The page lists the permitted locations; the installation's admin sets them in "
        "MILLRACE_GIT_ROOTS.",
    )


def _refusal_of(code: str, message: str, hint: str) -> ApiError:
    return ApiError(code, message, hint, fields={"url": [message]})
