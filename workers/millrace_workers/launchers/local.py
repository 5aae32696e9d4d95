"""Drivers as processes of this machine, each in a session of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from millrace_workers.launchers.base import CheckpointInUse, Ended, JobSpec, Process
from millrace_workers.launchers.environment import of_driver
from millrace_workers.launchers.shim import LOG_BYTES, born, locked
from millrace_workers.launchers.threads import dump

START_DEADLINE_SECONDS = 15.0
#: a shim writes down the end of its driver at once
EXIT_NOTE_SECONDS = 3.0
SHIM = Path(__file__).with_name("shim.py")


class LocalLauncher:
    """Starts ``python job.py`` under a shim; finds it again by pid and start."""

    def __init__(self, data: Path, host: str = "", log_bytes: int = LOG_BYTES) -> None:
        self.log_bytes = log_bytes
        self.host = host or socket.gethostname()
        self.drivers = data / "run" / "drivers"
        #: shims are never waited for here, only kept from being finalised while they run
        self._shims: list[subprocess.Popen[bytes]] = []

    def start(self, spec: JobSpec) -> Process:
        """Start the driver; its output is appended to the log file."""
        directory = spec.log_file.parent
        directory.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(spec.job_directory / "job.py"), *spec.arguments]
        lock = _lock_of(directory)
        self._shims = [shim for shim in self._shims if shim.poll() is None]
        shim = subprocess.Popen(
            [
                sys.executable,
                str(SHIM),
                str(directory),
                str(spec.log_file),
                str(lock),
                str(self.log_bytes),
                "--",
                *command,
            ],
            cwd=spec.job_directory,
            env={**of_driver(os.environ), **spec.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._shims.append(shim)
        note = self._wait_for(directory, shim.pid)
        process = self._process(note)
        if process is None:
            raise OSError("the driver ended as soon as it was started")
        self.drivers.mkdir(parents=True, exist_ok=True)
        self._note(spec.deployment).write_text(
            json.dumps({"pid": process.pid, "born": process.born, "group": note["group"]}),
            encoding="utf-8",
        )
        return process

    def find(self, deployment_directory: Path) -> Process | None:
        """The living driver named by the shim's note, if there is one."""
        with suppress(OSError, ValueError):
            path = deployment_directory / "process.json"
            process = self._process(json.loads(path.read_text(encoding="utf-8")))
            return process if process is not None and self._lives(process) else None
        return None

    def sees(self, deployment_directory: Path, process: Process) -> bool:
        """Its own drivers, and those of other hosts that let go of their checkpoint."""
        return process.host == self.host or _is_free(_lock_of(deployment_directory))

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """None while the driver lives; a zombie is not alive."""
        if self._lives(process):
            return None
        deadline = time.monotonic() + EXIT_NOTE_SECONDS
        while True:
            # Asked before the note is read: a shim that is gone by now has written it.
            noting = self._shim_lives(deployment_directory, process)
            with suppress(OSError, ValueError):
                ended = json.loads((deployment_directory / "exit.json").read_text(encoding="utf-8"))
                if ended["pid"] == process.pid:
                    return Ended(int(ended["exit_code"]))
            if not noting or time.monotonic() > deadline:
                return Ended(None)
            time.sleep(0.02)

    def ask_to_stop(self, process: Process) -> None:
        """SIGTERM to the driver: it stops its query, then exits."""
        if self._lives(process):
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)

    def kill(self, process: Process) -> None:
        """SIGKILL to the driver's whole process group (its JVM and Python workers too)."""
        if not self._lives(process):
            return
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            family = psutil.Process(process.pid).children(recursive=True)
            os.killpg(os.getpgid(process.pid), signal.SIGKILL)
            for member in family:
                with suppress(psutil.NoSuchProcess):
                    member.kill()

    def threads(self, process: Process, log_file: Path) -> str:
        """The driver's processes and the thread dump of its JVM."""
        return dump(process.pid, log_file) if self._lives(process) else ""

    def forget(self, deployment: int) -> None:
        """Take the driver off the list that the launcher of the whole system ends with it."""
        self._note(deployment).unlink(missing_ok=True)

    def _lives(self, process: Process) -> bool:
        return process.host == self.host and born(process.pid) == process.born

    def _process(self, note: dict[str, Any]) -> Process | None:
        """The driver in a shim's note; None where it had ended before the note was written."""
        return None if note["born"] is None else Process(self.host, note["pid"], note["born"])

    @staticmethod
    def _shim_lives(deployment_directory: Path, process: Process) -> bool:
        with suppress(OSError, ValueError):
            path = deployment_directory / "process.json"
            note = json.loads(path.read_text(encoding="utf-8"))
            return bool(note["pid"] == process.pid and born(note["shim"]) is not None)
        return False

    def _note(self, deployment: int) -> Path:
        return self.drivers / f"{deployment}.json"

    @staticmethod
    def _wait_for(directory: Path, shim: int) -> dict[str, Any]:
        """A shim's note. Raises CheckpointInUse where the shim was refused, OSError for none."""
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while time.monotonic() < deadline:
            for name in ("process.json", "refused.json"):
                with suppress(FileNotFoundError):
                    note: dict[str, Any] = json.loads((directory / name).read_text("utf-8"))
                    if note["shim"] == shim and name == "process.json":
                        return note
                    if note["shim"] == shim:
                        raise CheckpointInUse(
                            f"Another driver runs on the checkpoint: {note['holder'] or 'unknown'}."
                        )
            time.sleep(0.02)
        raise OSError(f"the driver did not start within {START_DEADLINE_SECONDS:.0f} s")


def _lock_of(deployment_directory: Path) -> Path:
    """Beside the checkpoint, not in it: a checkpoint may be replaced while its lock is held."""
    return deployment_directory / "checkpoint.lock"


def _is_free(lock: Path) -> bool:
    """Whether a driver has held this lock and none does any more."""
    if not lock.exists():
        return False
    descriptor = locked(lock)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True
