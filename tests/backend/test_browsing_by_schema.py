"""Records of a topic in Avro and Protobuf: written, read and followed, or refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from deployments.actions import create_deployment
from records import encoding
from topologies.actions import create_topology

from tests.registry import Registry
from tests.runtime import topics

from .conftest import Client, People
from .schemas import AVRO, SCHEMAS, VALUES, format_of

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]

BEGIN = 1_767_225_600_000


def records_of(topic: str) -> str:
    return f"/api/workspaces/main/topics/{topic}/records"


def search_of(topic: str) -> str:
    return f"{records_of(topic)}/search"


def query_of(part: str, format: dict[str, str]) -> dict[str, str]:
    return {f"{part}_{name}": text for name, text in format.items()}


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("registered", [False, True])
def test_a_record_is_written_by_a_schema_and_read_by_the_same(
    name: str, registered: bool, editor: Any, operator: Any, topic: str, registry: Registry,
    simulate: Any, broker: Any,
) -> None:  # fmt: skip
    format = format_of(name, registry if registered else None)
    value = {**format, "text": json.dumps(VALUES[name])}
    for n in range(2):
        key = {"format": "string", "text": f"k{n}"}
        written = operator.post(records_of(topic), {"key": key, "value": value})
        assert (written.status_code, written.json()) == (201, {"partition": 0, "offset": n})
    if registered:
        begin = b"\0" + registry.subjects[f"{name}-value"][0].to_bytes(4, "big")
        raw = [message.value() for message in topics.consume(broker.address, topic, 2)]
        assert all(each.startswith(begin) for each in raw)
    query = query_of("value", format)

    def keys(**more: str) -> list[str]:
        answer = editor.post(search_of(topic), {**query, **more})
        assert answer.status_code == 200, answer.content
        for each in answer.json()["records"]:
            assert (each["value"]["format"], each["value"]["error"]) == (name, None)
            assert json.loads(each["value"]["text"]) == VALUES[name]
        return [each["key"]["text"] for each in answer.json()["records"]]

    assert keys() == ["k1", "k0"]
    assert keys(field="value.n", equals="3") == []
    # In an expression the value has the type of its schema.
    assert keys(where="value.n = 2 AND key = 'k0'") == ["k0"]
    one = editor.post(f"{records_of(topic)}/0/0", query).json()
    assert (one["key"]["format"], json.loads(one["value"]["text"])) == ("string", VALUES[name])
    if registered:
        assert editor.get(f"{records_of(topic)}/0/0", query).json() == one
        page = editor.get(records_of(topic), query).json()
        assert page == editor.post(search_of(topic), query).json()


def test_keys_have_schemas_too_and_what_is_not_of_one_is_shown_as_bytes(
    editor: Any, operator: Any, topic: str, simulate: Any
) -> None:
    key = {"format": "avro", "schema": '"string"'}
    written = operator.post(
        records_of(topic), {"key": {**key, "text": '"a"'}, "value": {"format": "long", "text": "7"}}
    )
    assert written.status_code == 201, written.content
    plain = {"key": {"format": "bytes", "text": "ff"}, "value": {"format": "long", "text": "8"}}
    assert operator.post(records_of(topic), plain).status_code == 201
    query = {**query_of("key", key), "value_format": "long"}
    page = editor.post(search_of(topic), query).json()
    bad, good = page["records"]
    assert (good["key"]["text"], good["value"]["text"]) == ('"a"', "7")
    # The value is read even though the key is not.
    assert (bad["key"]["text"], bad["key"]["format"], bad["value"]["text"]) == ("ff", "bytes", "8")
    assert "avro" in bad["key"]["error"]


UNFIT = {
    '{"item": "tea"': ("value_unfit", "Not JSON", "json_invalid"),
    "null": ("value_null", "null is not a valid value", None),
    json.dumps({**VALUES["avro"], "itme": 1}): ("unknown_field", "has no field itme", None),
    json.dumps({**VALUES["avro"], "kind": "GONE"}): (
        "value_unfit", "not a symbol of Kind", "write_enum"
    ),
    json.dumps({**VALUES["avro"], "n": "two"}): ("value_unfit", "needs INT", "json_type"),
    json.dumps({"item": "tea"}): ("value_unfit", "does not allow null", "write_null"),
}  # fmt: skip


@pytest.mark.parametrize("text", UNFIT)
def test_a_value_that_does_not_fit_its_schema_is_not_written(
    text: str, editor: Any, operator: Any, topic: str, simulate: Any
) -> None:
    value = {**format_of("avro", None), "text": text}
    answer = operator.post(records_of(topic), {"value": value})
    error = answer.json()["error"]
    code, message, cause = UNFIT[text]
    assert (answer.status_code, error["code"]) == (400, code)
    assert message in error["message"]
    assert (error.get("cause") or {}).get("code") == cause
    assert list(error["fields"]) == ["value"]
    assert editor.get(records_of(topic)).json()["records"] == []


@pytest.mark.parametrize(
    "entry",
    [{"names": {"x": "a"}}, {"names": {"1.5": "a"}}, {"flags": {"1": 1}}, {"kinds": {"": "SOME"}}],
)
def test_the_keys_of_a_map_have_the_type_of_its_schema(
    entry: Any, operator: Any, topic: str, simulate: Any
) -> None:
    value = {**format_of("protobuf", None), "text": json.dumps(entry)}
    answer = operator.post(records_of(topic), {"value": value})
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, "value_unfit")


GONE = "http://127.0.0.1:1"
UNUSABLE: dict[str, tuple[dict[str, str], int, str]] = {
    "format_schema_or_registry": ({}, 400, "needs a schema or a schema registry"),
    "format_bad_schema": ({"schema": "{no"}, 400, "it is not JSON"),
    "registry_subject": (
        {"registry": "{url}", "subject": "none"}, 400, "does not have the subject none"
    ),
    "registry_not_allowed": (
        {"registry": "http://127.0.0.1:2", "subject": "avro-value"}, 400, "list of permitted"
    ),
    "registry_unreachable": ({"registry": GONE, "subject": "avro-value"}, 503, "does not answer"),
}  # fmt: skip


@pytest.mark.parametrize("code", UNUSABLE)
def test_a_schema_that_cannot_be_had_is_refused_first(
    code: str, editor: Any, operator: Any, topic: str, registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", f"{registry.url},{GONE}")
    given, status, message = UNUSABLE[code]
    format = {"format": "avro", **given}
    if format.get("registry") == "{url}":
        format["registry"] = registry.url
    for answer in (
        operator.post(records_of(topic), {"value": {**format, "text": "{}"}}),
        editor.post(search_of(topic), query_of("value", format)),
    ):
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (status, code)
        assert message in error["message"]
        assert error["hint"]
        # The page builds its translation of the message from these facts.
        assert isinstance(error["facts"], dict)
    assert editor.get(records_of(topic)).json()["records"] == []


def test_viewers_read_by_a_schema_that_is_typed_and_ask_no_registry(
    editor: Any, people: People, client_of: Client, topic: str, registry: Registry, simulate: Any
) -> None:
    viewer: Any = client_of(people.viewer)
    registered = format_of("avro", registry)
    refused = viewer.get(records_of(topic), query_of("value", registered))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "registry_unasked")
    assert registry.asked == []
    typed = viewer.post(search_of(topic), query_of("value", format_of("avro", None)))
    assert typed.status_code == 200
    value = {**registered, "text": "{}"}
    for client in (viewer, editor):
        answer = client.post(records_of(topic), {"value": value})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "role_too_small")
    assert registry.asked == []


def test_a_schema_may_be_long_and_how_long_is_said(
    editor: Any, operator: Any, topic: str, simulate: Any
) -> None:
    """The limit is the same for every request that carries a schema."""
    short = json.loads(AVRO)
    format = {"format": "avro", "schema": json.dumps({**short, "doc": "x" * 190_000})}
    value = {**format, "text": json.dumps(VALUES["avro"])}
    assert operator.post(records_of(topic), {"value": value}).status_code == 201
    for path in (search_of(topic), f"{records_of(topic)}/0/0"):
        answer = editor.post(path, query_of("value", format))
        assert answer.status_code == 200, answer.content
    format["schema"] = json.dumps({**short, "doc": "x" * 200_000})
    recipe = {"key": {"format": "string"}, "value": format}
    workspace = "/api/workspaces/main"
    for path, body in {
        search_of(topic): query_of("value", format),
        f"{records_of(topic)}/0/0": query_of("value", format),
        records_of(topic): {"value": {**format, "text": "{}"}},
        f"{workspace}/topics/{topic}/samples": {"value": format},
        f"{workspace}/format-types": recipe,
        f"{workspace}/generators": {"topic": topic, "recipe": recipe},
        f"{workspace}/generated-records": {"topic": topic, "recipe": recipe},
    }.items():
        answer = operator.post(path, body)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (400, "schema_too_long"), path
        assert f"has {len(format['schema']):,} characters, more than 200,000" in error["message"]
        assert error["most"] == "200,000"


def test_a_record_waits_for_the_simulator_that_encodes_it(
    operator: Any, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "ask", lambda _: {"state": "starting"})
    value = {**format_of("avro", None), "text": json.dumps(VALUES["avro"])}
    waits = operator.post(records_of(topic), {"value": value})
    assert (waits.status_code, waits.json()["error"]["code"]) == (503, "simulator_starting")


@pytest.mark.parametrize("registered", [False, True])
def test_followed_records_are_masked_by_their_schemas(
    registered: bool, operator: Any, people: People, client_of: Client, registry: Registry,
    simulate: Any, broker: Any, new_topic: Callable[[int], str],
) -> None:  # fmt: skip
    orders, users = new_topic(1), new_topic(1)
    formats = {name: format_of(name, registry if registered else None) for name in SCHEMAS}
    text = {"format": "string"}
    document: Any = {
        "format": "millrace.topology/1", "name": "follow", "edges": [],
        "nodes": [
            {"id": "orders", "kind": "source.stream",
             "params": {"topics": [orders], "key": text, "value": formats["avro"]}},
            {"id": "users", "kind": "source.table",
             "params": {"topic": users, "key": text, "value": formats["protobuf"]}},
        ],
    }  # fmt: skip
    topology = create_topology(people.editor, people.workspace, "F", document)
    deployment = create_deployment(people.operator, topology, 1, "local", {})

    def write(topic: str, name: str, at: int) -> None:
        value = {**formats[name], "text": json.dumps(VALUES[name])}
        key = {"format": "string", "text": "anna"}
        body = {"key": key, "value": value, "timestamp": BEGIN + at}
        answer = operator.post(records_of(topic), body)
        assert answer.status_code == 201, answer.content

    write(users, "protobuf", 0)
    write(orders, "avro", 1)
    broken = {"key": "anna", "value": b"{no Avro", "timestamp": BEGIN + 2}
    topics.produce(broker.address, orders, [broken])
    write(orders, "avro", 3)
    # A viewer may follow records: the formats are those of the deployed version.
    viewer: Any = client_of(people.viewer)

    def follow(status: int = 200, **body: Any) -> Any:
        path = f"/api/deployments/{deployment.pk}/followed-record"
        answer = viewer.post(path, {"topic": orders, "before": 10, "after": 10, **body})
        assert answer.status_code == status, answer.content
        return answer.json()

    masks = {
        "key": {"how": "hash"},
        "value.item": {"how": "hash"},
        "value.names": {"how": "replace", "by": {"1": "one"}},
        "value.either.member1": {"how": "replace", "by": "y"},
    }
    found = follow(partition=0, offset=2, masks=masks)
    assert (found["skipped"], found["input"], len(found["lines"])) == (1, 3, 3)
    shown = json.dumps(found["lines"])
    assert not any(secret in shown for secret in ("tea", "anna", "seven", '"x"'))
    user, *both = (line["value"] for line in found["lines"])
    # Equal values have equal hashes, whatever their format.
    assert {user["item"], *(each["item"] for each in both)} == {user["item"]}
    assert user == {**VALUES["protobuf"], "item": user["item"], "names": {"1": "one"}}
    either = {"member0": None, "member1": "y"}
    assert both == [{**VALUES["avro"], "item": user["item"], "either": either}] * 2
    for topic, value in ((users, formats["protobuf"]), (orders, formats["avro"])):
        lines = [line for line in found["lines"] if line["topic"] == topic]
        result = simulate(value, topic, lines)
        assert [each["value"] for each in result["outputs"]] == [line["value"] for line in lines]
    # An unreadable record cannot be masked; without masks its bytes are returned.
    assert follow(400, partition=0, offset=1, masks=masks)["error"]["code"] == "unreadable_record"
    plain = follow(partition=0, offset=1)["lines"]
    assert base64.b64decode(plain[2]["value_bytes"]) == b"{no Avro"
    assert follow(contains="TEA", masks=masks)["record"]["offset"] == 2
