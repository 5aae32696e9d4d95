"""A plain program, driven as a deployment: reports, a kill, a stop, and a replacement."""

from __future__ import annotations

import itertools
import json
import os
import signal
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from millrace_compiler import ExpressionRequest, ExpressionResult, compile_document
from millrace_compiler.export.bundle import bundle_files

from tests.conftest import CLIENT_VARIABLES
from tests.runtime import drivers, topics
from tests.runtime.reported import Reported

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
PATH = os.pathsep.join([*(str(ROOT / each) for each in ("compiler", "runtime")), str(ROOT)])
TEXT = {"format": "string"}


class Arrays:
    """A double of the analyzer: `split` and `array` give an array of texts, all else is text."""

    def analyze(self, requests: Sequence[ExpressionRequest]) -> list[ExpressionResult]:
        words = ("split(", "array(")
        return [
            ExpressionResult("ARRAY<STRING>" if each.text.startswith(words) else "STRING")
            for each in requests
        ]


def document(lines: str, out: str, values: str = "split(value, ' ')") -> Any:
    nodes = [
        {"id": "lines", "kind": "source.stream",
         "params": {"topics": [lines], "key": TEXT, "value": TEXT}},
        {"id": "words", "kind": "flat_map_values", "params": {"values": values}},
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value"}}},
        {"id": "counts", "kind": "sink.topic", "params": {"topic": out}},
    ]  # fmt: skip
    edges = [{"source": a["id"], "target": b["id"]} for a, b in itertools.pairwise(nodes)]
    return {
        "format": "millrace.topology/1", "name": "w", "nodes": nodes, "edges": edges,
        "topics": {lines: {"partitions": 2}},
    }  # fmt: skip


def staged(folder: Path, made: Any) -> Path:
    """Write the files of a job as the workers do, and return the folder."""
    files = bundle_files(compile_document(made, Arrays(), dialect="plain"), ROOT / "runtime")
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def driven(
    job: Path, checkpoint: Path | str, broker: Any, *options: str, **environment: str
) -> subprocess.Popen[str]:
    """Start the driver of a job; with environment variables it uses the secured listener."""
    return subprocess.Popen(
        [
            sys.executable, "-m", "millrace_runtime.plain.driving", "--master", "local[2]",
            "--bootstrap-servers", broker.secured if environment else broker.address,
            "--checkpoint", str(checkpoint), *options,
        ],
        cwd=job, env={**os.environ, "PYTHONPATH": PATH, **environment}, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def counts(broker: Any, topic: str) -> dict[str, int]:
    """The last count of each word."""
    reader = Consumer({
        "bootstrap.servers": broker.address, "group.id": uuid.uuid4().hex,
        "auto.offset.reset": "earliest", "log_level": 0,
    })  # fmt: skip
    found = {}
    try:
        reader.subscribe([topic])
        left = topics.size(broker.address, topic)
        while left:
            record = reader.poll(10)
            assert record is not None
            key, value = record.key(), record.value()
            assert key is not None
            assert value is not None
            found[key.decode()] = struct.unpack(">q", value)[0]
            left -= 1
    finally:
        reader.close()
    return found


def read(event: dict[str, Any]) -> int:
    return int((event["nodes"].get("lines") or {"out": 0})["out"])


def lag(event: dict[str, Any]) -> list[Any]:
    return [each["lag"] for each in event["topic_partitions"]]


@pytest.mark.long
def test_a_plain_program_goes_on_after_a_kill_and_a_change(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    lines, out = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    topics.create(broker.address, {lines: 2, out: 1})
    topics.produce(broker.address, lines, [
        {"key": "k", "value": "to be", "partition": 0}, {"key": "k", "value": "be", "partition": 1},
    ])  # fmt: skip
    job = staged(tmp_path / "job", document(lines, out))
    checkpoint = tmp_path / "plain" / "1"

    first = Reported(redis_url)
    driver = driven(job, checkpoint, broker, *first.options)
    try:
        first.until_running(dead=lambda: drivers.ended(driver))
        event = first.until("progress", lambda event: read(event) == 2 and lag(event) == [0, 0])
        assert event["nodes"]["counts"]["in"] >= 2
        assert "tasks" not in event
        assert (tmp_path / "plain" / "arrived").read_text() == first.run
        assert counts(broker, out) == {"to": 1, "be": 2}
    finally:
        drivers.kill(driver)

    topics.produce(broker.address, lines, [{"key": "k", "value": "be", "partition": 0}])
    second = Reported(redis_url)
    driver = driven(job, checkpoint, broker, *second.options)
    try:
        second.until("progress", lambda event: read(event) == 1, dead=lambda: drivers.ended(driver))
        assert counts(broker, out) == {"to": 1, "be": 3}
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == 0
    finally:
        drivers.kill(driver)
    assert [each["state"] for each in second.events("state")][-2:] == ["stopping", "stopped"]

    # Another program has a checkpoint of its own, which begins where this one stopped.
    topics.produce(broker.address, lines, [{"key": "k", "value": "BE", "partition": 1}])
    other = staged(tmp_path / "other", document(lines, out, "split(lower(value), ' ')"))
    begin = json.dumps({lines: {"0": 2, "1": 1}})
    third = Reported(redis_url)
    driver = driven(
        other, tmp_path / "plain" / "2", broker, "--starting-offsets", begin, *third.options
    )
    try:
        third.until("progress", lambda event: read(event) == 1, dead=lambda: drivers.ended(driver))
        assert counts(broker, out) == {"to": 1, "be": 1}
    finally:
        drivers.kill(driver)


@pytest.mark.long
def test_a_topic_between_two_queries_is_read_from_where_it_ended(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    lines, out = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    made = document(lines, out)
    made["name"] = f"w-{uuid.uuid4()}"
    again = {"id": "again", "kind": "count", "params": {"group_by": {"key": "key"}}}
    made["nodes"].insert(3, {"id": "rows", "kind": "to_stream", "params": {}})
    made["nodes"].insert(4, again)
    chain = itertools.pairwise(each["id"] for each in made["nodes"])
    made["edges"] = [{"source": source, "target": target} for source, target in chain]
    job = staged(tmp_path / "job", made)
    [between] = json.loads((job / "plan.json").read_text())["between"]
    topics.create(broker.address, {lines: 2, out: 1, between: 2})
    topics.produce(broker.address, between, [{"key": "left", "value": "by another program"}])
    topics.produce(broker.address, lines, [{"key": "k", "value": "to be to", "partition": 0}])
    reported = Reported(redis_url)
    driver = driven(job, tmp_path / "1", broker, *reported.options)
    try:
        reported.until(
            "progress",
            lambda event: (event["nodes"].get("counts") or {"in": 0})["in"] == 2,
            dead=lambda: drivers.ended(driver),
        )
        assert counts(broker, out) == {"to": 1, "be": 1}, "each word was updated once"
        event = reported.until("progress", lambda event: lag(event) == [0, 0])
        assert event["nodes"]["again"]["out"] == 2, "rows of the topic, at the node that needs it"
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == 0
    finally:
        drivers.kill(driver)


@pytest.mark.long
def test_a_record_that_fails_ends_the_driver_at_the_node_of_its_query(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    lines, out = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    topics.create(broker.address, {lines: 1, out: 1})
    topics.produce(broker.address, lines, [{"key": "k", "value": "not a number"}])
    made = document(lines, out, "array(cast(cast(value as int) as string))")
    reported = Reported(redis_url)
    driver = driven(staged(tmp_path / "job", made), tmp_path / "1", broker, *reported.options)
    try:
        assert driver.wait(120) == 3, drivers.ended(driver)
    finally:
        drivers.kill(driver)
    error = reported.events("state")[-1]["error"]
    assert (error["code"], error["node"]) == ("query_failed", "counts")
    assert "CAST_INVALID_INPUT" in error["message"]
    assert "not a number" in error["message"]


@pytest.mark.long
def test_a_plain_program_is_paused_resumed_and_drained(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    lines, out = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    topics.create(broker.address, {lines: 2, out: 1})
    topics.produce(broker.address, lines, [{"key": "k", "value": "to be"}])
    control, reported = tmp_path / "control", Reported(redis_url)
    driver = driven(
        staged(tmp_path / "job", document(lines, out)), tmp_path / "1", broker,
        "--control", str(control), *reported.options,
    )  # fmt: skip

    def until(state: str) -> None:
        reported.until("state", lambda e: e["state"] == state, dead=lambda: drivers.ended(driver))

    def until_read(records: int) -> None:
        reported.until("progress", lambda event: read(event) == records)

    try:
        until_read(1)
        control.write_text("pause")
        until("paused")
        topics.produce(broker.address, lines, [{"key": "k", "value": "be"}])
        time.sleep(2)
        assert counts(broker, out) == {"to": 1, "be": 1}, "nothing is read"
        control.unlink()
        until("running")
        until_read(2)
        assert counts(broker, out) == {"to": 1, "be": 2}, "state is kept"
        control.write_text("pause")
        until("paused")
        topics.produce(broker.address, lines, [{"key": "k", "value": "be"}] * 3)
        control.write_text("drain")
        assert driver.wait(60) == 0, "it ends by itself"
    finally:
        drivers.kill(driver)
    assert reported.events("state")[-1]["state"] == "stopped"
    assert counts(broker, out) == {"to": 1, "be": 5}


def test_a_plain_program_uses_credentials_and_an_object_store(
    broker: Any, redis_url: str, tmp_path: Path
) -> None:
    lines, out = f"lines-{uuid.uuid4()}", f"counts-{uuid.uuid4()}"
    topics.create(broker.address, {lines: 2, out: 1})
    topics.produce(broker.address, lines, [
        {"key": "k", "value": "early", "timestamp": 1000, "partition": 0},
        {"key": "k", "value": "late", "timestamp": 5000, "partition": 1},
    ])  # fmt: skip
    (tmp_path / "store").mkdir()
    link = f"spark.hadoop.fs.viewfs.mounttable.test.link./state={(tmp_path / 'store').as_uri()}"
    place, notes = "viewfs://test/state/plain/1", tmp_path / "plain" / "1"
    reported = Reported(redis_url)
    driver = driven(
        staged(tmp_path / "job", document(lines, out)), place, broker, "--notes", str(notes),
        "--begin", '{"from": "time", "time": 2000}', "--spark-config", link,
        *reported.options, **CLIENT_VARIABLES,
    )  # fmt: skip
    try:
        ended = lambda: drivers.ended(driver)  # noqa: E731
        event = reported.until("progress", lambda e: read(e) == 1, dead=ended)
        assert lag(event) == [0, 0], "the broker is asked with the same credentials"
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(60) == 0
    finally:
        drivers.kill(driver)
    assert counts(broker, out) == {"late": 1}
    assert (tmp_path / "plain" / "arrived").is_file()
    [stored] = (tmp_path / "store").glob("plain/1/counts/commits/0")
    [copied] = notes.glob("counts/commits/*")
    assert (copied.name, copied.read_text()) == ("0", stored.read_text())
    assert sorted(read_to(notes / "counts" / "offsets" / "0")) == [1, 1]


def read_to(file: Path) -> list[int]:
    """Return the offsets in an offsets file of Spark."""
    [_, _, source, *_] = file.read_text("utf-8").splitlines()
    return [offset for partitions in json.loads(source).values() for offset in partitions.values()]
