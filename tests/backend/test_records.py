"""Records of topics on a real broker: paged, filtered, written; topics with consumer groups."""

from __future__ import annotations

import base64
import json
import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from deployments.models import Deployment
from millrace_backend import kafka
from millrace_backend.errors import TooMany
from millrace_backend.turns import current_owner
from records import reading
from rest_framework.test import APIClient
from topologies.models import Topology

from tests.runtime import topics

from .conftest import Client, People

pytestmark = [pytest.mark.kafka]

HOUR = 3_600_000
#: 2026-01-01
BEGIN = 1_767_225_600_000


@pytest.fixture
def topic(broker: Any, new_topic: Callable[[int], str]) -> str:
    """A topic with three partitions and 300 records, one a second, round robin."""
    name = new_topic(3)
    topics.produce(
        broker.address,
        name,
        [
            {
                "key": f"k{n % 7}",
                "value": json.dumps({"n": n, "user": {"id": f"u{n % 50}"}, "tags": [n % 3]}),
                "timestamp": BEGIN + 1000 * n,
                "partition": n % 3,
            }
            for n in range(300)
        ],
    )
    return name


@pytest.fixture
def ask(client_of: Client, people: People, topic: str) -> Callable[..., Any]:
    """A function that requests the topic's records as a viewer and returns the response."""
    client = client_of(people.viewer)

    def asked(status: int = 200, **query: Any) -> Any:
        response = client.get(f"/api/workspaces/main/topics/{topic}/records", query)
        assert response.status_code == status, response.content
        return response.json()

    return asked


def numbers(page: Any) -> list[int]:
    return [json.loads(each["value"]["text"] or "")["n"] for each in page["records"]]


def test_newest_records_come_first_over_all_partitions_page_by_page(ask: Any) -> None:
    page = ask(limit=80)
    assert numbers(page) == list(range(299, 219, -1))
    assert page["stopped"] == "full"
    found = numbers(page)
    while page["stopped"] != "end":
        page = ask(limit=80, cursor=page["next"])
        found += numbers(page)
    assert found == list(range(299, -1, -1))


def test_records_come_in_order_from_the_beginning_an_offset_and_a_time(ask: Any) -> None:
    assert numbers(ask(start="earliest", limit=5)) == [0, 1, 2, 3, 4]
    assert numbers(ask(start="offset", offset=10, partition=1, limit=3)) == [31, 34, 37]
    assert numbers(ask(start="time", time=BEGIN + 250_500, limit=4)) == [251, 252, 253, 254]
    late = ask(start="time", time=BEGIN + HOUR)
    assert (late["records"], late["stopped"]) == ([], "end")
    assert numbers(ask(partition=2, limit=2)) == [299, 296]


def test_new_records_follow_from_the_ends_of_a_page(ask: Any, topic: str, broker: Any) -> None:
    page = ask(limit=1)
    topics.produce(broker.address, topic, [{"value": '{"n": 300}', "timestamp": BEGIN + HOUR}])
    followed = ask(start="earliest", cursor=page["ends"])
    assert numbers(followed) == [300]
    assert ask(start="earliest", cursor=followed["next"])["records"] == []


def test_a_filter_shows_what_it_scanned_and_goes_on_from_there(
    ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_field = ask(field="value.user.id", equals="u49")
    assert numbers(by_field) == [299, 249, 199, 149, 99, 49]
    assert (by_field["scanned"], by_field["stopped"]) == (300, "end")
    assert numbers(ask(field="value.tags[0]", equals="2", limit=2)) == [299, 296]
    assert numbers(ask(field="value.n", equals="17", contains="U17")) == [17]
    assert ask(field="value.n", equals="17", contains="u18")["records"] == []
    assert len(numbers(ask(field="key", equals="k3", limit=200))) == 43
    monkeypatch.setattr(reading, "MOST_SCANNED", 60)
    found: list[int] = []
    page, requests = ask(field="value.n", equals="17"), 1
    assert page["stopped"] == "scanned"
    assert 60 <= page["scanned"] < 300
    while page["stopped"] != "end":
        page = ask(field="value.n", equals="17", cursor=page["next"])
        found, requests = found + numbers(page), requests + 1
    assert found == [17]
    assert requests > 2


def test_bad_questions_are_answered_with_what_would_do(ask: Any, topic: str) -> None:
    assert "has no partition 9" in ask(404, partition=9)["error"]["message"]
    assert "value.customer.id" in ask(400, field="a..b")["error"]["hint"]
    assert ask(400, cursor="x")["error"]["fields"]["cursor"]
    assert ask(400, start="somewhere")["error"]["fields"]["start"]
    assert ask(400, limit=5000)["error"]["fields"]["limit"]


def test_formats_are_guessed_or_chosen(ask: Any, topic: str, broker: Any) -> None:
    def written(value: bytes | None, **query: Any) -> Any:
        topics.produce(broker.address, topic, [{"value": value, "partition": 0}])
        (record,) = ask(limit=1, partition=0, **query)["records"]
        return record["value"]

    def read(value: bytes | None, **query: Any) -> tuple[str, str | None]:
        found = written(value, **query)
        return found["format"], found["text"]

    assert read(b'{"a": 1}') == ("json", '{"a": 1}')
    assert read("größe 中文\n".encode()) == ("string", "größe 中文\n")
    assert read(b"1234") == ("string", "1234")
    assert read(struct.pack(">q", 1234)) == ("long", "1234")
    assert read(struct.pack(">d", 1.5)) == ("double", "1.5")
    assert read(struct.pack(">i", -7)) == ("integer", "-7")
    assert read(struct.pack(">f", 0.5), value_format="float") == ("float", "0.5")
    assert read(b"\x01") == ("boolean", "true")
    assert read(b"\xff\x00\x10") == ("bytes", "ff0010")
    assert read(None) == ("null", None)
    assert written(b"\x00\x00\x00\x00\x07abc\xff")["schema_id"] == 7
    wrong = written(b"abc", value_format="long")
    assert (wrong["format"], wrong["text"]) == ("bytes", "616263")
    assert "8 bytes, found 3" in wrong["error"]
    assert "Not JSON" in written(b"{", value_format="json")["error"]
    long = written(b"x" * 5000)
    assert (len(long["text"]), long["size"], long["cut"]) == (2000, 5000, True)


def test_a_record_is_shown_whole_with_its_bytes_and_headers(
    client_of: Client, people: People, topic: str, broker: Any
) -> None:
    value = b"\x00\xff" * 3000
    topics.produce(
        broker.address,
        topic,
        [{"key": b"k", "value": value, "partition": 1, "headers": [("trace", b"t1"), ("n", None)]}],
    )
    client = client_of(people.viewer)
    path = f"/api/workspaces/main/topics/{topic}/records"
    found = client.get(f"{path}/1/100").json()
    assert base64.b64decode(found["raw_value"]) == value
    assert found["value"]["text"] == value.hex()
    assert [(each["key"], each["text"]) for each in found["headers"]] == [
        ("trace", "t1"),
        ("n", None),
    ]
    assert client.get(f"{path}/1/0?value_format=string").json()["value"]["format"] == "string"
    gone = client.get(f"{path}/1/101")
    assert gone.status_code == 404
    assert "offsets from 0 to 100" in gone.json()["error"]["hint"]


def test_aborted_records_are_not_shown_and_markers_do_not_hold_the_page(
    ask: Any, topic: str, broker: Any
) -> None:
    writer = Producer(
        {"bootstrap.servers": broker.address, "transactional.id": topic, "log_level": 0}
    )
    writer.init_transactions(20)
    for kept in (True, False, True, False):
        writer.begin_transaction()
        writer.produce(topic, value=json.dumps({"n": int(kept)}), partition=0)
        writer.flush(20)
        (writer.commit_transaction if kept else writer.abort_transaction)(20)
    assert numbers(ask(partition=0, limit=3)) == [1, 1, 297]
    page = ask(start="offset", offset=100, partition=0)
    assert (numbers(page), page["stopped"]) == ([1, 1], "end")


def test_records_that_retention_deleted_are_left_out(ask: Any, topic: str, broker: Any) -> None:
    topics.delete_before(broker.address, topic, 90, partition=0)
    page = ask(start="offset", offset=0, partition=0)
    assert numbers(page) == [270, 273, 276, 279, 282, 285, 288, 291, 294, 297]


def test_reading_leaves_no_consumer_group_behind(ask: Any, broker: Any) -> None:
    ask(limit=5)
    ask(start="earliest")
    admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
    groups = {each.group_id for each in admin.list_consumer_groups().result().valid}
    assert kafka.GROUP not in groups


def test_many_people_read_at_once_with_few_consumers(ask: Any, topic: str) -> None:
    """Twelve requests at once share four consumers, and each gets its response."""
    found: list[list[int]] = []

    def read() -> None:
        from records.queries import Asked, read_page

        page = read_page(topic, Asked(start="earliest", limit=100))
        found.append([json.loads(each["value"]["text"] or "")["n"] for each in page["records"]])

    threads = [threading.Thread(target=read) for _ in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert found == [list(range(100))] * 12
    assert len(kafka.readers._idle) <= kafka.READERS


def test_one_person_cannot_hold_all_readers(
    ask: Any, client_of: Client, people: People, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka, "WAIT_SECONDS", 0.5)
    ended, held, refused = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)

    def read() -> None:
        current_owner.set(str(people.viewer.pk))
        try:
            with kafka.readers.one():
                held.release()
                ended.wait(30)
        except TooMany:
            refused.release()

    threads = [threading.Thread(target=read) for _ in range(kafka.READERS)]
    for each in threads:
        each.start()
    assert all(each.acquire(timeout=10) for each in (held, held, refused, refused))
    try:
        assert "You are already reading" in ask(429)["error"]["message"]
        path = f"/api/workspaces/main/topics/{topic}/records"
        for other in (people.editor, people.operator):
            assert client_of(other).get(path).status_code == 200
    finally:
        ended.set()
        for each in threads:
            each.join(30)
    assert len(ask(limit=5)["records"]) == 5


def test_the_clusters_address_is_shown_without_asking_kafka(
    client_of: Client, people: People, millrace_settings: Any
) -> None:
    path = "/api/workspaces/main/kafka-cluster"
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = "kafka.example.com:1,b:2"
    shown = client_of(people.viewer).get(path).json()
    plain = {"bootstrap_servers": "kafka.example.com:1,b:2", "security_protocol": "PLAINTEXT"}
    assert shown == plain
    millrace_settings.KAFKA_CLIENTS = {"security.protocol": "sasl_ssl", "sasl.password": "secret"}
    answer: Any = client_of(people.viewer).get(path)
    assert answer.json() == {**plain, "security_protocol": "SASL_SSL"}
    assert client_of(people.outsider).get(path).status_code == 404
    assert client_of(None).get(path).status_code == 401


def test_topics_are_listed_with_figures_offsets_and_settings(
    client_of: Client, people: People, topic: str
) -> None:
    client = client_of(people.viewer)
    page = client.get(f"/api/workspaces/main/topic-figures?search={topic[1:].upper()}").json()
    assert page["count"] == 1
    assert page["results"] == [
        {"name": topic, "partitions": 3, "records": 300, "cleanup_policy": "delete"}
    ]
    found = client.get(f"/api/workspaces/main/topics/{topic}").json()
    assert [(each["earliest"], each["latest"]) for each in found["partitions"]] == [(0, 100)] * 3
    own = {each["name"]: each["value"] for each in found["configuration"] if each["own"]}
    assert own == {"retention.ms": "-1"}
    assert client.get("/api/workspaces/main/topics/not-there").status_code == 404
    assert client.get("/api/workspaces/main/topics/__consumer_offsets").status_code == 404


@pytest.mark.parametrize("name", ["a%00b", "a b", "%E4%B8%AD", "x" * 250])
def test_what_is_no_name_of_a_topic_is_not_found(
    client_of: Client, people: People, name: str
) -> None:
    answer = client_of(people.viewer).get(f"/api/workspaces/main/topics/{name}/records")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "no_such_topic"


def test_consumer_groups_are_shown_with_their_lag(
    client_of: Client, people: People, topic: str, broker: Any
) -> None:
    group = Consumer({"bootstrap.servers": broker.address, "group.id": f"g-{topic}"})
    group.commit(offsets=[TopicPartition(topic, 1, 60)], asynchronous=False)
    group.close()
    found = client_of(people.viewer).get(f"/api/workspaces/main/topics/{topic}/groups").json()
    assert found["complete"]
    assert found["groups"] == [
        {
            "group": f"g-{topic}",
            "state": "empty",
            "lag": 40,
            "partitions": [{"partition": 1, "committed": 60, "lag": 40}],
        }
    ]


def test_a_workspace_reads_no_topic_outside_of_its_prefixes(
    client_of: Client, people: People, topic: str
) -> None:
    people.workspace.topic_prefixes = ["other-"]
    people.workspace.save()
    client = client_of(people.admin)
    base = f"/api/workspaces/main/topics/{topic}"
    for path in (base, f"{base}/groups", f"{base}/records", f"{base}/records/0/0"):
        assert client.get(path).json()["error"]["code"] == "no_such_topic"
    record = {"value": {"format": "string", "text": "a"}}
    assert client.post(f"{base}/records", record).status_code == 404
    assert client.delete(base).status_code == 404
    assert client.get("/api/workspaces/main/topic-figures").json()["count"] == 0


def test_an_operator_writes_a_record_and_the_audit_has_its_place(
    client_of: Client, people: People, topic: str, ask: Any
) -> None:
    path = f"/api/workspaces/main/topics/{topic}/records"
    record = {
        "key": {"format": "long", "text": "42"},
        "value": {"format": "json", "text": '{"n": 1000}'},
        "headers": [{"key": "source", "text": "by hand"}],
        "timestamp": BEGIN,
        "partition": 2,
    }
    assert client_of(people.editor).post(path, record).status_code == 403
    client = client_of(people.operator)
    assert client.post(path, record).json() == {"partition": 2, "offset": 100}
    (found,) = ask(partition=2, start="offset", offset=100)["records"]
    assert (found["key"]["text"], found["value"]["text"]) == ("42", '{"n": 1000}')
    assert (found["timestamp"], found["headers"][0]["text"]) == (BEGIN, "by hand")
    tombstone = client.post(path, {"key": {"format": "string", "text": "k1"}, "value": None})
    (null,) = ask(**tombstone.json(), start="offset")["records"]
    assert null["value"]["text"] is None
    entry = client_of(people.admin).get("/api/workspaces/main/audit").json()["results"][1]
    assert (entry["action"], entry["detail"]) == (
        "record.produce",
        {"name": topic, "partition": 2, "offset": 100},
    )


@pytest.mark.parametrize(
    ("format", "text", "why"),
    [
        ("long", "x", "not a valid long (8 bytes)"),
        ("integer", "3000000000", "not a valid integer (4 bytes)"),
        ("json", "{", "Not JSON"),
        ("boolean", "yes", "true or false"),
        ("bytes", "zz", "hexadecimal"),
    ],
)
def test_a_text_that_is_not_of_its_format_is_not_written(
    client_of: Client, people: People, topic: str, format: str, text: str, why: str
) -> None:
    path = f"/api/workspaces/main/topics/{topic}/records"
    answer = client_of(people.operator).post(path, {"value": {"format": format, "text": text}})
    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]


def test_writing_to_a_topic_that_is_not_there_creates_none(
    client_of: Client, people: People, topic: str
) -> None:
    path = f"/api/workspaces/main/topics/{topic}-x/records"
    answer = client_of(people.operator).post(path, {"value": {"format": "string", "text": "a"}})
    assert answer.json()["error"]["code"] == "no_such_topic"
    assert client_of(people.operator).get(path).status_code == 404
    listed = client_of(people.viewer).get(f"/api/workspaces/main/topic-figures?search={topic}")
    assert listed.json()["count"] == 1


def test_a_topic_is_deleted_by_an_admin_unless_a_deployment_uses_it(
    client_of: Client, people: People, topic: str, deployment: Deployment, topology: Topology
) -> None:
    node = {"id": "in", "kind": "source.stream", "params": {"topics": [topic]}}
    topology.versions.filter(number=1).update(document={"nodes": [node]})
    admin: APIClient = client_of(people.admin)
    path = f"/api/workspaces/main/topics/{topic}"
    assert client_of(people.operator).delete(path).status_code == 403
    refused = admin.delete(path)
    assert refused.status_code == 409
    assert "“Orders”" in refused.json()["error"]["message"]
    Deployment.objects.filter(pk=deployment.pk).update(desired="stopped")
    assert admin.delete(path).status_code == 204
    deadline = time.monotonic() + 10
    while admin.get(path).status_code != 404:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    entry = admin.get("/api/workspaces/main/audit").json()["results"][0]
    assert (entry["action"], entry["detail"]) == ("topic.delete", {"name": topic})


@pytest.mark.slow
def test_a_broker_that_hangs_is_answered_about_in_time(
    client_of: Client, people: People, topic: str, broker: Any
) -> None:
    """When the broker recovers, the same clients continue."""
    client = client_of(people.operator)
    base = f"/api/workspaces/main/topics/{topic}"
    assert client.get(f"{base}/records").status_code == 200
    os.kill(broker.process, signal.SIGSTOP)
    try:
        began = time.monotonic()
        answers = [
            client.get("/api/workspaces/main/topic-figures"),
            client.get(f"{base}/records"),
            client.post(f"{base}/records", {"value": {"format": "string", "text": "a"}}),
        ]
        lasted = time.monotonic() - began
    finally:
        os.kill(broker.process, signal.SIGCONT)
    assert [each.status_code for each in answers] == [503] * 3
    assert answers[0].json()["error"]["code"] == "kafka_unreachable"
    assert lasted < 3 * (kafka.ANSWER_SECONDS + 4)
    deadline = time.monotonic() + 40
    while client.get(f"{base}/records").status_code != 200:
        assert time.monotonic() < deadline


def test_fields_are_compared(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A page of a starved machine may lack the newest record.
    monkeypatch.setattr("records.reading.MOST_SECONDS", 30.0)
    assert numbers(ask(field="value.n", compare="less", equals="3")) == [2, 1, 0]
    assert numbers(ask(field="value.n", compare="at_least", equals="298")) == [299, 298]
    assert numbers(ask(field="value.n", compare="greater", equals="298")) == [299]
    assert numbers(ask(field="value.n", compare="at_most", equals="0")) == [0]
    # Texts compare alphabetically; a missing field never matches.
    assert len(numbers(ask(field="value.user.id", compare="greater", equals="u48"))) == 36
    assert numbers(ask(field="value.none", compare="not_equals", equals="1")) == []
    assert numbers(ask(field="value.n", compare="not_equals", equals="299", limit=1)) == [298]
    assert numbers(ask(field="value.tags", compare="contains", equals="2", limit=1)) == [299]
    assert numbers(ask(field="value.n", compare="less", equals="few")) == []


def test_a_reader_decodes_in_the_formats_of_a_topologys_node(
    ask: Any, people: People, topic: str, simulator: Any
) -> None:
    from topologies import actions

    from .conftest import document

    source = {
        "id": "in",
        "kind": "source.stream",
        "params": {"topics": [topic], "key": {"format": "string"}, "value": AVRO},
    }
    drawn: Any = {**document(), "nodes": [source]}
    made = actions.create_topology(people.editor, people.workspace, "Avro", drawn)
    name = f"{made.pk}:in"
    assert ask(503, reader=name)["error"]["code"] == "simulator_starting"
    asked = simulator.asked[0]
    assert asked["document"]["nodes"][0]["params"]["value"] == AVRO
    assert len(asked["inputs"]) == 200
    outputs = [{"after": n, "key": "k", "value": {"n": n}} for n in range(1, 200)]
    simulator.answer = {"diagnostics": [], "result": {"outputs": outputs}}
    page = ask(reader=name, field="value.n", equals="17")
    assert [each["value"]["text"] for each in page["records"]] == ['{"n": 17}']
    assert (page["records"][0]["value"]["format"], page["scanned"]) == ("avro", 200)
    assert ask(404, reader=f"{made.pk}:out")["error"]["code"] == "no_such_reader"


AVRO = {"format": "avro", "schema": '{"type": "record", "name": "A", "fields": []}'}
