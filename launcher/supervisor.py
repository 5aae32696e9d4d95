"""Starts services in the order of their dependencies, and keeps them running.

A service is data (`Service`); its `ready` tests whether it responds. Each is a process group with
its own log file. A service that ends is restarted after a pause that doubles each time; when the
supervisor ends, all services end.

A service with a socket is asleep until somebody connects to it (`launcher.activation`), and again
after it has ended because nobody used it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

from millrace_services.line_server import IDLE_LINE

from launcher import drivers, processes
from launcher.activation import Listener
from launcher.console import Problem, echo

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
#: seconds after which a running service counts as healthy, so that its pause is reset
HEALTHY_AFTER = 60.0
#: number of successive probes without an answer after which a service counts as hung
UNANSWERED = 3
LOG_BYTES = 10_000_000
TAIL_LINES = 8

Ready = Callable[["Running"], Awaitable[bool]]


@dataclass(frozen=True)
class Service:
    """One process of the system."""

    name: str
    command: Sequence[str]
    #: returns whether the service responds; called every tenth of a second
    ready: Ready
    needs: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    #: maximum seconds until the service responds
    deadline: float = 60.0
    #: seconds between TERM and KILL
    grace: float = 10.0
    #: send TERM only to the process, which then stops its children in an orderly way
    leads_children: bool = False
    #: the process ends when its work is done; `ready` is not called
    once: bool = False
    #: seconds between probes of a running service; None for no probes. A service that leaves three
    #: successive probes unanswered is restarted.
    probe: float | None = None
    #: Unix socket of a service that starts with the first connection; it counts as started while it
    #: is asleep
    socket: Path | None = None
    #: start it at once all the same
    eager: bool = False
    #: advice that is appended to the problem if the service does not start
    hint: str = ""
    #: text that is removed from its log
    secret: re.Pattern[str] | None = None


@dataclass
class Running:
    """The state of a service in this run."""

    service: Service
    process: asyncio.subprocess.Process | None = None
    #: copies the process's output to its log
    reader: asyncio.Task[None] | None = None
    state: str = "waiting"
    restarts: int = 0
    started: float = 0.0
    answered_after: float | None = None
    lines: list[str] = field(default_factory=list)
    up: asyncio.Event = field(default_factory=asyncio.Event)
    listener: Listener | None = None

    def printed(self, text: str) -> bool:
        """Return whether a line since its last start contains this text."""
        return any(text in line for line in self.lines)

    @property
    def fell_asleep(self) -> bool:
        """Whether it ends, or has ended, because nobody used it."""
        return self.listener is not None and self.printed(IDLE_LINE)


class _Log:
    """The log of a service. While the disk is full, lines are dropped and the service continues."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, line: str) -> None:
        with contextlib.suppress(OSError):
            if self._file is None:
                if self._path.exists() and self._path.stat().st_size > LOG_BYTES:
                    self._path.replace(self._path.with_suffix(".log.1"))
                self._file = self._path.open("ab", buffering=0)
            self._file.write(line.encode())


class Supervisor:
    """Runs a set of services; there is one per launcher."""

    def __init__(
        self,
        run: Path,
        logs: Path,
        *,
        echo: bool = False,
        notes: Mapping[str, object] | None = None,
    ) -> None:
        self.run = run
        self.logs = logs
        self.echo = echo
        self.notes = dict(notes or {})
        self.services: dict[str, Running] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._guardian: subprocess.Popen[str] | None = None
        self._stopping = asyncio.Event()
        self._failed: asyncio.Future[None] | None = None

    # -- from outside ---------------------------------------------------------------------------
    async def start(self, services: Sequence[Service]) -> None:
        """Start all services, each when those it needs respond; return when all of them respond.

        Raises Problem for the first that does not; the others are left for `stop`.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        if self._guardian is None:
            self._start_guardian()
        self._failed = asyncio.get_running_loop().create_future()
        for service in services:
            listener = None if service.socket is None else Listener(service.socket)
            self.services[service.name] = Running(service, listener=listener)
        for service in services:
            self._keepers.append(asyncio.create_task(self._keep(self.services[service.name])))
        all_up = asyncio.create_task(self._all_up())
        stop = asyncio.create_task(self._stopping.wait())
        waited: list[asyncio.Future[Any]] = [all_up, stop, self._failed]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        all_up.cancel()
        if self._failed.done():
            self._failed.result()

    async def _all_up(self) -> None:
        for running in self.services.values():
            await running.up.wait()

    async def wait(self) -> None:
        """Run until a stop is requested."""
        await self._stopping.wait()

    def ask_to_stop(self) -> None:
        """End `wait` and `start`."""
        self._stopping.set()

    def stopping(self) -> bool:
        """Return whether a stop was requested."""
        return self._stopping.is_set()

    async def stop(self) -> None:
        """Stop all services in the reverse order of their start, drivers before what they need."""
        self._stopping.set()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for layer in self._layers():
            await asyncio.gather(*(self._end(running) for running in layer))
            # Workers are in the first layer: once they have stopped, nothing restarts a driver.
            await asyncio.to_thread(drivers.stop, self.run / "drivers")
        for running in self.services.values():
            if running.listener is not None:
                running.listener.close()
        (self.run / "state.json").unlink(missing_ok=True)
        if self._guardian is not None and self._guardian.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guardian.stdin.close()
            await asyncio.to_thread(self._guardian.wait)

    # -- one service ------------------------------------------------------------------------------
    async def _keep(self, running: Running) -> None:
        service = running.service
        for need in service.needs:
            if need in self.services:
                await self.services[need].up.wait()
        pause = FIRST_PAUSE / 2
        asleep = running.listener is not None and not service.eager
        while not self.stopping():
            if running.listener is not None:
                await self._until_it_is_used(running, running.listener, asleep=asleep)
            asleep = False
            try:
                await self._spawn(running)
            except OSError as error:
                if not running.up.is_set():
                    self._fail(running, f"could not be started: {error.strerror}")
                    return
                echo(f"{service.name}: could not be started: {error.strerror}; trying again")
                await asyncio.sleep(LONGEST_PAUSE)
                continue
            assert running.process is not None
            running.reader = asyncio.create_task(self._read(running, running.process))
            answered = await self._await_ready(running)
            if answered and service.once:
                await running.reader
                self._note(running, "done")
                running.up.set()
                return
            if answered:
                self._note(running, "running")
                running.up.set()
                await self._until_it_ends_or_hangs(running)
            first_time = not running.up.is_set()
            # Nothing of a service's process group outlives it.
            await self._end(running)
            if self.stopping():
                return
            if first_time:
                self._fail(running, self._how_it_failed(running))
                return
            if running.fell_asleep:
                asleep = True
                continue
            lived = time.monotonic() - running.started
            pause = FIRST_PAUSE if lived > HEALTHY_AFTER else min(pause * 2, LONGEST_PAUSE)
            running.restarts += 1
            self._note(running, "restarting")
            if running.listener is not None and not answered:
                running.listener.refuse()
            echo(
                f"{service.name}: ended ({_ending(running.process.returncode)}); "
                f"starting it again in {pause:.0f} s. Its log: {self._log(service.name)}"
            )
            await asyncio.sleep(pause)

    async def _until_it_is_used(
        self, running: Running, listener: Listener, *, asleep: bool
    ) -> None:
        """Count the service as started; if it is asleep, wait for a connection."""
        if asleep:
            self._note(running, "asleep")
        running.up.set()
        if asleep:
            await listener.connection()

    async def _until_it_ends_or_hangs(self, running: Running) -> None:
        """Wait until the process ends, or has left `UNANSWERED` successive probes unanswered."""
        assert running.process is not None
        service, unanswered = running.service, 0
        while running.process.returncode is None:
            if running.fell_asleep:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(_ended(running.process), service.grace)
                return
            if service.probe is None:
                await _ended(running.process)
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_ended(running.process), service.probe)
                return
            unanswered = 0 if await service.ready(running) else unanswered + 1
            if unanswered == UNANSWERED and running.process.returncode is None:
                echo(f"{service.name}: does not respond; stopping it")
                return

    async def _spawn(self, running: Running) -> None:
        running.lines.clear()
        running.started = time.monotonic()
        running.answered_after = None
        listener = running.listener
        running.process = await asyncio.create_subprocess_exec(
            *running.service.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                **running.service.environment,
                **(listener.environment if listener else {}),
            },
            pass_fds=(listener.descriptor,) if listener else (),
            process_group=0,
            preexec_fn=processes.end_with_parent,
            limit=1 << 20,
        )
        self._tell_guardian(f"+{running.process.pid}")
        self._note(running, "starting")

    async def _await_ready(self, running: Running) -> bool:
        """Return whether the service responds in time, or, with `once`, has ended successfully."""
        assert running.process is not None
        deadline = running.started + running.service.deadline
        while time.monotonic() < deadline and not self.stopping():
            if running.process.returncode is not None:
                return running.service.once and running.process.returncode == 0
            if not running.service.once and await running.service.ready(running):
                running.answered_after = time.monotonic() - running.started
                return True
            await asyncio.sleep(0.1)
        return False

    async def _read(self, running: Running, process: asyncio.subprocess.Process) -> None:
        """Copy a process's output to its log, each line with a timestamp."""
        assert process.stdout is not None
        with _Log(self._log(running.service.name)) as log:
            while True:
                try:
                    raw = await process.stdout.readline()
                except ValueError:
                    # A line is longer than the limit: the buffered part is dropped, the rest is
                    # read.
                    continue
                if not raw:
                    return
                line = raw.decode(errors="replace").rstrip("\n")
                running.lines.append(line)
                del running.lines[:-200]
                if running.service.secret is not None:
                    line = running.service.secret.sub("(not kept in logs)", line)
                log.write(f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {line}\n")
                if self.echo:
                    echo(f"{running.service.name:<9} | {line}")

    async def _end(self, running: Running) -> None:
        process = running.process
        if process is None:
            return
        if process.returncode is None:
            self._note(running, "stopping")
            if running.service.leads_children:
                process.terminate()
            else:
                processes.signal_group(process.pid, signal.SIGTERM)
            try:
                await asyncio.wait_for(_group_ended(process), running.service.grace)
            except TimeoutError:
                service = running.service
                echo(f"{service.name}: did not stop within {service.grace:.0f} s; killed")
        processes.signal_group(process.pid, signal.SIGKILL)
        await _ended(process)
        self._tell_guardian(f"-{process.pid}")
        if running.reader is not None:
            # A pipe that is still open when the loop closes causes a stack trace.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(running.reader, 2)
        if running.state == "stopping":
            self._note(running, "stopped")

    def _layers(self) -> list[list[Running]]:
        """Return services by the depth of their dependencies, those that nothing needs first."""
        depth: dict[str, int] = {}

        def of(name: str) -> int:
            if name not in depth:
                needs = [
                    need for need in self.services[name].service.needs if need in self.services
                ]
                depth[name] = 1 + max((of(need) for need in needs), default=0)
            return depth[name]

        for name in self.services:
            of(name)
        return [
            [self.services[name] for name in depth if depth[name] == level]
            for level in sorted(set(depth.values()), reverse=True)
        ]

    # -- words and notes --------------------------------------------------------------------------
    def _fail(self, running: Running, how: str) -> None:
        self._note(running, "failed")
        tail = "\n".join(f"  | {line}" for line in running.lines[-TAIL_LINES:])
        hint = f" {running.service.hint}" if running.service.hint else ""
        if self._failed is not None and not self._failed.done():
            self._failed.set_exception(
                Problem(
                    f"{running.service.name} {how}.{hint} "
                    f"Its log: {self._log(running.service.name)}" + (f"\n{tail}" if tail else "")
                )
            )

    def _how_it_failed(self, running: Running) -> str:
        assert running.process is not None
        code = running.process.returncode
        if (
            running.state == "starting"
            and running.answered_after is None
            and code not in (None, -15, -9)
        ):
            return f"ended while it was starting ({_ending(code)})"
        return f"did not respond within {running.service.deadline:.0f} s"

    def _note(self, running: Running, state: str) -> None:
        running.state = state
        self._write_state()

    def _write_state(self) -> None:
        content = {
            **self.notes,
            "launcher": os.getpid(),
            "services": [
                {
                    "name": name,
                    "state": one.state,
                    "pid": one.process.pid if one.process is not None else None,
                    "restarts": one.restarts,
                    "answered_after": one.answered_after,
                }
                for name, one in self.services.items()
            ],
        }
        aside = self.run / "state.json.new"
        try:
            aside.write_text(json.dumps(content, indent=1), encoding="utf-8")
            aside.replace(self.run / "state.json")
        except OSError:  # the disk is full at the moment
            if not self.stopping():
                asyncio.get_running_loop().call_later(FIRST_PAUSE, self._write_state)

    def _log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    # -- guardian ---------------------------------------------------------------------------------
    def _start_guardian(self) -> None:
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "launcher.guardian", str(self.run)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._guardian.stdout is not None
        # Wait until it holds its lock; a launcher that died earlier would leave processes behind.
        self._guardian.stdout.readline()

    def _tell_guardian(self, line: str) -> None:
        if self._guardian is not None and self._guardian.stdin is not None:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._guardian.stdin.write(line + "\n")
                self._guardian.stdin.flush()


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait until the process itself has ended.

    Its own `wait` also waits for the pipe, which a child process may hold open.
    """
    while process.returncode is None:  # noqa: ASYNC110  (nothing sets an event)
        await asyncio.sleep(0.2)


async def _group_ended(process: asyncio.subprocess.Process) -> None:
    """Wait until its whole process group has ended: a Python may end before its Java."""
    await _ended(process)
    while await asyncio.to_thread(processes.group_members, [process.pid]):  # noqa: ASYNC110
        await asyncio.sleep(0.2)


def _ending(code: int | None) -> str:
    if code is None:
        return "still running"
    if code < 0:
        return f"killed by signal {-code}"
    return f"exit code {code}"
