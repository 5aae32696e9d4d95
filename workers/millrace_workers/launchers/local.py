"""Launcher for drivers that are processes of this machine, each in its own session."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import psutil
from millrace_model.drivers import DriverNote, HostRequest, ListedProcess

from millrace_workers.launchers import hosts
from millrace_workers.launchers.base import (
    CheckpointInUse,
    Ended,
    JobSpec,
    NotStarted,
    Standby,
)
from millrace_workers.launchers.environment import of_driver
from millrace_workers.launchers.shim import LOG_BYTES, born, locked, write
from millrace_workers.launchers.threads import dump
from millrace_workers.model import Failure, Process

START_DEADLINE_SECONDS = 15.0
#: the same where a host may have to start first, which loads the modules of its drivers
HOST_DEADLINE_SECONDS = 60.0
#: seconds to wait for a shim's exit note, which is written as soon as the driver ends
EXIT_NOTE_SECONDS = 3.0
#: folder for the standbys of a deployment, with one folder for each
STANDBYS = "standby"
#: suffix of the names of their notes
STANDBY = "-standby"
SHIM = Path(__file__).with_name("shim.py")


class LocalLauncher:
    """Starts ``python job.py`` under a shim, and finds it again by pid and start time."""

    def __init__(
        self,
        data: Path,
        host: str = "",
        log_bytes: int = LOG_BYTES,
        host_memory_mb: int = hosts.MEMORY_MB,
    ) -> None:
        self.log_bytes = log_bytes
        self.host = host or socket.gethostname()
        self.drivers = data / "run" / "drivers"
        self.hosts = hosts.Hosts(data / "run" / "hosts", host_memory_mb)
        #: shims are not waited for; these references keep them from being finalized while they run
        self._shims: list[subprocess.Popen[bytes]] = []

    def start(self, spec: JobSpec) -> Process:
        """Start the driver; its output is appended to the log file."""
        directory = spec.log_file.parent
        note = self._launch(spec, directory, "now", spec.arguments)
        process = self._process(note)
        if process is None:
            raise NotStarted(
                Failure("start_ended", "The driver ended as soon as it was started; see its log.")
            )
        self._list(str(spec.deployment), note)
        return process

    def start_standby(self, spec: JobSpec) -> None:
        """Start a driver in its own folder, to keep the notes of the running one."""
        directory = spec.log_file.parent
        self.end_standby(spec.deployment, directory)
        folder = directory / STANDBYS / spec.report_id
        folder.mkdir(parents=True)
        arguments = (*spec.arguments, "--standby", str(folder))
        note = self._launch(spec, folder, "later", arguments)
        self._list(f"{spec.deployment}{STANDBY}", note)

    def standby(self, deployment_directory: Path) -> Standby | None:
        """Return the standby in its shim's note. It ends itself unless this is called regularly."""
        folder = self._waiting(deployment_directory)
        if folder is None:
            return None
        note = json.loads((folder / "process.json").read_text(encoding="utf-8"))
        process = Process(self.host, note["pid"], note["born"] or "")
        job, arguments = Path(note["command"][1]).parent, tuple(note["command"][2:-2])
        ended = self.poll(deployment_directory, process)
        (folder / "wanted").touch()
        return Standby(
            process,
            job,
            arguments,
            ready=(folder / "ready").exists(),
            ended=ended,
            goes=(folder / "go").exists(),
            ended_at=float(_read(folder / "exit.json").get("at", 0)),
        )

    def hand_over(self, deployment_directory: Path) -> None:
        """Create the file that the standby waits for."""
        folder = self._waiting(deployment_directory)
        if folder is not None:
            (folder / "go").touch()

    def adopt(self, deployment: int, deployment_directory: Path) -> Process | None:
        """Replace the notes of the deployment with those of the standby, atomically."""
        folder = self._waiting(deployment_directory)
        if folder is None:
            return None
        note = json.loads((folder / "process.json").read_text(encoding="utf-8"))
        process = self._process(note)
        if process is None or not self._lives(process):
            return None
        (folder / "go").touch()
        self._list(str(deployment), note)
        write(deployment_directory / "process.json", note)
        self._note(f"{deployment}{STANDBY}").unlink(missing_ok=True)
        return process

    def end_standby(self, deployment: int, deployment_directory: Path) -> None:
        """Kill the standby, which has only prepared itself, and delete its notes."""
        folder = self._waiting(deployment_directory)
        if folder is not None:
            note = json.loads((folder / "process.json").read_text(encoding="utf-8"))
            self.kill(Process(self.host, note["pid"], note["born"] or ""))
        named = _read(deployment_directory / "process.json").get("pid")
        for old in (deployment_directory / STANDBYS).glob("*"):
            if _read(old / "process.json").get("pid") != named:
                shutil.rmtree(old, ignore_errors=True)
        self._note(f"{deployment}{STANDBY}").unlink(missing_ok=True)

    def _launch(
        self, spec: JobSpec, directory: Path, when: str, arguments: tuple[str, ...]
    ) -> DriverNote:
        """Start a driver under a shim that keeps its notes in `directory`; return its note."""
        home = spec.log_file.parent
        home.mkdir(parents=True, exist_ok=True)
        job = str(spec.job_directory / "job.py")
        started = ["-m", spec.module] if spec.module else [job]
        command = [sys.executable, *started, *arguments]
        self._shims = [shim for shim in self._shims if shim.poll() is None]
        environment = {**of_driver(os.environ, arguments), **spec.environment}
        if (
            spec.host is not None
            and spec.module is None
            and hosts.possible(spec.job_directory)
            and not hosts.must_be_alone(home, spec.job_directory)
        ):
            return self._shared(spec, spec.host, directory, when, command, environment)
        shim = subprocess.Popen(
            [
                sys.executable, str(SHIM), str(directory), str(spec.log_file), str(_lock_of(home)),
                str(self.log_bytes), when, "--", *command,
            ],
            cwd=spec.job_directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self._shims.append(shim)
        return self._wait_for(directory, shim.pid)

    def _shared(
        self,
        spec: JobSpec,
        group: str,
        directory: Path,
        when: str,
        command: list[str],
        environment: dict[str, str],
    ) -> DriverNote:
        """Have a host start the driver, and list the host among what ends with the system."""
        request: HostRequest = {
            "directory": str(directory),
            "log": str(spec.log_file),
            "lock": str(_lock_of(spec.log_file.parent)),
            "log_bytes": self.log_bytes,
            "when": when,
            "command": command,
            "cwd": str(spec.job_directory),
            "environment": environment,
            "run": spec.report_id,
        }
        deadline = time.monotonic() + HOST_DEADLINE_SECONDS
        answer = self.hosts.start(group, spec.job_directory, request, deadline)
        if "note" not in answer:
            raise CheckpointInUse(answer["refused"] or "–")
        note = answer["note"]
        parent: ListedProcess = {
            "pid": note["shim"],
            "born": born(note["shim"]),
            "group": note["shim"],
        }
        self._list(f"host-{note['host']}", parent)
        return note

    def _list(self, name: str, note: ListedProcess) -> None:
        """List a driver among those that end with the whole system."""
        self.drivers.mkdir(parents=True, exist_ok=True)
        listed = {"pid": note["pid"], "born": note["born"], "group": note["group"]}
        self._note(name).write_text(json.dumps(listed), encoding="utf-8")

    @staticmethod
    def _waiting(deployment_directory: Path) -> Path | None:
        """The folder of a driver that was not adopted, whether it lives or not."""
        named = _read(deployment_directory / "process.json")
        for folder in sorted((deployment_directory / STANDBYS).glob("*")):
            note = _read(folder / "process.json")
            if note and (note["pid"], note["born"]) != (named.get("pid"), named.get("born")):
                return folder
        return None

    def find(self, deployment_directory: Path) -> Process | None:
        """Return the driver in the shim's note if it is alive."""
        note = _read(deployment_directory / "process.json")
        process = self._process(note) if note else None
        return process if process is not None and self._lives(process) else None

    def sees(self, deployment_directory: Path, process: Process) -> bool:
        """Whether the driver runs on this host, or elsewhere and has released its checkpoint."""
        return process.host == self.host or _is_free(_lock_of(deployment_directory))

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """Return None while the driver is alive (a zombie is not), then how it ended."""
        if self._lives(process):
            return None
        deadline = time.monotonic() + EXIT_NOTE_SECONDS
        while True:
            # Check this before reading the note: a shim that is gone by now has written it.
            noting = self._shim_lives(deployment_directory, process)
            for folder in _folders(deployment_directory):
                ended = _read(folder / "exit.json")
                if ended.get("pid") == process.pid:
                    return Ended(int(ended["exit_code"]))
            if not noting or time.monotonic() > deadline:
                return Ended(None)
            time.sleep(0.02)

    def ask_to_stop(self, process: Process) -> None:
        """Send SIGTERM to the driver: it stops its query, then exits."""
        if self._lives(process):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)

    def kill(self, process: Process) -> None:
        """Send SIGKILL to the driver's whole process group (its JVM and Python workers too)."""
        if not self._lives(process):
            return
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            family = psutil.Process(process.pid).children(recursive=True)
            os.killpg(os.getpgid(process.pid), signal.SIGKILL)
            for member in family:
                with suppress(psutil.NoSuchProcess):
                    member.kill()

    def threads(self, process: Process, log_file: Path) -> str:
        """The driver's processes and the thread dump of its JVM, or of its host's."""
        if not self._lives(process):
            return ""
        name = _read(log_file.parent / "process.json").get("host")
        if name is None:
            return dump(process.pid, log_file)
        folder = self.hosts.folder / name
        return dump(process.pid, folder / "host.log", hosts.java_of(folder))

    def forget(self, deployment: int) -> None:
        """Remove the driver from those that end with the whole system."""
        self._note(str(deployment)).unlink(missing_ok=True)

    def _lives(self, process: Process) -> bool:
        return process.host == self.host and born(process.pid) == process.born

    def _process(self, note: DriverNote) -> Process | None:
        """Return the driver in a shim's note; None if it had ended before the note was written."""
        return None if note["born"] is None else Process(self.host, note["pid"], note["born"])

    @staticmethod
    def _shim_lives(deployment_directory: Path, process: Process) -> bool:
        for folder in _folders(deployment_directory):
            note = _read(folder / "process.json")
            if note.get("pid") == process.pid and born(note["shim"]) is not None:
                return True
        return False

    def _note(self, name: str) -> Path:
        return self.drivers / f"{name}.json"

    @staticmethod
    def _wait_for(directory: Path, shim: int) -> DriverNote:
        """Wait for a shim's note. Raises CheckpointInUse, or NotStarted after the deadline."""
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while time.monotonic() < deadline:
            for name in ("process.json", "refused.json"):
                with suppress(FileNotFoundError):
                    note = json.loads((directory / name).read_text("utf-8"))
                    if note["shim"] == shim and name == "process.json":
                        return cast(DriverNote, note)
                    if note["shim"] == shim:
                        raise CheckpointInUse(note["holder"] or "–")
            time.sleep(0.02)
        seconds = f"{START_DEADLINE_SECONDS:.0f}"
        message = f"The driver did not start within {seconds} s."
        raise NotStarted(Failure("start_slow", message, facts={"seconds": seconds}))


def _folders(deployment_directory: Path) -> list[Path]:
    """Return the folders with notes of shims: the deployment's own and those of its standbys."""
    return [deployment_directory, *(deployment_directory / STANDBYS).glob("*")]


def _read(file: Path) -> Any:
    """Return a shim's note; empty if there is none."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _lock_of(deployment_directory: Path) -> Path:
    """The lock file is beside the checkpoint, which may be replaced while the lock is held."""
    return deployment_directory / "checkpoint.lock"


def _is_free(lock: Path) -> bool:
    """Whether a driver has held this lock and none holds it now."""
    if not lock.exists():
        return False
    descriptor = locked(lock)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True
