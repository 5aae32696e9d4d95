"""Random faults under load, while purchases are counted exactly once, and their effect on readers.

    ./millrace bench chaos -- --minutes 10 --rate 2000

Starts a separate system in the way a person does. Its parts are killed (-9) or stopped (SIGSTOP) at
random, its disk is filled for a while, two versions of the topology are deployed in turns, and the
driver is restarted. Faults of the job and of the broker follow one another; with `--beside`, faults
of the other services occur at the same time. Filling the disk requires the right to mount a file
system. A reader of committed records checks that the counts of each item arrive once and in order;
at the end, the output and the store are compared with the input. Prints the faults and, for each
kind, the time until all records written before it have their updates ("recovered").
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil
from confluent_kafka import Consumer, TopicPartition

from bench._broker import free_ports
from bench._load import (
    PARTITIONS,
    PATIENCE_SECONDS,
    SINK,
    SOURCE,
    Reader,
    Writer,
    counting,
)
from tests.e2e.api import Api
from tests.e2e.system import System, running_system
from tests.e2e.topics import create_topic

SERVICES = ("worker", "beat", "backend", "redis", "analyzer", "broker")
#: size of the data folder's own disk, if it can be mounted: logs, checkpoint and topics of ten
#: minutes
DISK_BYTES = 3_000_000_000


@dataclass
class Fault:
    """A fault and the seconds until recovery, or None if the system did not recover."""

    kind: str
    at: float
    recovered: float | None = None
    #: longest time without output, in seconds
    gap: float = 0.0


@dataclass
class Chaos:
    """A system under load, and faults to inject."""

    system: System
    api: Api
    writer: Writer
    reader: Reader
    deployment: int
    seed: int
    stop_seconds: float
    #: whether the data folder is on its own disk
    disk: bool
    faults: list[Fault] = field(default_factory=list)
    _version: int = 1
    _ended: bool = False

    # -- what is there --------------------------------------------------------------------------
    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the API's response; retry while the backend or a service that it needs is down."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.api.call(method, path, body)
            except (httpx.TransportError, AssertionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def services(self) -> dict[str, dict[str, Any]]:
        """Return the services of the supervisor, by name."""
        while True:
            with suppress(ValueError, OSError):
                state = json.loads((self.system.data / "run" / "state.json").read_text())
                return {one["name"]: one for one in state["services"]}
            time.sleep(0.05)

    def family(self, who: str) -> list[psutil.Process]:
        """Return the running processes of a service (not drivers) or the driver, parent first."""
        if who in {"driver", "JVM"}:
            run = self.ask("GET", f"/deployments/{self.deployment}")["run"]
            pid = None if run is None else run["pid"]
        else:
            pid = self.services()[who]["pid"]
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(pid)
            every = [parent, *parent.children(recursive=True)]
            return [each for each in every if pid is not None and _belongs(each, who)]
        return []

    # -- faults ---------------------------------------------------------------------------------
    def kill(self, *names: str) -> None:
        """Kill the main process of each with SIGKILL, at the same time."""
        for process in [first for who in names for first in self.family(who)[:1]]:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def stop(self, who: str) -> None:
        """Stop all processes of a part with SIGSTOP for a while."""
        family = self.family(who)
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.suspend()
        time.sleep(self.stop_seconds)
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.resume()

    def fill(self) -> None:
        """Fill the disk of the data folder for a while."""
        filler = self.system.data / "filler"
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            try:
                with filler.open("ab", buffering=0) as file:
                    while True:
                        file.write(bytes(1_000_000))
            except OSError:  # the disk is full, until another process deletes a file
                deadline = deadline or time.monotonic() + self.stop_seconds
            time.sleep(0.1)
        filler.unlink()

    def redeploy(self) -> None:
        """Deploy the other version in place of the running one."""
        self._version = 3 - self._version
        body = {"version": self._version}
        self.ask("POST", f"/deployments/{self.deployment}/redeploy", body)

    def everything(self) -> None:
        """Kill the driver and all services with SIGKILL."""
        self.kill("driver", *SERVICES)

    def kinds(self) -> dict[str, Callable[[], None]]:
        """The faults by name."""
        killed = {f"kill {who}": lambda who=who: self.kill(who) for who in
                  ("driver", "JVM", *SERVICES)}  # fmt: skip
        held = {f"stop {who}": lambda who=who: self.stop(who) for who in
                ("driver", "JVM", *SERVICES)}  # fmt: skip
        restart = f"/deployments/{self.deployment}/restart"
        return {
            **killed,
            **held,
            "kill everything": self.everything,
            **({"fill the disk": self.fill} if self.disk else {}),
            "redeploy": self.redeploy,
            "restart": lambda: self.ask("POST", restart),
        }

    def disturb(self, kind: str) -> Fault:
        """Inject one fault, and wait until all records written before have their updates."""
        before = self.writer.total
        self.reader.gap, self.reader.heard = 0.0, time.monotonic()
        fault = Fault(kind, time.monotonic())
        self.faults.append(fault)
        self.kinds()[kind]()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self.reader.total >= before and self._well():
                fault.recovered = time.monotonic() - fault.at
                fault.gap = max(self.reader.gap, time.monotonic() - self.reader.heard)
                return fault
            time.sleep(0.2)
        return fault

    def _well(self) -> bool:
        try:
            found = self.api.call("GET", f"/deployments/{self.deployment}")
        except (httpx.TransportError, AssertionError):
            return False
        if found["observed"] == "failed":
            raise RuntimeError(f"the deployment failed: {found['failure']}")
        run = found["run"]
        # If a new version is disturbed before its first batch, the previous one replaces it.
        right = run is not None and run["version"] == self._version and found["fallback"] is None
        return (
            right
            and found["observed"] == "running"
            and all(self.services()[who]["state"] == "running" for who in SERVICES)
        )

    def run(self, seconds: float, least: int, *, beside: bool) -> None:
        """Inject faults until the time is over, at least so many of the job and of the services:
        each kind once in random order, then again.
        """
        own = [kind for kind in self.kinds() if kind.split()[-1] not in SERVICES[:-1]]
        rest = [kind for kind in self.kinds() if kind not in own]
        series = [own, rest] if beside else [own + rest]
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(len(series)) as pool:
            orders = [in_order(kinds, self.seed) for kinds in series]
            for each in [pool.submit(self._series, one, deadline, least) for one in orders]:
                each.result()

    def _series(self, kinds: Iterator[str], deadline: float, least: int) -> None:
        for number, kind in enumerate(kinds):
            if self._ended or (number >= least and time.monotonic() > deadline):
                return
            try:
                fault = self.disturb(kind)
            except RuntimeError:
                self._ended = True
                raise
            took = "NEVER" if fault.recovered is None else f"{fault.recovered:6.1f} s"
            print(f"{kind:16} recovered {took}, longest pause {fault.gap:5.1f} s", flush=True)
            if fault.recovered is None:
                self._ended = True
                raise RuntimeError(f"{kind} was not recovered from: {self._situation()}")
            time.sleep(1.0)

    def _situation(self) -> str:
        found = self.ask("GET", f"/deployments/{self.deployment}")
        keep = {name: found[name] for name in ("observed", "desired", "failure", "outage", "run")}
        return f"{keep}; written {self.writer.total}, read {self.reader.total}; {self.services()}"

    def check(self) -> None:
        """Compare the results with those of a run without faults. Raises RuntimeError if they
        differ.
        """
        self.writer.stop()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.reader.total < self.writer.total and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(3)
        self.reader.stop()
        wrong = self.reader.wrong[:5]
        there = self._purchases()
        if wrong or self.reader.counts != there:
            missing, more = there - self.reader.counts, self.reader.counts - there
            raise RuntimeError(
                f"{len(self.reader.wrong)} updates out of order: {wrong}; missing at the end: "
                f"{missing.total()}, too many: {more.total()}; {self._situation()}"
            )
        if self.writer.written - there:
            raise RuntimeError(f"the broker lost {(self.writer.written - there).total()} records")
        stored = self._stored()
        if stored != there:
            raise RuntimeError(f"the store has {stored.total()} of {there.total()}")
        unknown = there.total() - self.writer.total
        print(f"{there.total():,} purchases, {unknown:,} of them never acknowledged")

    def _purchases(self) -> Counter[str]:
        """Return the records in the topic by item, whatever was reported to the producer."""
        consumer = Consumer(
            {"bootstrap.servers": self.system.bootstrap_servers, "group.id": "purchases"}
        )
        found: Counter[str] = Counter()
        for number in range(PARTITIONS):
            place = TopicPartition(SOURCE, number, 0)
            left = consumer.get_watermark_offsets(place, timeout=30)[1]
            consumer.assign([place])
            while left > 0:
                records = [each for each in consumer.consume(5_000, 5.0) if each.error() is None]
                found.update((each.value() or b"").decode() for each in records)
                left -= len(records)
        consumer.close()
        return found

    def _stored(self) -> Counter[str]:
        found: Counter[str] = Counter()
        path = f"/deployments/{self.deployment}/stores/count?limit=1000"
        after = ""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            page = self.ask("GET", path + after)["page"]
            if page is None:  # the process that reads stores is starting
                time.sleep(1)
                continue
            rows = page["rows"]
            found.update({row["key"]["text"]: int(row["value"]["text"]) for row in rows})
            if page["next"] is None:
                return found
            after = f"&after={quote(page['next'], safe='')}"
        raise RuntimeError("the store could not be read")


def in_order(kinds: list[str], seed: int) -> Iterator[str]:
    """Return each kind once in random order, then again, without end."""
    chosen = random.Random(seed)  # noqa: S311
    while True:
        yield from chosen.sample(kinds, len(kinds))


def _belongs(process: psutil.Process, who: str) -> bool:
    """Return whether a process is alive and belongs to a part: drivers are children of workers."""
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        if who == "JVM":
            return process.name() == "java"
        return who != "worker" or "celery" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


@dataclass(frozen=True)
class Outcome:
    """The result of a run."""

    faults: list[Fault]
    records: int
    seconds: float


@contextmanager
def disk_of_its_own(folder: Path) -> Iterator[bool]:
    """Mount a small disk at the folder; yield False if this process may not mount one."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", str(folder)]
    mounted = shutil.which("mount") is not None and (
        subprocess.run(mount, capture_output=True, check=False).returncode == 0
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def run(
    folder: Path, seconds: float, rate: int, seed: int, stop_seconds: float, *,
    least: int = 1, beside: bool = False,
) -> Outcome:  # fmt: skip
    """Run the benchmark. Raises RuntimeError for a wrong result or a missing recovery."""
    with (
        disk_of_its_own(folder / "data") as disk,
        running_system(folder, free_ports(1)[0]) as system,
        Api(system.address, system.link) as api,
    ):
        for topic in (SOURCE, SINK):
            create_topic(system.bootstrap_servers, topic, PARTITIONS)
        deployment = api.deploy("Chaos", counting(checked=False))
        topology = api.call("GET", f"/deployments/{deployment}")["topology"]
        version = {"document": counting(checked=True), "message": "checked", "base_version": 1}
        api.call("POST", f"/topologies/{topology}/versions", version)
        writer, reader = Writer(system.bootstrap_servers, rate, seed), Reader(
            system.bootstrap_servers
        )  # fmt: skip
        api.until(deployment, "running", PATIENCE_SECONDS)
        reader.start()
        writer.start()
        began = time.monotonic()
        chaos = Chaos(system, api, writer, reader, deployment, seed, stop_seconds, disk)
        while reader.total < rate and time.monotonic() < began + PATIENCE_SECONDS:
            time.sleep(0.2)
        if not disk:
            print("the disk is not filled: a separate disk could not be mounted", flush=True)
        chaos.run(seconds, least, beside=beside)
        chaos.check()
        return Outcome(chaos.faults, writer.total, time.monotonic() - began)


def main() -> int:
    """Prints each fault, then a table by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=int, default=1_000, help="purchases a second")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--stop-seconds", type=float, default=20.0, help="length of a SIGSTOP")
    parser.add_argument(
        "--beside", action="store_true", help="faults of other services beside those of the job"
    )
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="millrace-chaos-") as folder:
        try:
            found = run(
                Path(folder), asked.minutes * 60, asked.rate, asked.seed, asked.stop_seconds,
                beside=asked.beside,
            )  # fmt: skip
        except RuntimeError as error:
            print(f"FAILED: {error}", flush=True)
            for log in Path(folder).glob("data/deployments/*/driver.log"):
                print("\n".join(log.read_text(errors="replace").splitlines()[-40:]))
            return 1
    rate = found.records / found.seconds
    print(f"\n{len(found.faults)} faults in {found.seconds:.0f} s; {found.records:,} purchases, ")
    print(f"{rate:,.0f} a second; each counted once and in order\n")
    print(f"{'fault':16} {'times':>5} {'recovered, median':>18} {'worst':>8} {'worst pause':>12}")
    for kind in sorted({each.kind for each in found.faults}):
        mine = [each for each in found.faults if each.kind == kind]
        took = [each.recovered or 0.0 for each in mine]
        print(f"{kind:16} {len(mine):5} {statistics.median(took):16.1f} s {max(took):6.1f} s "
              f"{max(each.gap for each in mine):10.1f} s")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
