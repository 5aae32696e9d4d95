"""The local launcher with real processes."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from millrace_workers.launchers import Ended, JobSpec, LocalLauncher, Process

POLITE = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("started", sys.argv[1:], flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.fixture
def launcher(tmp_path: Path) -> Iterator[LocalLauncher]:
    made = LocalLauncher(tmp_path / "data")
    yield made
    for note in made.drivers.glob("*.json"):
        driver = json.loads(note.read_text())
        if psutil.pid_exists(driver["pid"]):
            os.killpg(driver["group"], signal.SIGKILL)


def spec(directory: Path, code: str) -> JobSpec:
    (directory / "job").mkdir(exist_ok=True)
    (directory / "job" / "job.py").write_text(code)
    log = directory / "driver.log"
    return JobSpec(3, directory / "job", directory / "checkpoint", log, "3-1", ("--run", "3-1"))


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.02)


def ended(launcher: LocalLauncher, directory: Path, process: Process) -> Ended:
    eventually(lambda: launcher.poll(directory, process) is not None)
    found = launcher.poll(directory, process)
    assert found is not None
    return found


def test_a_driver_is_asked_to_stop_and_its_exit_code_is_seen(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    assert launcher.poll(tmp_path, process) is None
    eventually(lambda: "started ['--run', '3-1']" in (tmp_path / "driver.log").read_text())
    launcher.ask_to_stop(process)
    assert ended(launcher, tmp_path, process) == Ended(0)


def test_the_exit_code_of_a_driver_that_fails_by_itself_is_kept(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    process = launcher.start(spec(tmp_path, "import time, sys; time.sleep(0.3); sys.exit(3)"))
    assert ended(launcher, tmp_path, process) == Ended(3)


def test_kill_ends_the_driver_and_its_children(launcher: LocalLauncher, tmp_path: Path) -> None:
    code = POLITE.replace(
        'print("started"',
        'import subprocess; child = subprocess.Popen(["sleep", "60"]); print(child.pid, "started"',
    )
    process = launcher.start(spec(tmp_path, code))
    log = tmp_path / "driver.log"
    eventually(lambda: "started" in log.read_text())
    child = psutil.Process(int(log.read_text().split()[0]))
    launcher.kill(process)
    eventually(lambda: launcher.poll(tmp_path, process) is not None)
    eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_a_driver_lost_by_kill_9_is_noticed(launcher: LocalLauncher, tmp_path: Path) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    os.kill(process.pid, signal.SIGKILL)
    assert ended(launcher, tmp_path, process) == Ended(-9)


def test_another_process_with_the_same_pid_is_not_taken_for_the_driver(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    mine = psutil.Process()
    stranger = Process(mine.pid, mine.create_time() - 100)
    assert launcher.poll(tmp_path, stranger) == Ended(None)
    launcher.kill(stranger)
    assert mine.is_running()


def test_a_living_driver_is_found_again_by_another_worker(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    assert LocalLauncher(tmp_path / "data").find(tmp_path) == process
    launcher.kill(process)
    eventually(lambda: LocalLauncher(tmp_path / "data").find(tmp_path) is None)


def test_the_list_of_living_drivers_names_process_and_group(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    note = json.loads((launcher.drivers / "3.json").read_text())
    assert note == {
        "pid": process.pid,
        "started": process.started_at,
        "group": os.getpgid(process.pid),
    }
    launcher.kill(process)
    launcher.forget(3)
    assert not (launcher.drivers / "3.json").exists()
