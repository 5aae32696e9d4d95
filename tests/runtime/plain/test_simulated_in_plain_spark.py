"""Simulations in plain Spark beside those of Kafka Streams, in one warm process."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from tests.runtime.conftest import SECRETS
from tests.runtime.simulator.asking import LINE, Asked, ask, processing
from tests.runtime.simulator.test_simulator import SCENARIOS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CURIOUS = """\
class Curious(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        import os
        self.context.forward(record.replace(value=",".join(sorted(os.environ))))
"""
#: Never ends in a Python worker of Spark; the exact dialect has its own workers.
ENDLESS = """\
class Endless(Processor):
    def process(self, record):
        import sys
        while "pandas" in sys.modules:
            pass
"""
#: Scenario, cut, verdict, and counts by topic: equal, time, different, only exact, only plain.
CASES = [
    ("C01", "each", "predicted", {"out": (0, 3, 0, 0, 0)}),
    ("C01", "all", "predicted", {"out": (0, 1, 1, 1, 0)}),
    ("I08", "each", "predicted", {"out": (0, 2, 2, 0, 0)}),
    pytest.param("D52", "each", "predicted", {"out": (0, 7, 4, 0, 0)}, marks=pytest.mark.long),
    pytest.param(
        "A57",
        "each",
        "predicted",
        {"before": (0, 2, 0, 0, 1), "out": (0, 2, 0, 0, 0)},
        marks=pytest.mark.long,
    ),
    ("N01", "each", "predicted", {"purchases-per-hour": (0, 3, 0, 0, 0)}),
]
#: The differing rows of a scenario and cut, with the codes that explain them.
EXPLAINED = {
    ("C01", "all"): {
        ("missing",): {"plain_updates"},
        ("timestamp", "order"): {"plain_order", "plain_sink_timestamp"},
        ("timestamp",): {"plain_sink_timestamp"},
    },
    ("I08", "each"): {
        ("timestamp", "input"): {"plain_late", "plain_outer_results", "plain_sink_timestamp"},
        ("timestamp",): {"plain_sink_timestamp"},
    },
    ("D52", "each"): {
        ("value", "timestamp"): {"plain_sides", "plain_sink_timestamp"},
        ("timestamp",): {"plain_sink_timestamp"},
    },
    ("A57", "each"): {
        ("extra",): {"plain_failed_batch"},
        ("timestamp",): {"plain_sink_timestamp"},
    },
}


def scenario(name: str) -> Any:
    found: Any = json.loads((SCENARIOS / f"{name}.json").read_text("utf-8"))
    return found


def beside(simulators: Any, name: str, cut: str) -> Any:
    given = scenario(name)
    answer = ask(simulators, given["topology"], given["inputs"], plain=cut)
    assert "error" not in answer, answer
    found: Any = answer["plain"]
    return found


@pytest.mark.parametrize(("name", "cut", "verdict", "counts"), CASES)
def test_both_results_are_paired_and_each_difference_has_its_codes(
    simulators: Any, name: str, cut: str, verdict: str, counts: dict[str, tuple[int, ...]]
) -> None:
    plain = beside(simulators, name, cut)
    comparison = plain["comparison"]
    assert (plain["cut"], comparison["verdict"], comparison["unexplained"]) == (cut, verdict, [])
    found = {topic["topic"]: tuple(topic["counts"].values()) for topic in comparison["topics"]}
    assert found == counts
    announced = {each["code"] for each in plain["diagnostics"] if each["severity"] == "difference"}
    rows = [row for topic in comparison["topics"] for row in topic["rows"]]
    for row in rows:
        assert row["explained"]
        assert bool(row["differs"]) == bool(row["codes"])
        assert set(row["codes"]) <= announced
    expected = EXPLAINED.get((name, cut))
    if expected is not None:
        assert {tuple(row["differs"]): set(row["codes"]) for row in rows} == expected


def test_what_plain_spark_cannot_express_is_refused_at_its_node(simulators: Any) -> None:
    given = scenario("G50")
    answer = ask(simulators, given["topology"], given["inputs"], plain="each")
    assert answer["result"]["output_count"] > 0
    assert answer["plain"]["comparison"] is None
    refusals = [each for each in answer["plain"]["diagnostics"] if each["severity"] == "error"]
    assert [each["code"] for each in refusals] == ["plain_kind"]
    assert refusals[0]["node"] in {node["id"] for node in given["topology"]["nodes"]}


@pytest.mark.long
def test_exact_simulations_are_the_same_before_and_after_plain_ones(simulators: Any) -> None:
    names = ["C01", "I08", "D52"]

    def exact(name: str) -> Any:
        given = scenario(name)
        result = ask(simulators, given["topology"], given["inputs"])["result"]
        return {part: result[part] for part in ("outputs", "dropped", "stores", "nodes", "error")}

    before = {name: exact(name) for name in names}
    (process,) = simulators.pids
    for name in names:
        beside(simulators, name, "each")
        beside(simulators, name, "all")
        assert {each: exact(each) for each in names} == before, f"after {name} in plain Spark"
    assert simulators.pids == [process]
    # Also with Spark's own micro-batches and a store in a checkpoint.
    given = scenario("C01")
    lines = [given["inputs"][0], {"restart": True}, *given["inputs"][1:]]
    restarted = ask(simulators, given["topology"], lines)["result"]["outputs"]
    values = [(each["key"], each["value"]) for each in before["C01"]["outputs"]]
    assert [(each["key"], each["value"]) for each in restarted] == values


@pytest.mark.long
def test_what_python_workers_print_is_not_in_the_log(
    simulators: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    beside(simulators, "C01", "each")
    capfd.readouterr()
    beside(simulators, "D52", "each")  # runs `transformWithState`, which prints
    written = capfd.readouterr()
    assert written.out + written.err == ""


def test_progress_is_reported_while_plain_spark_runs_and_only_to_its_owner(
    simulators: Any,
) -> None:
    from millrace_runtime.simulator.simulator import respond

    given = scenario("C01")
    lines = given["inputs"] * 20
    ask(simulators, given["topology"], lines[:1])
    answers: list[Any] = []
    running = threading.Thread(
        target=lambda: answers.append(ask(simulators, given["topology"], lines, plain="each"))
    )
    running.start()
    seen = []
    while running.is_alive():
        found = respond(simulators, {"do": "prepare", "owner": "me"})["progress"]
        if found is not None and "edges" not in found:
            seen.append(found)
            other = respond(simulators, {"do": "prepare", "owner": "you"})
            assert other == {"state": "ready", "progress": None}
        time.sleep(0.05)
    assert answers[0]["plain"]["comparison"]["verdict"] == "predicted"
    done = [each["done"] for each in seen]
    assert done == sorted(done)
    assert len(set(done)) > 2
    assert {each["lines"] for each in seen} == {len(lines)}
    assert respond(simulators, {"do": "prepare", "owner": "me"})["progress"] is None


def test_a_comparison_that_is_cancelled_is_that_of_the_records_before(simulators: Any) -> None:
    from millrace_runtime.simulator.simulator import respond

    given = scenario("C01")
    lines = given["inputs"] * 40
    mine = {"owner": "me", "run": "mine"}
    ask(simulators, given["topology"], lines[:1])
    (process,) = simulators.pids
    running = Asked(simulators, given["topology"], lines, plain="each", run="mine")
    last: Any = {"done": 0}
    until = time.monotonic() + 60
    while last["done"] < 3 or "edges" in last:
        assert running.runs
        assert time.monotonic() < until
        time.sleep(0.1)
        last = respond(simulators, cast(Any, {"do": "prepare", **mine}))["progress"] or last
    assert respond(simulators, cast(Any, {"do": "cancel", **mine}))["cancelled"]
    answer = running.answer()
    done = answer["result"]["stopped_after"]
    assert last["done"] <= done < len(lines)
    comparison = answer["plain"]["comparison"]
    assert (comparison["verdict"], comparison["unexplained"]) == ("predicted", [])
    # Both sides show only the first lines, and the process continues with the next request.
    whole = ask(simulators, given["topology"], lines[:done], plain="each")
    assert {**whole["result"], "stopped_after": done} == answer["result"]
    assert whole["plain"]["comparison"]["topics"] == comparison["topics"]
    assert simulators.pids == [process]


def children(process: int) -> set[int]:
    """Return a process and its descendants."""
    found = {process}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(each.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process:
            found |= children(int(each.parent.name))
    return found


def gone(processes: set[int]) -> bool:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        left = [p for p in processes if Path(f"/proc/{p}").exists() and state(p) != "Z"]
        if not left:
            return True
        time.sleep(0.2)
    return False


def state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_code_of_processors_sees_no_secret_and_leaves_no_process(
    simulators: Any,
) -> None:
    answer = ask(simulators, processing(CURIOUS, "Curious"), [LINE])
    (process,) = simulators.pids
    below = children(process)
    answer = ask(simulators, processing(CURIOUS, "Curious"), [LINE], plain="each")
    (topic,) = answer["plain"]["comparison"]["topics"]
    names = set(topic["rows"][0]["spark"]["value"].split(","))
    assert "PATH" in names
    assert not names & SECRETS
    assert gone(below)
    ask(simulators, scenario("C01")["topology"], [])
    assert simulators.pids != [process]


def test_a_plain_run_that_does_not_end_is_cancelled_with_all_its_processes(
    simulators: Any,
) -> None:
    from millrace_runtime.simulator.simulator import respond

    ask(simulators, scenario("C01")["topology"], [])
    (process,) = simulators.pids
    answers: list[Any] = []
    looping = threading.Thread(
        target=lambda: answers.append(
            ask(simulators, processing(ENDLESS, "Endless"), [LINE], "you", plain="each")
        )
    )
    looping.start()
    until = time.monotonic() + 40
    while respond(simulators, {"do": "prepare", "owner": "you"})["progress"] is None:
        assert time.monotonic() < until, answers
        time.sleep(0.1)
    # The endless processor is running in a Python worker of Spark.
    while len(below := children(process)) <= 2:
        assert time.monotonic() < until, below
        time.sleep(0.1)
    assert respond(simulators, {"do": "cancel", "owner": "you"})["cancelled"]
    looping.join(30)
    assert answers[0]["error"]["code"] == "simulation_cancelled"
    assert gone(below)
