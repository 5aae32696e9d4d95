"""Breakpoints in processors and their printed output, as steps of a simulation."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pytest
from millrace_runtime.processor.breakpoints import LONGEST_VALUE, Breakpoints, place, short

CODE = """\
class Counter(Processor):
    def init(self, context):
        self.context = context
        self.seen = 0

    def process(self, record):
        \"\"\"A docstring is no code.\"\"\"
        self.seen += 1

        # Nor is a comment.
        label = self.text(
            record,
            self.seen,
        )
        print(label)
        self.context.forward(record.replace(value=label))

    def text(self, record, number):
        words = [word.upper() for word in record.value.split()]
        for place, word in enumerate(words):
            words[place] = word + str(number)
        return " ".join(words)
"""


@pytest.mark.parametrize(
    ("line", "at"),
    [(1, 3), (6, 8), (7, 8), (8, 8), (9, 11), (10, 11), (11, 11), (13, 11), (17, 19), (22, 22),
     (23, None), (900, None)],
)  # fmt: skip
def test_a_breakpoint_stands_at_a_statement_or_moves_to_the_next(line: int, at: int | None) -> None:
    assert place(CODE, line) == at


def test_code_that_is_none_has_no_statements() -> None:
    assert place("def (", 1) is None
    assert place("\0", 1) is None
    assert place("import os\n", 1) is None


def stops(code: str, lines: set[int], call: Any, most: int = 200) -> list[Any]:
    """Run `call` on the names of a module and return the stops at its breakpoints."""
    found: list[Any] = []
    space: Any = {"__name__": "seen"}
    exec(compile(code, "<code>", "exec"), space)
    Breakpoints("<code>", code, lines, most, found.append).run(lambda: call(space))
    return found


def shown(stop: Any) -> dict[str, str]:
    return {each["name"]: each["value"] for each in stop["locals"]}


LOOP = """\
def total(values):
    found = 0
    for value in values:
        found += value
    return dict(
        found=found,
        size=len(values),
    )
"""


def test_a_stop_has_its_function_and_what_its_locals_are_before_the_line() -> None:
    found = stops(LOOP, {4, 5}, lambda space: space["total"]([3, 4]))
    assert [stop["line"] for stop in found] == [4, 4, 5]
    assert {stop["function"] for stop in found} == {"total"}
    assert [shown(stop)["found"] for stop in found] == ["0", "3", "7"]
    assert shown(found[0]) == {"values": "[3, 4]", "found": "0", "value": "3"}
    assert not found[0]["more_locals"]


def test_stops_end_after_so_many_and_so_does_their_cost() -> None:
    found = stops(LOOP, {4}, lambda space: space["total"](range(10_000)), most=3)
    assert [shown(stop)["value"] for stop in found] == ["0", "1", "2"]


def test_the_attributes_of_self_come_after_the_locals() -> None:
    code = "class P:\n    def go(self, n):\n        self.kept = n\n        return self\n"
    (stop,) = stops(code, {4}, lambda space: space["P"]().go(5))
    assert [each["name"] for each in stop["locals"]] == ["n", "self.kept"]


def test_many_locals_are_cut() -> None:
    names = ", ".join(f"n{number}" for number in range(100))
    code = f"def many():\n    {names} = range(100)\n    return n0\n"
    (stop,) = stops(code, {3}, lambda space: space["many"]())
    assert len(stop["locals"]) == 40
    assert stop["more_locals"]


class Rude:
    """A value whose own code must not run: each of these methods would be noticed."""

    __slots__ = ("kept",)

    def __init__(self, kept: int) -> None:
        self.kept = kept

    def __repr__(self) -> str:
        raise SystemExit

    def __len__(self) -> int:
        raise SystemExit

    def __getattr__(self, name: str) -> Any:
        raise SystemExit

    __str__ = __bool__ = __hash__ = __iter__ = __repr__  # type: ignore[assignment]


class RudeDict(dict[Any, Any]):
    __len__ = __iter__ = __repr__ = items = Rude.__repr__  # type: ignore[assignment]


class Order:
    def __init__(self) -> None:
        self.item, self.times = "tea", [1, 2]


def test_values_are_short_and_none_of_their_code_runs() -> None:
    rude = Rude(5)
    mine: list[Any] = []
    mine.append(mine)
    values = {
        "Rude(kept=5)": rude,
        "{1: Rude(kept=5)}": RudeDict({1: rude}),
        "Order(item='tea', times=[1, 2])": Order(),
        "[[[[…]]]]": mine,
        "(1,)": (1,),
        "()": (),
        "{}": {},
        "b'x'": b"x",
        "None": None,
        "<int of 3322 bits>": 10**1000,
        "<type Order>": Order,
        "datetime.date(2026, 1, 2)": dt.date(2026, 1, 2),
        "Decimal('1.50')": decimal.Decimal("1.50"),
    }
    assert {short(value): value for value in values.values()}.keys() == values.keys()
    assert short(list(range(100))).endswith("19, … 100 in all]")
    for long in ("x" * 10_000_000, {"x" * 500: 1}, [["y" * 50] * 9] * 9):
        assert len(short(long)) == LONGEST_VALUE
        assert short(long).endswith("…")


# -- through a simulation --------------------------------------------------------------------------


def document(code: str = CODE) -> Any:
    text = {"format": "string"}
    return {
        "format": "millrace.topology/1",
        "name": "stopping",
        "topics": {"in": {"partitions": 1}},
        "nodes": [
            {"id": "in", "kind": "source.stream",
             "params": {"topics": ["in"], "key": text, "value": text}},
            {"id": "step", "kind": "process",
             "params": {"code": code, "class_name": "Counter",
                        "output": {"key": "STRING", "value": "STRING"}}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "step"}, {"source": "step", "target": "out"}],
    }  # fmt: skip


LINES = [
    {"topic": "in", "key": "k", "value": value, "timestamp": number}
    for number, value in enumerate(("one two", "three"))
]


def simulated(warm: Any, **request: Any) -> Any:
    from millrace_runtime.simulator.process import simulate

    asked: Any = {"document": document(), "inputs": LINES, "trace": 1000, **request}
    result: Any = simulate(warm.spark, warm.analyzer, asked)["result"]
    return result


@pytest.mark.spark
@pytest.mark.slow
def test_a_simulation_stops_where_it_is_asked_to_and_shows_the_locals(warm: Any) -> None:
    result = simulated(warm, breakpoints={"step": [3, 10, 21, 99]})
    assert result["breakpoints"] == {
        "step": [
            {"line": 3, "at": 3},
            {"line": 10, "at": 11},
            {"line": 21, "at": 21},
            {"line": 99, "at": None},
        ]
    }
    steps = result["steps"]
    found = [step for step in steps if step["event"] == "stop"]
    assert [(step["after"], step["line"], step["function"]) for step in found] == [
        (0, 3, "Counter.init"),
        (1, 11, "Counter.process"),
        (1, 21, "Counter.text"),
        (1, 21, "Counter.text"),
        (2, 11, "Counter.process"),
        (2, 21, "Counter.text"),
    ]
    assert {step["node"] for step in found} == {"step"}
    # The attributes of self are shown instead of it; the runtime's own objects by name.
    assert shown(found[1]) == {
        "self.context": "<ProcessorContext>",
        "self.seen": "1",
        "record": "Record(headers=[], key='k', timestamp=0, value='one two')",
    }
    assert shown(found[3])["words"] == "['ONE1', 'TWO']"
    # A stop belongs to the record that the processor is processing.
    entered = steps[found[4]["parent"]]
    assert (entered["event"], entered["node"], entered["after"]) == ("record", "step", 2)
    assert not result["stops_truncated"]
    # The outputs are the same as without breakpoints.
    assert result["outputs"] == simulated(warm)["outputs"]


#: a module that the processor calls, and a handler of what the module raises
DISCOUNT = "def reduced(value):\n    half = len(value) // 2\n    return 6 // half\n"
HANDLER = (
    "def handle(record, error):\n"
    "    why = error.exception\n"
    "    return Response.resume(DeadLetter(record.key, why))\n"
)
CALLER = """\
from prices.discount import reduced


class Counter(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        self.context.forward(record.replace(value=str(reduced(record.value))))
"""


@pytest.mark.spark
def test_modules_and_handlers_stop_as_well_and_say_where(warm: Any) -> None:
    made = document(CALLER)
    made["settings"] = {
        "modules": {"prices.discount": DISCOUNT},
        "processing_handler": "function",
        "processing_function": HANDLER,
        "dead_letter_topic": "dead",
    }
    lines = [{**LINES[0], "value": value} for value in ("four", "x")]
    asked = {"settings.modules.prices.discount": [3], "settings.processing_function": [1]}
    result = simulated(warm, document=made, inputs=lines, breakpoints=asked)
    assert result["breakpoints"]["settings.processing_function"] == [{"line": 1, "at": 2}]
    found = [step for step in result["steps"] if step["event"] == "stop"]
    assert [(each["after"], each["code"], each["line"], each["node"]) for each in found] == [
        (1, "settings.modules.prices.discount", 3, "step"),
        (2, "settings.modules.prices.discount", 3, "step"),
        (2, "settings.processing_function", 2, "step"),
    ]
    assert shown(found[1]) == {"value": "'x'", "half": "0"}
    assert set(shown(found[2])) == {"record", "error"}
    assert [each["value"] for each in result["outputs"]] == ["3", "WmVyb0RpdmlzaW9uRXJyb3I="]


#: windows of ten ms
WINDOWS = """\
def windows(timestamp):
    start = timestamp // 10 * 10
    yield start, start + 10
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_function_of_windows_stops_for_each_record(warm: Any) -> None:
    made = document()
    window = {"type": "custom", "code": WINDOWS, "size": 10}
    made["nodes"][1:] = [{"id": "step", "kind": "count", "params": {"window": window}}]
    made["edges"] = [{"source": "in", "target": "step"}]
    lines = [{**LINES[0], "timestamp": time} for time in (3, 14)]
    result = simulated(warm, document=made, inputs=lines, breakpoints={"step": [1, 3]})
    assert result["breakpoints"] == {"step": [{"line": 1, "at": 2}, {"line": 3, "at": 3}]}
    found = [step for step in result["steps"] if step["event"] == "stop"]
    assert [(each["after"], each["line"], each["function"], each["node"]) for each in found] == [
        (1, 2, "windows", "step"), (1, 3, "windows", "step"),
        (2, 2, "windows", "step"), (2, 3, "windows", "step"),
    ]  # fmt: skip
    assert shown(found[3]) == {"timestamp": "14", "start": "10"}


@pytest.mark.spark
@pytest.mark.slow
def test_a_printed_line_is_a_step_of_its_record_and_in_the_list(warm: Any) -> None:
    result = simulated(warm)
    steps = result["steps"]
    printed = [step for step in steps if step["event"] == "log"]
    assert [(step["after"], step["message"]) for step in printed] == [
        (1, "ONE1 TWO1"),
        (2, "THREE2"),
    ]
    assert [steps[step["parent"]]["record"]["value"] for step in printed] == ["one two", "three"]
    assert result["logs"] == [
        {"level": "info", "node": "step", "message": "ONE1 TWO1", "after": 1},
        {"level": "info", "node": "step", "message": "THREE2", "after": 2},
    ]
    assert not [step for step in steps if step["event"] == "stop"]


@pytest.mark.spark
@pytest.mark.slow
def test_stops_and_printed_lines_have_limits(warm: Any) -> None:
    code = CODE.replace("print(label)", "[print('x' * 5_000) for n in range(50)]").replace(
        "words = [", "for n in range(400):\n            n += 1\n        words = ["
    )
    result = simulated(warm, document=document(code), breakpoints={"step": [20]})
    found = [step for step in result["steps"] if step["event"] == "stop"]
    assert len(found) == 200
    assert result["stops_truncated"]
    printed = [step["message"] for step in result["steps"] if step["event"] == "log"]
    assert len(printed) == 100
    assert max(map(len, printed)) < 1_100
    assert printed[0].endswith("... (5000 characters)")
    assert len(result["outputs"]) == 2


@pytest.mark.spark
@pytest.mark.slow
def test_topics_have_the_partitions_that_are_asked_for(warm: Any) -> None:
    inputs = [{**line, "partition": number} for number, line in enumerate(LINES)]
    steps = simulated(warm, inputs=inputs, partitions={"in": 2})["steps"]
    assert {step["task"] for step in steps if step["event"] == "record"} == {"0_0", "0_1"}


@pytest.mark.spark
@pytest.mark.slow
def test_a_breakpoint_in_what_is_no_processor_is_refused(warm: Any) -> None:
    from millrace_runtime.errors import MillraceError

    with pytest.raises(MillraceError, match="in out, which is no Python processor"):
        simulated(warm, breakpoints={"out": [1]})
