"""Generators: the records they make, who may start them, and what arrives in the topic."""

from __future__ import annotations

import base64
import json
import select
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from catalog.templates import template
from confluent_kafka.admin import AdminClient
from deployments.actions import request_start, request_stop
from millrace_backend.errors import ApiError
from millrace_compiler.isolated import Pool
from millrace_compiler.types.generating import Recipe
from millrace_services import line_server
from records.encoding import records_of
from records.generating import recipe_of
from records.generators import stop_generator
from records.models import Generator
from records.writing import Writer
from rest_framework.test import APIClient
from topologies import actions, compiling

from tests import registry as registries
from tests.runtime import topics

from .conftest import Client, People
from .writing import row_when, writing

ORDERS = {
    "key": {"format": "string"},
    "value": {"format": "json", "schema": "item STRING, n INT, price DOUBLE, at BIGINT"},
}
NOW = 1_767_225_600_000
DAY = 86_400_000


def recipe(**changes: Any) -> Recipe:
    settings: Any = {**ORDERS, **changes}
    return recipe_of(settings.pop("topic", "orders"), settings)


def values(made: Recipe, count: int = 1_000) -> list[Any]:
    return [made.made(n, NOW).value for n in range(count)]


def test_the_same_seed_gives_the_same_records_whatever_was_made_before() -> None:
    assert values(recipe(), 20) == values(recipe(), 20)
    assert records_of(recipe(), [(17, NOW)], "") == records_of(recipe(), [(17, NOW)], "")
    assert values(recipe(), 20) != values(recipe(seed=2), 20)


def test_records_fit_their_schema_and_field_rules() -> None:
    made = values(
        recipe(
            time_field="at",
            fields={
                "value.item": {"values": ["tea", "rice"]},
                "value.n": {"min": 3, "max": 5},
                "value.price": {"min": 0.5, "max": 1.5},
            },
        ),
        300,
    )
    assert {each["item"] for each in made} == {"tea", "rice"}
    assert {each["n"] for each in made} == {3, 4, 5}
    assert all(0.5 <= each["price"] <= 1.5 for each in made)
    assert {each["at"] for each in made} == {NOW}
    nested = recipe(
        value={
            "format": "json",
            "schema": "a STRUCT<b: STRING, c: ARRAY<INT>>, m MAP<STRING, INT>",
        },
        fields={"value.a.b": {"prefix": "customer-", "min": 1, "max": 9}},
    ).made(0, NOW)
    assert nested.value["a"]["b"].startswith("customer-")
    assert len(nested.value["a"]["c"]) == 2
    sentence = recipe(
        value={"format": "string"}, fields={"value": {"parts": [["a"], ["", "b"], ["c"]]}}
    )
    assert {sentence.made(n, NOW).value for n in range(50)} == {"a c", "a b c"}


def test_shares_of_late_null_and_malformed_records_are_about_right() -> None:
    made = recipe(late=20, late_by=DAY, nulls=10, malformed=5, keys=50, skew=1)
    records = [made.made(n, NOW) for n in range(4_000)]
    assert 0.15 < sum(each.time < NOW for each in records) / 4_000 < 0.25
    assert min(each.time for each in records) >= NOW - DAY
    assert 0.03 < sum(each.raw is not None for each in records) / 4_000 < 0.07
    nulls = sum(each.value is None and each.raw is None for each in records)
    assert 0.07 < nulls / 4_000 < 0.13
    keys = Counter(each.key for each in records).most_common()
    assert len(keys) == 50
    # By Zipf's law the first key has the share 1 / (1 + 1/2 + … + 1/50).
    assert 0.17 < keys[0][1] / 4_000 < 0.28
    assert keys[0][1] > 1.5 * keys[1][1]
    even = Counter(recipe(keys=50).made(n, NOW).key for n in range(4_000)).most_common()
    assert even[0][1] < 2 * even[-1][1]


def test_simple_formats_are_written_as_kafkas_serializers_do() -> None:
    made = recipe(
        key={"format": "long"}, value={"format": "double"}, fields={"key": {"min": 7, "max": 7}}
    )
    ((key, value, time_),) = records_of(made, [(0, NOW)], "")
    assert key == (7).to_bytes(8, "big")
    assert value is not None
    assert (len(value), time_) == (8, NOW)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"format": "avro", "schema": "{}"}, "format avro cannot be generated"),
        ({"format": "json"}, "needs a schema"),
        ({"format": "json", "schema": "item STRING,"}, "schema cannot be read"),
    ],
)
def test_a_format_that_cannot_be_generated_is_refused(value: dict[str, str], says: str) -> None:
    with pytest.raises(ApiError, match=says):
        recipe(value=value)


AVRO: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "item", "type": ["null", "string"]},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["NEW", "OLD"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 3, "scale": 2},
        },
    ],
}
PROTOBUF = """syntax = "proto3";
enum Kind { NONE = 0; SOME = 1; }
message Order { string item = 1; Kind kind = 2; repeated int64 counts = 3; }
"""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (
            {"format": "avro", "schema": json.dumps(AVRO)},
            "STRUCT<item: STRING, kind: STRING, hash: BINARY, either: STRUCT<member0: INT, "
            "member1: STRING>, at: TIMESTAMP, price: DECIMAL(3,2)>",
        ),
        (
            {"format": "protobuf", "schema": PROTOBUF},
            "STRUCT<item: STRING, kind: STRING, counts: ARRAY<BIGINT>>",
        ),
    ],
)
def test_records_of_a_schema_keep_to_what_it_allows(
    people: People, client_of: Client, value: dict[str, str], type_: str
) -> None:
    client: Any = client_of(people.viewer)
    formats = {"key": {"format": "string"}, "value": value}
    types = client.post("/api/workspaces/main/format-types", formats).json()
    assert types == {"key": "STRING", "value": type_}
    body = {
        "topic": "orders",
        "recipe": {
            **formats, "nulls": 20, "malformed": 20, "fields": {"value.item": {"values": ["tea"]}}
        },
        "count": 60,
    }  # fmt: skip
    path = "/api/workspaces/main/generated-records"
    lines = client.post(path, body).json()["lines"]
    assert client.post(path, body).json()["lines"] == lines
    values = [line["value"] for line in lines if line.get("value") is not None]
    assert any("value_bytes" in line for line in lines)
    assert len(values) < len([line for line in lines if "value" in line])
    assert {each["item"] for each in values} == {"tea"}
    kinds = {"NEW", "OLD"} if value["format"] == "avro" else {"NONE", "SOME"}
    assert {each["kind"] for each in values} == kinds
    if value["format"] == "avro":
        assert all(len(base64.b64decode(each["hash"])) == 4 for each in values)
        either = [each["either"] for each in values]
        assert all((each["member0"] is None) != (each["member1"] is None) for each in either)
        assert {each["member0"] is None for each in either} == {True, False}
        assert all(each["price"] < 10 for each in values)


@pytest.mark.django_db
def test_a_registry_gives_the_schema_or_is_reported(
    people: People, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = Pool(1)
    monkeypatch.setattr(compiling, "pool", lambda: pool)
    path = "/api/workspaces/main/generated-records"
    try:
        with registries.running() as registry:
            monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", registry.url)
            registry.register("orders-value", json.dumps(AVRO))
            value = {"format": "avro", "registry": registry.url, "subject": "orders-value"}
            body = {"topic": "orders", "recipe": {**ORDERS, "value": value}, "count": 5}
            editor: Any = client_of(people.editor)
            lines = editor.post(path, body).json()["lines"]
            assert lines[0]["value"].keys() == {each["name"] for each in AVRO["fields"]}
            viewer: Any = client_of(people.viewer)
            unasked = viewer.post(path, body)
            assert unasked.status_code == 403
            assert unasked.json()["error"]["code"] == "registry_unasked"
            unknown = {**value, "subject": "payments-value"}
            body["recipe"] = {**ORDERS, "value": unknown}
            refused = editor.post(path, body).json()["error"]
            assert refused["code"] == "registry_subject"
            assert "does not have the subject payments-value" in refused["message"]
        body["recipe"] = {**ORDERS, "value": {**value, "subject": "others-value"}}
        refused = editor.post(path, body)
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "registry_unreachable"
        assert registry.url in refused.json()["error"]["message"]
        assert "enter the schema here as well" in refused.json()["error"]["hint"]
        assert list(refused.json()["error"]["fields"]) == ["value"]
    finally:
        pool.close()


@pytest.mark.django_db
def test_records_for_a_simulation_are_those_of_a_generator(
    people: People, client_of: Client
) -> None:
    client: Any = client_of(people.viewer)
    path = "/api/workspaces/main/generated-records"
    body = {"topic": "orders", "recipe": {**ORDERS, "malformed": 50}, "count": 40, "every": 1000}
    lines = client.post(path, body).json()["lines"]
    assert len(lines) == 40
    assert client.post(path, body).json()["lines"] == lines
    assert 500 <= lines[-1]["timestamp"] / 40 <= 1500
    assert {"value", "value_bytes"} == {name for line in lines for name in line if "value" in name}
    made = recipe(malformed=50)
    assert lines[7] == made.line(7, lines[7]["timestamp"])
    for change, where in (
        ({"skew": 9}, "skew"),
        ({"fields": {"value.n": {"min": 2}}}, "min and max"),
        ({"fields": {"value.n": {"min": 1, "max": 2, "values": [1]}}}, "Set values"),
    ):
        refused = client.post(path, {**body, "recipe": {**ORDERS, **change}})
        assert refused.status_code == 400
        assert where in refused.content.decode()


@pytest.fixture
def topic(new_topic: Callable[[int], str]) -> str:
    """An empty topic of two partitions."""
    return new_topic(2)


@pytest.fixture
def start(client_of: Client, people: People, topic: str) -> Callable[..., Any]:
    """A function that starts a generator as an operator and returns the response."""
    client: Any = client_of(people.operator)

    def started(status: int = 201, **changes: Any) -> Any:
        body = {"topic": topic, "recipe": ORDERS, "rate": 200, **changes}
        answer = client.post("/api/workspaces/main/generators", body)
        assert answer.status_code == status, answer.content
        return answer.json()

    return started


@pytest.fixture
def announced(millrace_settings: Any) -> Iterator[socket.socket]:
    """The socket on which new generators are announced."""
    with tempfile.TemporaryDirectory() as folder:
        millrace_settings.MILLRACE_GENERATORS = f"{folder}/generators"
        with line_server.listen(f"{folder}/generators") as listening:
            yield listening


def records_in(client: APIClient, topic: str) -> int:
    found: Any = client.get(f"/api/workspaces/main/topics/{topic}")
    records: int = found.json()["records"]
    return records


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_records_arrive_until_a_stop_and_another_process_goes_on(
    start: Any, topic: str, people: People, client_of: Client, announced: socket.socket
) -> None:
    made = start(recipe={**ORDERS, "keys": 5})
    assert select.select([announced], [], [], 0)[0], "the process is not started"
    client = client_of(people.operator)
    with writing():
        row_when(made, lambda row: row.written >= 50)
    between = Generator.objects.get(pk=made["id"])
    assert (between.state, between.written) == ("running", records_in(client, topic))
    with writing():
        row_when(made, lambda row: row.written >= between.written + 50)
        stopped: Any = client.post(f"/api/generators/{made['id']}/stop")
        assert stopped.json()["state"] == "stopped"
    total = records_in(client, topic)
    # Without a running generator the process ends, once it has looked after the announcement.
    assert Writer(lambda: False, announced, 0.5).run()
    assert not select.select([announced], [], [], 0)[0]
    assert records_in(client, topic) == total
    again: Any = client.post(f"/api/generators/{made['id']}/stop")
    assert (again.status_code, again.json()["written"]) == (200, total)
    page: Any = client.get(f"/api/workspaces/main/topics/{topic}/records?start=earliest&limit=200")
    expected = recipe(keys=5, topic=topic)
    found = Counter(json.loads(each["value"]["text"])["n"] for each in page.json()["records"][:100])
    assert found.keys() <= {expected.made(n, NOW).value["n"] for n in range(total)}
    listed: Any = client.get("/api/workspaces/main/generators").json()
    assert [(each["topic"], each["state"]) for each in listed["results"]] == [(topic, "stopped")]


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_limits_end_a_generator_and_so_does_a_topic_that_goes(
    start: Any, topic: str, people: People, client_of: Client, broker: Any
) -> None:
    made = start(most=30)
    with writing():
        done = row_when(made, lambda row: row.state != "running")
        assert (done.state, done.written) == ("done", 30)
        timed = start(seconds=1)
        assert row_when(timed, lambda row: row.state != "running").state == "done"
        lasting = start()
        row_when(lasting, lambda row: row.written > 0)
        # The API keeps a topic to which a generator writes; Kafka itself does not.
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.delete_topics([topic])[topic].result(30)
        failed = row_when(lasting, lambda row: row.state != "running")
        assert failed.state == "failed"
        assert failed.problem is not None
        assert failed.problem["code"] == "not_written"
        assert "could not be written" in failed.problem["message"]
        assert failed.problem["facts"]["reason"] in failed.problem["message"]


@pytest.mark.kafka
@pytest.mark.django_db
def test_a_topic_has_one_generator_and_a_workspace_ten(
    start: Any, topic: str, people: People, client_of: Client, broker: Any
) -> None:
    start()
    assert start(409)["error"]["code"] == "already_generated"
    assert start(404, topic="not-there")["error"]["code"] == "no_such_topic"
    assert start(400, rate=5_000)["error"]["code"] == "invalid"
    assert start(400, seconds=DAY)["error"]["code"] == "invalid"
    others = [f"{topic}-{n}" for n in range(10)]
    topics.create(broker.address, dict.fromkeys(others, 1))
    for name in others[:9]:
        start(topic=name)
    assert start(409, topic=others[9])["error"]["code"] == "quota_reached"


@pytest.mark.kafka
@pytest.mark.django_db
def test_a_template_is_tried_with_its_topics_and_its_generators(
    topic: str, people: People, client_of: Client
) -> None:
    people.workspace.topic_prefixes = [f"{topic}-"]
    people.workspace.save()
    path = "/api/workspaces/main/templates/page-views/try"
    operator: Any = client_of(people.operator)
    tried = operator.post(path)
    assert tried.status_code == 201
    names = {f"{topic}-{name}" for name in ("users", "page-views")}
    assert {each["topic"] for each in tried.json()["generators"]} == names
    written = f"/api/workspaces/main/topics/{topic}-views-by-region"
    deadline = time.monotonic() + 30
    while operator.get(written).status_code != 200:
        assert time.monotonic() < deadline, "the topic has no leader"
    made = operator.get(f"/api/topologies/{tried.json()['topology']}").json()
    assert made["name"] == "Page views by region"
    # On the second try, the topics exist: it gets its own.
    again = operator.post(path, headers={"accept-language": "zh"}).json()
    assert {each["topic"] for each in again["generators"]} == {f"{name}-2" for name in names}
    assert again["topology"] != tried.json()["topology"]
    chinese = operator.get(f"/api/topologies/{again['topology']}").json()
    assert chinese["name"] == "按地区统计页面浏览"
    assert chinese["description"] == template("page-views").description_zh
    assert operator.post("/api/workspaces/main/templates/none/try").status_code == 400


@pytest.mark.kafka
@pytest.mark.django_db(transaction=True)
def test_a_template_never_writes_into_a_topic_that_exists(
    new_topic: Callable[[int], str], people: People, client_of: Client, broker: Any
) -> None:
    prefix = new_topic(1)
    people.workspace.topic_prefixes = [f"{prefix}-"]
    people.workspace.save()
    # One of the template's three topics belongs to somebody.
    topics.create(broker.address, {f"{prefix}-page-views": 1})
    operator: Any = client_of(people.operator)
    tried = operator.post("/api/workspaces/main/templates/page-views/try").json()
    with writing():
        for made in tried["generators"]:
            row_when(made, lambda row: row.written > 0)
    assert records_in(operator, f"{prefix}-page-views") == 0
    document = operator.get(f"/api/topologies/{tried['topology']}/versions/1").json()["document"]
    free = {f"{prefix}-{name}-2" for name in ("page-views", "users", "views-by-region")}
    assert document["topics"].keys() == free
    assert {each["topic"] for each in tried["generators"]} < free
    sample = operator.get(f"/api/topologies/{tried['topology']}/sample-inputs").json()["inputs"]
    assert {each["topic"] for each in sample} < free


@pytest.mark.kafka
@pytest.mark.django_db
def test_a_stopped_generator_is_changed_started_again_and_deleted(
    start: Any, topic: str, people: People, client_of: Client
) -> None:
    made = start(most=30, seconds=60)
    client: Any = client_of(people.operator)
    path = f"/api/generators/{made['id']}"
    changed = {"recipe": {**ORDERS, "keys": 7}, "rate": 5, "seconds": 120, "most": 9}
    for refused in (client.put(path, changed), client.delete(path)):
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "generator_running")
    client.post(f"{path}/stop")
    (stopped,) = client.get("/api/workspaces/main/generators").json()["results"]
    assert (stopped["state"], stopped["rate"], stopped["seconds"]) == ("stopped", 200, 60)
    assert client.put(path, {**changed, "rate": 5_000}).status_code == 400
    assert client.put(path, changed).json()["recipe"]["keys"] == 7
    Generator.objects.update(written=9)
    again = client.post(f"{path}/start").json()
    assert (again["state"], again["written"], again["most"]) == ("running", 0, 9)
    assert again["ended_at"] is None
    assert start(409)["error"]["code"] == "already_generated"
    client.post(f"{path}/stop")
    start()
    assert client.post(f"{path}/start").json()["error"]["code"] == "already_generated"
    viewer: Any = client_of(people.viewer)
    assert viewer.post(f"{path}/start").status_code == 403
    assert client.delete(path).status_code == 204
    assert client.delete(path).status_code == 404


@pytest.mark.django_db
def test_generators_stop_with_their_deployment_and_topology(
    people: People, client_of: Client, deployment: Any
) -> None:
    rows = people.workspace.generators
    own, other, by_hand = (
        rows.create(topic=f"t{n}", recipe=ORDERS, rate=1, topology=topology, seconds=60)
        for n, topology in enumerate([deployment.topology, None, deployment.topology])
    )

    def states() -> list[str]:
        return list(rows.order_by("id").values_list("state", flat=True))

    request_stop(people.operator, deployment)
    assert states() == ["stopped", "running", "stopped"]
    stop_generator(people.operator, by_hand)
    request_start(people.operator, deployment)
    assert states() == ["running", "running", "stopped"]
    assert rows.get(pk=own.pk).ends_at is not None
    deployment.delete()
    client: Any = client_of(people.operator)
    assert client.delete(f"/api/topologies/{deployment.topology_id}").status_code == 204
    assert states() == ["stopped", "running", "stopped"]
    assert rows.get(pk=other.pk).topology is None


@pytest.mark.kafka
@pytest.mark.django_db
def test_the_formats_of_a_topic_are_known_from_the_topologies_that_use_it(
    topic: str, people: People, client_of: Client
) -> None:
    from catalog.templates import template

    document = template("purchases-per-hour").named("P", [f"{topic}"]).document
    document["nodes"][0]["params"]["topics"] = [topic]
    made = actions.create_topology(people.editor, people.workspace, "P", document)
    client: Any = client_of(people.viewer)
    (use,) = client.get(f"/api/workspaces/main/topics/{topic}/uses").json()["uses"]
    assert use == {
        "topology": made.pk,
        "name": "P",
        "node": "orders",
        "reads": True,
        "key": {"format": "string"},
        "value": {"format": "json", "schema": "item STRING, quantity INT, ordered_at BIGINT"},
        "time_field": "ordered_at",
        "deployment": None,
    }
