"""The local launcher with real processes."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from millrace_workers.launchers import CheckpointInUse, Ended, JobSpec, LocalLauncher, hosts
from millrace_workers.launchers.shim import born, locked
from millrace_workers.model import Process

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


def has_ended(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


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
    eventually(lambda: has_ended(child))


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_temporary_files_of_a_driver_are_deleted_after_it(
    launcher: LocalLauncher, tmp_path: Path, sign: signal.Signals
) -> None:
    code = POLITE.replace(
        'print("started"', 'import os; print(os.environ["MILLRACE_SCRATCH"], "started"'
    )
    process = launcher.start(spec(tmp_path, code))
    log = tmp_path / "driver.log"
    eventually(lambda: "started" in log.read_text())
    scratch = Path(log.read_text().split()[0])
    (scratch / "state").mkdir()
    (scratch / "state" / "000001.sst").write_text("rows")
    os.kill(process.pid, sign)
    eventually(lambda: not scratch.exists())


def test_a_driver_lost_by_kill_9_is_noticed(launcher: LocalLauncher, tmp_path: Path) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    os.kill(process.pid, signal.SIGKILL)
    assert ended(launcher, tmp_path, process) == Ended(-9)


def test_another_process_with_the_same_pid_is_not_taken_for_the_driver(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    mine = psutil.Process()
    stranger = Process(launcher.host, mine.pid, "another boot/1")
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
        "born": process.born,
        "group": os.getpgid(process.pid),
    }
    launcher.kill(process)
    launcher.forget(3)
    assert not (launcher.drivers / "3.json").exists()


def test_a_step_of_the_clock_makes_no_driver_lost(
    launcher: LocalLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    now, booted = time.time, psutil.boot_time()
    monkeypatch.setattr(time, "time", lambda: now() + 2)
    # Setting the clock shifts the computed boot time for everyone who asks later.
    monkeypatch.setattr("psutil._pslinux.boot_time", lambda: booted + 2)
    monkeypatch.setattr("psutil._pslinux.BOOT_TIME", booted + 2, raising=False)
    another = LocalLauncher(tmp_path / "data")
    assert another.find(tmp_path) == process
    assert another.poll(tmp_path, process) is None
    another.kill(process)
    assert ended(another, tmp_path, process) == Ended(-9)


def test_a_second_driver_on_a_checkpoint_is_refused_and_the_first_is_named(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    first = launcher.start(spec(tmp_path, POLITE))
    with pytest.raises(CheckpointInUse, match=rf"process {first.pid} on "):
        LocalLauncher(tmp_path / "another").start(spec(tmp_path, POLITE))
    assert launcher.poll(tmp_path, first) is None
    assert launcher.find(tmp_path) == first
    launcher.ask_to_stop(first)
    assert ended(launcher, tmp_path, first) == Ended(0)
    second = launcher.start(spec(tmp_path, POLITE))
    assert launcher.poll(tmp_path, second) is None


def test_a_checkpoint_is_held_until_what_a_killed_driver_started_ends(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    # Like a driver's JVM, which notices the end of its Python only after a while.
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    code = (
        f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {deaf!r}])\n"
        "print(child.pid, flush=True); child.wait()"
    )
    process = launcher.start(spec(tmp_path, code))
    log = tmp_path / "driver.log"
    eventually(lambda: log.read_text().endswith("\n"))
    child = int(log.read_text())
    assert locked(tmp_path / "checkpoint.lock") is None
    os.kill(process.pid, signal.SIGKILL)
    lock = locked(tmp_path / "checkpoint.lock", 10)
    assert lock is not None
    os.close(lock)
    assert born(child) is None


def test_another_hosts_driver_is_left_alone_while_it_has_its_checkpoint(
    launcher: LocalLauncher, tmp_path: Path
) -> None:
    process = launcher.start(spec(tmp_path, POLITE))
    elsewhere = LocalLauncher(tmp_path / "data", host="elsewhere")
    assert not elsewhere.sees(tmp_path, process)
    elsewhere.ask_to_stop(process)
    elsewhere.kill(process)
    time.sleep(0.3)
    assert launcher.poll(tmp_path, process) is None
    launcher.kill(process)
    eventually(lambda: elsewhere.sees(tmp_path, process))
    assert elsewhere.poll(tmp_path, process) == Ended(-9)


@pytest.mark.slow
def test_a_drivers_log_is_put_aside_while_it_runs_and_its_size_is_bounded(
    tmp_path: Path,
) -> None:
    talkative = (
        "import time\n"
        "for number in range(100_000):\n"
        "    print('line', number, '.' * 80, flush=True)\n"
        "    time.sleep(0.001)\n"
    )
    launcher = LocalLauncher(tmp_path / "data", log_bytes=20_000)
    process = launcher.start(spec(tmp_path, talkative))
    log, older = tmp_path / "driver.log", tmp_path / "driver.log.1"
    try:
        eventually(older.exists)
        # Later output starts at the beginning of the truncated file, not after a hole.
        eventually(lambda: log.stat().st_size > 0 and log.read_bytes().startswith(b"line"))
        first = older.read_bytes()
        eventually(lambda: older.read_bytes() != first)
        assert log.stat().st_size + older.stat().st_size < 2_000_000
    finally:
        launcher.kill(process)
        launcher.forget(3)


def test_a_driver_gets_no_variable_that_opens_the_backend(
    launcher: LocalLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {"REDIS_URL": "redis://:s3cret@x", "DATABASE_URL": "s3cret", "AWS_KEY": "s3cret"}
    handed = {"MILLRACE_KAFKA_sasl_password": "k", "SPARK_LOCAL_IP": "127.0.0.1", "MINE": "1"}
    for name, value in {**secret, **handed, "MILLRACE_DRIVER_ENVIRONMENT": "MINE"}.items():
        monkeypatch.setenv(name, value)
    code = "import json, os; print(json.dumps(dict(os.environ)), flush=True)"
    job = spec(tmp_path, code + "; import time; time.sleep(1)")
    launcher.start(replace(job, environment={"MILLRACE_REPORT": "limited"}))
    eventually(lambda: job.log_file.exists() and "}" in job.log_file.read_text())
    found = json.loads(next(x for x in job.log_file.read_text().splitlines() if x[0] == "{"))
    assert not secret.keys() & found.keys()
    assert "s3cret" not in job.log_file.read_text()
    assert {**handed, "MILLRACE_REPORT": "limited"}.items() <= found.items()


def test_a_version_that_harmed_a_host_has_its_own_driver(tmp_path: Path) -> None:
    assert not hosts.must_be_alone(tmp_path, tmp_path / "jobs" / "v1")
    # The host notes the cause, and knows no versions.
    (tmp_path / "alone").write_text(json.dumps({"cause": "heap"}))
    assert hosts.must_be_alone(tmp_path, tmp_path / "jobs" / "v1")
    assert hosts.must_be_alone(tmp_path, tmp_path / "jobs" / "v1")
    assert not hosts.must_be_alone(tmp_path, tmp_path / "jobs" / "v2")
    assert not hosts.must_be_alone(tmp_path, tmp_path / "jobs" / "v1")


def test_a_job_with_an_older_runtime_has_its_own_jvm(tmp_path: Path) -> None:
    assert hosts.possible(tmp_path)
    (tmp_path / "millrace_runtime").mkdir()
    assert not hosts.possible(tmp_path)
    (tmp_path / "millrace_runtime" / "hosting").mkdir()
    assert hosts.possible(tmp_path)
