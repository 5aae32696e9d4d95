"""Diagnosis of a driver that does not respond: its processes and the threads of its JVM."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil

ANSWER_SECONDS = 10.0
#: seconds without new output after which a dump is complete
QUIET_SECONDS = 0.5
BEGIN = "Full thread dump"
MOST_BYTES = 4_000_000


def dump(pid: int, log: Path, java: int | None = None) -> str:
    """Have the driver's JVM write a thread dump into its log, and return it.

    `java`: the pid of the JVM if it belongs to a host, whose log is then `log`.
    SIGQUIT needs nothing but the JVM. A process that was stopped by SIGSTOP is continued, because
    it cannot respond otherwise; it may go on working until it is killed.
    """
    try:
        driver = psutil.Process(pid)
        family = [driver, *driver.children(recursive=True)]
        family += [psutil.Process(java)] if java is not None else []
    except psutil.NoSuchProcess:
        return ""
    lines = [line for line in map(_line, family) if line]
    before = _size(log)
    for process in family:
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_STOPPED:
                process.resume()
    machines = [process for process in family if _is_java(process)]
    for process in machines:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGQUIT)
    found = _until_written(log, before) if machines else ""
    if not found:
        found = f"The JVM did not respond within {ANSWER_SECONDS:.0f} s."
    return "\n".join([*lines, "", found, ""])


def _line(process: psutil.Process) -> str:
    try:
        with process.oneshot():
            seconds = sum(process.cpu_times()[:2])
            return f"{process.pid} {process.name()}: {process.status()}, {seconds:.1f} s of CPU"
    except psutil.Error:
        return ""


def _is_java(process: psutil.Process) -> bool:
    try:
        return process.name() == "java"
    except psutil.Error:
        return False


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError:
        return 0


def _until_written(log: Path, before: int) -> str:
    deadline = time.monotonic() + ANSWER_SECONDS
    size, changed = before, time.monotonic()
    while time.monotonic() < deadline:
        now = _size(log)
        if now != size:
            size, changed = now, time.monotonic()
        text = _after(log, before if now >= before else 0)
        if BEGIN in text and time.monotonic() - changed > QUIET_SECONDS:
            return text[text.index(BEGIN) :]
        time.sleep(0.1)
    return ""


def _after(log: Path, place: int) -> str:
    with suppress(OSError), log.open("rb") as file:
        file.seek(place)
        return file.read(MOST_BYTES).decode("utf-8", errors="replace")
    return ""
