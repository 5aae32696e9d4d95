"""Thread dumps of a real JVM that runs, that was stopped, and that does not exist."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from millrace_workers.launchers import threads

from launcher import java

SLEEPER = """
public class Sleeper {
  public static void main(String[] words) throws Exception {
    System.out.println("ready");
    Thread.sleep(600000);
  }
}
"""
#: a parent process, as the driver is the parent of its JVM
DRIVER = "import subprocess, sys; subprocess.run(sys.argv[1:])"


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose child is a JVM; both write the log."""
    source = tmp_path / "Sleeper.java"
    source.write_text(SLEEPER)
    home = java.environment()["JAVA_HOME"]
    with (tmp_path / "driver.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, f"{home}/bin/java", str(source)],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + 60
    while b"ready" not in (tmp_path / "driver.log").read_bytes():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    yield process
    family = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    for each in [*family, psutil.Process(process.pid)]:
        each.kill()
    process.wait(20)


@pytest.mark.slow
def test_the_threads_of_a_jvm_are_dumped_whether_it_runs_or_was_stopped(
    driver: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    log = tmp_path / "driver.log"
    first = threads.dump(driver.pid, log)
    assert "java: sleeping" in first
    assert "Sleeper.main" in first
    (machine,) = psutil.Process(driver.pid).children()
    machine.send_signal(signal.SIGSTOP)
    while machine.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    second = threads.dump(driver.pid, log)
    assert "java: stopped" in second
    assert second.count("Full thread dump") == 1
    assert "Sleeper.main" in second


def test_a_driver_that_is_gone_has_no_threads(tmp_path: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait(20)
    assert threads.dump(done.pid, tmp_path / "driver.log") == ""
