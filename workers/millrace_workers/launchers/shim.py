"""Parent of one driver: starts it, waits for it, and records how it ended.

Runs detached from the worker, whose end or restart does not affect the driver. Usage: ``python
shim.py DIRECTORY LOG LOCK LOG_BYTES now|later -- COMMAND...``. Writes ``process.json``, or
``refused.json`` if another driver holds LOCK, and ``exit.json`` into DIRECTORY. With ``later``, the
driver takes the lock itself, through the descriptor in MILLRACE_LOCK: both processes then hold it,
as with ``now``. The driver's temporary files are in a folder of their own, MILLRACE_SCRATCH, which
is deleted afterwards. Uses only the standard library.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
LINUX = sys.platform.startswith("linux")
#: seconds to wait for the lock: the previous driver may still be ending
LOCK_SECONDS = 2.0
#: default size in bytes above which a log is rotated
LOG_BYTES = 20_000_000
LOG_LOOK_SECONDS = 2.0
#: seconds to wait for the remaining processes of a killed driver
SWEEP_SECONDS = 10.0


def born(pid: int) -> str | None:
    """Return an identifier of the process's start that no other process with this pid shares.

    None if no such process is alive; a zombie is not. The system clock is not used, because it may
    be set while the process runs.
    """
    if not LINUX:
        shown = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        return " ".join(shown[1:]) if shown and not shown[0].startswith("Z") else None
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # Start at the third field: the second, the name, may contain blanks and brackets.
    fields = stat.rpartition(")")[2].split()
    state, start_ticks = fields[0], fields[19]
    return None if state in {"Z", "X"} else f"{boot}/{start_ticks}"


def opened(path: Path) -> int:
    """Open a lock file without taking the lock, and return its descriptor."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def locked(path: Path, seconds: float = 0.0) -> int | None:
    """Lock a file and return its descriptor; None if another process holds it all the time."""
    descriptor = opened(path)
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
            time.sleep(0.05)
        else:
            return descriptor


def write(path: Path, content: dict[str, object]) -> None:
    """Write JSON so that a reader sees all of it or nothing."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)


def rotate(log: Path, limit: int) -> None:
    """Rotate a log that exceeds its limit (bytes) to ``.1``, in place of the previous one.

    The driver keeps the file open, so it is copied and truncated; the driver appends at its new
    end.
    """
    with suppress(OSError):
        if log.stat().st_size > limit:
            shutil.copyfile(log, log.with_name(log.name + ".1"))
            os.truncate(log, 0)


def wait_for(driver: subprocess.Popen[bytes], log: Path, limit: int) -> int:
    """Return the driver's exit code as soon as it ends; rotate its log until then."""
    end = None
    if LINUX:
        with suppress(OSError):  # not supported by older kernels
            end = os.pidfd_open(driver.pid)
    while True:
        rotate(log, limit)
        if end is not None:
            select.select([end], [], [], LOG_LOOK_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            return driver.wait(LOG_LOOK_SECONDS if end is None else 0)


def sweep(group: int) -> None:
    """Kill what is left of a driver's group, so that its JVM stops writing the checkpoint."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    deadline = time.monotonic() + SWEEP_SECONDS
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.002)


def main(arguments: list[str]) -> int:
    """Start the driver and wait for it; hold the lock until all of its processes have ended."""
    directory, log_path, lock_path = (Path(each) for each in arguments[:3])
    log_bytes, later, command = int(arguments[3]), arguments[4] == "later", arguments[6:]
    # The whole group is signaled, but the shim must stay to record the exit code.
    for quiet in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(quiet, lambda _signal, _frame: None)
    if LINUX:
        # Orphans of the driver become children of this process, which can wait for them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    lock = opened(lock_path) if later else locked(lock_path, LOCK_SECONDS)
    if lock is None:
        holder = lock_path.read_text(encoding="utf-8", errors="replace")
        write(directory / "refused.json", {"shim": os.getpid(), "holder": holder})
        return 1
    (directory / "exit.json").unlink(missing_ok=True)
    scratch = tempfile.mkdtemp(prefix="millrace-driver-")
    with log_path.open("ab") as log:
        driver = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # The driver holds the lock as well: the end of this process does not free the
            # checkpoint.
            pass_fds=(lock,),
            process_group=0,
            env={**os.environ, "MILLRACE_LOCK": str(lock), "MILLRACE_SCRATCH": scratch},
        )
    if not later:
        os.truncate(lock, 0)
        os.pwrite(lock, f"process {driver.pid} on {os.uname().nodename}".encode(), 0)
    write(
        directory / "process.json",
        {
            "pid": driver.pid,
            "born": born(driver.pid),
            "group": driver.pid,
            "shim": os.getpid(),
            "command": command,
        },
    )
    code = wait_for(driver, log_path, log_bytes)
    # The folder of a standby that was given up has been deleted.
    with suppress(OSError):
        write(directory / "exit.json", {"pid": driver.pid, "exit_code": code, "at": time.time()})
    sweep(driver.pid)
    os.close(lock)
    shutil.rmtree(scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
