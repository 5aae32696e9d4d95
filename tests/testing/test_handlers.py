"""Handlers of one's own: functions that decide about records that fail, and modules beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from millrace_runtime import (
    DeadLetter,
    FailedRecord,
    RecordError,
    Response,
    Topology,
    double,
    json,
    string,
)
from millrace_runtime.program import load_program
from millrace_runtime.testing import RecordFailed, TestRecord, TopologyTestDriver

pytestmark = [pytest.mark.spark, pytest.mark.slow]
Create = Callable[..., TopologyTestDriver]

LIMIT = 3


def decide(record: FailedRecord, error: RecordError) -> Response:
    """Drops what divides by 0, answers others, and stops after a letter for what is too large."""
    if b'"n":0' in (record.value or b""):
        return Response.resume()
    facts = f"{error.kind} {error.node} {error.exception} {record.topic} {record.offset}"
    if len(record.value or b"") > LIMIT * 10:
        return Response.fail(DeadLetter("last", facts))
    return Response.resume(
        DeadLetter(record.key, facts, [("a", b"1"), ("b", "é")], timestamp=7),
        DeadLetter(None, None),
    )


def broken(record: FailedRecord, error: RecordError) -> Response:
    return Response.resume(record.offset // 0)  # type: ignore[arg-type]


def shares(handler: object, **settings: object) -> Topology:
    topology = Topology("shares", processing_handler=handler, deserialization_handler=handler,  # type: ignore[arg-type]
                        **settings)  # type: ignore[arg-type]  # fmt: skip
    numbers = topology.stream("in", key=string(), value=json("n INT, m STRING"))
    numbers.map_values("100 / value.n + cast(value.m AS INT)", name="share").to(
        "out", value=double()
    )
    return topology


def test_a_lambda_answers_and_what_it_cannot_keep_is_refused(
    topology_test_driver: Create,
) -> None:
    driver = topology_test_driver(shares(lambda record, error: Response.resume()))
    driver.input_topic("in").pipe("a", {"n": 0, "m": "1"})
    assert [(drop.node, drop.reason) for drop in driver.drops] == [("share", "processing")]
    outer = object()
    with pytest.raises(ValueError, match=r"test_handlers\.py, line \d+: .* outer of the enclosing"):
        shares(lambda record, error: outer)


def test_a_function_drops_answers_and_stops(topology_test_driver: Create) -> None:
    driver = topology_test_driver(shares(decide, dead_letter_topic="dead"))
    source, out, dead = (
        driver.input_topic("in"), driver.output_topic("out"), driver.output_topic("dead")
    )  # fmt: skip
    source.pipe("a", {"n": 0, "m": "1"})
    source.pipe("b", {"n": 50, "m": "1"})
    source.pipe("c", {"n": 1, "m": "x"}, 4)
    driver.input_topic("in", string(), string()).pipe("d", "{", 5)
    assert [(each.node, each.reason) for each in driver.drops] == [
        ("share", "processing"), ("share", "dead_letter"), ("in", "dead_letter")
    ]  # fmt: skip
    assert out.read_key_values() == [("b", 3.0)]
    first, second, third, _ = dead.read_records()
    assert (first.key, first.timestamp) == (b"c", 7)
    assert first.value == b"processing share org.apache.spark.SparkNumberFormatException in 2"
    assert dict(first.headers) == {"a": b"1", "b": "é".encode()}
    assert second == TestRecord(None, None, 4)
    assert third.value.startswith(b"deserialization in ")
    with pytest.raises(RecordFailed, match=r"share .*cannot be cast"):
        source.pipe("e", {"n": 1, "m": "a text that is longer"})
    assert dead.read_key_value()[0] == b"last"


def test_a_handler_that_fails_stops_with_its_own_line(topology_test_driver: Create) -> None:
    driver = topology_test_driver(shares(broken))
    with pytest.raises(RecordFailed) as failed:
        driver.input_topic("in").pipe("a", {"n": 0, "m": "1"})
    line = (
        Path(__file__)
        .read_text("utf-8")
        .split("\n")
        .index("    return Response.resume(record.offset // 0)  # type: ignore[arg-type]")
        + 1
    )
    assert (
        f"ZeroDivisionError: integer division or modulo by zero (test_handlers.py, line {line})"
        in str(failed.value)
    )
    assert failed.value.parameter == "processing_function"


MODULES = {
    "shop.py": """from millrace_runtime import Processor, Topology, string
from prices.discount import reduced


class Reduce(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=reduced(record)))


topology = Topology("shop")
topology.stream("in", key=string(), value=string()).process(Reduce, name="reduce").to("out")
""",
    "prices/__init__.py": "PERCENT = 10\n",
    "prices/discount.py": """from millrace_runtime import Record

from . import PERCENT
from .rounding import rounded


def reduced(record: Record) -> str:
    return rounded(int(record.value) * (100 - PERCENT))
""",
    "prices/rounding.py": """def rounded(hundredths):
    return str(hundredths // 100)
""",
}


def test_modules_beside_a_program_are_part_of_it(
    topology_test_driver: Create, tmp_path: Path
) -> None:
    for path, text in MODULES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    document = load_program(tmp_path / "shop.py").document()
    for path in MODULES:
        (tmp_path / path).unlink()
    driver = topology_test_driver(document)
    source = driver.input_topic("in")
    source.pipe("a", "50")
    assert driver.output_topic("out").read_value() == "45"
    with pytest.raises(RecordFailed, match=r"\(prices/discount.py, line 8\)"):
        source.pipe("b", "x")
