"""The simulator: fair, bounded, without secrets, and with the results of `./millrace simulate`."""

from __future__ import annotations

import dataclasses
import json
import os
import threading
import time
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from millrace_runtime.services import confinement

from tests.runtime.simulator.asking import CURIOUS, LINE, ask, processing
from tests.served import serving, socket_path

REPOSITORY = Path(__file__).parents[3]
SCENARIOS = REPOSITORY / "tests" / "conformance" / "scenarios"
#: how many of the recorded scenarios run; all of them with MILLRACE_CONFORMANCE=whole
SAMPLE = 1000 if os.environ.get("MILLRACE_CONFORMANCE") == "whole" else 8
SLEEPING = """
import time

class Sleeping(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        time.sleep(3)
        self.context.forward(record)
"""


#: knows the data folder, the socket of the store reader and its process, and tries to use them
ATTACKING = """
import glob, json, os, socket

class Attacking(Processor):
    def init(self, context):
        self.context = context

    def process(self, record):
        data, service, pid = json.loads(record.value)
        found = {}
        def attempt(name, action):
            try:
                found[name] = str(action())
            except OSError as error:
                found[name] = error.strerror
        def read(path):
            with open(path, "rb") as file:
                return file.read(100)
        def connected():
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(service)
                client.sendall(b'{"do": "read_state", "secret": "guess"}\\n')
                return client.recv(100)
        attempt("secret", lambda: read(service + ".secret"))
        attempt("key", lambda: read(data + "/secret.key"))
        attempt("folder", lambda: os.listdir(data))
        attempt("environment", lambda: read(f"/proc/{pid}/environ"))
        attempt("memory", lambda: read(f"/proc/{pid}/mem"))
        attempt("root", lambda: os.listdir(f"/proc/{pid}/root" + data))
        attempt("write", lambda: open(data + "/written", "w"))
        attempt("kill", lambda: os.kill(pid, 0))
        attempt("asked", connected)
        others = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                others.append(read(path))
            except OSError:
                pass
        found["others"] = str([each for each in others if b"STORE_READER" in each])
        self.context.forward(record.replace(value=json.dumps(found)))
"""


def test_a_simulator_that_nobody_asks_starts_no_process() -> None:
    from millrace_runtime.simulator.simulator import READING, Simulators, respond

    simulators = Simulators(1)
    assert respond(simulators, {"do": "cancel", "owner": "a"}) == {"cancelled": False}
    assert respond(simulators, {"do": "dance"})["error"]["code"] == "request_invalid"
    simulate: Any = {"do": "simulate", "owner": "a", "document": {}, "inputs": [], "trace": 0}
    readers = Simulators(1, kind=READING)
    assert respond(readers, simulate)["error"]["code"] == "request_invalid"
    assert respond(simulators, {"do": "read_state"})["error"]["code"] == "request_invalid"
    assert [simulators.pids, readers.pids] == [[], []]


def test_a_process_that_does_not_start_is_reported() -> None:
    from millrace_runtime.simulator.simulator import SIMULATING, Simulators, respond

    broken = dataclasses.replace(SIMULATING, module="millrace_runtime.no_such_module")
    simulators = Simulators(1, kind=broken)
    assert respond(simulators, {"do": "prepare"})["state"] == "starting"
    until = time.monotonic() + 60
    while "error" not in (answer := respond(simulators, {"do": "prepare"})):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert answer["error"]["code"] == "process_not_started"
    simulators.close()


def test_a_simulation_runs_with_a_cache_that_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from millrace_runtime.jars import connector_jars, operator_jar
    from millrace_runtime.simulator.simulator import Simulators

    monkeypatch.setenv("MILLRACE_OPERATOR_JAR", str(operator_jar()))
    monkeypatch.setenv("MILLRACE_JARS", str(Path(connector_jars()[0]).parent))
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    simulators = Simulators(1)
    try:
        answer = ask(simulators, processing(CURIOUS, "Curious"), [LINE])
        assert answer.get("error") is None
        assert len(answer["result"]["outputs"]) == 1
    finally:
        simulators.close()


@pytest.mark.spark
@pytest.mark.slow
def test_the_jvm_of_a_process_starts_by_itself_and_ends_with_it() -> None:
    from millrace_runtime.simulator.simulator import Simulators

    simulators = Simulators(1)
    try:
        assert ask(simulators, processing(CURIOUS, "Curious"), [LINE]).get("error") is None
        [pid] = simulators.pids
        found = psutil.Process(pid).children(recursive=True)
        java = [each for each in found if each.name() == "java"]
        assert [each.cmdline()[-1] for each in java] == [
            "org.apache.spark.sql.millrace.EarlySession"
        ]
        # Its limits are those of a simulation.
        assert {"-Xmx512m", "-XX:+ExitOnOutOfMemoryError"} <= set(java[0].cmdline())
    finally:
        simulators.close()
    assert psutil.wait_procs(java, 10)[1] == []


@pytest.mark.spark
@pytest.mark.slow
def test_the_results_are_those_that_kafka_streams_recorded(simulators: Any) -> None:
    from millrace_runtime.results.comparing import differences

    chosen = sorted(SCENARIOS.glob("*.json"))
    found = []
    for path in chosen[:: max(1, len(chosen) // SAMPLE)]:
        scenario = json.loads(path.read_text(encoding="utf-8"))
        if scenario.get("compare") in ("describe", "refused"):
            continue
        expected = scenario["expected"]
        answer = ask(simulators, scenario["topology"], scenario["inputs"], expected=expected)
        assert answer["result"] is not None, (path.name, answer["diagnostics"])
        if scenario.get("compare", "sequence") == "sequence":
            assert answer["result"]["differences"] == [], path.name
        found += differences(cast(Any, {"id": path.stem, **scenario}), answer["result"], "each")
        counted: dict[str, int] = {}
        for step in answer["result"]["steps"]:
            if step["event"] == "drop":
                counted[step["node"]] = counted.get(step["node"], 0) + 1
        nodes = answer["result"]["nodes"].items()
        dropped = {name: sum(node["dropped"].values()) for name, node in nodes}
        assert counted == {name: n for name, n in dropped.items() if n}, path.name
    assert found == []


def text(value: Any) -> str:
    """Return comparable text in which missing fields are null."""

    def plain(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: plain(x) for name, x in sorted(part.items()) if x is not None}
        return [plain(x) for x in part] if isinstance(part, list) else part

    return json.dumps(plain(value))


def contents(steps: list[Any], inputs: int) -> dict[str, list[str]]:
    """Return the rows of each store after this many inputs, read from the steps as the page does.

    Of a versioned store only the newest version of each key, as in Kafka Streams' test driver.
    """
    written: dict[str, Any] = {}
    for step in steps:
        if step["event"] == "store" and step["after"] <= inputs:
            row = step["row"]
            rows = written.setdefault(step["store"], {})
            if row["value"] is None and not row.get("tombstone"):
                rows.pop(text(row["key"]), None)
            else:
                rows[text(row["key"])] = row
    found = {}
    for name, rows in written.items():
        newest: Any = {}
        for row in sorted(rows.values(), key=version):
            key = row["key"]["key"] if version(row) else row["key"]
            newest[text(key)] = {**row, "key": key}
        left = [row for row in newest.values() if not row.pop("tombstone", False)]
        found[name] = sorted(text(row) for row in left)
    return found


def version(row: Any) -> int:
    """Return the time from which a row of a versioned store is valid, in ms."""
    key = row["key"]
    return key["valid_from"] if isinstance(key, dict) and "valid_from" in key else 0


def keeps_duplicates(scenario: Any) -> bool:
    """Whether a store of the scenario has several rows of a key."""
    nodes = scenario["topology"]["nodes"]
    return any(node.get("params", {}).get("retain_duplicates") for node in nodes)


@pytest.mark.spark
@pytest.mark.slow
def test_the_stores_at_every_step_are_those_of_kafka_streams(simulators: Any) -> None:
    from cli.oracle import Oracle

    scenarios = [
        json.loads(path.read_text(encoding="utf-8"))
        for folder in ("scenarios", "random", "semantics")
        for path in sorted((SCENARIOS.parent / folder).glob("*.json"))
    ]
    # Steps show the newest row of a key, and stores with duplicates have several.
    kept = [
        s
        for s in scenarios
        if s["expected"].get("stores") and "processors" not in s and not keeps_duplicates(s)
    ]
    compared = 0
    with Oracle() as oracle:
        for scenario in kept[:: max(1, len(kept) // SAMPLE)]:
            question: Any = {**scenario, "stores_after_each": True}
            answered: Any = oracle.run(question)
            expected = answered["stores_after"]
            answer = ask(simulators, scenario["topology"], scenario["inputs"], trace=100_000)
            if answer["result"] is None:
                # a topic that the topology writes and reads: the page refuses it
                assert [d["code"] for d in answer["diagnostics"]] == ["loop"], scenario["id"]
                continue
            assert not answer["result"]["truncated"]
            for inputs, stores in enumerate(expected, 1):
                found = contents(answer["result"]["steps"], inputs)
                for name, rows in stores.items():
                    right = sorted(text(row) for row in rows)
                    assert found.get(name, []) == right, (scenario["id"], inputs, name)
            compared += 1
    assert compared >= min(SAMPLE, len(kept)) - 1


@pytest.mark.spark
@pytest.mark.slow
def test_what_a_test_expects_and_does_not_get_is_reported(simulators: Any) -> None:
    scenario = json.loads(next(SCENARIOS.glob("A0*.json")).read_text(encoding="utf-8"))
    first, *rest = scenario["expected"]["outputs"]
    wrong = {"outputs": [{**first, "value": "another"}, *rest]}
    inputs = scenario["inputs"]
    answer = ask(simulators, scenario["topology"], inputs, expected=wrong)["result"]
    (found,) = answer["differences"]
    assert found["code"] == "record_differs"
    assert '"value": "another"' in found["facts"]["expected"]
    assert found["facts"]["expected"] in found["message"]
    assert ask(simulators, scenario["topology"], inputs)["result"]["differences"] is None


@pytest.mark.spark
@pytest.mark.slow
def test_documents_with_errors_and_broken_lines_are_answered_in_words(
    simulators: Any,
) -> None:
    document = processing(CURIOUS, "Curious")
    refused = ask(simulators, {**document, "edges": []}, [])
    assert refused["result"] is None
    assert refused["diagnostics"]
    bad = ask(simulators, document, [{"topic": "in", "timestamp": "soon"}])
    assert bad["error"]["code"] == "input_invalid"
    assert bad["error"]["message"].startswith("Input 1: timestamp must be a whole number")


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(not confinement.version(), reason="this system has no Landlock")
def test_code_that_knows_the_store_reader_cannot_use_it(simulators: Any) -> None:
    requests: list[Any] = []
    with socket_path("store-reader") as path:
        data = Path(path).parent
        (data / "secret.key").write_text("key")
        with serving(requests.append, path):
            value = json.dumps([str(data), path, os.getpid()])
            document = processing(ATTACKING, "Attacking")
            answer = ask(simulators, document, [{**LINE, "value": value}])
        assert not (data / "written").exists()
    assert answer["result"]["error"] is None
    [output] = answer["result"]["outputs"]
    found = json.loads(output["value"])
    assert found.pop("asked") == "b''"
    assert found.pop("others") == "[]"
    assert found.pop("kill") == (
        "Operation not permitted" if confinement.version() >= 6 else "None"
    )
    assert set(found.values()) == {"Permission denied"}, found
    assert requests == []


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.alone
def test_ten_simulations_of_one_person_leave_a_process_for_others() -> None:
    from millrace_runtime.jars import operator_jar
    from millrace_runtime.simulator.simulator import LIMITS, Simulators, most_processes

    assert most_processes() >= 2
    operator_jar()  # compiled before the time of the starts begins
    simulators = Simulators(2, LIMITS)
    slow, ended = processing(SLEEPING, "Sleeping"), []

    def simulate() -> None:
        ended.append(ask(simulators, slow, [LINE] * 15, owner="editor"))

    threads = [threading.Thread(target=simulate) for _ in range(10)]
    try:
        for each in threads:
            each.start()
        until = time.monotonic() + 180
        while not simulators.pool.busy and time.monotonic() < until:
            time.sleep(0.1)
        for owner in ("viewer", "operator"):
            answer = ask(simulators, processing(CURIOUS, "Curious"), [LINE], owner=owner)
            assert answer.get("error") is None
            assert len(answer["result"]["outputs"]) == 1
        # All of the editor's would have taken minutes; one was refused, since eight others waited.
        done = [each for each in ended if each.get("error") is None]
        assert len(done) <= 1
    finally:
        until = time.monotonic() + 30
        while any(each.is_alive() for each in threads) and time.monotonic() < until:
            simulators.cancel("editor")
            time.sleep(0.2)
        simulators.close()
        for each in threads:
            each.join(30)
