"""Simulations through the API: permissions, and responses when the simulator is away."""

from __future__ import annotations

from typing import Any

import pytest
from accounts.choices import Role
from millrace_backend.errors import Forbidden
from millrace_compiler.declarations.operator import registry
from millrace_compiler.graphs.kinds import python_kinds
from millrace_compiler.parameters.settings import HANDLED
from topologies import actions
from topologies.simulating import Simulation, simulated

from tests.backend.conftest import Client, People, RecordedSimulator, document

PATH = "/api/workspaces/main/simulations"


def asked(given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"document": given, "inputs": [], **more}


def test_a_simulator_that_starts_is_answered_with_202(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    client = client_of(people.editor)
    answer: Any = client.post(PATH, asked(document("a"), steps=7), format="json")
    assert (answer.status_code, answer.json()["state"]) == (202, "starting")
    assert simulator.asked[0]["trace"] == 7
    assert simulator.asked[0]["expected"] is None
    assert simulator.asked[0]["owner"] == f"person {people.editor.pk}"
    simulator.answer = {"state": "starting", "progress": None}
    assert client.get(PATH).json() == simulator.answer


def test_what_a_test_expects_goes_to_the_simulator(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    expected = {"outputs": [{"topic": "out", "key": None, "value": 1}], "dropped": 2}
    client_of(people.editor).post(PATH, asked(document("a"), expected=expected), format="json")
    assert simulator.asked[0]["expected"] == expected


def test_a_part_goes_to_the_simulator_but_never_with_expected_results(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    client = client_of(people.editor)
    part = {"pins": [{"source": "a", "target": "b"}], "to": "b", "muted": ["c"]}
    client.post(PATH, asked(document("a"), part=part), format="json")
    assert simulator.asked[0]["part"] == part
    for more in ({"expected": {"dropped": 0}}, {"plain": "each"}):
        refused: Any = client.post(PATH, asked(document("a"), part=part, **more), format="json")
        assert list(refused.json()["error"]["fields"]) == ["part"]
    # What a muted node or a pinned record makes of a test does not count for the document.
    assert not Simulation(document("a"), [], part={"to": "b"}).is_of_document


def test_a_run_with_a_name_is_watched_and_stopped_by_it(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    client = client_of(people.editor)
    client.post(PATH, asked(document("a"), run="tab-1"), format="json")
    counts = {"edges": [3, 2], "nodes": {"a": {"in": 3, "out": 2, "dropped": {"late": 1}}}}
    progress = {"done": 3, "lines": 9, **counts}
    simulator.answer = {"state": "ready", "progress": progress}
    assert client.get(PATH, {"run": "tab-1"}).json()["progress"] == progress
    simulator.answer = {"cancelled": True}
    assert client.delete(f"{PATH}?run=tab-1").status_code == 204
    assert [each["run"] for each in simulator.asked] == ["tab-1"] * 3
    client.delete(PATH)
    assert simulator.asked[-1] == {
        "do": "cancel", "owner": f"person {people.editor.pk}", "run": None,
    }  # fmt: skip
    answer: Any = client.get(PATH, {"run": "x" * 65})
    assert list(answer.json()["error"]["fields"]) == ["run"]


def test_a_run_is_watched_more_often_than_simulations_may_start(
    people: People,
    client_of: Client,
    simulator: RecordedSimulator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from topologies.api.simulation_views import SimulationsView

    view = SimulationsView()
    for method, scope in (("POST", "simulate"), ("GET", None), ("DELETE", None)):
        monkeypatch.setattr(view, "request", type("Request", (), {"method": method}), raising=False)
        view.get_throttles()
        assert view.throttle_scope == scope


def test_partitions_go_beside_the_document_so_that_viewers_may_send_them(
    people: People, client_of: Client, topology: Any, simulator: RecordedSimulator
) -> None:
    saved = topology.versions.get(number=1).document
    client = client_of(people.viewer)
    answer: Any = client.post(PATH, asked(saved, partitions={"orders": 3}), format="json")
    assert answer.status_code == 202
    assert simulator.asked[0]["partitions"] == {"orders": 3}
    assert simulator.asked[0]["document"] == saved
    answer = client.post(PATH, asked(saved, partitions={"orders": 0}), format="json")
    assert list(answer.json()["error"]["fields"]) == ["partitions"]


def test_breakpoints_go_to_the_simulator_and_are_line_numbers(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    client = client_of(people.operator)
    client.post(PATH, asked(document("a"), breakpoints={"step": [3, 7]}), format="json")
    assert simulator.asked[0]["breakpoints"] == {"step": [3, 7]}
    client.post(PATH, asked(document("a")), format="json")
    assert simulator.asked[1]["breakpoints"] == {}
    for wrong in ({"step": [0]}, {"step": ["x"]}, {"step": 3}, {"step": list(range(1, 102))}):
        answer: Any = client.post(PATH, asked(document("a"), breakpoints=wrong), format="json")
        assert answer.status_code == 400
        assert list(answer.json()["error"]["fields"]) == ["breakpoints"]


@pytest.mark.parametrize(
    ("code", "status"),
    [("simulator_busy", 429), ("simulation_cancelled", 409), ("input_invalid", 400)],
)
def test_what_the_simulator_refuses_is_answered_in_its_words(
    people: People, client_of: Client, simulator: RecordedSimulator, code: str, status: int
) -> None:
    simulator.answer = {"error": {"code": code, "message": "Why.", "hint": "What to do."}}
    answer: Any = client_of(people.editor).post(PATH, asked(document("a")), format="json")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["hint"]) == (status, code, "What to do.")


def test_a_search_for_a_difference_takes_two_valid_documents(
    people: People, client_of: Client, topology: Any, simulator: RecordedSimulator
) -> None:
    saved = topology.versions.get(number=1).document
    path = "/api/workspaces/main/differences"
    given = {"old": saved, "new": document("b"), "inputs": [[{"topic": "orders"}]], "run": "tab"}
    client = client_of(people.editor)
    assert client.post(path, given, format="json").status_code == 202
    assert simulator.asked == [
        {"do": "differ", "owner": f"person {people.editor.pk}", "seconds": 20.0, **given}
    ]
    simulator.answer = {"diagnostics": [], "result": None}
    answer: Any = client.post(path, given, format="json")
    assert answer.json() == {"state": "done", "diagnostics": [], "result": None}
    viewer = client_of(people.viewer)
    assert viewer.post(path, given, format="json").status_code == 403
    assert viewer.post(path, {**given, "new": saved}, format="json").status_code == 200
    for seconds in (0, 31):
        answer = client.post(path, {**given, "seconds": seconds}, format="json")
        assert list(answer.json()["error"]["fields"]) == ["seconds"]


@pytest.mark.parametrize("side", ["old", "new"])
def test_python_in_a_version_is_searched_for_those_who_may_deploy(
    people: People, client_of: Client, simulator: RecordedSimulator, side: str
) -> None:
    code = document("a")
    code["nodes"][0]["kind"] = "process"
    given = {"old": document("a"), "new": document("a"), side: code}
    path = "/api/workspaces/main/differences"
    answers = [
        client_of(person).post(path, given, format="json").status_code
        for person in (people.editor, people.operator)
    ]
    assert answers == [403, 202]


def test_python_of_each_operator_runs_only_for_those_who_may_deploy(
    people: People, simulator: RecordedSimulator
) -> None:
    saved = {}
    for kind in (*registry(), *HANDLED):
        node = "filter" if kind in HANDLED else kind
        settings = {f"{kind}_handler": "function"} if kind in HANDLED else {}
        nodes = [{"id": "a", "kind": node, "params": {}}]
        saved[kind] = document("a", nodes=nodes, settings=settings)
        topology = actions.create_topology(people.editor, people.workspace, kind, saved[kind])
        actions.save_version(people.editor, topology, saved[kind], "", 1)
    for role in Role:
        refused = set()
        for kind, given in saved.items():
            try:
                simulated(Simulation(given, []), people[role.value], people.workspace)
            except Forbidden as error:
                refused.add((kind, error.data["needed"]))
        kinds = () if role.allows(Role.OPERATOR) else {*python_kinds(), *HANDLED}
        assert refused == {(kind, Role.OPERATOR.value) for kind in kinds}, role
    assert {"process", "process_values", "source.global_store"} == python_kinds()


def test_a_viewer_simulates_saved_versions_only(
    people: People, client_of: Client, topology: Any, simulator: RecordedSimulator
) -> None:
    saved = topology.versions.get(number=1).document
    for given, status in ((saved, 202), (document("other"), 403)):
        answer: Any = client_of(people.viewer).post(PATH, asked(given), format="json")
        assert answer.status_code == status


def test_limits_and_a_simulator_that_is_away_are_answered_in_words(
    people: People, client_of: Client, millrace_settings: Any
) -> None:
    client = client_of(people.editor)
    many: Any = client.post(PATH, {"document": document("a"), "inputs": [{}] * 2001}, format="json")
    assert (many.status_code, list(many.json()["error"]["fields"])) == (400, ["inputs"])
    millrace_settings.MILLRACE_SIMULATOR = "/nowhere"
    answer: Any = client.post(PATH, asked(document("a")), format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "simulator_unreachable")


@pytest.mark.parametrize("cut", ["each", "all"])
def test_plain_spark_is_run_with_the_micro_batches_that_are_asked_for(
    people: People, client_of: Client, simulator: RecordedSimulator, cut: str
) -> None:
    comparison = {
        "verdict": "predicted",
        "unexplained": [],
        "topics": [],
        "dropped": {"kafka_streams": 1, "spark": 0, "codes": ["plain_drops"]},
        "stopped": {"kafka_streams": None, "spark": None},
        "seconds": 1.5,
    }
    plain = {"cut": cut, "diagnostics": [], "comparison": comparison}
    simulator.answer = {"diagnostics": [], "result": None, "plain": plain}
    client = client_of(people.editor)
    answer: Any = client.post(PATH, asked(document("a"), plain=cut), format="json")
    assert (answer.status_code, answer.json()["plain"]) == (200, plain)
    assert simulator.asked[0]["plain"] == cut
    client.post(PATH, asked(document("a")), format="json")
    assert simulator.asked[1]["plain"] is None
    refused: Any = client.post(PATH, asked(document("a"), plain="random:7"), format="json")
    assert (refused.status_code, list(refused.json()["error"]["fields"])) == (400, ["plain"])


def test_plain_spark_runs_for_those_who_may_simulate(
    people: People, client_of: Client, topology: Any, simulator: RecordedSimulator
) -> None:
    saved = topology.versions.get(number=1).document
    given = document("a")
    given["nodes"][0]["kind"] = "process"
    cases = [
        (people.viewer, saved, 202),
        (people.viewer, document("other"), 403),
        (people.editor, given, 403),
        (people.operator, given, 202),
    ]
    for person, wanted, status in cases:
        answer: Any = client_of(person).post(PATH, asked(wanted, plain="each"), format="json")
        assert answer.status_code == status
    simulator.answer = {"state": "ready", "progress": {"done": 3, "lines": 9}}
    assert client_of(people.editor).get(PATH).json() == simulator.answer
    assert simulator.asked[-1]["owner"] == f"person {people.editor.pk}"
