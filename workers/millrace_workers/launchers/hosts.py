"""Hosts of this machine (`host`): starts one when it is needed, and has it start drivers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import cast

from millrace_model.drivers import HostAnswer, HostRequest
from millrace_services.local_services import Connection

from millrace_workers.launchers.environment import of_driver

LINUX = sys.platform.startswith("linux")
HOST_SOCKET = "host.sock"
#: default heap of a host's JVM
MEMORY_MB = 1024
#: packages that a staged job contains
PACKAGES = ("millrace_runtime", "millrace_compiler", "millrace_model", "millrace_services")
#: note in a deployment's folder: it has filled the heap of a host, or has not ended there
ALONE = "alone"
WORKERS = Path(__file__).parents[2]
ANSWER_SECONDS = 10.0
RETRY_SECONDS = 0.1


def possible(job: Path) -> bool:
    """Whether a staged job can run in a host: on Linux, and not with an older runtime."""
    packages = job / PACKAGES[0]
    return LINUX and (not packages.is_dir() or (packages / "hosting").is_dir())


def must_be_alone(deployment_directory: Path, job: Path) -> bool:
    """Whether this version was found to harm a host; another version may try again."""
    file = deployment_directory / ALONE
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if noted.setdefault("job", job.name) != job.name:
        file.unlink(missing_ok=True)
        return False
    # The host does not know versions.
    file.write_text(json.dumps(noted), encoding="utf-8")
    return True


class Hosts:
    """The hosts below a folder, each for a group of deployments and one version of the runtime."""

    def __init__(self, folder: Path, memory_mb: int = MEMORY_MB) -> None:
        self.folder = folder
        self._memory_mb = memory_mb
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, group: str, job: Path, request: HostRequest, deadline: float) -> HostAnswer:
        """Have a host start a driver, and return its response: `note`, or `refused`.

        Raises OSError if no host has responded at `deadline` (monotonic seconds).
        """
        folder = self.folder_of(group, job)
        tried = False
        while True:
            try:
                connection = Connection(str(folder / HOST_SOCKET), ANSWER_SECONDS)
                try:
                    return cast(HostAnswer, connection.ask({"do": "start", **request}))
                finally:
                    connection.close()
            except (OSError, ValueError) as error:
                if time.monotonic() > deadline:
                    raise OSError(f"The host {folder.name} does not respond: {error}") from error
            # A host that is ending closes connections; the next one waits for its end.
            self._processes = [each for each in self._processes if each.poll() is None]
            if not tried or not self._processes:
                tried = True
                self._processes.append(self._begin(folder, job))
            time.sleep(RETRY_SECONDS)

    def folder_of(self, group: str, job: Path) -> Path:
        """Return the folder of the host for a group and for the runtime that a job contains."""
        return self.folder / f"{group}-{_version(job)}"

    def _begin(self, folder: Path, job: Path) -> subprocess.Popen[bytes]:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = [str(WORKERS), *filter(None, [os.environ.get("PYTHONPATH")])]
        if (job / PACKAGES[0]).is_dir():
            path.insert(0, str(_packages(folder, job)))
        else:
            # Without its own packages, a job finds those of this process.
            path += [each for each in sys.path if each]
        with (folder / "host.log").open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable, "-m", "millrace_workers.launchers.host", str(folder),
                    str(self._memory_mb),
                ],
                cwd=folder,
                env={**of_driver(os.environ), "PYTHONPATH": os.pathsep.join(path)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )  # fmt: skip


def _version(job: Path) -> str:
    """Return a hash of the packages in a staged job."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for file in sorted((job / package).rglob("*")):
            if file.is_file():
                digest.update(f"{file.relative_to(job)}\n".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _packages(folder: Path, job: Path) -> Path:
    """Copy the packages, which outlive the version that they were staged for."""
    target = folder / "packages"
    if not target.exists():
        partial = folder / f"packages.{os.getpid()}"
        for package in PACKAGES:
            # A job that was staged by an earlier version may have fewer.
            if (job / package).is_dir():
                shutil.copytree(job / package, partial / package)
        with suppress(OSError):  # another worker was faster
            partial.rename(target)
        shutil.rmtree(partial, ignore_errors=True)
    return target


def java_of(folder: Path) -> int | None:
    """Return the pid of a host's JVM, if it is known."""
    try:
        found = json.loads((folder / "jvm.json").read_text(encoding="utf-8"))["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return int(found)
