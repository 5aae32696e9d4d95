"""Kills of deployments in stream threads, each of which counts the same purchases exactly once.

    ./millrace bench kills -- --kills 40 --minutes 10
    ./millrace bench kills -- --kills 40 --minutes 10 --host 10
    ./millrace bench kills -- --kills 40 --minutes 10 --at-any-time

Deployments are started as a worker starts them, with a separate broker, and again when they have
ended. Without `--host`, one deployment has a JVM of its own, and its driver, its JVM or both are
killed (-9). With it, so many share a JVM: three of four kills are those of one driver, the others
those of the JVM, of the process that keeps it, or of the parent of all. A kill waits until those
that it ends run in stream threads and have recovered from earlier kills; with `--at-any-time` it
does not, so that many kills hit a driver that starts. A reader of committed records for each
deployment checks that the counts of each item arrive once and in order. Prints
each kill, how many of the threads were between the log of an epoch's offsets and its commit, and
the seconds until everything that was written before has its results.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_model.drivers import DriverNote
from millrace_workers.launchers import JobSpec, LocalLauncher, hosts

from bench._broker import Broker
from bench._load import PARTITIONS, PATIENCE_SECONDS, SOURCE, Reader, Writer, counting
from bench.host import stage
from cli import documents
from launcher import archive, places

GROUP = "kills"
INTO_THREAD, OUT_OF_THREAD = "processed in a stream thread", "Back to micro-batches"
#: longest time until all deployments run in threads, which on a busy machine takes minutes
THREADS_SECONDS = 900.0
#: longest time from when all threads run to the kill
MOMENT_SECONDS = 1.5
#: longest time until a driver that was asked to stop, or a host without drivers, has ended
ENDED_SECONDS = 60.0
#: purchases a second, without and with a host
RATE, RATE_IN_HOST = 1_000, 20


class Deployment(threading.Thread):
    """A deployment that is started again whenever it has ended, until it is told to stop."""

    def __init__(self, data: Path, broker: str, number: int, host: bool) -> None:
        super().__init__(name=f"deployment {number}", daemon=True)
        self.number = number
        self.folder = data / "deployments" / str(number)
        self.job = self.folder / "job"
        self.sink = f"kills-counts-{number}"
        self.starts = 0
        self._broker, self._host = broker, GROUP if host else None
        self._launcher = LocalLauncher(data)
        self._ended = threading.Event()
        #: size of the log when the last driver was started
        self._logged = 0

    def run(self) -> None:
        """Start a driver, and the next one when it has ended."""
        checkpoint, log = self.folder / "checkpoint", self.folder / "driver.log"
        for attempt in itertools.count():
            if self._ended.is_set():
                return
            self._logged = log.stat().st_size if log.exists() else 0
            run = f"{self.number}-{attempt}"
            arguments = ("--bootstrap-servers", self._broker, "--checkpoint", str(checkpoint))
            spec = JobSpec(
                self.number, self.job, checkpoint, log, run, (*arguments, "--run", run),
                host=self._host,
            )  # fmt: skip
            try:
                process = self._launcher.start(spec)
            except OSError:  # what was killed is still ending, or the new one was killed as well
                time.sleep(0.1)
                continue
            self.starts += 1
            while self._launcher.poll(self.folder, process) is None and not self._ended.wait(0.1):
                pass
            self._launcher.ask_to_stop(process)

    def stop(self) -> None:
        """Stop the driver, and do not start another one."""
        self._ended.set()

    def end(self) -> None:
        """Wait until the driver has ended, or kill it; then wait for its parent."""
        self.join()
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            parent = psutil.Process(self.note["shim"])
            deadline = time.monotonic() + ENDED_SECONDS
            while running := self._launcher.find(self.folder):
                if time.monotonic() > deadline:
                    self._launcher.kill(running)
                time.sleep(0.1)
            psutil.wait_procs([parent], ENDED_SECONDS)

    @property
    def log(self) -> str:
        """What the last driver has logged."""
        with suppress(FileNotFoundError), (self.folder / "driver.log").open("rb") as file:
            file.seek(self._logged)
            return file.read().decode(errors="replace")
        return ""

    @property
    def in_thread(self) -> bool:
        """Whether it runs in a stream thread."""
        log = self.log.rpartition("INFO Starting")[2]
        return log.rfind(INTO_THREAD) > log.rfind(OUT_OF_THREAD)

    @property
    def unfinished(self) -> bool:
        """Whether an epoch has begun that is not committed."""
        begun, ended = (
            max((int(each.name) for each in self.folder.glob(f"checkpoint/stream*/{log}/[0-9]*")),
                default=-1)
            for log in ("offsets", "commits")
        )  # fmt: skip
        return begun > ended

    @property
    def note(self) -> DriverNote:
        """The pids of its driver and of the parent."""
        found: DriverNote = json.loads((self.folder / "process.json").read_text("utf-8"))
        return found

    @property
    def java(self) -> psutil.Process:
        """Its JVM, or that of its host."""
        if self._host is not None:
            pid = hosts.java_of(self._launcher.hosts.folder_of(GROUP, self.job))
            if pid is None:
                raise FileNotFoundError("the host has no JVM yet")
            return psutil.Process(pid)
        family = psutil.Process(self.note["pid"]).children(recursive=True)
        return next(each for each in family if each.name() == "java")


@dataclass
class Kill:
    """One kill, which has ended so many stream threads, some of them `within` an epoch.

    `waits`: by deployment, the purchases that were written before; `recovered`: seconds until all
    of them were counted by all.
    """

    kind: str
    at: float
    threads: int
    within: int
    waits: dict[int, int]
    recovered: float = 0.0


@dataclass
class Kills:
    """Deployments under load, and what was killed."""

    deployments: list[Deployment]
    readers: list[Reader]
    writer: Writer
    chance: random.Random
    host: bool
    #: whether a kill does not wait for recovery from earlier ones
    at_any_time: bool = False
    kills: list[Kill] = field(default_factory=list)

    def until(self, holds: Callable[[], bool], what: str, seconds: float) -> None:
        """Wait, and note what has recovered meanwhile. Raises RuntimeError after the seconds."""
        deadline = time.monotonic() + seconds
        while not holds():
            self._note()
            if time.monotonic() > deadline:
                logs = "\n".join(each.log[-3000:] for each in self.deployments)
                raise RuntimeError(f"not within {seconds:.0f} s: {what}\n{logs}")
            time.sleep(0.05)
        self._note()

    def _note(self) -> None:
        for kill in self.kills:
            for number, needed in list(kill.waits.items()):
                if self.readers[number - 1].total >= needed:
                    del kill.waits[number]
                    kill.recovered = time.monotonic() - kill.at

    def run(self, kills: int, seconds: float, longest: float) -> None:
        """Kill so often, each time at a random moment of its share of the time.

        No more kills begin after the longest time, which a busy machine may need.
        """
        began = time.monotonic()
        for number in range(kills):
            if time.monotonic() > began + longest:
                return
            due = began + (number + self.chance.random()) * seconds / kills
            while time.monotonic() < due:
                self._note()
                time.sleep(0.05)
            self._kill(self._kind(number))

    def _kind(self, number: int) -> str:
        if not self.host:
            return ("driver", "JVM", "driver and JVM")[number % 3]
        return "driver" if number % 4 else ("JVM", "keeper", "parent")[number // 4 % 3]

    def _kill(self, kind: str) -> None:
        chosen = self.deployments
        if self.host and kind == "driver":
            chosen = [self.chance.choice(chosen)]
        if not self.at_any_time:
            what = f"threads, to kill the {kind}"
            self.until(lambda: self._at_work(chosen), what, THREADS_SECONDS)
            time.sleep(self.chance.uniform(0.0, MOMENT_SECONDS))
        self.until(lambda: bool(_pids(kind, chosen[0])), f"a {kind} to kill", THREADS_SECONDS)
        ended = [each for each in chosen if self.at_any_time or each.in_thread]
        threads = sum(each.in_thread for each in ended)
        for pid in _pids(kind, chosen[0]):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        at, before = time.monotonic(), self.writer.total
        within = sum(each.unfinished for each in ended)
        waits = dict.fromkeys((each.number for each in ended), before)
        self.kills.append(kill := Kill(kind, at, threads, within, waits))
        print(
            f"{len(self.kills):3} {kind:14} in {kill.threads} stream threads, "
            f"{kill.within} within an epoch",
            flush=True,
        )

    def _at_work(self, chosen: list[Deployment]) -> bool:
        """Whether they run in stream threads, and have recovered from earlier kills."""
        numbers = {each.number for each in chosen}
        return all(each.in_thread for each in chosen) and not any(
            numbers & kill.waits.keys() for kill in self.kills
        )

    def check(self) -> None:
        """Compare what was read with what was written. Raises RuntimeError if it differs."""
        self.writer.stop()
        everything = self.writer.total
        self.until(
            lambda: all(each.total >= everything for each in self.readers),
            "all results", PATIENCE_SECONDS,
        )  # fmt: skip
        time.sleep(3)
        for each, reader in zip(self.deployments, self.readers, strict=True):
            reader.stop()
            missing = self.writer.written - reader.counts
            more = reader.counts - self.writer.written
            if reader.wrong or missing or more:
                raise RuntimeError(
                    f"deployment {each.number}: {len(reader.wrong)} counts out of order: "
                    f"{reader.wrong[:5]}; missing at the end: {missing.total()}, too many: "
                    f"{more.total()}\n{each.log[-3000:]}"
                )


def _pids(kind: str, deployment: Deployment) -> list[int]:
    """Return the processes of a kind; none if they have not started, or have just ended."""
    with suppress(OSError, ValueError, StopIteration, psutil.NoSuchProcess):
        note = deployment.note
        if kind == "driver":
            return [note["pid"]] if psutil.pid_exists(note["pid"]) else []
        java = deployment.java
        return {
            "JVM": [java.pid],
            "driver and JVM": [note["pid"], java.pid],
            "keeper": [java.ppid()],
            "parent": [note["shim"]],
        }[kind]
    return []


@dataclass(frozen=True)
class Outcome:
    """The result of a run: `deployments` have each counted so many purchases."""

    kills: list[Kill]
    purchases: int
    seconds: float
    #: drivers that were started, of all deployments
    starts: int


def run(
    folder: Path, kills: int, seconds: float, *, host: int, rate: int, seed: int,
    longest: float = math.inf, at_any_time: bool = False,
) -> Outcome:  # fmt: skip
    """Run the benchmark. Raises RuntimeError for a wrong result or one that does not come."""
    os.environ.update(archive.with_options(archive.spark().use()))
    os.environ["PYTHONPATH"] = os.pathsep.join(places.PYTHON_PATH)
    with Broker() as broker:
        deployments = [
            Deployment(folder, broker.address, number, bool(host))
            for number in range(1, max(1, host) + 1)
        ]
        with documents.analyzer() as analyzer:
            for each in deployments:
                stage(each.job, counting(sink=each.sink), analyzer)
        admin = AdminClient({"bootstrap.servers": broker.address})
        names = [SOURCE, *(each.sink for each in deployments)]
        for made in admin.create_topics([NewTopic(n, PARTITIONS, 1) for n in names]).values():
            made.result()
        readers = [Reader(broker.address, each.sink) for each in deployments]
        writer = Writer(broker.address, rate, seed)
        chance = random.Random(seed)  # noqa: S311
        found = Kills(deployments, readers, writer, chance, bool(host), at_any_time)
        try:
            for thread in (writer, *readers, *deployments):
                thread.start()
            found.until(
                lambda: all(each.in_thread for each in deployments), "the first threads",
                THREADS_SECONDS,
            )  # fmt: skip
            began = time.monotonic()
            found.run(kills, seconds, longest)
            took = time.monotonic() - began
            found.check()
        finally:
            writer.stop()
            for each in deployments:
                each.stop()
            for each in deployments:
                each.end()
    return Outcome(found.kills, writer.total, took, sum(each.starts for each in deployments))


def main() -> int:
    """Print each kill, then a table by kind."""
    parser = argparse.ArgumentParser(prog="bench kills")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="no kill begins after twice of them (10)"
    )
    parser.add_argument("--host", type=int, default=0, help="deployments that share a JVM")
    parser.add_argument(
        "--at-any-time", action="store_true", help="do not wait for recovery before the next kill"
    )
    parser.add_argument("--rate", type=int, help="purchases a second (1,000; 20 with --host)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rate = given.rate or (RATE_IN_HOST if given.host else RATE)
    with tempfile.TemporaryDirectory(prefix="millrace-kills-") as folder:
        try:
            found = run(
                Path(folder), given.kills, given.minutes * 60,
                host=given.host, rate=rate, seed=given.seed, longest=given.minutes * 120,
                at_any_time=given.at_any_time,
            )  # fmt: skip
        except RuntimeError as error:
            print(f"FAILED: {error}", flush=True)
            return 1
    print(
        f"\n{len(found.kills)} kills in {found.seconds / 60:.1f} minutes, {found.starts} starts; "
        f"{found.purchases:,} purchases, each counted once and in order by "
        f"{max(1, given.host)} of {max(1, given.host)} deployments\n"
    )
    print(
        f"{'killed':16}{'times':>6}{'threads':>9}{'in epochs':>11}{'counted again after':>21}"
        f"{'worst':>9}"
    )
    for kind in dict.fromkeys(each.kind for each in found.kills):
        mine = [each for each in found.kills if each.kind == kind]
        took = [each.recovered for each in mine]
        print(
            f"{kind:16}{len(mine):6}{sum(each.threads for each in mine):9}"
            f"{sum(each.within for each in mine):11}{statistics.median(took):19.1f} s"
            f"{max(took):7.1f} s"
        )
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
