"""Records of a topic as inputs of a simulation, with masked fields."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime import topics

from .conftest import Client, People

pytestmark = [pytest.mark.kafka]
BEGIN = 1_767_225_600_000


def person(n: int) -> dict[str, Any]:
    return {"name": f"N{n % 3}", "age": 20 + n, "cards": [{"number": f"4{n}"}], "at": {"city": "O"}}


@pytest.fixture
def topic(broker: Any, new_topic: Callable[[int], str]) -> str:
    """A topic of ten records and one whose value is not JSON."""
    name = new_topic(2)
    rows = [
        {
            "key": f"k{n}",
            "value": json.dumps(person(n)) if n else "no JSON: N0",
            "timestamp": BEGIN + n,
            "partition": n % 2,
        }
        for n in range(11)
    ]
    topics.produce(broker.address, name, rows)
    return name


@pytest.fixture
def ask(client_of: Client, people: People, topic: str) -> Callable[..., Any]:
    client: Any = client_of(people.viewer)

    def asked(status: int = 200, **body: Any) -> Any:
        answer = client.post(f"/api/workspaces/main/topics/{topic}/samples", body)
        assert answer.status_code == status, answer.content
        return answer.json()

    return asked


def test_the_newest_records_come_in_the_order_of_their_times(ask: Any, topic: str) -> None:
    found = ask(count=3)
    assert found["lines"] == [
        {
            "topic": topic,
            "key": f"k{n}",
            "value": person(n),
            "timestamp": BEGIN + n,
            "partition": n % 2,
        }
        for n in (8, 9, 10)
    ]
    first = ask(count=2, start="earliest")
    assert "value_bytes" in first["lines"][0]
    assert (first["lines"][1]["value"], first["skipped"]) == (person(1), 0)


def test_masked_fields_never_leave_and_the_same_value_stays_the_same(ask: Any) -> None:
    masks = {
        "value.name": {"how": "hash"},
        "value.age": {"how": "hash"},
        "value.cards.number": {"how": "replace", "by": "x"},
        "value.at": {"how": "hash"},
        "key": {"how": "hash"},
        "value.missing.field": {"how": "hash"},
    }
    found = ask(count=11, start="earliest", masks=masks)
    # An unreadable record cannot be masked.
    assert (len(found["lines"]), found["skipped"]) == (10, 1)
    values = [line["value"] for line in found["lines"]]
    assert [each["name"] for each in values[:3]] == [each["name"] for each in values[3:6]]
    assert len({each["name"] for each in values}) == 3
    assert all(len(each["name"]) == 12 and isinstance(each["age"], int) for each in values)
    assert {each["cards"][0]["number"] for each in values} == {"x"}
    text = json.dumps(found)
    assert not any(secret in text for secret in ('"N0"', '"N1"', '"k1"', '"O"', "no JSON"))
    assert ask(count=11, start="earliest", masks=masks) == found


def test_what_cannot_be_masked_is_refused(ask: Any) -> None:
    refused = ask(400, value_format="avro", masks={"value.name": {"how": "hash"}})["error"]
    assert "the format avro is not supported here" in refused["message"]
    assert "Not a path" in str(ask(400, masks={"name": {"how": "hash"}})["error"])
    assert ask(400, masks={"key": {"how": "forget"}})["error"]["code"] == "invalid"
    assert ask(400, masks={"": {"how": "hash"}})["error"]["code"] == "invalid"
    bytes_only = ask(count=1, value_format="avro")["lines"][0]
    assert "value_bytes" in bytes_only


def test_numbers_and_nulls_are_read_as_the_format_says(
    broker: Any, people: People, client_of: Client, new_topic: Callable[[int], str]
) -> None:
    name = new_topic(1)
    topics.produce(
        broker.address, name, [{"key": struct.pack(">q", 7), "value": None, "timestamp": BEGIN}]
    )
    client: Any = client_of(people.viewer)
    answer = client.post(f"/api/workspaces/main/topics/{name}/samples", {"key_format": "long"})
    (line,) = answer.json()["lines"]
    assert (line["key"], line["value"]) == (7, None)
