"""Processors that misbehave: each fault is reported at its node, and the job continues."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.results.cuts import Cut

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HEAD = (
    "import time\n"
    "class P(Processor):\n"
    "    def init(self, context):\n"
    "        self.context = context\n"
)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_PROCESSOR_TIMEOUT_MS", "700")
    monkeypatch.setenv("MILLRACE_PROCESSOR_MEMORY_MB", "256")


def document(code: str, handler: str = "fail") -> dict[str, Any]:
    return {
        "format": "millrace.topology/1",
        "name": "misbehaving",
        "settings": {"processing_handler": handler},
        "topics": {"in": {"partitions": 1}},
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["in"], "key": {"format": "string"},
                        "value": {"format": "string"}}},
            {"id": "code", "kind": "process",
             "params": {"code": code, "class_name": "P",
                        "output": {"key": "STRING", "value": "STRING"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "code"}, {"source": "code", "target": "out"}],
    }  # fmt: skip


def run(
    warm: Any, code: str, values: tuple[str, ...] = ("good", "bad", "good"), **changes: Any
) -> Any:
    raw = document(code, **changes)
    lines = [
        {"topic": "in", "key": "k", "value": value, "timestamp": 10 * place}
        for place, value in enumerate(values, 1)
    ]
    return warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("each"))


def bad(statement: str) -> str:
    """Return a processor that runs the statement for the record `bad`, in line 7."""
    return (
        f"{HEAD}    def process(self, record):\n        if record.value == 'bad':\n"
        f"            {statement}\n        self.context.forward(record)\n"
    )


FAULTS = {
    "raises": ("raise ValueError('no')", "ValueError: no (line 7)"),
    "exits": ("raise SystemExit(4)", "SystemExit: the code ended the process with exit code 4 (li"),
    "never returns": ("while True: pass", "TimeoutError: the call did not return within 700 ms (l"),
    "sleeps": ("time.sleep(60)", "TimeoutError: the call did not return within 700"),
    "catches everything and never returns": (
        "exec('while 1:\\n try: time.sleep(9)\\n except BaseException: pass', {'time': time})",
        "the call did not return within 700 ms; its Python process was terminated",
    ),
    "sends for ever": (
        "while True: self.context.forward(record); time.sleep(0.01)",
        "TimeoutError: the call did not return within 700 ms (line 7)",
    ),
    "takes all memory": (
        "self.kept = bytearray(1 << 30)",
        "MemoryError: the process is out of mem",
    ),
    "ends its process": ("__import__('os')._exit(5)", "the Python process ended unexpectedly (exi"),
    "kills its process": (
        "__import__('os').kill(__import__('os').getpid(), 9)",
        "the Python process ended unexpectedly (by signal 9)",
    ),
    "sends the wrong type": (
        "self.context.forward(record.replace(value=5))",
        "TypeError: the value must be a str, not int 5 (line 7)",
    ),
    "sends no record": ("self.context.forward('x')", "TypeError: what is forwarded must be a Rec"),
    "recurses for ever": ("self.process(record)", "RecursionError: maximum recursion depth"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_it_is_reported_at_its_node_with_line_and_record(warm: Any, name: str) -> None:
    statement, says = FAULTS[name]
    result = run(warm, bad(statement))
    assert [out["value"] for out in result.outputs] == ["good"]
    error = result.error
    assert error is not None
    assert (error["node"], error["parameter"], error["after"]) == ("code", "code", 2)
    assert error["message"].startswith(says)
    record = error["record"]
    assert (record["topic"], record["partition"], record["offset"]) == ("in", 0, 1)
    assert (record["key"], record["timestamp"]) == ("k", 20)


@pytest.mark.parametrize("name", FAULTS)
def test_the_job_goes_on_with_the_next_record_where_the_handler_allows_it(
    warm: Any, name: str
) -> None:
    result = run(warm, bad(FAULTS[name][0]), handler="continue")
    assert result.error is None
    assert result.dropped == 1
    values = [out["value"] for out in result.outputs if out["after"] != 2]
    assert values == ["good", "good"]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "import nothing_of_that_name\nclass P(Processor): pass\n",
            "ModuleNotFoundError: No module named 'nothing_of_that_name' (line 1)",
        ),
        ("class P(Processor): pass\n1 / 0\n", "ZeroDivisionError: division by zero (line 2)"),
        ("class P(Processor): pass\nP = 3\n", "NameError: the code does not define the class P"),
        (
            "class P(Processor):\n    def init(self, context): {}['x']\n",
            "KeyError: 'x' (line 2)",
        ),
        (
            "class P(Processor):\n    def init(self, context):\n        while True: pass\n",
            "TimeoutError: the call did not return within 700 ms (line 3)",
        ),
        (
            "class P(Processor): pass\nimport sys\nsys.exit()\n",
            "SystemExit: the code ended the process with exit code 0 (line 3)",
        ),
    ],
)
def test_code_that_does_not_start_stops_at_the_first_record(
    warm: Any, code: str, says: str
) -> None:
    result = run(warm, code)
    assert result.outputs == []
    assert result.error is not None
    assert (result.error["node"], result.error["after"]) == ("code", 1)
    assert result.error["message"].startswith(says)


def test_a_punctuation_that_raises_is_reported_with_its_line(warm: Any) -> None:
    code = (
        f"{HEAD}        context.schedule('15 ms', STREAM_TIME, self.tick)\n"
        "    def process(self, record): self.context.forward(record)\n"
        "    def tick(self, now): now > 10 and {}[now]\n"
    )
    result = run(warm, code)
    assert [out["after"] for out in result.outputs] == [1]
    assert result.error["message"] == "KeyError: 20 (line 7)"
    assert (result.error["node"], result.error["after"]) == ("code", 2)


CLOSING = (
    "import pathlib\n"
    "class P(Processor):\n"
    "    def init(self, context):\n"
    "        self.context = context\n"
    "        self.place = pathlib.Path({folder!r})\n"
    "    def process(self, record): self.context.forward(record)\n"
    "    def close(self):\n"
    "        count = len(list(self.place.iterdir()))\n"
    "        (self.place / str(count)).write_text(self.context.task_id)\n"
    "        {more}\n"
)


def test_close_is_called_once_for_every_start(warm: Any, tmp_path: Any) -> None:
    code = CLOSING.format(folder=str(tmp_path), more="")
    raw = document(code)
    record = {"topic": "in", "key": "k", "value": "v", "timestamp": 1}
    lines = [record, {"restart": True}, record]
    result = warm.simulate(raw, warm.compile(raw).require(), lines, Cut.parse("each"))
    assert result.error is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"0_0"}


def test_a_close_that_raises_stops_nothing_and_is_reported_at_its_node(
    warm: Any, tmp_path: Any
) -> None:
    result = run(warm, CLOSING.format(folder=str(tmp_path), more="raise OSError('stuck')"))
    assert result.error is None
    assert len(result.outputs) == 3
    # The last message does not belong to a record.
    failed = "close failed: OSError: stuck (line 10)"
    assert result.logs[-1] == {"level": "warning", "node": "code", "message": failed, "after": 0}


def test_what_it_prints_is_reported_at_its_node_and_very_much_is_cut(warm: Any) -> None:
    result = run(warm, bad("for n in range(20_000): print(n)"))
    printed = [line for line in result.logs if (line["level"], line["node"]) == ("info", "code")]
    assert [line["message"] for line in printed[:3]] == ["0", "1", "2"]
    assert len(printed) == 100
    assert {line["after"] for line in printed} == {2}
    left_out = "19900 more lines were omitted"
    assert {"level": "warning", "node": "code", "message": left_out, "after": 0} in result.logs
    assert len(result.outputs) == 3
