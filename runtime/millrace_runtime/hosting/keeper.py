"""The keeper of a host's JVM: lets drivers join, and ends what a driver leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from millrace_services.line_server import LineConnection, LineServer
from millrace_services.local_services import LONGEST_LINE

from millrace_runtime import columns
from millrace_runtime.checkpoint import storage
from millrace_runtime.session import session

SOCKET = "jvm.sock"
#: seconds that the queries and tasks of a run may take to end
CLOSE_SECONDS = 8.0
LOOK_SECONDS = 0.3
#: seconds in which drivers report that their host has ended
NOTICE_SECONDS = 0.5
#: seconds for which it is known which run allocated most
NOTED_SECONDS = 3.0
#: exit code of a JVM with ExitOnOutOfMemoryError whose heap is full
HEAP_FULL = 3
#: name of the note, in a deployment's folder, that it must have a JVM of its own
ALONE = "alone"

#: Slots beside those of the machine's cores, so that a task that hangs does not stop the others.
SPARE_SLOTS = 2
SETTINGS = {
    "spark.scheduler.mode": "FAIR",
    # One limit for the caches and write buffers of all stores.
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "256",
}
#: A small heap is collected fast by one thread, and memory that is not used is given back.
JAVA = (
    "-XX:+UseSerialGC",
    "-XX:MinHeapFreeRatio=15",
    "-XX:MaxHeapFreeRatio=35",
    "-XX:+ExitOnOutOfMemoryError",
)


class Guest(LineConnection):
    """A connection of a driver that joins, or of the host's parent process."""

    server: Doorkeeper

    def handle(self) -> None:
        """Answer one request; a driver that has joined stays connected until it ends."""
        with contextlib.suppress(ConnectionError):
            request: Any = self.request_in(self.rfile.readline(LONGEST_LINE))
            if request is None:
                return
            keeper = self.server.keeper
            if request["do"] == "close":
                self.reply({"closed": keeper.close(request["run"])})
                return
            run = request["run"]
            keeper.guests[run] = self, Path(request["home"])
            try:
                self.reply(keeper.open(run))
                while self.rfile.readline(LONGEST_LINE):
                    pass
            finally:
                keeper.close(run)


class Doorkeeper(LineServer):
    """The keeper's socket."""

    def __init__(self, path: str, keeper: Keeper) -> None:
        self.keeper = keeper
        super().__init__(path, lambda request: request, Guest)


class Keeper:
    """Owns the JVM. `parent`: a descriptor that is closed when the host's parent process ends."""

    def __init__(self, folder: Path, parent: int, memory_mb: int) -> None:
        self._folder, self._parent = folder, parent
        #: drivers that have joined: their connections and the folders of their deployments
        self.guests: dict[str, tuple[Guest, Path]] = {}
        self._closing = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        cores = os.cpu_count() or 1
        self._spark = session.create(
            "millrace-host",
            master=f"local[{cores + SPARE_SLOTS}]",
            settings={
                **SETTINGS,
                **session.CHECKPOINTS,
                **storage.spark_settings(str(folder)),
                "spark.driver.memory": f"{memory_mb}m",
            },
            java_extra=JAVA,
        )
        gateway: Any = self._spark.sparkContext._gateway
        self._java = gateway.proc
        self._host = columns.gateway().Host
        self._host.begin(self._spark._jsparkSession, str(folder))

    def serve(self) -> int:
        """Serve until the JVM or the parent process ends; return the exit code."""
        server = Doorkeeper(str(self._folder / SOCKET), self)
        for work in (self._watch_java, self._watch_parent, self._watch_heap):
            threading.Thread(target=work, daemon=True).start()
        signal.signal(signal.SIGTERM, lambda *_: self._end(0))
        (self._folder / "jvm.json").write_text(json.dumps({"pid": self._java.pid}), "utf-8")
        server.serve_forever(poll_interval=60)
        return 0

    def open(self, run: str) -> dict[str, object]:
        """Open a run in the JVM and return the port and secret of its gateway."""
        _, home = self.guests[run]
        log = str(home / "driver.log")
        port, secret = self._host.open(self._spark._jsparkSession, run, log)
        return {"port": int(port), "gateway_secret": secret}

    def close(self, run: str) -> bool:
        """End a run, and return when none of its tasks is alive; the host ends if one hangs."""
        with self._closing:
            turn = self._turns.setdefault(run, threading.Lock())
        with turn:
            _, home = self.guests.get(run, (None, None))
            if self._host.close(run, int(CLOSE_SECONDS * 1000)):
                self.guests.pop(run, None)
                return True
            if home is not None:
                alone(home, "hang")
            self._end(1)
            return False

    def _watch_java(self) -> None:
        code = self._java.wait()
        if code == HEAP_FULL:
            for run in self._culprits():
                self._leave(run)
        self._end(1)

    def _culprits(self) -> list[str]:
        """Return the run that has filled the heap; all if it is not known, as by one allocation."""
        noted = self._folder / "busiest"
        try:
            if time.time() - noted.stat().st_mtime < NOTED_SECONDS:
                return [noted.read_text("utf-8")]
        except OSError:
            pass
        return list(self.guests)

    def _watch_parent(self) -> None:
        os.read(self._parent, 1)
        self._end(1)

    def _watch_heap(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with contextlib.suppress(Exception):  # the JVM may be ending
                run = self._host.leaving()
                if run is not None:
                    self._leave(run)
                    time.sleep(CLOSE_SECONDS)

    def _leave(self, run: str) -> None:
        """Have a run that fills the heap continue in a JVM of its own."""
        guest, home = self.guests.get(run, (None, None))
        if guest is not None and home is not None:
            alone(home, "heap")
            with contextlib.suppress(OSError):
                guest.reply({"leave": "host_full"})

    def _end(self, code: int) -> None:
        """End the JVM first: drivers give up their checkpoints when this process has ended."""
        self._java.kill()
        with contextlib.suppress(Exception):
            self._java.wait()
        (self._folder / SOCKET).unlink(missing_ok=True)
        os._exit(code)


def alone(home: Path, cause: str) -> None:
    """Note that a deployment has to have a JVM of its own, and why: `heap` or `hang`."""
    partial = home / f"{ALONE}.new"
    partial.write_text(json.dumps({"cause": cause}), encoding="utf-8")
    partial.replace(home / ALONE)


def main(folder: str, parent: int, memory_mb: int) -> int:
    """Keep a JVM in this process, which the host has forked."""
    keeper = Keeper(Path(folder), parent, memory_mb)
    print("READY", file=sys.stderr, flush=True)
    return keeper.serve()
