"""The stores of a deployment through the API: the requests to the reader, and its responses."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from deployments.models import Deployment
from deployments.snapshots import stores_socket
from millrace_services.line_server import LineServer

from tests.backend.conftest import Client, People, RecordedSimulator

STRING: Any = {"type": "struct", "fields": [{"name": "id", "type": "string"}]}
NOTES: dict[str, Any] = {
    "state": {
        "stores": [
            {"id": "count", "name": "count", "kind": "key_value", "key": STRING,
             "values": {"value": "long"}, "windows": None, "tasks": 2},
            {"id": "w", "name": "per-hour", "kind": "window", "key": "string",
             "values": {"value": "long"}, "windows": {"type": "tumbling", "size": 3_600_000},
             "tasks": 2},
            {"id": "join", "name": "join", "kind": "join_buffer", "key": "string",
             "values": {"left": "string", "right": "string"}, "windows": None, "tasks": 2},
        ]
    }
}  # fmt: skip
PAGE: dict[str, Any] = {
    "store": {"id": "w", "name": "per-hour", "kind": "window"},
    "batch": 7,
    "committed_at": 1_700_000_000_000,
    "tasks": [{"task": "0_0", "stream_time": 5}],
    "rows": [
        {"key": '"a\\"b"', "window": {"start": 0, "end": 3_600_000},
         "value": "9007199254740993", "timestamp": 4, "task": 0},
        {"key": '{"id":"' + "x" * 30_000 + '"}', "window": {"start": 0, "end": None},
         "value": None, "timestamp": None, "task": 1},
    ],
    "next": "abc",
}  # fmt: skip


@pytest.fixture
def running(deployment: Deployment) -> Deployment:
    """A deployment that has committed a batch."""
    folder = deployment.directory / "checkpoint"
    folder.mkdir(parents=True)
    (folder / "stores.json").write_text(json.dumps(NOTES), encoding="utf-8")
    return deployment


def address(row: Deployment, store: str = "") -> str:
    return f"/api/deployments/{row.pk}/stores" + (f"/{store}" if store else "")


def test_stores_that_can_be_queried_are_listed_with_their_types(
    people: People, client_of: Client, running: Deployment
) -> None:
    answer = client_of(people.viewer).get(address(running)).json()
    assert [(each["id"], each["name"], each["kind"]) for each in answer["stores"]] == [
        ("count", "count", "key_value"), ("w", "per-hour", "window"),
    ]  # fmt: skip
    assert answer["stores"][0]["key"] == "STRUCT<id: STRING>"
    assert answer["stores"][1]["windows"]["size"] == 3_600_000


def test_a_deployment_without_state_reports_it(
    people: People, client_of: Client, deployment: Deployment
) -> None:
    client = client_of(people.viewer)
    assert client.get(address(deployment)).json() == {"stores": [], "as_of": None}
    answer: Any = client.get(address(deployment, "count"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "no_state_yet")


def test_a_page_has_texts_with_all_digits_and_the_batch_that_it_is_as_of(
    people: People, client_of: Client, running: Deployment, simulator: RecordedSimulator
) -> None:
    simulator.answer = PAGE
    query = "?key=a&from=b&to=c&from_time=1&to_time=2&newest=true&limit=2&after=xyz"
    answer: Any = client_of(people.viewer).get(address(running, "w") + query)
    assert answer.status_code == 200
    page = answer.json()["page"]
    assert (page["batch"], page["next"]) == (7, "abc")
    first, second = page["rows"]
    assert (first["key"]["text"], first["value"]["text"]) == ('a"b', "9007199254740993")
    assert (second["key"]["cut"], len(second["key"]["text"])) == (True, 20_000)
    assert (second["value"]["text"], second["window"]["end"]) == (None, None)
    asked = simulator.asked[0]
    assert asked["checkpoint"] == str(running.directory / "checkpoint")
    assert asked["store"] == "w"
    assert asked["query"] == {
        "key": "a", "start": "b", "end": "c", "from_time": 1, "to_time": 2, "newest": True,
        "versions": False, "limit": 2, "after": "xyz",
    }  # fmt: skip


def test_a_driver_that_runs_answers_itself_and_the_reader_what_it_cannot(
    people: People, client_of: Client, running: Deployment, simulator: RecordedSimulator
) -> None:
    answers: dict[str, Any] = {
        "a": {"page": PAGE},
        "b": {"error": {"code": "key_invalid", "message": "Why.", "node": None}},
        "c": {"page": None},
    }
    asked: list[Any] = []

    def answer(request: Any) -> Any:
        asked.append(request)
        return answers[request["query"]["key"]]

    simulator.answer = {**PAGE, "batch": 6}
    client = client_of(people.viewer)
    server = LineServer(str(stores_socket(running.directory)), answer)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        found: list[Any] = [client.get(address(running, f"w?key={key}")) for key in answers]
    finally:
        server.shutdown()
        server.server_close()
    found.append(client.get(address(running, "w?key=a")))
    assert [each.status_code for each in found] == [200, 400, 200, 200]
    assert found[1].json()["error"]["code"] == "key_invalid"
    assert [found[n].json()["page"]["batch"] for n in (0, 2, 3)] == [7, 6, 6]
    assert [(each["do"], each["store"]) for each in asked] == [("read_state", "w")] * 3
    assert [each["query"]["key"] for each in simulator.asked] == ["c", "a"]


def test_a_reader_that_is_starting_is_answered_with_202(
    people: People, client_of: Client, running: Deployment, simulator: RecordedSimulator
) -> None:
    answer: Any = client_of(people.viewer).get(address(running, "count"))
    assert (answer.status_code, answer.json()) == (202, {"state": "starting", "page": None})


@pytest.mark.parametrize(
    ("code", "status"),
    [("key_invalid", 400), ("query_invalid", 400), ("no_state_yet", 409),
     ("state_unreadable", 409), ("state_too_large", 409), ("simulator_busy", 429)],
)  # fmt: skip
def test_what_the_reader_refuses_is_answered_in_its_words(
    people: People, client_of: Client, running: Deployment, simulator: RecordedSimulator,
    code: str, status: int,
) -> None:  # fmt: skip
    simulator.answer = {"error": {"code": code, "message": "Why.", "node": None}}
    answer: Any = client_of(people.viewer).get(address(running, "count"))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["message"]) == (status, code, "Why.")


def test_an_unknown_store_or_a_wrong_limit_is_refused_first(
    people: People, client_of: Client, running: Deployment, simulator: RecordedSimulator
) -> None:
    client = client_of(people.viewer)
    for store, status, code in (("join", 404, "no_such_store"), ("x", 404, "no_such_store"),
                                ("w?limit=1001", 400, "invalid"), ("w?limit=0", 400, "invalid"),
                                ("w?as_of=noon", 400, "invalid")):  # fmt: skip
        answer: Any = client.get(address(running, store))
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), store
    assert simulator.asked == []
