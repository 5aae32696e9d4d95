"""The pause of the output while one version replaces another, or after a driver is killed.

    ./millrace bench change -- --keys 1000 1000000 --changes 3

Starts a separate system in the way a person does. Records are written at a rate and counted by key,
while versions are deployed in turns: with each guarantee, with stores of the given numbers of keys
of 77 characters (`--padding` changes their length). Prints the rows and bytes of the stores, the
longest time without output around each change (from the last output of the old driver to the first
of the new one), and the time from the request to that first output. `--cold` stops the old driver
first, as on a machine without memory for both. `--kill` kills the driver (`kill -9`) instead of
changing the version, with a standby and without one; the time is from the kill. `--moved` changes
the number of tasks, so that all rows are written to another checkpoint, and prints the rows that
are moved in a second.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from bench._broker import free_ports
from bench._documents import chain, document, node
from bench._table import Row, show
from tests.e2e.api import Api
from tests.e2e.system import System, running_system
from tests.e2e.topics import create_topic

PARTITIONS = 2
GUARANTEES = ("at_least_once", "exactly_once")
PAUSE_LIMIT = 3.0
PATIENCE_SECONDS = 400.0


def counting(name: str, guarantee: str, *added: dict[str, Any]) -> dict[str, Any]:
    """Return a document that counts records by key; `added`: nodes before the store."""
    text = {"format": "string"}
    nodes = [
        node("records", "source.stream", topics=[f"{name}-in"], key=text, value=text),
        node("by-value", "select_key", key="value"),
        *added,
        node("count", "count"),
        node("updates", "to_stream"),
        node("out", "sink.topic", topic=f"{name}-out"),
    ]
    made = document(name, nodes, chain(*(each["id"] for each in nodes)))
    made["topics"] = {f"{name}-{end}": {"partitions": PARTITIONS} for end in ("in", "out")}
    made["settings"] = {"processing_guarantee": guarantee}
    return made


class Outputs(threading.Thread):
    """Records when committed outputs arrive."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__(daemon=True)
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "change",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, n, 0) for n in range(PARTITIONS)])
        self._ended = threading.Event()
        self.count = 0
        #: monotonic seconds of two successive outputs, if they are 50 ms or more apart
        self.gaps: list[tuple[float, float]] = []
        self.last = time.monotonic()

    def run(self) -> None:
        """Read until stopped."""
        while not self._ended.is_set():
            found = self._consumer.consume(500, 0.02)
            if not found:
                continue
            now = time.monotonic()
            if now - self.last >= 0.05:
                self.gaps.append((self.last, now))
            self.last, self.count = now, self.count + len(found)
        self._consumer.close()

    def stop(self) -> None:
        """Stop reading."""
        self._ended.set()
        self.join()


@dataclass
class Change:
    """A deployment whose version is changed."""

    system: System
    api: Api
    guarantee: str
    keys: int
    rate: int
    padding: int
    moved: bool
    #: whether a killed driver has a standby; None: the version is changed instead
    standby: bool | None = None

    @property
    def name(self) -> str:
        """The name of its topology, and the prefix of its topics."""
        kind = {None: "", True: "-standby", False: "-alone"}[self.standby]
        return f"{self.guarantee.replace('_', '-')}-{self.keys}{kind}"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of its deployment."""
        return {"create_topics": True, **({"standby": True} if self.standby else {})}

    def measure(self, changes: int) -> tuple[list[float], list[float]]:
        """Return the pauses, and seconds from each request to the new version's first output."""
        servers = self.system.bootstrap_servers
        for end in ("in", "out"):
            create_topic(servers, f"{self.name}-{end}", PARTITIONS)
        #: rows and monotonic seconds of each report about rows that are moved
        self.moves: list[tuple[int, float]] = []
        first = counting(self.name, self.guarantee)
        #: rows and bytes of each store before the last change
        self.stored: list[tuple[int | None, int | None]] = []
        self.deployment = self.api.deploy(self.name, first, **self.settings)
        topology = self.api.call("GET", f"/deployments/{self.deployment}")["topology"]
        checked = node("checked", "filter", predicate="value <> ''")
        spread = node("spread", "repartition", partitions=2 * PARTITIONS)
        second = counting(self.name, self.guarantee, spread if self.moved else checked)
        body = {"document": second, "message": "next", "base_version": 1}
        self.api.call("POST", f"/topologies/{topology}/versions", body)
        outputs = Outputs(servers, f"{self.name}-out")
        outputs.start()
        ended = threading.Event()
        writer = threading.Thread(target=self._write, args=(servers, ended))
        writer.start()
        try:
            self._until(lambda: outputs.count >= self.keys + self.rate)
            if self.standby is None:
                found = [self._change(2 - n % 2, outputs) for n in range(changes)]
            else:
                found = [self._kill(outputs) for _ in range(changes)]
        finally:
            ended.set()
            writer.join()
            outputs.stop()
        self.api.call("POST", f"/deployments/{self.deployment}/stop")
        self.api.until(self.deployment, "stopped", 120)
        return [each[0] for each in found], [each[1] for each in found]

    def _change(self, version: int, outputs: Outputs) -> tuple[float, float]:
        # Wait until the state has settled: its batches are done, and it is saved as snapshots.
        time.sleep(10)
        plan = self.api.call("GET", f"/deployments/{self.deployment}/plan?version={version}")
        self.stored = [(each["rows"], each["bytes"]) for each in plan["stores"]]
        self.moves.clear()
        before, asked = len(outputs.gaps), time.monotonic()
        body = {"version": version, "settings": self.settings}
        self.api.call("POST", f"/deployments/{self.deployment}/redeploy", body)
        self._until(lambda: self._arrived(version))
        count = outputs.count
        self._until(lambda: outputs.count > count)
        start, end = max(outputs.gaps[before:], key=lambda gap: gap[1] - gap[0])
        return end - start, end - asked

    def _kill(self, outputs: Outputs) -> tuple[float, float]:
        self._until(
            lambda: (self._found()["standby"] or {}).get("state") == "ready" or not self.standby
        )
        time.sleep(10)
        plan = self.api.call("GET", f"/deployments/{self.deployment}/plan?version=1")
        self.stored = [(each["rows"], each["bytes"]) for each in plan["stores"]]
        run = self._found()["run"]
        before, killed = len(outputs.gaps), time.monotonic()
        os.kill(run["pid"], signal.SIGKILL)
        self._until(lambda: self._runs_again(run["id"]))
        count = outputs.count
        self._until(lambda: outputs.count > count)
        start, end = max(outputs.gaps[before:], key=lambda gap: gap[1] - gap[0])
        return end - start, end - killed

    def _found(self) -> Any:
        return self.api.call("GET", f"/deployments/{self.deployment}")

    def _runs_again(self, before: int) -> bool:
        found = self._found()
        run = found["run"]
        if run is None or run["id"] == before or found["observed"] != "running":
            return False
        if run["standby"] != self.standby:
            raise RuntimeError(f"the driver that follows was a standby: {run['standby']}")
        return True

    def _arrived(self, version: int) -> bool:
        found = self.api.call("GET", f"/deployments/{self.deployment}")
        for step in found["steps"]:
            if step["detail"] and step["detail"]["code"].startswith("moving_state"):
                rows = int(step["detail"]["facts"].get("rows", "0").replace(",", ""))
                self.moves.append((rows, time.monotonic()))
        if found["failure"] is not None:
            raise RuntimeError(f"the change failed: {found['failure']['message']}")
        run = found["run"]
        runs = run is not None and run["version"] == version and found["fallback"] is None
        return bool(runs and found["observed"] == "running")

    def _write(self, servers: str, ended: threading.Event) -> None:
        """Write each key once, as fast as possible, then continue at the rate."""
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, "log_level": 0})
        began, number = time.monotonic(), 0
        while not ended.is_set():
            due = self.keys + int((time.monotonic() - began) * self.rate)
            while number < due and not ended.is_set():
                try:
                    producer.produce(
                        f"{self.name}-in", key=f"k{number % 97}", value=self._key(number)
                    )
                except BufferError:
                    producer.poll(0.1)
                    continue
                number += 1
                if number == self.keys:
                    began = time.monotonic()
                    break
            producer.poll(0.005)
        producer.flush(30)

    def _key(self, number: int) -> str:
        return f"key-{number % self.keys:012}-{'x' * self.padding}"

    def _until(self, holds: Any) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            if time.monotonic() > deadline:
                raise RuntimeError("it did not happen in time")
            time.sleep(0.05)


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--rate", type=int, default=200, help="records a second (200)")
    parser.add_argument("--padding", type=int, default=60, help="characters added to a key (60)")
    parser.add_argument("--changes", type=int, default=3, help="of each deployment (3)")
    parser.add_argument("--guarantee", choices=GUARANTEES, help="only this one")
    parser.add_argument("--moved", action="store_true", help="change the number of tasks")
    parser.add_argument("--cold", action="store_true", help="stop the old driver first")
    parser.add_argument("--kill", action="store_true", help="kill the driver instead")
    given = parser.parse_args()
    if given.kill and (given.cold or given.moved):
        parser.error("--kill changes no version: leave out --cold and --moved")
    rows = []
    machine = {**os.environ, **({"MILLRACE_SPARE_MEMORY_MB": "1000000"} if given.cold else {})}
    with (
        tempfile.TemporaryDirectory(prefix="millrace-bench-") as folder,
        running_system(Path(folder), free_ports(1)[0], machine) as system,
        Api(system.address, system.link) as api,
    ):
        for guarantee in [given.guarantee] if given.guarantee else GUARANTEES:
            for keys, standby in product(given.keys, (True, False) if given.kill else (None,)):
                change = Change(
                    system, api, guarantee, keys, given.rate, given.padding, given.moved, standby
                )
                try:
                    pauses, took = change.measure(given.changes)
                except BaseException:
                    with suppress(OSError, AttributeError):
                        log = system.data / "deployments" / str(change.deployment) / "driver.log"
                        print(log.read_text()[-4_000:], file=sys.stderr)
                    raise
                what = f"{guarantee}, {keys:,} keys"
                if standby is not None:
                    what += ", a standby" if standby else ", none"
                print(what, [f"{each:.2f}" for each in pauses], flush=True)
                for count, size in change.stored:
                    print(f"  store: {count or 0:,} rows, {(size or 0) / 1e6:,.0f} MB", flush=True)
                if change.moves:
                    seconds = change.moves[-1][1] - change.moves[0][1]
                    moved = max(rows for rows, _ in change.moves)
                    print(f"  moved and read back: {moved:,} rows in {seconds:.0f} s", flush=True)
                rows += [
                    Row(f"{what}: pause, median", statistics.median(pauses), 0.0, PAUSE_LIMIT),
                    Row(f"{what}: pause, worst", max(pauses), 0.0),
                    Row(f"{what}: until the first output", statistics.median(took), 0.0),
                ]
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
