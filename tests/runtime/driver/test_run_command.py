"""`./millrace run` in a terminal: Ctrl-C reaches the command and all processes it started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from checks.steps import environment
from launcher import places
from tests.runtime import topics

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]


@contextmanager
def in_a_terminal(
    folder: Path, address: str, source: str, target: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command as the leader of a terminal's foreground group; its output is in `said`."""
    document = {
        "format": "millrace.topology/1",
        "name": "copy",
        "topics": {source: {"partitions": 1}, target: {"partitions": 1}},
        "nodes": [
            {
                "id": "in",
                "kind": "source.stream",
                "params": {
                    "topics": [source],
                    "key": {"format": "string"},
                    "value": {"format": "string"},
                },
            },
            {"id": "out", "kind": "sink.topic", "params": {"topic": target}},
        ],
        "edges": [{"source": "in", "target": "out"}],
    }
    (folder / "copy.json").write_text(json.dumps(document))
    with (folder / "said").open("wb") as printed:
        command = subprocess.Popen(
            [
                sys.executable, "-m", "launcher.main", "run", str(folder / "copy.json"),
                "--bootstrap-servers", address, "--checkpoint", str(folder / "checkpoint"),
                "--master", "local[1]",
            ],
            cwd=places.REPOSITORY,
            env={**environment(), "TMPDIR": str(folder)},
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield command
    finally:
        if command.poll() is None:
            os.killpg(command.pid, signal.SIGKILL)
            command.wait()


def stopped_by_ctrl_c(command: subprocess.Popen[bytes], folder: Path) -> None:
    """Press Ctrl-C: the command must end with 130, and leave no process or folder behind."""
    family = psutil.Process(command.pid).children(recursive=True)
    os.killpg(command.pid, signal.SIGINT)
    code = command.wait(90)
    printed = (folder / "said").read_text()
    assert "Traceback" not in printed, printed
    assert "Exception" not in printed, printed
    assert code == 130, printed
    deadline = time.monotonic() + 60
    # A JVM that is still starting notices only later that its parent is gone.
    while left := [each for each in family if lives(each)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)
    assert not list(folder.glob("millrace-run-*"))


def lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def until(condition: Callable[[], bool], command: subprocess.Popen[bytes], folder: Path) -> None:
    deadline = time.monotonic() + 180
    while not condition():
        assert command.poll() is None, (folder / "said").read_text()
        assert time.monotonic() < deadline, (folder / "said").read_text()
        time.sleep(0.1)


@pytest.fixture
def names(broker: Any) -> tuple[str, str]:
    source, target = (f"{name}-{uuid.uuid4()}" for name in ("in", "out"))
    topics.create(broker.address, {source: 1, target: 1})
    return source, target


@pytest.mark.long
def test_ctrl_c_ends_a_running_job_without_a_traceback(
    broker: Any, tmp_path: Path, names: tuple[str, str]
) -> None:
    source, target = names
    topics.produce(broker.address, source, [{"key": "k", "value": "v"}])
    with in_a_terminal(tmp_path, broker.address, source, target) as command:
        until(lambda: topics.size(broker.address, target) == 1, command, tmp_path)
        stopped_by_ctrl_c(command, tmp_path)


def test_ctrl_c_ends_a_command_that_still_compiles_without_a_traceback(
    broker: Any, tmp_path: Path, names: tuple[str, str]
) -> None:
    with in_a_terminal(tmp_path, broker.address, *names) as command:
        until(
            lambda: any(
                each.name() == "java"
                for each in psutil.Process(command.pid).children(recursive=True)
            ),
            command,
            tmp_path,
        )
        stopped_by_ctrl_c(command, tmp_path)


INTERRUPTED = """
from millrace_runtime.session import session
spark = session.create("interrupted", master="local[1]")
print("UP", flush=True)
try:
    spark._jvm.java.lang.Thread.sleep(60_000)
except KeyboardInterrupt:
    spark.stop()
"""


def test_ctrl_c_during_a_call_into_java_logs_no_stack_trace() -> None:
    script = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert script.stdout is not None
    assert script.stdout.readline() == "UP\n"
    time.sleep(1)
    script.send_signal(signal.SIGINT)
    _, errors = script.communicate(timeout=90)
    assert "Traceback" not in errors, errors
    assert script.returncode == 0, errors
