"""Simulations and searches that run are watched, cancelled and killed."""

from __future__ import annotations

import copy
import threading
import time
from typing import Any, cast

import pytest

from tests.runtime.conftest import SECRETS
from tests.runtime.simulator.asking import CURIOUS, LINE, Asked, ask, processing

LOOPING = """
class Slow(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        while record.value == "loop":
            pass
        self.context.forward(record)
"""
PATIENT = """
import time

class Patient(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        time.sleep(0.02)
        self.context.forward(record)
"""


@pytest.mark.spark
@pytest.mark.slow
def test_code_of_a_document_sees_no_secret_and_can_be_cancelled(
    simulators: Any,
) -> None:
    from millrace_runtime.simulator.simulator import respond

    answer = ask(simulators, processing(CURIOUS, "Curious"), [LINE])
    names = set(answer["result"]["outputs"][0]["value"].split(","))
    assert "PATH" in names
    assert not names & SECRETS
    lines = [LINE, {**LINE, "value": "loop"}]
    looping = Asked(simulators, processing(LOOPING, "Slow"), lines, "you", run="one")
    of = {"owner": "you", "run": "one"}
    until = time.monotonic() + 60
    progress = None
    while progress is None or progress["done"] == 0:
        assert looping.runs
        assert time.monotonic() < until
        time.sleep(0.1)
        progress = respond(simulators, cast(Any, {"do": "prepare", **of}))["progress"]
    # A run that does not stop between two records is killed.
    assert respond(simulators, cast(Any, {"do": "cancel", **of}))["cancelled"]
    assert looping.answer()["error"]["code"] == "simulation_cancelled"


@pytest.mark.spark
@pytest.mark.slow
def test_a_search_for_a_difference_is_watched_and_ended(
    simulators: Any,
) -> None:
    from millrace_runtime.simulator import simulator

    respond: Any = simulator.respond

    def differ(new: Any, **more: Any) -> Any:
        given = {"owner": "me", "run": "search", "inputs": [], "seconds": 20, **more}
        return respond(simulators, {"do": "differ", "old": document, "new": new, **given})

    def large(bound: int) -> Any:
        made = processing(PATIENT, "Patient")
        made["nodes"][0]["params"]["value"] = {"format": "long"}
        made["nodes"][1] |= {"kind": "filter", "params": {"predicate": f"value > {bound}"}}
        return made

    document = processing(PATIENT, "Patient")
    ask(simulators, document, [LINE])
    changed = copy.deepcopy(document)
    changed["nodes"][1]["params"]["code"] = PATIENT.replace(
        "forward(record)", 'forward(record.replace(key="b"))'
    )
    result = differ(changed, inputs=[[LINE]])["result"]
    assert (result["inputs"], len(result["found"]["inputs"])) == (1, 1)
    assert [(each["key"], each["after"]) for each in result["found"]["new"]] == [("b", 1)]
    changed["nodes"][0]["params"]["topics"] = []
    refused = differ(changed)
    assert (refused["result"], refused["diagnostics"][0]["version"]) == (None, "new")
    # The line's value is no number, so the search begins without it.
    result = differ(large(2), old=large(1), inputs=[[LINE]])["result"]
    assert [each["value"] for each in result["found"]["inputs"]] == [2]

    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(differ(document)))
    thread.start()
    of = {"owner": "me", "run": "search"}
    until = time.monotonic() + 60
    while respond(simulators, {"do": "prepare", **of})["progress"] is None:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert respond(simulators, {"do": "cancel", **of})["cancelled"]
    thread.join()
    result = answers[0]["result"]
    assert (result["found"], result["covered"], result["branches"]) == (None, 10, 10)
    assert 0 < result["inputs"] < 20_000


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_reports_progress_and_gives_what_it_has_when_cancelled(
    simulators: Any,
) -> None:
    from millrace_runtime.simulator.simulator import respond

    document = processing(PATIENT, "Patient")
    ask(simulators, document, [LINE])
    given = [{**LINE, "timestamp": n} for n in range(1_500)]
    running = Asked(simulators, document, given, run="mine")
    seen: list[Any] = []
    until = time.monotonic() + 60
    while not seen or seen[-1]["done"] < 20:
        assert running.runs
        assert time.monotonic() < until
        of = {"owner": "me", "run": "mine"}
        found = respond(simulators, cast(Any, {"do": "prepare", **of}))["progress"]
        seen += [] if found is None else [found]
        other = respond(simulators, cast(Any, {"do": "prepare", **of, "run": "another"}))[
            "progress"
        ]
        assert other is None
        assert not respond(simulators, cast(Any, {"do": "cancel", **of, "run": "another"}))[
            "cancelled"
        ]
        time.sleep(0.1)
    last = seen[-1]
    assert last["lines"] == len(given)
    assert last["done"] <= last["edges"][0] <= last["done"] + 1
    assert respond(simulators, {"do": "cancel", "owner": "me", "run": "mine"})["cancelled"]
    result = running.answer()["result"]
    done = result["stopped_after"]
    assert last["done"] <= done < len(given)
    # The result is that of the first lines only.
    assert [each["after"] for each in result["outputs"]] == list(range(1, done + 1))
    assert (result["edges"], result["nodes"]["step"]["in"]) == ([done] * 2, done)
    assert max(step["after"] for step in result["steps"]) == done
    whole = ask(simulators, document, given[:done])["result"]
    assert {**whole, "stopped_after": done} == result
    # The process continues with the next request.
    assert ask(simulators, document, [LINE])["result"]["stopped_after"] is None
