"""The Python side of `process` nodes, driven over its pipes as by the operator."""

from __future__ import annotations

import copy
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import millrace_runtime.processor.worker as module
import pytest
from millrace_runtime.processor import Record, duration
from millrace_runtime.processor.values import FrozenStruct, decoder, encoder

STRING, LONG, INTEGER = "string", "long", "integer"
STORE = {"name": "counts", "kind": "key_value", "types": {"key": STRING, "value": INTEGER}}


class Pipe:
    """The operator's end of the pipes: sends calls and reads the worker's frames."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", str(Path(module.__file__)), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, frame: dict[str, Any]) -> None:
        """Send one frame to the worker."""
        data = json.dumps(frame).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(struct.pack(">i", len(data)) + data)
        self.process.stdin.flush()

    def receive(self) -> tuple[list[Any], Any]:
        """Read one frame: the messages, and how the call ended (None: it waits for an answer)."""
        assert self.process.stdout is not None
        size = struct.unpack(">i", self.process.stdout.read(4))[0]
        messages, end = json.loads(self.process.stdout.read(size))
        return messages, end

    def start(self, code: str, **changes: Any) -> tuple[list[Any], Any]:
        """Start a processor of class P on the node n."""
        kinds = {"key": STRING, "value": STRING}
        frame = {
            "call": "start", "node": "n", "name": "n", "code": code, "class_name": "P",
            "task_id": "0_1", "fixed": False, "ports": ["out"], "stores": [STORE],
            "inputs": [{**kinds, "method": "process"}], "out": kinds, "only_stores": False,
            "arguments": {}, "topic": None, "partition": -1, "offset": -1,
            "stream_time": -1, "wall_clock": 0, **changes,
        }  # fmt: skip
        self.send(frame)
        return self.receive()

    def record(
        self, value: Any, *, node: str = "n", key: str = "k", at: int = 0
    ) -> tuple[list[Any], Any]:
        """Send a record and read the first frame that follows."""
        self.send(
            {
                "call": "process", "node": node, "input": at,
                "record": [key, value, 7, [["h", "eA=="]]],
                "topic": "in", "partition": 2, "offset": 9, "stream_time": 7, "wall_clock": 0,
            }
        )  # fmt: skip
        return self.receive()

    def answer(self, value: Any) -> tuple[list[Any], Any]:
        """Send the answer that the worker waits for, and read the next frame."""
        self.send({"answer": value})
        return self.receive()

    def end(self, node: str) -> tuple[list[Any], Any]:
        """Close the processor of a node."""
        self.send(
            {"call": "close", "node": node, "topic": None, "partition": -1, "offset": -1,
             "stream_time": 7, "wall_clock": 0}
        )  # fmt: skip
        return self.receive()

    def close(self) -> str:
        """End the worker; return what it wrote to standard error."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=10)
        assert self.process.stderr is not None
        assert self.process.stdout is not None
        text = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return text


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A worker that ends with the test."""
    made = Pipe()
    yield made
    if made.process.poll() is None:
        made.close()


COUNTING = """
class P(Processor):
    def init(self, context):
        self.context = context
        self.counts = context.store("counts")

    def process(self, record):
        self.context.forward(record.replace(value="before"))
        count = (self.counts.get(record.key) or 0) + 1
        self.counts.put(record.key, count)
        self.context.forward(record.replace(value=str(count)))
"""


def test_forwards_and_store_calls_come_in_the_order_of_the_program(pipe: Pipe) -> None:
    assert pipe.start(COUNTING) == ([], {"done": True})
    asked, end = pipe.record("v")
    headers = [["h", "eA=="]]
    assert asked == [
        ["forward", ["k", "before", 7, headers], None],
        ["store", "counts", "get", "k"],
    ]
    assert end is None
    assert pipe.answer(4) == (
        [["store", "counts", "put", "k", 5], ["forward", ["k", "5", 7, headers], None]],
        {"done": True},
    )


def test_code_imports_the_runtime_and_has_dataclasses(pipe: Pipe) -> None:
    code = """
from dataclasses import dataclass, field
from typing import NamedTuple
from millrace_runtime import Processor, Record

class Pair(NamedTuple):
    a: int

@dataclass
class Line:
    name: str
    tags: list[str] = field(default_factory=list)

class P(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        made = {"line": Line(record.value), "pair": Pair(5)}
        self.context.forward(Record(record.key, made, record.timestamp))
"""
    line = {"name": "line", "type": struct_of(name=STRING, tags=array_of(STRING))}
    pair = {"name": "pair", "type": struct_of(a=INTEGER)}
    out = {"key": STRING, "value": {"type": "struct", "fields": [line, pair]}}
    assert pipe.start(code, out=out) == ([], {"done": True})
    [forward], _ = pipe.record("v")
    assert forward[1][1] == {"line": {"name": "v", "tags": []}, "pair": {"a": 5}}


def struct_of(**fields: Any) -> Any:
    """Return the type of a struct in its JSON form."""
    return {"type": "struct", "fields": [{"name": n, "type": t} for n, t in fields.items()]}


def array_of(element: Any) -> Any:
    """Return the type of an array in its JSON form."""
    return {"type": "array", "elementType": element}


def test_an_error_names_its_line_and_keeps_what_was_forwarded(pipe: Pipe) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record):\n"
        "        self.context.forward(record)\n"
        "        return {}['missing']\n"
    )
    pipe.start(code)
    messages, end = pipe.record("v")
    assert [message[0] for message in messages] == ["forward"]
    assert end["error"]["type"] == "KeyError"
    assert end["error"]["message"] == "KeyError: 'missing' (line 5)"
    assert "return {}['missing']" in end["error"]["traceback"]
    assert "worker" not in end["error"]["traceback"]


def test_code_that_does_not_compile_is_reported_with_its_line(pipe: Pipe) -> None:
    _, end = pipe.start("class P(Processor):\n    def process(self, record)\n        pass\n")
    assert end["error"]["type"] == "SyntaxError"
    assert end["error"]["message"].endswith("(line 2)")


def test_a_class_that_is_not_there_is_reported_by_name(pipe: Pipe) -> None:
    _, end = pipe.start("class Q(Processor): pass\n")
    assert end["error"]["message"] == "NameError: the code does not define the class P"


def test_a_processor_of_another_node_runs_while_one_waits_for_a_store(pipe: Pipe) -> None:
    pipe.start(COUNTING)
    other = "class P(Processor):\n    def process(self, record): raise ValueError(record.value)\n"
    pipe.start(other, node="m", name="m")
    _, end = pipe.record("v")
    assert end is None
    _, nested = pipe.record("inner", node="m")
    assert nested["error"]["message"] == "ValueError: inner (line 2)"
    _, end = pipe.answer(None)
    assert end == {"done": True}


def test_what_a_processor_prints_are_lines_of_its_log(pipe: Pipe) -> None:
    code = (
        "import sys\n"
        "class P(Processor):\n"
        "    def process(self, record):\n"
        "        print('seen', record.value)\n"
        "        print('half', end='')\n"
        "        print('careful', file=sys.stderr)\n"
    )
    pipe.start(code)
    printed = [["log", "info", "seen v"], ["log", "warning", "careful"], ["log", "info", "half"]]
    assert pipe.record("v") == (printed, {"done": True})


def test_what_is_written_past_python_does_not_reach_the_pipe(pipe: Pipe) -> None:
    code = "import os\nclass P(Processor):\n    def process(self, r): os.write(1, b'raw')\n"
    pipe.start(code)
    assert pipe.record("v") == ([], {"done": True})
    assert "raw" in pipe.close()


def test_a_very_long_line_is_cut_and_shows_how_long_it_was(pipe: Pipe) -> None:
    pipe.start("class P(Processor):\n    def process(self, r): print('x' * 50_000_000)\n")
    [[_, _, line]], end = pipe.record("v")
    assert end == {"done": True}
    assert len(line) < 10_100
    assert line.endswith("x ... (50000000 characters)")


def test_very_many_forwards_come_in_frames_of_bounded_size(pipe: Pipe) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record):\n"
        "        for _ in range(5000): self.context.forward(record)\n"
    )
    pipe.start(code)
    messages, end = pipe.record("v")
    sizes = [len(messages)]
    while end is None:
        messages, end = pipe.answer(None)
        sizes.append(len(messages))
    assert sizes == [2000, 2000, 1000]


def test_another_thread_cannot_use_the_context(pipe: Pipe) -> None:
    code = (
        "import threading\n"
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record):\n"
        "        found = []\n"
        "        def work():\n"
        "            try: self.context.forward(record)\n"
        "            except RuntimeError as error: found.append(str(error))\n"
        "        thread = threading.Thread(target=work)\n"
        "        thread.start(); thread.join()\n"
        "        self.context.forward(record.replace(value=found[0]))\n"
    )
    pipe.start(code)
    [[_, body, _]], end = pipe.record("v")
    assert body[1].endswith("only by the calling thread")
    assert end == {"done": True}


def test_a_forked_child_cannot_write_to_the_pipe(pipe: Pipe) -> None:
    code = (
        "import os\n"
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record):\n"
        "        child = os.fork()\n"
        "        if child: os.waitpid(child, 0)\n"
        "        self.context.forward(record)\n"
    )
    pipe.start(code)
    messages, end = pipe.record("v")
    assert [message[0] for message in messages] == ["forward"]
    assert end == {"done": True}
    assert pipe.record("w")[1] == {"done": True}


def test_a_line_is_that_of_the_processors_own_code(pipe: Pipe) -> None:
    code = (
        "import json\n"
        "class P(Processor):\n"
        "    def process(self, record):\n"
        "        json.loads('{')\n"
    )
    pipe.start(code)
    _, end = pipe.record("v")
    assert end["error"]["message"].startswith("JSONDecodeError: Expecting property name")
    assert end["error"]["message"].endswith("(line 4)")


def test_nothing_can_be_sent_when_the_task_has_ended(pipe: Pipe) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record): pass\n"
        "    def close(self): self.context.forward(Record('k', 'v', 1))\n"
    )
    pipe.start(code)
    messages, end = pipe.end("n")
    assert messages == []
    assert end["error"]["message"].startswith("RuntimeError: close is called after the task's last")
    assert end["error"]["message"].endswith("(line 4)")


def test_a_thread_that_outlives_close_is_named_with_its_line(pipe: Pipe) -> None:
    code = (
        "import threading, time\n"
        "class P(Processor):\n"
        "    def init(self, context):\n"
        "        threading.Thread(target=self.work, name='poller').start()\n"
        "    def work(self):\n"
        "        while True:\n"
        "            time.sleep(60)\n"
    )
    pipe.start(code)
    messages, end = pipe.end("n")
    assert end == {"done": True}
    assert messages == [
        ["log", "warning",
         "the thread poller still runs after close (line 7); it was ended with the process"]
    ]  # fmt: skip
    pipe.close()
    assert pipe.process.returncode == 0


def test_the_context_reports_the_record_in_work(pipe: Pipe) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record):\n"
        "        c = self.context\n"
        "        at = (c.task_id, c.topic, c.partition, c.offset, c.current_stream_time())\n"
        "        self.context.forward(record.replace(value=repr((at, record.headers))))\n"
    )
    pipe.start(code)
    messages, _ = pipe.record("v")
    assert messages[0][1][1] == "(('0_1', 'in', 2, 9, 7), [('h', b'x')])"


def test_schedules_call_back_until_they_are_cancelled(pipe: Pipe) -> None:
    code = (
        "import datetime\n"
        "at = datetime.datetime(1970, 1, 1, 1)\n"
        "class P(Processor):\n"
        "    def init(self, context):\n"
        "        self.context = context\n"
        "        self.plan = context.schedule('2 seconds', STREAM_TIME, self.tick)\n"
        "        context.schedule(1, WALL_CLOCK_TIME, self.tick, start_time=5)\n"
        "        context.schedule(1, STREAM_TIME, self.tick, start_time=at)\n"
        "    def tick(self, now):\n"
        "        self.context.forward(Record('t', str(now), now))\n"
        "        self.plan.cancel()\n"
    )
    assert pipe.start(code)[0] == [
        ["schedule", 1, 2000, "STREAM_TIME", None],
        ["schedule", 2, 1, "WALL_CLOCK_TIME", 5],
        ["schedule", 3, 1, "STREAM_TIME", 3_600_000],
    ]
    call = {"call": "punctuate", "node": "n", "schedule": 1, "now": 2000, "topic": None,
            "partition": -1, "offset": -1, "stream_time": 2000, "wall_clock": 0}  # fmt: skip
    pipe.send(call)
    assert pipe.receive()[0] == [["forward", ["t", "2000", 2000, []], None], ["cancel", 1]]
    pipe.send(call)
    assert pipe.receive() == ([], {"done": True})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("forward(record.replace(value=5))", "TypeError: the value must be a str, not int 5"),
        ("forward(record, 'elsewhere')", "ValueError: there is no output 'elsewhere'; outputs:"),
        ("forward(record.replace(timestamp=-1))", "ValueError: a record's timestamp must be"),
        ("forward(record.replace(headers=[('h', 'x')]))", "TypeError: the header h must be bytes"),
        ("forward(record.replace(headers=['h']))", "TypeError: a header must be a pair"),
        ("forward(record.replace(headers=[(1, b'')]))", "TypeError: the name of a header must"),
        ("forward('text')", "TypeError: what is forwarded must be a Record"),
        ("store('none')", "KeyError: \"no store 'none' is connected to this node"),
        ("store('counts').put(None, 1)", "ValueError: the key of counts must not be None"),
        ("store('counts').put('k', 1 << 40)", "OverflowError: the value of counts must fit in 32"),
        ("schedule('soon', STREAM_TIME, print)", "ValueError: 'soon' is not a duration"),
        ("schedule(1, STREAM_TIME, print, start_time='9')", "TypeError: the start time must be an"),
        (
            "schedule(1, STREAM_TIME, print, start_time=-1)",
            "ValueError: the start time must not be",
        ),
    ],
)
def test_misuse_shows_what_was_found_and_what_would_do(pipe: Pipe, body: str, message: str) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        f"    def process(self, record): self.context.{body}\n"
    )
    pipe.start(code)
    _, end = pipe.record("v")
    assert end["error"]["message"].startswith(message)


def test_process_values_must_leave_the_key(pipe: Pipe) -> None:
    code = (
        "class P(Processor):\n"
        "    def init(self, context): self.context = context\n"
        "    def process(self, record): self.context.forward(record.replace(key='x'))\n"
    )
    pipe.start(code, fixed=True)
    _, end = pipe.record("v")
    assert end["error"]["message"].startswith("ValueError: process_values must not change the key")


def test_values_keep_their_spark_type_both_ways() -> None:
    kind = {
        "type": "struct",
        "fields": [
            {"name": "id", "type": LONG},
            {"name": "price", "type": "decimal(9,2)"},
            {"name": "raw", "type": "binary"},
            {"name": "rates", "type": {"type": "array", "elementType": "double"}},
            {"name": "by_day", "type": {"type": "map", "keyType": "date", "valueType": INTEGER}},
        ],
    }
    wire = {
        "id": 1, "price": "12.50", "raw": "AAE=", "rates": [1.5, "NaN"],
        "by_day": [["2024-02-29", 3]],
    }  # fmt: skip
    value = decoder(kind)(wire)
    assert str(value["price"]) == "12.50"
    assert value["raw"] == b"\x00\x01"
    assert value["by_day"] == {"2024-02-29": 3}
    assert encoder(kind, "the value")(value) == wire
    assert encoder(kind, "the value")({"id": 2})["price"] is None
    with pytest.raises(TypeError, match="has no field 'other'; its fields are id, price"):
        encoder(kind, "the value")({"other": 1})


@pytest.mark.parametrize(
    ("text", "ms"), [(250, 250), ("250 ms", 250), ("1 second", 1000), ("2 hours", 7_200_000)]
)
def test_durations_are_ms_or_text(text: int | str, ms: int) -> None:
    assert duration(text) == ms


def test_a_record_is_copied_with_other_fields() -> None:
    record = Record("k", 1, 5, [("h", b"x")])
    assert record.replace(value=2) == Record("k", 2, 5, [("h", b"x")])
    with pytest.raises(TypeError, match="a record has no topic"):
        record.replace(topic="t")


def test_an_error_that_takes_long_to_describe_is_still_reported() -> None:
    code = (
        "import time\n"
        "class Slow(Exception):\n"
        "    asked = 0\n"
        "    def __str__(self):\n"
        "        Slow.asked += 1\n"
        "        until = time.monotonic() + (0.6 if Slow.asked == 2 else 0)\n"
        "        while time.monotonic() < until: pass\n"
        "        return 'slowly'\n"
        "class P(Processor):\n"
        "    def process(self, record): raise Slow\n"
    )
    limited = Pipe("300")
    try:
        assert limited.start(code)[1] == {"done": True}
        error = limited.record("v")[1]["error"]
        assert error["message"] == "Slow: slowly (line 10)"
        assert limited.record("v")[1]["error"]["message"] == "Slow: slowly (line 10)"
    finally:
        limited.close()


# ---- stores of tables, arguments, structs -------------------------------------------------------

TABLE = {
    "name": "table", "kind": "key_value", "types": {"key": STRING, "value": INTEGER},
    "owner": "users", "timestamps": True,
}  # fmt: skip
READING = """
class P(Processor):
    def init(self, context):
        self.context = context
        self.table = context.store("table")

    def process(self, record):
        if record.value == "write":
            self.table.put(record.key, 1)
        found = self.table.get_with_timestamp(record.key)
        self.context.forward(record.replace(value=f"{found.value} {tuple(found)}"))
"""


def test_a_processor_reads_a_table_with_timestamps(pipe: Pipe) -> None:
    pipe.start(READING, stores=[TABLE])
    assert pipe.record("v") == ([["store", "table", "get_with_timestamp", "k"]], None)
    [[_, forwarded, _]], _ = pipe.answer([3, 70])
    assert forwarded[1] == "3 (3, 70)"


def test_a_processor_that_writes_the_store_of_a_table_is_told_whose_it_is(pipe: Pipe) -> None:
    pipe.start(READING, stores=[TABLE])
    _, end = pipe.record("write")
    assert end["error"]["message"] == (
        "AttributeError: the store table has no method 'put': it belongs to the node users, "
        "and a processor can only read it (line 9)"
    )


def test_values_of_a_global_store_have_no_timestamps(pipe: Pipe) -> None:
    pipe.start(READING, stores=[TABLE | {"timestamps": False}])
    _, end = pipe.record("v")
    assert "the values of table have no timestamps" in end["error"]["message"]


def test_a_store_is_of_the_kind_that_the_code_names(pipe: Pipe) -> None:
    code = READING.replace('store("table")', 'store("table", KeyValueStore[str, int])')
    _, end = pipe.start(code, stores=[TABLE])
    assert "the store table is a ReadOnlyKeyValueStore, not a KeyValueStore" in str(end)
    fitting = code.replace("KeyValueStore[", "ReadOnlyKeyValueStore[")
    assert pipe.start(fitting, stores=[TABLE]) == ([], {"done": True})


def test_a_class_is_created_with_its_arguments(pipe: Pipe) -> None:
    code = """
class P(Processor):
    def __init__(self, threshold, words=()):
        self.told = (threshold, words)

    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=str(self.told)))
"""
    pipe.start(code, arguments={"threshold": 2.5, "words": ["a"]})
    [[_, forwarded, _]], _ = pipe.record("v")
    assert forwarded[1] == "(2.5, ['a'])"


@pytest.mark.parametrize("what", ["forward(record)", "schedule(10, STREAM_TIME, print)"])
def test_the_class_of_a_global_store_only_writes_the_store(pipe: Pipe, what: str) -> None:
    code = COUNTING.replace('forward(record.replace(value="before"))', what)
    pipe.start(code, only_stores=True)
    _, end = pipe.record("v")
    assert "the processor of a global store cannot" in end["error"]["message"]


def test_each_input_has_its_types_and_its_method(pipe: Pipe) -> None:
    code = """
class P(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record)

    def on_payment(self, record):
        self.context.forward(record.replace(value="paid " + str(record.value + 1)))
"""
    kinds = {"key": STRING, "value": STRING}
    payments = {"key": STRING, "value": LONG, "method": "on_payment"}
    pipe.start(code, inputs=[{**kinds, "method": "process"}, payments])
    found = [pipe.record("v")[0][0][1][1], pipe.record(7, at=1)[0][0][1][1]]
    assert found == ["v", "paid 8"]


def test_fields_of_a_struct_are_attributes_too() -> None:
    fields = [{"name": "name", "type": STRING}, {"name": "items", "type": INTEGER}]
    kind = {"type": "struct", "fields": fields}
    value = decoder({"type": "struct", "fields": [{"name": "user", "type": kind}]})(
        {"user": {"name": "Ada", "items": 3}}
    )
    assert (value.user.name, value.user["items"]) == ("Ada", 3)
    assert value == {"user": {"name": "Ada", "items": 3}}
    value.user.name = "Bob"
    assert encoder(kind, "it")(value.user) == {"name": "Bob", "items": 3}
    with pytest.raises(AttributeError, match="no field 'age'; the struct's fields: name, items"):
        _ = value.user.age


def test_keys_of_a_map_that_are_structs_are_frozen() -> None:
    fields = [
        {"name": "item", "type": STRING},
        {"name": "sizes", "type": {"type": "array", "elementType": STRING}},
    ]
    kind = {"type": "map", "keyType": {"type": "struct", "fields": fields}, "valueType": LONG}
    wire = [[{"item": "pen", "sizes": ["s"]}, 3]]
    found = decoder(kind)(wire)
    assert found[FrozenStruct(sizes=["s"], item="pen")] == 3
    assert copy.deepcopy(found) == found
    assert encoder(kind, "it")(found) == wire
    [key] = found
    assert (key.item, key.sizes) == ("pen", ("s",))
    for change in (lambda: key.update(item="ink"), lambda: setattr(key, "item", "ink")):
        with pytest.raises(TypeError, match="cannot be changed; Struct"):
            change()
