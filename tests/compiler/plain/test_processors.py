"""Processors of the plain dialect: the program's own classes, run by pyspark's tester of state.

Each line is a micro-batch. Forwarded records are compared with those of Kafka Streams in the
recorded scenario, including timestamps, which no Spark sink can write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.plain.simulation import module_of
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from tests.compiler.kit import document, line, node, sink, stream
from tests.compiler.plain.test_programs import plain, program

SCENARIOS = Path(__file__).parents[2] / "conformance" / "scenarios"
CODE = """class Forward(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)
"""
SEEN = {"name": "seen", "key_type": "STRING", "value_type": "BIGINT"}


def forward(id_: str, kind: str = "process", **params: Any) -> Any:
    """A processor, by default one that forwards every record."""
    types = {"key": "STRING", "value": "STRING"}
    return node(id_, kind, **{"code": CODE, "class_name": "Forward", "output": types, **params})


def rows(batch: list[Any], offset: int) -> list[Row]:
    return [
        Row(key=each["key"], value=each["value"], timestamp=each["timestamp"], headers=[],
            offset=offset + number, partition=0, topic=each["topic"])
        for number, each in enumerate(batch)
    ]  # fmt: skip


@pytest.mark.parametrize("together", [False, True], ids=["each", "all"])
@pytest.mark.parametrize("name", ["A09", "M01", "M02", "M05", "M52"])
def test_a_processor_forwards_what_it_forwards_in_kafka_streams(name: str, together: bool) -> None:
    scenario = json.loads((SCENARIOS / f"{name}.json").read_text("utf-8"))
    [process] = [each for each in scenario["topology"]["nodes"] if each["kind"] == "process"]
    stores = {
        each["params"]["name"]: (each["params"]["key_type"], each["params"]["value_type"])
        for each in scenario["topology"]["nodes"]
        if each["kind"] == "store.key_value"
    }
    job = module_of(program(scenario["topology"]))
    tester = TwsTester(job.Task(getattr(job, process["params"]["class_name"]), stores=stores))
    inputs = scenario["inputs"]
    batches = [inputs] if together else [[each] for each in inputs]
    found: list[Row] = []
    for offset, batch in enumerate(batches):
        found += tester.test(0, rows(batch, offset))
    assert [(each.key, each.value, each.timestamp) for each in found] == [
        (each["key"], each["value"], each["timestamp"]) for each in scenario["expected"]["outputs"]
    ]


def test_records_come_by_timestamp_and_of_one_topic_by_offset() -> None:
    job = module_of(program(line(forward("pass"))))
    batch = [
        {"topic": topic, "key": "k", "value": value, "timestamp": timestamp}
        for topic, value, timestamp in (
            ("a", "1", 10),
            ("b", "2", 5),
            ("a", "3", 1),
            ("b", "4", 12),
        )
    ]
    found = TwsTester(job.Task(job.Forward)).test(0, rows(batch, 0)[::-1])
    assert [each.value for each in found] == ["2", "1", "3", "4"]


def test_state_is_kept_by_task() -> None:
    scenario = json.loads((SCENARIOS / "M02.json").read_text("utf-8"))
    job = module_of(program(scenario["topology"]))
    tester = TwsTester(job.Task(job.RunningWordCount, stores={"counts": ("STRING", "INT")}))
    word = {"topic": "lines", "key": "l", "value": "a", "timestamp": 0}
    assert [each.value for each in tester.test(0, rows([word], 0))] == ["1"]
    assert [each.value for each in tester.test(1, rows([word], 0))] == ["1"]
    later = {**word, "timestamp": 1000}
    assert [each.value for each in tester.test(0, rows([later], 1))] == ["2"]


def test_process_values_must_keep_the_key() -> None:
    code = CODE.replace("(record)\n", "(record.replace(key='other'))\n")
    made = forward("pass", "process_values", code=code)
    job = module_of(program(line(made)))
    with pytest.raises(ValueError, match="must not change the key"):
        TwsTester(job.Task(job.Forward, keeps_key=True)).test(
            0, rows([{"topic": "a", "key": "k", "value": "1", "timestamp": 1}], 0)
        )


def test_the_class_stands_in_the_program_as_it_was_written_and_once() -> None:
    raw = line(
        forward("one"),
        forward("two"),
    )
    assert program(raw).count(CODE) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"code": CODE.replace("(record)\n", "(WALL_CLOCK_TIME)\n")}, "processing-time timers"),
        ({"code": CODE.replace("(record)\n", "(record, self.context.task_id)\n")}, "tasks"),
        ({"code": CODE + "\nForward.x = print(1)\n"}, "its own module"),
        ({"code": CODE.replace("Forward", "Kafka"), "class_name": "Kafka"}, "defines Kafka"),
        ({"output": {"key": "STRING", "value": "DATE"}}, "no type for DATE"),
    ],
)
def test_what_state_of_spark_cannot_do_is_refused_with_its_reason(change: Any, says: str) -> None:
    made = plain(line(forward("p", **change)))
    assert made.code is None
    [error] = [each for each in made.diagnostics if each.severity == "error"]
    assert (error.code, error.node) == ("plain_processor", "p")
    assert says in error.to_text()


def test_a_shared_store_and_a_store_of_windows_are_refused() -> None:
    two = [forward(id_) for id_ in ("a", "b")]
    shared = document(
        [stream(), *two, node("seen", "store.key_value", **SEEN), sink()],
        ["in > a", "a > b", "b > out", "seen > a.store", "seen > b.store"],
    )
    windows = node("seen", "store.window", **SEEN, retention="1 day", window_size="1 hour")
    alone = document([stream(), two[0], windows, sink()], ["in > a", "a > out", "seen > a.store"])
    for raw, says in ((shared, "is shared"), (alone, "Spark has no state such as store.window")):
        errors = [each for each in plain(raw).diagnostics if each.severity == "error"]
        assert errors
        assert {each.code for each in errors} == {"plain_processor"}
        assert says in errors[0].to_text()


def codes(raw: Any) -> set[str]:
    return {each["code"] or "" for each in plain(raw).require().differences}


def test_fields_that_other_methods_set_are_announced() -> None:
    kept = CODE.replace("context\n\n", "context\n        self.n = 0\n\n")
    assert "plain_processor_fields" not in codes(line(forward("p", code=kept)))
    counted = kept.replace("(record)\n", "(record)\n        self.n += 1\n")
    assert "plain_processor_fields" in codes(line(forward("p", code=counted)))


def test_stream_time_is_announced_where_the_task_reads_more_than_the_node() -> None:
    timed = CODE.replace("(record)\n", "(record)\n        self.context.current_stream_time()\n")
    process = forward("p", code=timed)
    assert "plain_stream_time" not in codes(line(process))
    assert "plain_stream_time" in codes(line(node("f", "filter", predicate="true"), process))


def test_a_processor_behind_a_repartition_reads_a_topic_of_the_program() -> None:
    process = forward("p")
    text = program(line(node("moved", "repartition"), process))
    assert 'kafka.read("test-moved")' in text
    assert text.index('groupBy("partition")') > text.index('kafka.read("test-moved")')


def test_the_session_keeps_state_in_rocksdb_only_where_a_step_needs_it() -> None:
    process = forward("p")
    assert "RocksDBStateStoreProvider" in program(line(process))
    assert "RocksDBStateStoreProvider" not in program(line(node("f", "filter", predicate="true")))
