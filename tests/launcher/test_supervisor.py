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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from celery import Celery
from millrace_services import local_services
from millrace_workers.launchers.shim import born

from launcher import places
from launcher.console import Problem
from launcher.services import System, celery, setup
from launcher.supervisor import Running, Service, Supervisor

SLEEPER = "import sys, time; print('UP', flush=True); time.sleep(600)"


async def says_up(running: Running) -> bool:
    return running.printed("UP")


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
    """Wait until none of the processes runs; zombies do not count."""
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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no /dev/full")
def test_a_service_whose_log_has_no_room_runs_on_and_is_started_again(tmp_path: Path) -> None:
    chatty = "import time\nwhile True: print('UP', 'x' * 9999, flush=True); time.sleep(0.001)"

    async def story() -> None:
        system = supervisor(tmp_path)
        (tmp_path / "logs").mkdir()
        (tmp_path / "logs" / "one.log").symlink_to("/dev/full")
        (tmp_path / "run" / "state.json.new").symlink_to("/dev/full")
        try:
            await system.start([service("one", chatty)])
            running = system.services["one"]
            await asyncio.sleep(0.5)
            assert not (tmp_path / "run" / "state.json").exists()
            before = pid_of(system, "one")
            os.kill(before, signal.SIGKILL)
            (tmp_path / "run" / "state.json.new").unlink()
            for _ in range(300):
                await asyncio.sleep(0.1)
                if running.restarts == 1 and running.state == "running":
                    break
            assert pid_of(system, "one") != before
            assert (tmp_path / "run" / "state.json").exists()
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
            with pytest.raises(Problem, match=r"mute did not respond within 1 s"):
                await system.start([service("mute", "import time; time.sleep(600)", deadline=1.0)])
        finally:
            await system.stop()

    asyncio.run(story())


def test_all_output_of_a_service_is_in_its_log_with_the_time(tmp_path: Path) -> None:
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
    note = {"pid": driver.pid, "born": born(driver.pid)}
    (run / "drivers" / "1.json").write_text(
        json.dumps({**note, "group": driver.pid}), encoding="utf-8"
    )
    code = textwrap.dedent(f"""
        import asyncio, sys
        from pathlib import Path
        from launcher.supervisor import Service, Supervisor
        async def up(running): return running.printed("UP")
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
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)},
        start_new_session=True,
    )
    assert launcher.stdout is not None
    services = [int(launcher.stdout.readline()) for _ in range(2)]
    launcher.kill()
    launcher.wait()
    launcher.stdout.close()
    # The driver is this test's child and stays a zombie until it is waited for.
    assert driver.wait(timeout=60) != 0
    gone(services)
    assert not (run / "state.json").exists()


@pytest.mark.asyncio
async def test_a_sign_in_link_is_read_by_the_launcher_and_not_kept_in_the_log(
    tmp_path: Path,
) -> None:
    pattern = setup.service(a_system(tmp_path)).secret
    link = "http://127.0.0.1:8000/sign-in/s3cret"
    found = supervisor(tmp_path)
    try:
        printing = f"print('Sign in once as admin: {link}')"
        await found.start([service("setup", printing, once=True, secret=pattern)])
        assert link in found.services["setup"].lines[-1]
        log = (tmp_path / "logs" / "setup.log").read_text(encoding="utf-8")
        assert "Sign in once as admin:" in log
        assert "s3cret" not in log
    finally:
        await found.stop()


def a_system(folder: Path) -> System:
    return System(folder, folder, sys.executable, 8000, {}, "", frozenset())


@pytest.mark.services
@pytest.mark.alone
def test_a_worker_that_is_stopped_ends_its_task_without_a_stack_trace(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.py").write_text(
        textwrap.dedent(f"""
            import time
            from celery import Celery
            app = Celery("slow", broker={redis_url!r})
            @app.task(name="wait", queue="slow")
            def wait():
                print("AT WORK", flush=True)
                time.sleep(2)
                print("DONE", flush=True)
        """)
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *places.PYTHON_PATH]))
    system = System(tmp_path, tmp_path, sys.executable, 0, {}, "", frozenset())
    worker = celery.worker(system)
    command = ["slow:app" if each == "millrace_workers.app" else each for each in worker.command]
    tested = replace(worker, needs=(), command=[*command, "--queues", "slow"])
    (tmp_path / "run" / "drivers").mkdir(parents=True)

    async def story() -> None:
        system = Supervisor(tmp_path / "run", tmp_path / "logs")
        try:
            await system.start([tested])
            Celery(broker=redis_url).send_task("wait", queue="slow")
            while not system.services["worker"].printed("AT WORK"):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        finally:
            await system.stop()

    # In a thread of its own: the journeys' browser keeps an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(asyncio.wait_for(story(), 180))).result()
    log = (tmp_path / "logs" / "worker.log").read_text(encoding="utf-8")
    assert "DONE" in log, log
    assert "Traceback" not in log, log


def test_a_worker_that_gave_up_and_waits_for_its_children_is_started_again(tmp_path: Path) -> None:
    """As when Redis is out of memory: the worker's process stayed alive but did nothing."""
    made = celery.worker(System(tmp_path, tmp_path, sys.executable, 0, {}, "", frozenset()))
    code = (
        "import time\nprint('worker@x ready.', flush=True)\ntime.sleep(1)\n"
        "for n in range(300): print(n)\n"
        "print('Unrecoverable error: server:ResponseError', flush=True)\ntime.sleep(600)"
    )
    gives_up = replace(made, command=[sys.executable, "-c", code], needs=(), probe=0.2)
    (tmp_path / "run" / "drivers").mkdir(parents=True)

    async def story() -> None:
        system = Supervisor(tmp_path / "run", tmp_path / "logs")
        try:
            await system.start([gives_up])
            for _ in range(200):
                await asyncio.sleep(0.1)
                if system.services["worker"].restarts:
                    break
            assert system.services["worker"].restarts == 1
        finally:
            await system.stop()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(story())).result()


HANGS = "import sys; open(sys.argv[1], 'a').write('x');" + SLEEPER


@pytest.mark.asyncio
async def test_a_service_that_hangs_is_started_again(tmp_path: Path) -> None:
    starts = tmp_path / "starts"

    async def answers(running: Running) -> bool:
        # The second process always answers; the first one only while it starts.
        first = starts.exists() and starts.read_text("utf-8") == "x"
        return running.printed("UP") and (running.state == "starting" or not first)

    found = supervisor(tmp_path)
    command = [sys.executable, "-c", HANGS, str(starts)]
    await found.start([Service("hung", command, answers, probe=0.1)])
    try:
        first = pid_of(found, "hung")
        async with asyncio.timeout(30):
            while found.services["hung"].restarts == 0:  # noqa: ASYNC110  (nothing sets an event)
                await asyncio.sleep(0.05)
            while found.services["hung"].state != "running":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        gone([first])
        assert found.services["hung"].restarts == 1
        assert pid_of(found, "hung") != first
    finally:
        await found.stop()


SLEEPS_WHEN_IDLE = """
import os, sys
from millrace_services.line_server import LineServer, serve
path = sys.argv[1]
sys.exit(serve(lambda: LineServer(path, lambda asked: {"pid": os.getpid()}), path))
"""


@pytest.mark.asyncio
async def test_a_service_runs_from_its_first_connection_until_nobody_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(local_services.IDLE, "1")
    found = supervisor(tmp_path)
    path = tmp_path / "services" / "lazy"
    (tmp_path / "services").mkdir(mode=0o700)

    async def ready(running: Running) -> bool:
        return running.printed("READY")

    async def answered() -> int:
        answer = await asyncio.to_thread(local_services.ask, str(path), {"do": "pid"}, 20)
        return int(answer["pid"])

    async def asleep() -> None:
        async with asyncio.timeout(20):
            while found.services["lazy"].state != "asleep":  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    command = [sys.executable, "-c", SLEEPS_WHEN_IDLE, str(path)]
    paths = {"PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)}
    lazy = Service("lazy", command, ready, socket=path, probe=0.2, environment=paths)
    await found.start([lazy])
    try:
        running = found.services["lazy"]
        assert (running.state, running.process) == ("asleep", None)
        first = await answered()
        assert pid_of(found, "lazy") == first
        await asleep()
        gone([first])
        # Requests that come together start one process, which answers all of them.
        second = list(await asyncio.gather(answered(), answered()))
        assert second == [pid_of(found, "lazy")] * 2
        assert second[0] != first
        assert running.restarts == 0
    finally:
        await found.stop()
    assert not path.exists()


@pytest.mark.asyncio
async def test_a_request_to_a_sleeping_service_that_cannot_start_fails_soon(
    tmp_path: Path,
) -> None:
    found = supervisor(tmp_path)
    path = tmp_path / "services" / "broken"
    (tmp_path / "services").mkdir(mode=0o700)
    await found.start([replace(service("broken", "raise SystemExit(3)"), socket=path)])
    try:
        with pytest.raises(ConnectionError):
            await asyncio.to_thread(local_services.ask, str(path), {"do": "awake"}, 20)
        assert found.services["broken"].state == "restarting"
    finally:
        await found.stop()
