"""Drivers as processes of this machine, each in a session of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from millrace_workers.launchers.base import Ended, JobSpec, Process

#: two clocks of one process (kernel ticks) never differ by more
SAME_START_SECONDS = 1.0
START_DEADLINE_SECONDS = 15.0
#: a shim writes down the end of its driver at once
EXIT_NOTE_SECONDS = 3.0
SHIM = Path(__file__).with_name("shim.py")


class LocalLauncher:
    """Starts ``python job.py`` under a shim; finds it again by pid and start time."""

    def __init__(self, data: Path) -> None:
        self.drivers = data / "run" / "drivers"
        #: shims are never waited for here, only kept from being finalised while they run
        self._shims: list[subprocess.Popen[bytes]] = []

    def start(self, spec: JobSpec) -> Process:
        """Start the driver; its output is appended to the log file."""
        directory = spec.log_file.parent
        directory.mkdir(parents=True, exist_ok=True)
        for stale in ("process.json", "exit.json"):
            (directory / stale).unlink(missing_ok=True)
        command = [sys.executable, str(spec.job_directory / "job.py"), *spec.arguments]
        self._shims = [shim for shim in self._shims if shim.poll() is None]
        shim = subprocess.Popen(
            [sys.executable, str(SHIM), str(directory), str(spec.log_file), "--", *command],
            cwd=spec.job_directory,
            env={**os.environ, **spec.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._shims.append(shim)
        started = self._wait_for(directory / "process.json")
        try:
            process = Process(started["pid"], psutil.Process(started["pid"]).create_time())
        except psutil.NoSuchProcess:
            raise OSError("the driver ended as soon as it was started") from None
        self.drivers.mkdir(parents=True, exist_ok=True)
        self._note(spec.deployment).write_text(
            json.dumps(
                {"pid": process.pid, "started": process.started_at, "group": started["group"]}
            ),
            encoding="utf-8",
        )
        return process

    def find(self, deployment_directory: Path) -> Process | None:
        """The living driver named by the shim's note, if there is one."""
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            path = deployment_directory / "process.json"
            note = json.loads(path.read_text(encoding="utf-8"))
            found = psutil.Process(note["pid"])
            process = Process(found.pid, found.create_time())
            # The note is written right after the start: a pid that was given away again is younger.
            if found.create_time() <= path.stat().st_mtime + SAME_START_SECONDS:
                return process if self._find(process) is not None else None
        return None

    def poll(self, deployment_directory: Path, process: Process) -> Ended | None:
        """None while the driver lives; a zombie is not alive."""
        if self._find(process) is not None:
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
        found = self._find(process)
        if found is not None:
            with suppress(psutil.NoSuchProcess):
                found.send_signal(signal.SIGTERM)

    def kill(self, process: Process) -> None:
        """SIGKILL to the driver's whole process group (its JVM and Python workers too)."""
        found = self._find(process)
        if found is None:
            return
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            family = found.children(recursive=True)
            os.killpg(os.getpgid(found.pid), signal.SIGKILL)
            for member in family:
                with suppress(psutil.NoSuchProcess):
                    member.kill()

    def forget(self, deployment: int) -> None:
        """Take the driver off the list that the launcher of the whole system ends with it."""
        self._note(deployment).unlink(missing_ok=True)

    @staticmethod
    def _shim_lives(deployment_directory: Path, process: Process) -> bool:
        with suppress(OSError, ValueError, psutil.NoSuchProcess):
            path = deployment_directory / "process.json"
            note = json.loads(path.read_text(encoding="utf-8"))
            shim = psutil.Process(note["group"])
            return bool(note["pid"] == process.pid and shim.status() != psutil.STATUS_ZOMBIE)
        return False

    def _note(self, deployment: int) -> Path:
        return self.drivers / f"{deployment}.json"

    @staticmethod
    def _find(process: Process) -> psutil.Process | None:
        try:
            found = psutil.Process(process.pid)
            same = abs(found.create_time() - process.started_at) < SAME_START_SECONDS
            return found if same and found.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    @staticmethod
    def _wait_for(path: Path) -> dict[str, Any]:
        deadline = time.monotonic() + START_DEADLINE_SECONDS
        while time.monotonic() < deadline:
            with suppress(FileNotFoundError):
                content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
                return content
            time.sleep(0.02)
        raise OSError(f"the driver did not start within {START_DEADLINE_SECONDS:.0f} s")
