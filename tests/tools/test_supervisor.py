"""The supervisor with small services: order, readiness, restarts, nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from tools import places
from tools.console import Problem
from tools.supervisor import Running, Service, Supervisor

SLEEPER = "import sys, time; print('UP', flush=True); time.sleep(600)"


async def says_up(running: Running) -> bool:
    return running.said("UP")


def service(name: str, code: str = SLEEPER, **more: object) -> Service:
    return Service(name, [sys.executable, "-c", code], says_up, **more)  # type: ignore[arg-type]


def supervisor(folder: Path) -> Supervisor:
    (folder / "run" / "drivers").mkdir(parents=True)
    return Supervisor(folder / "run", folder / "logs")


def pid_of(found: Supervisor, name: str) -> int:
    process = found.services[name].process
    assert process is not None
    return process.pid


def gone(pids: list[int]) -> None:
    """Wait until none of them is left; one that only waits to be reaped is gone."""
    deadline = time.monotonic() + 20
    left = list(pids)
    while left and time.monotonic() < deadline:
        left = [pid for pid in left if runs(pid)]
        time.sleep(0.1)
    assert not left


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_service_starts_only_after_what_it_needs_answers(tmp_path: Path) -> None:
    async def story() -> None:
        slow = "import time; time.sleep(0.7); print('UP', flush=True); time.sleep(600)"
        system = supervisor(tmp_path)
        try:
            await system.start([service("second", needs=("first",)), service("first", slow)])
            first, second = system.services["first"], system.services["second"]
            assert first.answered_after is not None
            assert second.started >= first.started + first.answered_after
        finally:
            await system.stop()

    asyncio.run(story())


def test_a_service_that_ends_is_started_again_and_what_it_started_is_gone(tmp_path: Path) -> None:
    child = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(f'CHILD {p.pid}', flush=True); print('UP', flush=True); time.sleep(600)"
    )

    async def story() -> None:
        system = supervisor(tmp_path)
        try:
            await system.start([service("one", child)])
            running = system.services["one"]
            before = pid_of(system, "one")
            line = next(line for line in running.lines if line.startswith("CHILD"))
            os.kill(before, signal.SIGKILL)
            for _ in range(300):
                await asyncio.sleep(0.1)
                if running.restarts == 1 and running.state == "running":
                    break
            assert running.state == "running"
            assert pid_of(system, "one") != before
            await asyncio.to_thread(gone, [int(line.split()[1])])
        finally:
            await system.stop()

    asyncio.run(story())


def test_a_service_that_cannot_start_is_named_with_its_last_words(tmp_path: Path) -> None:
    async def story() -> None:
        system = supervisor(tmp_path)
        try:
            code = "raise SystemExit('the disk is made of cheese')"
            with pytest.raises(Problem, match=r"bad ended while it was starting") as caught:
                await system.start(
                    [service("good"), service("bad", code, hint="Use another disk.")]
                )
            assert "made of cheese" in str(caught.value)
            assert "Use another disk." in str(caught.value)
        finally:
            await system.stop()
        assert all(running.process is None or running.process.returncode is not None
                   for running in system.services.values())  # fmt: skip

    asyncio.run(story())


def test_a_service_that_never_answers_is_named_with_its_deadline(tmp_path: Path) -> None:
    async def story() -> None:
        system = supervisor(tmp_path)
        try:
            with pytest.raises(Problem, match=r"mute did not answer within 1 s"):
                await system.start([service("mute", "import time; time.sleep(600)", deadline=1.0)])
        finally:
            await system.stop()

    asyncio.run(story())


def test_everything_a_service_says_is_in_its_log_with_the_time(tmp_path: Path) -> None:
    async def story() -> None:
        system = supervisor(tmp_path)
        try:
            await system.start([service("one")])
        finally:
            await system.stop()

    asyncio.run(story())
    line = (tmp_path / "logs" / "one.log").read_text(encoding="utf-8").splitlines()[0]
    stamp, words = line.split(" ", 1)
    assert stamp.startswith("20")
    assert words == "UP"


@pytest.mark.slow
def test_a_kill_of_the_launcher_leaves_no_service_no_driver_and_no_lock(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "drivers").mkdir(parents=True)
    driver = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
    )
    note = {"pid": driver.pid, "started": psutil.Process(driver.pid).create_time()}
    (run / "drivers" / "1.json").write_text(
        json.dumps({**note, "group": driver.pid}), encoding="utf-8"
    )
    code = textwrap.dedent(f"""
        import asyncio, sys
        from pathlib import Path
        from tools.supervisor import Service, Supervisor
        async def up(running): return running.said("UP")
        async def main():
            stubborn = ("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
                        "print('UP', flush=True); time.sleep(600)")
            system = Supervisor(Path({str(run)!r}), Path({str(tmp_path / "logs")!r}))
            await system.start([Service("one", [sys.executable, "-c", stubborn], up),
                                Service("two", [sys.executable, "-c", {SLEEPER!r}], up)])
            for running in system.services.values(): print(running.process.pid, flush=True)
            await system.wait()
        asyncio.run(main())
    """)
    launcher = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(places.REPOSITORY)},
        start_new_session=True,
    )
    assert launcher.stdout is not None
    services = [int(launcher.stdout.readline()) for _ in range(2)]
    launcher.kill()
    launcher.wait()
    launcher.stdout.close()
    # The driver is this test's child: it has to be waited for to be gone.
    assert driver.wait(timeout=20) != 0
    gone(services)
    assert not (run / "state.json").exists()
