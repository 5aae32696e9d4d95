"""Parent of a host: starts its keeper and its drivers, and does for each driver what a shim does.

Usage: ``python -m millrace_workers.launchers.host FOLDER MEMORY_MB``. Launchers connect to the
socket ``host.sock`` in FOLDER (`millrace_services.local_services`) and request the start of a
driver, which is forked: the modules that all drivers use are loaded once. Notes, lock and log of a
driver are those of `shim`. Its lock is kept until the keeper has ended what its run did in the JVM.

The host ends when it has had no driver for some seconds, or when its keeper ends; then its drivers
end as well. It has one thread, as a process that forks must.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import secrets
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from millrace_compiler.declarations.operator import registry
from millrace_model.drivers import DriverNote, HostAnswer, HostRequest
from millrace_services.local_services import LONGEST_LINE, secret_file, short_path

from millrace_workers.launchers.hosts import HOST_SOCKET
from millrace_workers.launchers.shim import LOCK_SECONDS, born, locked, opened, rotate, write

KEEPER_SOCKET = "jvm.sock"
#: modules that drivers load, as far as they start no thread
MODULES = (
    "encodings.idna",
    "redis",
    "pyspark.sql.classic.dataframe",
    *(
        f"millrace_runtime.{name}"
        for name in (
            "driver.main", "driver.start", "driver.warm_up", "job.job", "job.kafka", "job.outputs",
            "reports.report", "checkpoint.checkpoint", "checkpoint.starting_point",
            "driver.lost_offsets", "checkpoint.moving", "checkpoint.lease",
            "dsl.topology", "hosting.keeper", "stores.live",
        )
    ),
)  # fmt: skip
#: seconds without a driver after which a host ends
EMPTY_SECONDS = 20.0
#: seconds in which drivers end by themselves when their JVM has ended
LEAVE_SECONDS = 5.0
LOOK_SECONDS = 1.0
#: the same while something is waited for
SOON_SECONDS = 0.02


@dataclass
class Driver:
    """A driver and what its end has to release."""

    pid: int
    run: str
    directory: Path
    log: Path
    log_bytes: int
    lock: int
    scratch: str
    ended: bool = False
    #: the keeper was asked to end its run
    asked: bool = False


@dataclass
class Host:
    """A host; `run` serves until it ends."""

    folder: Path
    memory_mb: int
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    drivers: dict[int, Driver] = field(default_factory=dict)
    #: requests that wait for a lock: deadline, request and connection
    waiting: list[tuple[float, HostRequest, socket.socket]] = field(default_factory=list)
    keeper: int = 0
    #: open as long as this process lives; the keeper watches the other end
    alive: int = -1
    stopping: bool = False
    #: when the JVM has ended
    lost: float | None = None

    def run(self) -> int:
        """Serve until the host has to end; return the exit code."""
        for name in MODULES:
            importlib.import_module(name)
        registry()  # loads the modules of all operators
        # Collections would write to pages that drivers share with this process.
        gc.collect()
        gc.freeze()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        with selectors.DefaultSelector() as selector, self._listening() as listening:
            selector.register(listening, selectors.EVENT_READ)
            # The end of a child is noticed at once: another driver may wait for its lock.
            woken, wakes = socket.socketpair()
            for each in (woken, wakes):
                each.setblocking(False)
            signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
            signal.signal(signal.SIGCHLD, lambda *_: None)
            selector.register(woken, selectors.EVENT_READ)
            self._start_keeper(listening)
            idle = time.monotonic()
            while True:
                soon = self.waiting or self.stopping or self.lost or any(
                    each.ended for each in self.drivers.values()
                )  # fmt: skip
                for key, _ in selector.select(SOON_SECONDS if soon else LOOK_SECONDS):
                    if key.fileobj is listening:
                        self._accept(listening)
                    elif key.fileobj is woken:
                        with contextlib.suppress(BlockingIOError):
                            woken.recv(4096)
                    else:
                        self._closed(selector, key)
                self._try_again(listening)
                self._look(selector)
                if self.drivers or self.waiting:
                    idle = time.monotonic()
                empty = 0.0 if self.stopping or self.lost else EMPTY_SECONDS
                if not self.drivers and time.monotonic() - idle >= empty:
                    break
        self._end_keeper()
        shutil.rmtree(self.scratch, ignore_errors=True)
        return 0

    @property
    def scratch(self) -> Path:
        """Temporary files of the JVM."""
        return self.folder / "scratch"

    def _stop(self, *_: object) -> None:
        self.stopping = True
        for each in self.drivers.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGTERM)

    def _listening(self) -> socket.socket:
        path = str(self.folder / HOST_SOCKET)
        keeper = str(self.folder / KEEPER_SOCKET)
        for each in (HOST_SOCKET, KEEPER_SOCKET, "busiest", "jvm.json", secret_file(keeper).name):
            (self.folder / each).unlink(missing_ok=True)
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        mask = os.umask(0o177)
        try:
            secret_file(path).write_text(self.secret, encoding="ascii")
            with short_path(path) as name:
                made.bind(name)
        finally:
            os.umask(mask)
        made.listen(64)
        made.setblocking(False)
        return made

    # ---- the keeper ----

    def _start_keeper(self, listening: socket.socket) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()
        end, self.alive = os.pipe()
        self.keeper = os.fork()
        if self.keeper == 0:
            self._be_child(listening, self.folder / "host.log", self.folder)
            os.close(self.alive)
            os.environ["MILLRACE_SCRATCH"] = str(self.scratch)
            _run(lambda: _keeper_main()(str(self.folder), end, self.memory_mb))
        os.close(end)
        with contextlib.suppress(OSError):
            os.setpgid(self.keeper, self.keeper)

    def _end_keeper(self) -> None:
        """End the keeper and its JVM; returns when both are gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.keeper, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.keeper, 0)
        with contextlib.suppress(OSError, ValueError):
            java = json.loads((self.folder / "jvm.json").read_text(encoding="utf-8"))["pid"]
            while born(java) is not None and os.getpgid(java) == self.keeper:
                time.sleep(SOON_SECONDS)

    # ---- requests ----

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except BlockingIOError:
            return
        connection.settimeout(2.0)
        try:
            request = json.loads(connection.makefile("rb").readline(LONGEST_LINE))
            known = secrets.compare_digest(str(request["secret"]), self.secret)
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known or self.stopping or self.lost:
            connection.close()  # The launcher starts another host.
            return
        deadline = time.monotonic() + LOCK_SECONDS
        self.waiting.append((deadline, request, connection))

    def _try_again(self, listening: socket.socket) -> None:
        waiting, self.waiting = self.waiting, []
        for deadline, request, connection in waiting:
            if self.lost or self.stopping:
                connection.close()
                continue
            answer = self._start(request, listening)
            if answer is None and time.monotonic() < deadline:
                self.waiting.append((deadline, request, connection))
                continue
            if answer is None:
                holder = Path(request["lock"]).read_text(encoding="utf-8", errors="replace")
                answer = {"refused": holder}
            with contextlib.suppress(OSError):
                connection.sendall(json.dumps(answer).encode() + b"\n")
            connection.close()

    def _start(self, request: HostRequest, listening: socket.socket) -> HostAnswer | None:
        """Start a driver and return its note; None if another one holds the checkpoint."""
        directory, log = Path(request["directory"]), Path(request["log"])
        lock_path, later = Path(request["lock"]), request["when"] == "later"
        lock = opened(lock_path) if later else locked(lock_path)
        if lock is None:
            return None
        (directory / "exit.json").unlink(missing_ok=True)
        scratch = tempfile.mkdtemp(prefix="millrace-driver-")
        pid = os.fork()
        if pid == 0:
            os.close(self.alive)
            self._be_child(listening, log, Path(request["cwd"]))
            os.environ.clear()
            os.environ.update(
                request["environment"],
                MILLRACE_LOCK=str(lock),
                MILLRACE_SCRATCH=scratch,
                MILLRACE_HOST_SOCKET=str(self.folder / KEEPER_SOCKET),
                MILLRACE_HOST_RUN=request["run"],
                MILLRACE_HOST_HOME=str(log.parent),
            )
            _run(lambda: _program(request["command"]))
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        if not later:
            os.truncate(lock, 0)
            os.pwrite(lock, f"process {pid} on {os.uname().nodename}".encode(), 0)
        note: DriverNote = {
            "pid": pid, "born": born(pid), "group": pid, "shim": os.getpid(),
            "command": request["command"], "host": self.folder.name,
        }  # fmt: skip
        write(directory / "process.json", dict(note))
        self.drivers[pid] = Driver(
            pid, request["run"], directory, log, int(request["log_bytes"]), lock, scratch
        )
        return {"note": note}

    def _be_child(self, listening: socket.socket, log: Path, folder: Path) -> None:
        """Separate a forked process from this one."""
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        listening.close()
        for _, _, connection in self.waiting:
            connection.close()
        for each in self.drivers.values():
            os.close(each.lock)
        empty = os.open(os.devnull, os.O_RDONLY)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for descriptor, standard in ((empty, 0), (out, 1), (out, 2)):
            os.dup2(descriptor, standard)
        os.close(empty)
        os.close(out)
        os.chdir(folder)

    # ---- ends ----

    def _look(self, selector: selectors.BaseSelector) -> None:
        """Notice processes that have ended."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == self.keeper:
                self._end_keeper()
                self.lost = time.monotonic()
            elif pid in self.drivers:
                self._ended(self.drivers[pid], os.waitstatus_to_exitcode(status))
        for each in list(self.drivers.values()):
            rotate(each.log, each.log_bytes)
            if self.lost and each.ended:
                self._release(each)
            elif each.ended and not each.asked:
                self._ask(selector, each)
            elif self.lost and time.monotonic() - self.lost > LEAVE_SECONDS:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(each.pid, signal.SIGKILL)

    def _ended(self, driver: Driver, code: int) -> None:
        driver.ended = True
        with contextlib.suppress(OSError):
            write(
                driver.directory / "exit.json",
                {"pid": driver.pid, "exit_code": code, "at": time.time()},
            )
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(driver.pid, signal.SIGKILL)

    def _ask(self, selector: selectors.BaseSelector, driver: Driver) -> None:
        """Ask the keeper to end a run; if it cannot be reached, again at the next look."""
        path = str(self.folder / KEEPER_SOCKET)
        asking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with short_path(path) as name:
                asking.connect(name)
            secret = secret_file(path).read_text(encoding="ascii")
            request = {"do": "close", "run": driver.run, "secret": secret}
            asking.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            asking.close()
            # Before the keeper listens, no driver has joined.
            if not secret_file(path).exists():
                self._release(driver)
            return
        driver.asked = True
        selector.register(asking, selectors.EVENT_READ, driver)

    def _closed(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        """Handle the keeper's response: nothing of a driver's run is at work in the JVM."""
        asking: Any = key.fileobj
        line = b""
        with contextlib.suppress(OSError):
            line = asking.makefile("rb").readline(LONGEST_LINE)
        selector.unregister(asking)
        asking.close()
        # Otherwise the keeper ends the JVM, which is noticed.
        if b'"closed": true' in line:
            self._release(key.data)

    def _release(self, driver: Driver) -> None:
        if self.drivers.pop(driver.pid, None) is not None:
            os.close(driver.lock)
            shutil.rmtree(driver.scratch, ignore_errors=True)


def _keeper_main() -> Any:
    return importlib.import_module("millrace_runtime.hosting.keeper").main


def _program(command: list[str]) -> int:
    """Run a driver's command, `python -m MODULE …` or `python FILE …`, in this process."""
    sys.argv = command[1:]
    folder = str(Path(sys.argv[0]).parent)
    sys.path.insert(0, folder)
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def _run(work: Any) -> NoReturn:
    """End this process with the result of `work`, without what belongs to its parent."""
    code = 1
    try:
        code = work()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - the process ends with it
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def main(arguments: list[str]) -> int:
    """Be the host in a folder, unless another process is it."""
    folder, memory_mb = Path(arguments[0]), int(arguments[1])
    held = locked(folder / "host.lock", LEAVE_SECONDS + LOCK_SECONDS)
    return 0 if held is None else Host(folder, memory_mb).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
