"""A standby waits for the checkpoint of a running driver; real processes are killed."""

import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
import pytest
from millrace_runtime.driver import standby
from millrace_runtime.errors import MillraceError
from millrace_workers.launchers import CheckpointInUse, Ended, JobSpec, LocalLauncher, Standby
from millrace_workers.launchers.shim import born, locked
from millrace_workers.model import Process

#: repeatedly records that it holds the checkpoint
DRIVER = """
import os, signal, sys, threading, time
sys.path[:0] = [RUNTIME, COMPILER]
from millrace_runtime.driver import standby
from millrace_runtime.services.stopping import set_on_signals
standby.FORGOTTEN_SECONDS = float(os.environ.get("FORGOTTEN", "60"))
stopping = threading.Event()
set_on_signals(stopping)
folder = sys.argv[sys.argv.index("--standby") + 1] if "--standby" in sys.argv else None
time.sleep(float(os.environ.get("PREPARES", "0")))
waits = standby.Standby.of(folder, os.environ)
if waits is None or waits.wait(stopping):
    with open("../written", "a", buffering=1) as written:
        while not stopping.wait(0.002):
            written.write(f"{os.getpid()} {time.monotonic()}\\n")
        time.sleep(0.1)
        written.write(f"{os.getpid()} {time.monotonic()}\\n")
"""
for name in ("runtime", "compiler"):
    DRIVER = DRIVER.replace(name.upper(), repr(str(Path(__file__).parents[2] / name)))


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within 15 s"
        time.sleep(0.01)


@dataclass
class Place:
    """A deployment's folder and the processes that write there."""

    folder: Path
    launcher: LocalLauncher
    environment: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def spec(self) -> JobSpec:
        (self.folder / "job").mkdir(exist_ok=True)
        (self.folder / "job" / "job.py").write_text(DRIVER)
        run = f"3-{next(self.numbers)}"
        log = self.folder / "driver.log"
        return JobSpec(
            3, self.folder / "job", self.folder / "checkpoint", log, run, ("--run", run),
            self.environment,
        )  # fmt: skip

    def start(self) -> Process:
        process = self.launcher.start(self.spec())
        eventually(lambda: process.pid in self.writers())
        return process

    def start_standby(self, *, ready: bool = True) -> Standby:
        self.launcher.start_standby(self.spec())
        if ready:
            eventually(lambda: self.standby().ready)
        return self.standby()

    def standby(self) -> Standby:
        found = self.launcher.standby(self.folder)
        assert found is not None
        return found

    def written(self) -> dict[int, tuple[float, float]]:
        """Return the times of the first and last write of each driver."""
        found: dict[int, tuple[float, float]] = {}
        file = self.folder / "written"
        for line in file.read_text().splitlines() if file.exists() else []:
            parts = line.split()
            if len(parts) == 2:
                pid, at = int(parts[0]), float(parts[1])
                found[pid] = (found.get(pid, (at, at))[0], at)
        return found

    def writers(self) -> list[int]:
        return list(self.written())

    def one_at_a_time(self) -> None:
        times = sorted(self.written().values())
        for (_, last), (first, _) in itertools.pairwise(times):
            assert last < first, "two drivers had the checkpoint at one moment"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path, LocalLauncher(tmp_path / "data"))
    yield made
    made.launcher.end_standby(3, tmp_path)
    running = made.launcher.find(tmp_path)
    if running is not None:
        made.launcher.kill(running)


def test_a_free_checkpoint_goes_to_the_driver_that_waits(place: Place) -> None:
    old = place.start()
    waits = place.start_standby()
    assert waits.ended is None
    assert waits.process != old
    place.launcher.hand_over(place.folder)
    place.launcher.ask_to_stop(old)
    eventually(lambda: waits.process.pid in place.writers())
    assert place.launcher.poll(place.folder, old) == Ended(0)
    assert place.launcher.adopt(3, place.folder) == waits.process
    assert place.launcher.find(place.folder) == waits.process
    assert LocalLauncher(place.folder / "data").find(place.folder) == waits.process
    assert place.launcher.standby(place.folder) is None
    with pytest.raises(CheckpointInUse, match=rf"process {waits.process.pid} on "):
        place.launcher.start(place.spec())
    times = place.written()
    pause = times[waits.process.pid][0] - times[old.pid][1]
    assert 0 < pause < 2
    place.launcher.ask_to_stop(waits.process)
    eventually(lambda: place.launcher.poll(place.folder, waits.process) == Ended(0))


def test_a_driver_that_was_adopted_is_replaced_in_the_same_way(place: Place) -> None:
    drivers = [place.start()]
    for _ in range(2):
        waits = place.start_standby()
        place.launcher.hand_over(place.folder)
        place.launcher.ask_to_stop(drivers[-1])
        eventually(lambda pid=waits.process.pid: pid in place.writers())  # type: ignore[misc]
        assert place.launcher.poll(place.folder, drivers[-1]) == Ended(0)
        assert place.launcher.adopt(3, place.folder) == waits.process
        drivers.append(waits.process)
    assert place.writers() == [each.pid for each in drivers]
    place.one_at_a_time()
    listed = [each.name for each in place.launcher.drivers.glob("*.json")]
    assert listed == ["3.json"]


def shim_of(process: Process) -> int:
    return psutil.Process(process.pid).ppid()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "step"),
    [
        *itertools.product(["old", "new"], ["preparing", "ready", "told", "asked", "adopted"]),
        *itertools.product(["shim of old", "shim of new"], ["told", "adopted"]),
    ],
)
def test_kill_9_at_any_step_leaves_one_driver_for_certain(
    place: Place, victim: str, step: str
) -> None:
    """Whichever process is killed and when, one driver writes at a time and one remains."""
    old = place.start()
    place.environment["PREPARES"] = "0.4"
    new = place.start_standby(ready=step != "preparing").process
    whom = {"old": old, "new": new}[victim.rpartition(" ")[2]]
    pid = shim_of(whom) if victim.startswith("shim") else whom.pid
    if step in {"told", "asked", "adopted"}:
        place.launcher.hand_over(place.folder)
    if step in {"asked", "adopted"}:
        place.launcher.ask_to_stop(old)
    if step == "adopted":
        eventually(lambda: new.pid in place.writers())
        place.launcher.adopt(3, place.folder)
    if born(pid) is not None:
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: born(pid) is None)
    # The worker's reaction: the running driver is stopped, and the standby is taken over.
    if step != "adopted":
        place.launcher.ask_to_stop(old)
        eventually(lambda: place.launcher.poll(place.folder, old) is not None)
    found = place.launcher.find(place.folder) or place.launcher.adopt(3, place.folder)
    if found is None or place.launcher.poll(place.folder, found) is not None:
        place.launcher.end_standby(3, place.folder)
        found = place.launcher.start(place.spec())
    last = found
    eventually(lambda: last.pid in place.writers() or born(last.pid) is None)
    if born(last.pid) is None:
        last = place.start()
    time.sleep(0.1)
    assert place.launcher.poll(place.folder, last) is None
    place.one_at_a_time()
    assert locked(place.folder / "checkpoint.lock") is None


def test_the_shim_of_a_driver_that_waits_holds_what_the_driver_took(place: Place) -> None:
    """As for a driver started alone: its JVM may outlive it, so the lock stays held."""
    waits = place.start_standby()
    place.launcher.hand_over(place.folder)
    eventually(lambda: waits.process.pid in place.writers())
    shim = psutil.Process(shim_of(waits.process))
    shim.suspend()
    os.kill(waits.process.pid, signal.SIGKILL)
    eventually(lambda: born(waits.process.pid) is None)
    assert locked(place.folder / "checkpoint.lock", 0.3) is None
    shim.resume()
    lock = locked(place.folder / "checkpoint.lock", 10)
    assert lock is not None
    os.close(lock)


def test_a_driver_that_waits_is_ended_with_its_notes(place: Place) -> None:
    old = place.start()
    waits = place.start_standby()
    assert {each.name for each in place.launcher.drivers.glob("*")} == {
        "3.json",
        "3-standby.json",
    }
    place.launcher.end_standby(3, place.folder)
    eventually(lambda: born(waits.process.pid) is None)
    assert place.launcher.standby(place.folder) is None
    assert [each.name for each in place.launcher.drivers.glob("*")] == ["3.json"]
    assert place.launcher.poll(place.folder, old) is None
    assert place.writers() == [old.pid]


def test_a_driver_that_ends_while_it_is_prepared_shows_its_exit_code(place: Place) -> None:
    spec = place.spec()
    (spec.job_directory / "job.py").write_text("import sys; sys.exit(2)")
    place.launcher.start_standby(spec)
    eventually(lambda: place.standby().ended is not None)
    assert place.standby().ended == Ended(2)
    assert place.standby().runs(spec)
    assert not place.standby().runs(replace(spec, arguments=("--other",)))
    assert place.launcher.adopt(3, place.folder) is None


def test_a_driver_that_nobody_asks_for_ends_by_itself(place: Place) -> None:
    place.environment["FORGOTTEN"] = "0.5"
    waits = place.start_standby()
    for _ in range(10):
        time.sleep(0.1)
        assert place.standby().ended is None
    eventually(lambda: born(waits.process.pid) is None)
    assert place.standby().ended == Ended(0)
    assert place.writers() == []


def test_a_driver_waits_only_with_the_lock_file_of_its_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(MillraceError, match="needs the descriptor of a lock file") as caught:
        standby.Standby.of(str(tmp_path), {})
    assert caught.value.code == "option_missing"
