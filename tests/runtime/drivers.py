"""Jobs as driver processes, started as a deployment starts them, and their remains."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from launcher import archive

ROOT = Path(__file__).parents[2]


def started(
    script: str, *options: str, address: str, checkpoint: Path | str, **environment: str
) -> subprocess.Popen[str]:
    """Start a script of this folder in a process session of its own.

    Its JVM lives for seconds, so classes come from the archive if there is one.
    """
    quick = archive.with_options(archive.spark().use())
    master = [] if "--master" in options else ["--master", "local[2]"]
    path = os.pathsep.join([*(str(ROOT / each) for each in ("compiler", "runtime")), str(ROOT)])
    return subprocess.Popen(
        [
            sys.executable, str(Path(__file__).with_name(script)), *options,
            "--bootstrap-servers", address, *master,
            "--checkpoint", str(checkpoint),
        ],
        env={**os.environ, **quick, **environment, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )  # fmt: skip


def kill(process: subprocess.Popen[str]) -> str:
    """Kill Python and the JVM, and return what the job had printed to standard error."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return process.communicate(timeout=60)[1]


def ended(process: subprocess.Popen[str]) -> str:
    """Kill a job that misbehaves; return its exit code, output and thread dumps for diagnosis."""
    spoke = subprocess.run(["jps", "-q"], capture_output=True, text=True, check=False).stdout
    session = os.getsid(process.pid) if process.poll() is None else None
    stacks = [
        subprocess.run(["jstack", each], capture_output=True, text=True, check=False).stdout
        for each in spoke.split()
        if session is not None and _session_of(int(each)) == session
    ]
    code = process.poll()
    return "\n".join([f"exit code {code}", kill(process), *stacks])


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def problems(printed: str) -> list[str]:
    """Return the lines of a job's output that do not report progress."""
    return [line for line in printed.splitlines() if " INFO " not in line]
