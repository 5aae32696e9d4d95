"""Comparisons with Kafka Streams through the API, as the workers advance them."""

from __future__ import annotations

from typing import Any

import pytest
from millrace_runtime.results.differences import Difference
from millrace_workers.streams import ScriptedStreams
from topologies import verifying

from tests.backend.conftest import Client, People, RecordedSimulator, document

PATH = "/api/workspaces/main/verifications"
OUTPUT = {"after": 1, "topic": "out", "key": None, "value": 1, "timestamp": 5}
RESULT = {
    "outputs": [OUTPUT],
    "output_count": 1,
    "dropped": 0,
    "stores": {},
    "error": None,
    "differences": None,
}
LINE = {"topic": "in", "value": "1", "timestamp": 5}


@pytest.fixture
def client(people: People, client_of: Client, simulator: RecordedSimulator) -> Any:
    simulator.answer = {"diagnostics": [], "result": RESULT}
    return client_of(people.editor)


def begin(client: Any, status: int = 202) -> Any:
    answer = client.post(PATH, {"document": document("a"), "inputs": [LINE]}, format="json")
    assert answer.status_code == status, answer.content
    return answer.json()


def advanced(client: Any, name: str, streams: ScriptedStreams) -> list[tuple[str, Any]]:
    """Advance a comparison to its end and return the states on the way."""
    found = []
    while True:
        pause = verifying.advance(name, streams)
        now = client.get(f"{PATH}/{name}").json()
        found.append((now["state"], now["doing"]))
        if pause is None:
            return found


def test_a_comparison_runs_in_steps_and_gives_what_differs(client: Any) -> None:
    name = begin(client)["id"]
    differing = [Difference.of("dropped", expected=2, found=1).to_json()]
    looks: Any = [{"doing": "jars"}, {"doing": "start"}, {"doing": "run"}]
    streams = ScriptedStreams([*looks, {"answer": {"differences": differing}}])
    assert advanced(client, name, streams) == [
        *[("running", "jars")] * 2,
        ("running", "start"),
        ("running", "run"),
        ("done", None),
    ]
    scenario = streams.started[name]
    assert (scenario["inputs"], scenario["found"]["outputs"]) == ([LINE], [OUTPUT])
    assert scenario["topology"]["nodes"] == document("a")["nodes"]
    assert client.get(f"{PATH}/{name}").json()["differences"] == differing
    assert streams.ended == [name]
    assert verifying.advance(name, streams) is None


def test_a_comparison_that_is_cancelled_ends_with_its_next_step(client: Any) -> None:
    name = begin(client)["id"]
    streams = ScriptedStreams([{"doing": "run"}])
    assert verifying.advance(name, streams) == verifying.PAUSE
    assert client.delete(f"{PATH}/{name}").status_code == 204
    assert advanced(client, name, streams) == [("cancelled", None)]
    assert streams.ended == [name]


def test_one_waits_until_another_has_ended(client: Any) -> None:
    name = begin(client)["id"]
    streams = ScriptedStreams([{"answer": {"differences": []}}], free=False)
    assert verifying.advance(name, streams) == verifying.PAUSE
    assert (client.get(f"{PATH}/{name}").json()["state"], streams.started) == ("waiting", {})
    streams.free = True
    assert advanced(client, name, streams)[-1] == ("done", None)


def test_why_it_could_not_be_compared_is_reported(client: Any) -> None:
    name = begin(client)["id"]
    why: Any = {
        "code": "oracle_cannot", "facts": {}, "message": "No test driver runs this.", "cause": None,
    }  # fmt: skip
    streams = ScriptedStreams([{"answer": {"error": why}}])
    assert advanced(client, name, streams)[-1] == ("failed", None)
    found = client.get(f"{PATH}/{name}").json()
    assert (found["error"], found["differences"]) == (why, None)
    missing = begin(client)["id"]
    advanced(client, missing, ScriptedStreams([], available=False))
    assert client.get(f"{PATH}/{missing}").json()["error"] == {
        "code": "streams_missing",
        "facts": {},
        "message": "Kafka Streams is not available in this installation.",
        "cause": None,
    }


def test_only_what_can_be_simulated_whole_is_compared(
    client: Any, simulator: RecordedSimulator
) -> None:
    simulator.answer = {"state": "starting"}
    assert begin(client, 503)["error"]["code"] == "simulator_starting"
    simulator.answer = {"diagnostics": [], "result": {**RESULT, "output_count": 7_000}}
    assert begin(client, 400)["error"]["code"] == "too_many_outputs"
    error = {"severity": "error", "code": "x", "message": "No such column.", "hint": None}
    simulator.answer = {"diagnostics": [error], "result": None}
    refused = begin(client, 400)["error"]
    assert refused["message"] == refused["cause"]["message"] == "No such column."
    assert refused["cause"]["code"] == "x"


def test_a_workspace_compares_so_many_at_a_time(
    client: Any, people: People, client_of: Client
) -> None:
    names = [begin(client)["id"] for _ in range(verifying.MOST)]
    assert begin(client, 429)["error"]["code"] == "too_many_verifications"
    advanced(client, names[0], ScriptedStreams([{"answer": {"differences": []}}]))
    begin(client)
    stranger = client_of(people.outsider).get(f"{PATH}/{names[0]}")
    assert stranger.status_code == 404
