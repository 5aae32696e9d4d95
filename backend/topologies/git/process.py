"""Runs git as a process: bounded, without hooks, without the user's configuration.

The environment is a list of what is allowed. Passwords are given to git in it, for one URL, and
never as arguments, which other users of the machine could read.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import resource
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings
from millrace_backend.errors import ApiError

from topologies.git.places import Place

#: seconds for a command on this machine, and for one that talks to the repository
LOCAL_SECONDS = 20.0
REMOTE_SECONDS = 40.0
#: maximum bytes of a file that git writes, and of what is read from its output
LARGEST_FILE = 1024**3
LARGEST_OUTPUT = 64 * 1024**2
#: for the other side of a repository in a folder, whose own configuration could name hooks
_NO_HOOKS = "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true"
_PASSED = ("PATH", "TMPDIR", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy",
           "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")  # fmt: skip

#: code, message and hint, by what git or the other side says; the first that matches counts
_REASONS = (
    (
        r"dubious ownership",
        (
            "git_other_owner",
            "The repository's folder belongs to another user than the one that Millrace runs as.",
            "Change the owner of the folder.",
        ),
    ),
    (
        r"not a git repository|does not appear to be a git|repository .*not found|error: 404",
        (
            "git_no_repository",
            "There is no git repository at this address.",
            "Check the address. In a folder, create one with `git init --bare`.",
        ),
    ),
    (
        r"could not read (username|password)|authentication failed|error: 40[13]",
        (
            "git_denied",
            "The repository refused access.",
            "The installation's admin sets its user and password in MILLRACE_GIT_PASSWORDS.",
        ),
    ),
    (
        r"working (directory|tree) has|would be overwritten|unstaged changes|untracked",
        (
            "git_dirty",
            "The repository's folder has changes that are not committed.",
            "Commit or discard them, then try again.",
        ),
    ),
    (
        r"non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref",
        (
            "git_behind",
            "Somebody pushed to the branch at the same time.",
            "Try again.",
        ),
    ),
    (
        r"rejected|declined|denied|protected",
        (
            "git_rejected",
            "The repository rejected the commits.",
            "Check the rules of the branch, or commit to branches for review.",
        ),
    ),
    (
        r"could not resolve|unable to access|connection|timed out|redirect|certificate|ssl",
        (
            "git_unreachable",
            "The repository cannot be reached.",
            "Check the address and the network, then try again.",
        ),
    ),
)


class Git:
    """Git in one bare repository of this machine, connected to one place."""

    def __init__(self, folder: Path, place: Place) -> None:
        self.folder, self.place = folder, place
        self._secret = _password_for(place)

    def __call__(
        self, *arguments: str, text: bytes = b"", more: Mapping[str, str] | None = None
    ) -> bytes:
        """Run a command on this machine and return its output. Raises ApiError if it fails."""
        return self._run(arguments, LOCAL_SECONDS, text, more or {})

    def remote(self, *arguments: str) -> bytes:
        """Run a command that talks to the repository; the address is its argument `@`."""
        named = [self.place.address if each == "@" else each for each in arguments]
        return self._run(named, REMOTE_SECONDS, b"", {})

    def without_hooks(self) -> tuple[str, str]:
        """Options for the other side of `fetch` and `push`: it runs no hooks either."""
        receiving = f"git {_NO_HOOKS} -c receive.denyCurrentBranch=updateInstead receive-pack"
        return f"--upload-pack=git {_NO_HOOKS} upload-pack", f"--receive-pack={receiving}"

    def _run(
        self, arguments: Sequence[str], seconds: float, text: bytes, more: Mapping[str, str]
    ) -> bytes:
        command = ["git", f"--git-dir={self.folder}", *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            try:
                running = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=out,
                    stderr=errors,
                    env={**self._environment(), **more},
                    cwd=self.folder.parent,
                    start_new_session=True,
                )
            except FileNotFoundError:
                raise ApiError(
                    "git_missing", "git is not installed on the server.", "Install it."
                ) from None
            if hasattr(resource, "prlimit"):
                limits = (LARGEST_FILE, LARGEST_FILE)
                resource.prlimit(running.pid, resource.RLIMIT_FSIZE, limits)
            try:
                running.communicate(text, timeout=seconds)
            except subprocess.TimeoutExpired:
                raise ApiError(
                    "git_timeout",
                    f"The repository did not respond within {seconds:g} seconds.",
                    "Try again. A large repository may need another one for topologies alone.",
                    seconds=f"{seconds:g}",
                ) from None
            finally:
                _end(running)
            if running.returncode != 0:
                raise self._failure(_tail(errors.fileno()))
            if os.fstat(out.fileno()).st_size > LARGEST_OUTPUT:
                raise _failed("its output is too large")
            out.seek(0)
            return out.read()

    def _environment(self) -> dict[str, str]:
        settled = {
            "core.hooksPath": "/dev/null",
            "core.fsmonitor": "false",
            "credential.helper": "",
            "http.followRedirects": "false",
            "http.lowSpeedLimit": "1",
            "http.lowSpeedTime": "20",
            "gc.auto": "0",
            "protocol.version": "2",
        }
        if self._secret:
            token = base64.b64encode(self._secret.encode()).decode()
            settled[f"http.{self.place.address}.extraHeader"] = f"Authorization: Basic {token}"
        numbered = {
            f"GIT_CONFIG_{part}_{at}": value
            for at, pair in enumerate(settled.items())
            for part, value in zip(("KEY", "VALUE"), pair, strict=True)
        }
        return {
            **{name: os.environ[name] for name in _PASSED if name in os.environ},
            "HOME": str(self.folder.parent),
            "LC_ALL": "C",
            "GIT_ALLOW_PROTOCOL": self.place.scheme,
            "GIT_ASKPASS": "true",
            "GIT_CONFIG_COUNT": str(len(settled)),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **numbered,
        }

    def _failure(self, said: str) -> ApiError:
        for pattern, (code, message, hint) in _REASONS:
            if re.search(pattern, said, re.IGNORECASE):
                return ApiError(code, message, hint, said=self._shown(said))
        return _failed(self._shown(said))

    def _shown(self, said: str) -> str:
        """Return the end of what git said, without the path of the copy and without secrets."""
        hidden = said.replace(str(self.folder), "…")
        for secret in filter(None, (self._secret, self._secret.partition(":")[2])):
            hidden = hidden.replace(secret, "…")
        lines = [line.strip() for line in re.split(r"[\r\n]+", hidden)]
        return " ".join(line for line in lines if line and not line.startswith("hint:"))[-300:]


def _failed(said: str) -> ApiError:
    return ApiError("git_failed", f"git failed: {said}", "Try again.", said=said)


def _end(running: subprocess.Popen[bytes]) -> None:
    """Kill the process and those that it started, if they still run."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()


def _tail(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, 4096, max(0, size - 4096)).decode("utf-8", "replace")


def _password_for(place: Place) -> str:
    """Return `user:password` of the longest listed URL that the address begins with, or nothing."""
    found = [
        url
        for url in settings.MILLRACE_GIT_PASSWORDS
        if place.address == url.rstrip("/") or place.address.startswith(url.rstrip("/") + "/")
    ]
    return str(settings.MILLRACE_GIT_PASSWORDS[max(found, key=len)]) if found else ""
