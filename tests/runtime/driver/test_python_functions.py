"""A job on a real broker whose functions run in Python, written by hand and as an export."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from tests.runtime import topics
from tests.runtime.drivers import ROOT

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
import re
from datetime import datetime

from millrace_runtime import (
    FrozenStruct, Processor, Topology, double, json, string, time_windowed, tumbling
)


def at(value):
    return datetime.fromisoformat(value["at"])


def family(value):
    return re.sub(r"-\\d+$", "", value["item"])


def rounded(value):
    return {**value, "price": round(value["price"], 1)}


def total(key, value, agg):
    return round(agg + value["price"], 2)


def counted(key, value, agg):
    item = FrozenStruct(item=value["item"], price=value["price"])
    return {**agg, item: agg.get(item, 0) + 1}


class Most(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        most = max(record.value, key=record.value.get)
        self.context.forward(record.replace(value=f"{most.item} {record.value[most]}"))


topology = Topology("families", partitions={"ORDERS": 2})
orders = topology.stream(
    "ORDERS", key=string(), value=json("at STRING, item STRING, price DOUBLE"), timestamp=at
)
families = orders.map(key=family, value=rounded)
per_minute = families.group_by_key().windowed_by(tumbling("1 minute"))
totals = per_minute.aggregate("DOUBLE", initializer=lambda: 0.0, aggregator=total)
totals.to_stream().to("TOTALS", key=time_windowed(string()), value=double())
items = families.group_by_key().aggregate(
    "MAP<STRUCT<item: STRING, price: DOUBLE>, BIGINT>", initializer=dict, aggregator=counted
)
items.to_stream().process_values(Most, value_type="STRING").to("MOST")

if __name__ == "__main__":
    topology.main()
"""


def order(minute: int, item: str, price: float) -> dict[str, Any]:
    """An order whose own time is another one than that of its record."""
    value = {"at": f"2026-01-01T10:{minute:02}:00+00:00", "item": item, "price": price}
    return {"key": item, "value": json.dumps(value), "timestamp": 5, "partition": 0}


def run(job: Path, address: str, checkpoint: Path) -> None:
    """Process what is there, in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(job), "--bootstrap-servers", address, "--checkpoint", str(checkpoint),
         "--master", "local[2]", "--available-now"],
        env={"PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT / 'compiler'}", **_environment()},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.mark.parametrize(
    "exported",
    [pytest.param(False, marks=pytest.mark.long), True],
    ids=["written by hand", "exported"],
)
def test_functions_and_timestamps_in_python_run_on_a_broker(
    broker: Any, tmp_path: Path, *, exported: bool
) -> None:
    names = {name: f"{name.lower()}-{uuid.uuid4()}" for name in ("ORDERS", "TOTALS", "MOST")}
    topics.create(broker.address, {names["ORDERS"]: 2, names["TOTALS"]: 1, names["MOST"]: 1})
    text = PROGRAM
    for name, topic in names.items():
        text = text.replace(f'"{name}"', f'"{topic}"')
    job = tmp_path / "job.py"
    job.write_text(text, encoding="utf-8")
    if exported:
        assert main(["compile", str(job), "-o", str(tmp_path / "made")]) == 0
        job = tmp_path / "made" / "job.py"
    orders = [order(0, "pen-1", 1.04), order(0, "pen-2", 2.06), order(1, "pen-1", 3.0)]
    topics.produce(broker.address, names["ORDERS"], orders)
    run(job, broker.address, tmp_path / "checkpoint")
    # The map with structs as keys is read from the checkpoint again.
    topics.produce(broker.address, names["ORDERS"], [order(1, "pen-1", 1.0), order(1, "ink", 9.0)])
    run(job, broker.address, tmp_path / "checkpoint")

    start = 1_767_261_600_000
    totals = topics.consume(broker.address, names["TOTALS"], 5)
    assert [(each.key()[:-8], int.from_bytes(each.key()[-8:]) - start) for each in totals] == [
        (b"pen", 0), (b"pen", 0), (b"pen", 60_000), (b"pen", 60_000), (b"ink", 60_000),
    ]  # fmt: skip
    assert [each.timestamp()[1] - start for each in totals] == [0, 0, 60_000, 60_000, 60_000]
    most = topics.consume(broker.address, names["MOST"], 5)
    assert [(each.key(), each.value()) for each in most] == [
        (b"pen", b"pen-1 1"), (b"pen", b"pen-1 1"), (b"pen", b"pen-1 1"),
        (b"pen", b"pen-1 2"), (b"ink", b"ink 1"),
    ]  # fmt: skip
