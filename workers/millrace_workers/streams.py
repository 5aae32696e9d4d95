"""Runs Kafka Streams itself on a scenario, in a process of its own (`cli.answering`)."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from millrace_model.scenarios import Looked, Scenario

#: environment variables that the process gets; none of them is a secret of the server
ENVIRONMENT = (
    "PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "JAVA_HOME", "MILLRACE_CACHE", "MILLRACE_JARS",
    "MILLRACE_JAR_MIRROR", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip
#: limit for an answer; the first one includes downloading jars and compiling
SECONDS = 600.0
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class KafkaStreams:
    """Processes that run Kafka Streams, each with a folder below `data`."""

    data: Path
    root: Path = ROOT

    @property
    def available(self) -> bool:
        """Whether the commands for documents (`cli`) are installed beside the workers."""
        return (self.root / "cli" / "answering.py").is_file()

    @property
    def free(self) -> bool:
        """Whether no process runs: one JVM of a gigabyte at a time is enough for a machine."""
        running = []
        for pid in self.data.glob("verifications/*/pid"):
            with suppress(OSError, ValueError):
                running.append(_lives(int(pid.read_text(encoding="utf-8"))))
        return not any(running)

    def start(self, name: str, scenario: Scenario) -> None:
        """Start a process for the scenario. Raises OSError if it cannot be started."""
        folder = self._folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scenario.json").write_text(json.dumps(scenario), encoding="utf-8")
        rooms = (self.root, self.root / "runtime", self.root / "compiler")
        known = {each: os.environ[each] for each in ENVIRONMENT if each in os.environ}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "cli.answering", str(folder)],
                cwd=folder,
                env={**known, "PYTHONPATH": os.pathsep.join(map(str, rooms))},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A process group of its own can be killed together with its JVM.
                start_new_session=True,
            )
        (folder / "pid").write_text(str(process.pid), encoding="utf-8")

    def look(self, name: str) -> Looked:
        """Return `{"answer": …}` when done, before that `{"doing": a word of `cli.answering`}`.

        The answer is `{"error": …}` also if the process ended or took too long.
        """
        folder = self._folder(name)
        with suppress(OSError, ValueError):
            return {"answer": json.loads((folder / "answer.json").read_text(encoding="utf-8"))}
        try:
            age = time.time() - (folder / "pid").stat().st_mtime
            pid = int((folder / "pid").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return _failed("streams_gone", "The process of the verification no longer exists.")
        if age > SECONDS:
            seconds = f"{SECONDS:.0f}"
            message = f"Kafka Streams took longer than {seconds} s."
            return _failed("streams_too_long", message, seconds=seconds)
        if not _lives(pid):
            return _failed("streams_ended", "The process of Kafka Streams ended unexpectedly.")
        with suppress(OSError):
            return {"doing": (folder / "progress").read_text(encoding="utf-8") or "jars"}
        return {"doing": "jars"}

    def end(self, name: str) -> None:
        """Kill the process and delete its folder."""
        folder = self._folder(name)
        with suppress(OSError, ValueError):
            os.killpg(int((folder / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, name: str) -> Path:
        return self.data / "verifications" / name


def _failed(code: str, message: str, **facts: str) -> Looked:
    return {"answer": {"error": {"code": code, "facts": facts, "message": message}}}


def _lives(pid: int) -> bool:
    with suppress(OSError):
        # A child of this process would otherwise remain as a zombie.
        ended, _ = os.waitpid(pid, os.WNOHANG)
        if ended:
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@dataclass
class ScriptedStreams:
    """Returns the configured answers, one for each call of `look`; nothing runs."""

    looks: list[Looked]
    available: bool = True
    free: bool = True
    started: dict[str, Scenario] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)

    def start(self, name: str, scenario: Scenario) -> None:
        """Keep the scenario."""
        self.started[name] = scenario

    def look(self, name: str) -> Looked:
        """Return the next answer; the last one is repeated."""
        return self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]

    def end(self, name: str) -> None:
        """Keep the name."""
        self.ended.append(name)
